/* SPDX-License-Identifier: MIT */
/*
 * Fault points for tests: with MXG_FAULT_INJECTION, fault_arm(point, n) makes
 * the n-th later hit of that point fail (n = 0 is the next one).  Without it
 * every point is the constant false.
 */
#ifndef MXG_FAULT_H
#define MXG_FAULT_H

#include <stdbool.h>

enum fault_point {
    FAULT_ALLOC,
    FAULT_DLOPEN,
    FAULT_DLSYM,
    FAULT_COMPILE,
    FAULT_LOAD,
    FAULT_LAUNCH,
    FAULT_SPAWN,
    FAULT_COUNT
};

#ifdef MXG_FAULT_INJECTION
void fault_arm(enum fault_point point, long countdown);
void fault_disarm(void);
/* How often the points fired since they were armed. */
long fault_fired(void);
bool fault_hit(enum fault_point point);
#else
static inline bool fault_hit(enum fault_point point)
{
    (void)point;
    return false;
}
#endif

#endif
