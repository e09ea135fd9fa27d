/* SPDX-License-Identifier: MIT */
/* What the parts of the disk cache share: its state, memory, names and reports. */
#ifndef MXG_DCACHE_INTERNAL_H
#define MXG_DCACHE_INTERNAL_H

#include "dcache.h"

#include <stdatomic.h>

/* A folder that holds entries. */
struct dcache_layer {
    char *path; /* absolute; NULL = there is none */
    bool is_read_only;
};

/*
 * All but the atomics is constant after dcache_open, so nothing needs a mutex:
 * what several threads or processes change lies in the file system, under its
 * rename and its locks.
 */
struct dcache {
    struct dcache_memory memory;
    dcache_log_callback log;
    void *log_user;
    struct dcache_layer *layers; /* read-only ones in order, then the writable one */
    size_t layer_count;          /* at least 1 */
    uint64_t max_bytes;
    uint64_t max_entries;
    uint64_t lock_wait_ms;
    uint64_t stamp_interval_ms;

    atomic_int folder_state;
    atomic_uint warned; /* bit n: result n of the writable folder has been warned about */

    /* A guess at what the writable folder holds: the last scan plus own stores since. */
    atomic_uint_fast64_t held_bytes;
    atomic_uint_fast64_t held_entries;
    atomic_uint_fast64_t stores_since_scan;
    atomic_bool has_scanned;

    atomic_uint_fast64_t hits, read_only_hits, misses, bad_entries, stores, store_failures,
        evictions, stale_temps, stale_locks, lock_timeouts;
};

static inline struct dcache_layer *dcache_writable(dcache *cache)
{
    return &cache->layers[cache->layer_count - 1];
}

static inline void dcache_count(atomic_uint_fast64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* dcache.c: memory.  A failed allocation gives NULL; freeing NULL is a no-op. */
void *dcache_alloc(const struct dcache_memory *memory, size_t size);
void dcache_free(const struct dcache_memory *memory, void *pointer);

/* dcache_key.c */
bool dcache_key_is_usable(const struct dcache_key *key);
void dcache_hex(const unsigned char digest[DCACHE_KEY_BYTES], char hex[DCACHE_HEX_SIZE]);

/* dcache.c: a line for the log callback. */
void dcache_report(const dcache *cache, enum dcache_level level, enum dcache_result code,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * dcache.c: note that `step` on the writable folder ended in `code`, with the
 * errno value `error` (0 = none).  The first time a code comes it is a warning.
 */
void dcache_folder_problem(dcache *cache, enum dcache_result code, const char *step, int error);
/* The writable folder works (again). */
void dcache_folder_works(dcache *cache);
/* OK if the writable folder may be tried; else UNAVAILABLE or SETUID. */
enum dcache_result dcache_folder_admits(const dcache *cache);

/* dcache_evict.c: make the bounds hold if they may be passed; `keep` stays. */
void dcache_evict_after_store(dcache *cache, const struct dcache_key *keep, uint64_t bytes);
/* dcache_evict.c: remove temp and lock files of dead processes. */
void dcache_remove_stale(dcache *cache);

#endif
