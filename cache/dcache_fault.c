/* SPDX-License-Identifier: MIT */
/* Fault points of the disk cache; empty unless MXG_FAULT_INJECTION is defined. */
#include "dcache_fault.h"

#ifdef MXG_FAULT_INJECTION
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static struct {
    atomic_int armed; /* point + 1, or 0 */
    atomic_long countdown;
    atomic_int error;
    atomic_long fired;
    void (*action)(void *); /* NULL = fail; set while nothing is armed */
    void *user;
} fault;

static void arm(enum dcache_fault_point point, long countdown)
{
    atomic_store(&fault.countdown, countdown);
    atomic_store(&fault.fired, 0);
    atomic_store(&fault.armed, (int)point + 1);
}

void dcache_fault_arm(enum dcache_fault_point point, long countdown, int error)
{
    dcache_fault_disarm();
    fault.action = NULL;
    atomic_store(&fault.error, error);
    arm(point, countdown);
}

void dcache_fault_call(enum dcache_fault_point point, long countdown, void (*action)(void *),
                       void *user)
{
    dcache_fault_disarm();
    fault.action = action;
    fault.user = user;
    arm(point, countdown);
}

void dcache_fault_disarm(void)
{
    atomic_store(&fault.armed, 0);
}

long dcache_fault_fired(void)
{
    return atomic_load(&fault.fired);
}

bool dcache_fault_hit(enum dcache_fault_point point)
{
    if (atomic_load(&fault.armed) != (int)point + 1) {
        return false;
    }
    if (atomic_load(&fault.countdown) != DCACHE_FAULT_ALWAYS) {
        /* Hits of other threads may take it below zero; it never gets to "always". */
        const long left = atomic_fetch_sub(&fault.countdown, 1);
        if (left != 0) {
            return false;
        }
        atomic_store(&fault.armed, 0);
    }
    atomic_fetch_add(&fault.fired, 1);
    if (fault.action != NULL) {
        fault.action(fault.user);
        return false;
    }
    if (atomic_load(&fault.error) == DCACHE_FAULT_KILL) {
        (void)kill(getpid(), SIGKILL);
    }
    errno = atomic_load(&fault.error);
    return true;
}
#else
typedef int dcache_fault_c_is_empty; /* ISO C wants a declaration in every file */
#endif
