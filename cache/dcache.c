/* SPDX-License-Identifier: MIT */
/* The disk cache: policy.  What is looked up where, what a failure means, what is told to whom.
 */
#include "dcache.h"
#include "dcache_fault.h"
#include "dcache_file.h"
#include "dcache_internal.h"
#include "dcache_sys.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------ results, memory */

static const struct {
    const char *name;
    const char *text;
} result_rows[] = {
#define DCACHE_RESULT_ROW(name, text) { #name, text },
    DCACHE_RESULTS(DCACHE_RESULT_ROW)
#undef DCACHE_RESULT_ROW
};

const char *dcache_result_name(enum dcache_result result)
{
    return (unsigned)result < DCACHE_RESULT_COUNT ? result_rows[result].name : "?";
}

const char *dcache_result_text(enum dcache_result result)
{
    return (unsigned)result < DCACHE_RESULT_COUNT ? result_rows[result].text : "?";
}

void *dcache_alloc(const struct dcache_memory *memory, size_t size)
{
    if (dcache_fault_hit(DCACHE_FAULT_ALLOC)) {
        return NULL;
    }
    size = size == 0 ? 1 : size;
    return memory->allocate != NULL ? memory->allocate(size, memory->user) : malloc(size);
}

void dcache_free(const struct dcache_memory *memory, void *pointer)
{
    if (pointer == NULL) {
        return;
    }
    if (memory->deallocate != NULL) {
        memory->deallocate(pointer, memory->user);
    } else {
        free(pointer);
    }
}

/* -------------------------------------------------------------- reports */

void dcache_report(const dcache *cache, enum dcache_level level, enum dcache_result code,
                   const char *format, ...)
{
    char text[768];
    va_list arguments;
    if (cache->log == NULL) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cache->log(level, code, text, cache->log_user);
}

void dcache_folder_problem(dcache *cache, enum dcache_result code, const char *step, int error)
{
    if (code == DCACHE_NO_MEMORY) {
        return; /* says nothing about the folder */
    }
    atomic_store(&cache->folder_state, (int)code);
    const unsigned bit = 1u << (unsigned)code;
    const bool is_new = (atomic_fetch_or(&cache->warned, bit) & bit) == 0;
    dcache_report(cache, is_new ? DCACHE_LOG_WARNING : DCACHE_LOG_DEBUG, code,
                  "cache folder %s, %s: %s%s%s; kernels that it does not give are kept in "
                  "memory only",
                  dcache_writable(cache)->path, step, dcache_result_text(code),
                  error == 0 ? "" : ": ", error == 0 ? "" : strerror(error));
}

void dcache_folder_works(dcache *cache)
{
    atomic_store(&cache->folder_state, DCACHE_OK);
}

enum dcache_result dcache_folder_admits(const dcache *cache)
{
    const struct dcache_layer *layer = &cache->layers[cache->layer_count - 1];
    if (layer->path != NULL) {
        return DCACHE_OK;
    }
    return (enum dcache_result)atomic_load(&cache->folder_state);
}

/* -------------------------------------------------------------- entries */

const char *dcache_entry_value(const struct dcache_entry *entry, const char *name)
{
    for (size_t i = 0; entry != NULL && name != NULL && i < entry->pair_count; i++) {
        if (strcmp(entry->pairs[i].name, name) == 0) {
            return entry->pairs[i].value;
        }
    }
    return NULL;
}

void dcache_entry_release(struct dcache_entry *entry)
{
    if (entry != NULL) {
        dcache_free(&entry->memory, entry->storage);
        dcache_free(&entry->memory, entry->pair_storage);
        memset(entry, 0, sizeof(*entry));
    }
}

/* Make an entry of a verified file, which it takes over. */
static enum dcache_result fill_entry(const dcache *cache, struct dcache_file *file,
                                     struct dcache_entry *entry)
{
    const struct dcache_fmt_layout *layout = &file->layout;
    struct dcache_pair *pairs =
        dcache_alloc(&cache->memory, layout->pair_count * sizeof(struct dcache_pair));
    if (pairs == NULL) {
        return DCACHE_NO_MEMORY;
    }
    const enum dcache_result result =
        dcache_fmt_split_pairs(file->bytes + layout->metadata_offset, layout->metadata_size,
                               pairs, layout->pair_count);
    if (result != DCACHE_OK) {
        dcache_free(&cache->memory, pairs);
        return result;
    }
    entry->payload = file->bytes + layout->payload_offset;
    entry->payload_size = layout->payload_size;
    entry->pairs = pairs;
    entry->pair_count = layout->pair_count;
    entry->storage = file->bytes;
    entry->pair_storage = pairs;
    entry->memory = cache->memory;
    file->bytes = NULL;
    return DCACHE_OK;
}

/* A bad entry: tell, count, and remove it where that is ours to do. */
static void handle_bad(dcache *cache, const struct dcache_layer *layer, int leaf,
                       const char *name, enum dcache_result result,
                       const struct dcache_file *file)
{
    dcache_count(&cache->bad_entries);
    if (!layer->is_read_only) {
        dcache_file_remove(leaf, name, &file->status);
    }
    dcache_report(cache, DCACHE_LOG_WARNING, result, "cache entry %s/%c/%c/%s: %s; %s",
                  layer->path, name[0], name[1], name, dcache_result_text(result),
                  layer->is_read_only ? "left where it is" : "removed");
}

static enum dcache_result load_from(dcache *cache, const struct dcache_layer *layer,
                                    const struct dcache_key *key, struct dcache_entry *entry)
{
    char hex[DCACHE_HEX_SIZE];
    char name[DCACHE_NAME_SIZE];
    struct dcache_file file;
    int leaf = -1;
    dcache_key_hex(key, hex);
    (void)snprintf(name, sizeof(name), "%s" DCACHE_ENTRY_SUFFIX, hex);
    enum dcache_result result = dcache_leaf_open(layer, hex, false, &leaf);
    if (result != DCACHE_OK) {
        if (result == DCACHE_UNSAFE && !layer->is_read_only) {
            dcache_folder_problem(cache, result, "opening it to read", errno);
        }
        return DCACHE_MISS;
    }
    const uint64_t stamp_ns = layer->is_read_only ? 0 : cache->stamp_interval_ms * 1000000;
    result = dcache_file_read(cache, layer, leaf, name, false, key, stamp_ns, &file);
    if (result == DCACHE_OK) {
        result = fill_entry(cache, &file, entry);
        entry->is_read_only = result == DCACHE_OK && layer->is_read_only;
    } else if (result == DCACHE_IO) {
        dcache_report(cache, DCACHE_LOG_WARNING, result, "cache entry %s/%c/%c/%s: %s: %s",
                      layer->path, hex[0], hex[1], name, dcache_result_text(result),
                      strerror(errno));
    } else if (result != DCACHE_MISS && result != DCACHE_NO_MEMORY) {
        handle_bad(cache, layer, leaf, name, result, &file);
    }
    dcache_free(&cache->memory, file.bytes);
    dcache_sys_close(leaf);
    return result;
}

enum dcache_result dcache_load(dcache *cache, const struct dcache_key *key,
                               struct dcache_entry *entry)
{
    enum dcache_result result = DCACHE_MISS;
    if (entry == NULL) {
        return DCACHE_INVALID;
    }
    memset(entry, 0, sizeof(*entry));
    if (cache == NULL || !dcache_key_is_usable(key)) {
        return DCACHE_INVALID;
    }
    for (size_t i = 0; i < cache->layer_count; i++) {
        const struct dcache_layer *layer = &cache->layers[i];
        if (layer->path == NULL) {
            continue;
        }
        const enum dcache_result found = load_from(cache, layer, key, entry);
        if (found == DCACHE_OK) {
            dcache_count(&cache->hits);
            if (layer->is_read_only) {
                dcache_count(&cache->read_only_hits);
            }
            return DCACHE_OK;
        }
        if (found == DCACHE_NO_MEMORY) {
            result = found;
        }
    }
    dcache_count(&cache->misses);
    return result;
}

/* Encode and write; errno is left. */
static enum dcache_result store_file(dcache *cache, const struct dcache_fmt_parts *parts,
                                     const struct dcache_fmt_layout *layout)
{
    char hex[DCACHE_HEX_SIZE];
    int leaf = -1;
    unsigned char *bytes = dcache_alloc(&cache->memory, layout->file_size);
    if (bytes == NULL) {
        return DCACHE_NO_MEMORY;
    }
    dcache_fmt_encode(parts, layout, bytes);
    dcache_hex(parts->digest, hex);
    enum dcache_result result = dcache_leaf_open(dcache_writable(cache), hex, true, &leaf);
    if (result == DCACHE_OK) {
        result = dcache_file_write(leaf, hex, bytes, layout->file_size);
    }
    dcache_sys_close(leaf);
    const int error = errno;
    dcache_free(&cache->memory, bytes);
    errno = error;
    return result;
}

enum dcache_result dcache_store(dcache *cache, const struct dcache_key *key,
                                const struct dcache_pair *pairs, size_t pair_count,
                                const void *payload, size_t payload_size)
{
    struct dcache_fmt_layout layout;
    if (cache == NULL || !dcache_key_is_usable(key) || (pairs == NULL && pair_count > 0) ||
        (payload == NULL && payload_size > 0)) {
        return DCACHE_INVALID;
    }
    enum dcache_result result = dcache_folder_admits(cache);
    if (result != DCACHE_OK) {
        return result;
    }
    const struct dcache_fmt_parts parts = {
        .digest = key->digest,
        .echo = key->echo,
        .echo_size = key->echo_size,
        .pairs = pairs,
        .pair_count = pair_count,
        .payload = payload,
        .payload_size = payload_size,
    };
    result = dcache_fmt_measure(&parts, &layout);
    if (result == DCACHE_OK && layout.file_size > cache->max_bytes) {
        result = DCACHE_TOO_LARGE;
    }
    if (result == DCACHE_OK) {
        result = store_file(cache, &parts, &layout);
        if (result == DCACHE_OK) {
            dcache_folder_works(cache);
        } else {
            dcache_folder_problem(cache, result, "storing an entry", errno);
        }
    }
    if (result != DCACHE_OK) {
        dcache_count(&cache->store_failures);
        return result;
    }
    dcache_count(&cache->stores);
    dcache_evict_after_store(cache, key, layout.file_size);
    return DCACHE_OK;
}

enum dcache_result dcache_remove(dcache *cache, const struct dcache_key *key)
{
    char hex[DCACHE_HEX_SIZE];
    char name[DCACHE_NAME_SIZE];
    int leaf = -1;
    if (cache == NULL || !dcache_key_is_usable(key)) {
        return DCACHE_INVALID;
    }
    enum dcache_result result = dcache_folder_admits(cache);
    if (result != DCACHE_OK) {
        return result;
    }
    dcache_key_hex(key, hex);
    (void)snprintf(name, sizeof(name), "%s" DCACHE_ENTRY_SUFFIX, hex);
    result = dcache_leaf_open(dcache_writable(cache), hex, false, &leaf);
    if (result == DCACHE_OK && dcache_sys_unlink(leaf, name) != 0) {
        result = errno == ENOENT ? DCACHE_MISS : dcache_sys_result(errno);
    }
    dcache_sys_close(leaf);
    return result;
}

void dcache_stats(const dcache *cache, struct dcache_stats *stats)
{
    if (stats == NULL) {
        return;
    }
    memset(stats, 0, sizeof(*stats));
    stats->folder_state = DCACHE_UNAVAILABLE;
    if (cache == NULL) {
        return;
    }
    stats->hits = atomic_load(&cache->hits);
    stats->read_only_hits = atomic_load(&cache->read_only_hits);
    stats->misses = atomic_load(&cache->misses);
    stats->bad_entries = atomic_load(&cache->bad_entries);
    stats->stores = atomic_load(&cache->stores);
    stats->store_failures = atomic_load(&cache->store_failures);
    stats->evictions = atomic_load(&cache->evictions);
    stats->stale_temps_removed = atomic_load(&cache->stale_temps);
    stats->stale_locks_removed = atomic_load(&cache->stale_locks);
    stats->lock_timeouts = atomic_load(&cache->lock_timeouts);
    stats->folder_state = (enum dcache_result)atomic_load(&cache->folder_state);
}
