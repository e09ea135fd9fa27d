/* SPDX-License-Identifier: MIT */
/*
 * Fault points of the disk cache, for tests.  With MXG_FAULT_INJECTION a test
 * arms one point; without it every point is the constant false.
 */
#ifndef MXG_DCACHE_FAULT_H
#define MXG_DCACHE_FAULT_H

#include <limits.h>
#include <stdbool.h>

enum dcache_fault_point {
    DCACHE_FAULT_ALLOC,
    DCACHE_FAULT_OPEN,
    DCACHE_FAULT_MKDIR,
    DCACHE_FAULT_STAT,
    DCACHE_FAULT_LIST,
    DCACHE_FAULT_READ,
    DCACHE_FAULT_SHORT_READ, /* not an error: one byte comes */
    DCACHE_FAULT_WRITE,
    DCACHE_FAULT_SHORT_WRITE, /* not an error: one byte goes */
    DCACHE_FAULT_FSYNC,
    DCACHE_FAULT_STAMP,
    DCACHE_FAULT_RENAME,
    DCACHE_FAULT_UNLINK,
    DCACHE_FAULT_LOCK,
    DCACHE_FAULT_SECURE, /* not an error: the process counts as setuid */
    DCACHE_FAULT_COUNT
};

#ifdef MXG_FAULT_INJECTION
/* In place of an errno value: the process is killed there by SIGKILL. */
#define DCACHE_FAULT_KILL (-1)
/* In place of a countdown: every hit fails. */
#define DCACHE_FAULT_ALWAYS LONG_MIN

/* Make the hit after `countdown` further ones of `point` fail with errno `error`, once. */
void dcache_fault_arm(enum dcache_fault_point point, long countdown, int error);
/* At that hit call `action` instead, and go on: what another process might do at this moment.
 */
void dcache_fault_call(enum dcache_fault_point point, long countdown, void (*action)(void *),
                       void *user);
void dcache_fault_disarm(void);
/* How often the armed point fired. */
long dcache_fault_fired(void);
/* True, with errno set, if this hit is to fail. */
bool dcache_fault_hit(enum dcache_fault_point point);
#else
static inline bool dcache_fault_hit(enum dcache_fault_point point)
{
    (void)point;
    return false;
}
#endif

#endif
