/* SPDX-License-Identifier: MIT */
/* Counters and time per stage, updated without locks. */
#include "stats.h"

#include <time.h>

uint64_t stats_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void stats_stage_end(struct stats *stats, mxg_stage stage, uint64_t start)
{
    struct stats_stage *s = &stats->stage[stage];
    const uint64_t ns = stats_now() - start;
    atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->total_ns, ns, memory_order_relaxed);
    atomic_store_explicit(&s->last_ns, ns, memory_order_relaxed);
    uint_fast64_t max = atomic_load_explicit(&s->max_ns, memory_order_relaxed);
    while (ns > max && !atomic_compare_exchange_weak_explicit(
                           &s->max_ns, &max, ns, memory_order_relaxed, memory_order_relaxed)) {
    }
}

void stats_count(struct stats *stats, enum stats_counter counter)
{
    atomic_fetch_add_explicit(&stats->counter[counter], 1, memory_order_relaxed);
}

void stats_snapshot(const struct stats *stats, mxg_stats *out)
{
    for (int i = 0; i < MXG_STAGE_COUNT; i++) {
        const struct stats_stage *s = &stats->stage[i];
        out->stage[i].count = atomic_load(&s->count);
        out->stage[i].total_ns = atomic_load(&s->total_ns);
        out->stage[i].max_ns = atomic_load(&s->max_ns);
        out->stage[i].last_ns = atomic_load(&s->last_ns);
    }
    out->calls = atomic_load(&stats->counter[STATS_CALLS]);
    out->table_hits = atomic_load(&stats->counter[STATS_TABLE_HITS]);
    out->table_misses = atomic_load(&stats->counter[STATS_TABLE_MISSES]);
    out->waits = atomic_load(&stats->counter[STATS_WAITS]);
    out->disk_hits = atomic_load(&stats->counter[STATS_DISK_HITS]);
    out->disk_misses = atomic_load(&stats->counter[STATS_DISK_MISSES]);
    out->compiles = atomic_load(&stats->counter[STATS_COMPILES]);
    out->compile_failures = atomic_load(&stats->counter[STATS_COMPILE_FAILURES]);
    out->launches = atomic_load(&stats->counter[STATS_LAUNCHES]);
}
