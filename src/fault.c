/* SPDX-License-Identifier: MIT */
/* Fault points for tests; empty unless MXG_FAULT_INJECTION is defined. */
#include "fault.h"

#ifdef MXG_FAULT_INJECTION
#include <stdatomic.h>

/* -1 = not armed; else the number of hits that still succeed. */
static atomic_long countdown[FAULT_COUNT];
static atomic_int armed;
static atomic_long fired;

void fault_arm(enum fault_point point, long n)
{
    fault_disarm();
    atomic_store(&countdown[point], n);
    atomic_store(&fired, 0);
    atomic_store(&armed, 1);
}

void fault_disarm(void)
{
    atomic_store(&armed, 0);
    for (int i = 0; i < FAULT_COUNT; i++) {
        atomic_store(&countdown[i], -1);
    }
}

long fault_fired(void)
{
    return atomic_load(&fired);
}

bool fault_hit(enum fault_point point)
{
    if (!atomic_load(&armed) || atomic_load(&countdown[point]) < 0) {
        return false;
    }
    if (atomic_fetch_sub(&countdown[point], 1) != 0) {
        return false;
    }
    atomic_fetch_add(&fired, 1);
    return true;
}
#else
typedef int fault_c_is_empty; /* ISO C wants a declaration in every file */
#endif
