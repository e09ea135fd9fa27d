/* SPDX-License-Identifier: MIT */
/* Counters and time per stage, updated without locks. */
#ifndef MXG_STATS_INTERNAL_H
#define MXG_STATS_INTERNAL_H

#include <stdatomic.h>

#include "mxgemm.h"

enum stats_counter {
    STATS_CALLS,
    STATS_TABLE_HITS,
    STATS_TABLE_MISSES,
    STATS_WAITS,
    STATS_DISK_HITS,
    STATS_DISK_MISSES,
    STATS_COMPILES,
    STATS_COMPILE_FAILURES,
    STATS_LAUNCHES,
    STATS_COUNTER_COUNT
};

struct stats_stage {
    atomic_uint_fast64_t count, total_ns, max_ns, last_ns;
};

struct stats {
    struct stats_stage stage[MXG_STAGE_COUNT];
    atomic_uint_fast64_t counter[STATS_COUNTER_COUNT];
};

/* Nanoseconds of the monotonic clock. */
uint64_t stats_now(void);

/* Add the time since `start` to a stage. */
void stats_stage_end(struct stats *stats, mxg_stage stage, uint64_t start);
void stats_count(struct stats *stats, enum stats_counter counter);

/* Fill the stages and the counters above; the rest of `out` is left alone. */
void stats_snapshot(const struct stats *stats, mxg_stats *out);

#endif
