/* SPDX-License-Identifier: MIT */
/* Keep the writable folder within its bounds, and free of files of dead processes. */
#include "dcache_lock.h"
#include "dcache_walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scan costs a stat an entry, so a store scans only now and then. */
#define STORES_PER_SCAN 64
/* Entries stamped further ahead than this were used under a wrong clock. */
#define CLOCK_SLACK_NS ((int64_t)3600 * 1000000000)

struct record {
    int64_t stamp;
    uint64_t size;
    char hex[DCACHE_HEX_SIZE];
};

struct scan {
    dcache *cache;
    bool is_stale_only; /* look at temp and lock files, leave entries alone */
    int64_t now;
    struct record *records;
    size_t count;
    size_t room;
    uint64_t bytes;
};

static enum dcache_result add_record(struct scan *scan, const char *name,
                                     const struct stat *status)
{
    if (scan->count == scan->room) {
        const size_t room = scan->room == 0 ? 512 : scan->room * 2;
        struct record *records = NULL;
        if (room <= SIZE_MAX / sizeof(*records)) {
            records = dcache_alloc(&scan->cache->memory, room * sizeof(*records));
        }
        if (records == NULL) {
            return DCACHE_NO_MEMORY;
        }
        if (scan->count > 0) {
            memcpy(records, scan->records, scan->count * sizeof(*records));
        }
        dcache_free(&scan->cache->memory, scan->records);
        scan->records = records;
        scan->room = room;
    }
    struct record *record = &scan->records[scan->count++];
    record->stamp = dcache_sys_stamp_of(status);
    if (record->stamp > scan->now + CLOCK_SLACK_NS) {
        /* Else such an entry would outlive all others. */
        record->stamp = 0;
    }
    record->size = (uint64_t)status->st_size;
    memcpy(record->hex, name, DCACHE_HEX_SIZE - 1);
    record->hex[DCACHE_HEX_SIZE - 1] = '\0';
    scan->bytes += record->size;
    return DCACHE_OK;
}

static enum dcache_result visit(int leaf, enum dcache_name kind, const char *name, void *user)
{
    struct scan *scan = user;
    struct stat status;
    if (kind == DCACHE_NAME_TEMP) {
        if (dcache_lock_remove_dead(leaf, name)) {
            dcache_count(&scan->cache->stale_temps);
        }
    } else if (kind == DCACHE_NAME_LOCK) {
        if (dcache_lock_remove_dead(leaf, name)) {
            dcache_count(&scan->cache->stale_locks);
        }
    } else if (!scan->is_stale_only && dcache_sys_stat(leaf, name, &status) == 0 &&
               S_ISREG(status.st_mode)) {
        return add_record(scan, name, &status);
    }
    return DCACHE_OK;
}

static int compare_records(const void *a, const void *b)
{
    const struct record *x = a;
    const struct record *y = b;
    if (x->stamp != y->stamp) {
        return x->stamp < y->stamp ? -1 : 1;
    }
    return strcmp(x->hex, y->hex);
}

/* Remove one entry unless it was used since the scan.  True if it went. */
static bool evict_one(const struct dcache_layer *layer, const struct record *record)
{
    char name[DCACHE_NAME_SIZE];
    struct stat status;
    int leaf = -1;
    bool is_removed = false;
    (void)snprintf(name, sizeof(name), "%s" DCACHE_ENTRY_SUFFIX, record->hex);
    if (dcache_leaf_open(layer, record->hex, false, &leaf) == DCACHE_OK &&
        dcache_sys_stat(leaf, name, &status) == 0 &&
        (record->stamp == 0 || dcache_sys_stamp_of(&status) <= record->stamp)) {
        is_removed = dcache_sys_unlink(leaf, name) == 0;
    }
    dcache_sys_close(leaf);
    return is_removed;
}

/* Remove oldest records until the rest is within the bounds; `keep` (may be NULL) stays. */
static uint64_t evict_oldest(struct scan *scan, const struct dcache_layer *layer,
                             uint64_t max_bytes, uint64_t max_entries, const char *keep)
{
    uint64_t removed = 0;
    uint64_t entries = scan->count;
    if (scan->count > 0) {
        qsort(scan->records, scan->count, sizeof(*scan->records), compare_records);
    }
    for (size_t i = 0; i < scan->count; i++) {
        const struct record *record = &scan->records[i];
        if (scan->bytes <= max_bytes && entries <= max_entries) {
            break;
        }
        if ((keep == NULL || strcmp(keep, record->hex) != 0) && evict_one(layer, record)) {
            dcache_count(&scan->cache->evictions);
            removed++;
            entries--;
            scan->bytes -= record->size;
        }
    }
    atomic_store(&scan->cache->held_bytes, scan->bytes);
    atomic_store(&scan->cache->held_entries, entries);
    return removed;
}

/* Bounds to shrink to once one is passed: a little lower, so that not every store evicts. */
static uint64_t low_mark(uint64_t bound)
{
    return bound - bound / 16;
}

/* One scan under the eviction lock.  Returns OK, TIMEOUT, or why it did not take place. */
static enum dcache_result evict(dcache *cache, uint64_t max_bytes, uint64_t max_entries,
                                bool is_exact, const char *keep, uint64_t wait_ms,
                                uint64_t *removed)
{
    const struct dcache_layer *layer = dcache_writable(cache);
    struct scan scan = { .cache = cache, .now = dcache_sys_now_ns() };
    int root = -1;
    int lock = -1;
    enum dcache_result result = dcache_folder_open(layer, false, &root);
    if (result != DCACHE_OK) {
        return result;
    }
    result = dcache_lock_take(root, DCACHE_EVICT_LOCK, wait_ms, &lock);
    /*
     * The lock saves double work and keeps two processes from evicting for the same excess.
     * Without locks (or room for the lock file) a smaller cache beats one without bounds.
     */
    if (result == DCACHE_OK || result == DCACHE_UNAVAILABLE) {
        result = dcache_walk(layer, root, visit, &scan);
        if (result == DCACHE_IO) {
            /* What could be listed is better than nothing. */
            result = DCACHE_OK;
        }
    }
    if (result == DCACHE_OK) {
        if (scan.bytes > max_bytes || scan.count > max_entries) {
            const uint64_t bytes = is_exact ? max_bytes : low_mark(max_bytes);
            const uint64_t entries = is_exact ? max_entries : low_mark(max_entries);
            *removed = evict_oldest(&scan, layer, bytes, entries, keep);
        } else {
            atomic_store(&cache->held_bytes, scan.bytes);
            atomic_store(&cache->held_entries, scan.count);
        }
    }
    if (lock >= 0) {
        /* This file stays: there is one in a folder, and a fixed name needs no inode games. */
        dcache_lock_drop(-1, DCACHE_EVICT_LOCK, lock);
    }
    dcache_sys_close(root);
    dcache_free(&cache->memory, scan.records);
    return result;
}

void dcache_evict_after_store(dcache *cache, const struct dcache_key *keep, uint64_t bytes)
{
    char hex[DCACHE_HEX_SIZE];
    uint64_t removed = 0;
    const uint64_t held_bytes = atomic_fetch_add(&cache->held_bytes, bytes) + bytes;
    const uint64_t held_entries = atomic_fetch_add(&cache->held_entries, 1) + 1;
    const uint64_t stores = atomic_fetch_add(&cache->stores_since_scan, 1) + 1;
    const uint64_t share = cache->max_entries / 8;
    const uint64_t interval = share + 1 < STORES_PER_SCAN ? share + 1 : STORES_PER_SCAN;
    /* Other processes store as well: the guess is only good for some stores. */
    if (atomic_load(&cache->has_scanned) && held_bytes <= cache->max_bytes &&
        held_entries <= cache->max_entries && stores < interval) {
        return;
    }
    atomic_store(&cache->has_scanned, true);
    atomic_store(&cache->stores_since_scan, 0);
    dcache_hex(keep->digest, hex);
    const enum dcache_result result =
        evict(cache, cache->max_bytes, cache->max_entries, false, hex, 0, &removed);
    if (result == DCACHE_OK && removed > 0) {
        dcache_report(cache, DCACHE_LOG_DEBUG, DCACHE_OK, "evicted %llu entries",
                      (unsigned long long)removed);
    } else if (result != DCACHE_OK && result != DCACHE_TIMEOUT) {
        /* TIMEOUT: another process is at it, and its scan sees what this one would. */
        dcache_report(cache, DCACHE_LOG_INFO, result, "eviction was left out: %s",
                      dcache_result_text(result));
    }
}

void dcache_remove_stale(dcache *cache)
{
    const struct dcache_layer *layer = dcache_writable(cache);
    struct scan scan = { .cache = cache, .is_stale_only = true };
    int root = -1;
    if (dcache_folder_open(layer, false, &root) == DCACHE_OK) {
        /* A folder that cannot be listed keeps its files, no more. */
        (void)dcache_walk(layer, root, visit, &scan);
        dcache_sys_close(root);
    }
    const uint64_t temps = atomic_load(&cache->stale_temps);
    if (temps > 0) {
        dcache_report(cache, DCACHE_LOG_INFO, DCACHE_OK,
                      "removed %llu temp files of dead processes from %s",
                      (unsigned long long)temps, layer->path);
    }
}

enum dcache_result dcache_prune(dcache *cache, uint64_t max_bytes, uint64_t max_entries,
                                uint64_t *removed)
{
    uint64_t count = 0;
    if (removed != NULL) {
        *removed = 0;
    }
    if (cache == NULL) {
        return DCACHE_INVALID;
    }
    enum dcache_result result = dcache_folder_admits(cache);
    if (result != DCACHE_OK) {
        return result;
    }
    result = evict(cache, max_bytes, max_entries, true, NULL, cache->lock_wait_ms, &count);
    if (removed != NULL) {
        *removed = count;
    }
    /* A folder that is not there yet holds nothing. */
    return result == DCACHE_MISS ? DCACHE_OK : result;
}
