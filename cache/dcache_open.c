/* SPDX-License-Identifier: MIT */
/* Opening and closing a disk cache: configuration, folders, what is left out and why. */
#include "dcache_file.h"
#include "dcache_internal.h"
#include "dcache_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
    return value == 0 ? fallback : value;
}

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/*
 * A copy of `path`, made absolute: the host may change its working directory.
 * NULL when memory is short.
 */
static char *absolute_path(const dcache *cache, const char *path)
{
    char here[PATH_MAX];
    const size_t length = strlen(path);
    size_t prefix = 0;
    /* Without a working directory the relative path is kept, and opening it fails. */
    if (path[0] != '/' && getcwd(here, sizeof(here)) != NULL) {
        prefix = strlen(here);
    }
    char *copy = dcache_alloc(&cache->memory, prefix + 1 + length + 1);
    if (copy == NULL) {
        return NULL;
    }
    if (prefix > 0) {
        memcpy(copy, here, prefix);
        copy[prefix++] = '/';
    }
    memcpy(copy + prefix, path, length + 1);
    return copy;
}

/* Take one read-only folder in; only NO_MEMORY is an error. */
static enum dcache_result add_read_only(dcache *cache, const char *path)
{
    int fd = -1;
    struct dcache_layer *layer = &cache->layers[cache->layer_count - 1];
    if (!is_set(path)) {
        return DCACHE_OK;
    }
    layer->path = absolute_path(cache, path);
    if (layer->path == NULL) {
        return DCACHE_NO_MEMORY;
    }
    layer->is_read_only = true;
    const enum dcache_result result = dcache_folder_open(layer, false, &fd);
    const int error = errno;
    dcache_sys_close(fd);
    if (result == DCACHE_MISS) {
        /* It may be mounted or filled later, and shared settings may name it everywhere. */
        dcache_report(cache, DCACHE_LOG_INFO, result, "read-only cache folder %s is not there",
                      layer->path);
    } else if (result != DCACHE_OK) {
        dcache_report(cache, DCACHE_LOG_WARNING, result, "read-only cache folder %s: %s%s%s",
                      layer->path, dcache_result_text(result), error == 0 ? "" : ": ",
                      error == 0 ? "" : strerror(error));
    }
    cache->layer_count++;
    return DCACHE_OK;
}

/* Can entries be written?  OK, UNWRITABLE or FULL, with errno. */
static enum dcache_result probe_writable(int fd)
{
    struct statvfs space;
    /* Asks the kernel, so that a read-only mount or an immutable folder counts, for root too.
     */
    if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        return DCACHE_UNWRITABLE;
    }
    /* Some file systems have no count of inodes: there f_files is 0. */
    if (fstatvfs(fd, &space) == 0 &&
        (space.f_bavail == 0 || (space.f_files > 0 && space.f_favail == 0))) {
        errno = ENOSPC;
        return DCACHE_FULL;
    }
    return DCACHE_OK;
}

static enum dcache_result add_writable(dcache *cache, const struct dcache_config *config)
{
    int fd = -1;
    struct dcache_layer *layer = dcache_writable(cache);
    layer->is_read_only = false;
    atomic_store(&cache->folder_state, DCACHE_UNAVAILABLE);
    if (!is_set(config->folder)) {
        return DCACHE_OK;
    }
    if (config->folder_from_environment && dcache_sys_is_secure()) {
        atomic_store(&cache->folder_state, DCACHE_SETUID);
        dcache_report(cache, DCACHE_LOG_WARNING, DCACHE_SETUID, "cache folder %s: %s",
                      config->folder, dcache_result_text(DCACHE_SETUID));
        return DCACHE_OK;
    }
    layer->path = absolute_path(cache, config->folder);
    if (layer->path == NULL) {
        return DCACHE_NO_MEMORY;
    }
    atomic_store(&cache->folder_state, DCACHE_OK);
    enum dcache_result result = dcache_folder_open(layer, true, &fd);
    if (result == DCACHE_OK) {
        result = probe_writable(fd);
    }
    const int error = errno;
    dcache_sys_close(fd);
    if (result != DCACHE_OK) {
        dcache_folder_problem(cache, result, "opening it", error);
    }
    dcache_remove_stale(cache);
    return DCACHE_OK;
}

static enum dcache_result add_layers(dcache *cache, const struct dcache_config *config)
{
    const size_t most = config->read_only_count + 1;
    if (most > SIZE_MAX / sizeof(*cache->layers)) {
        return DCACHE_NO_MEMORY;
    }
    cache->layers = dcache_alloc(&cache->memory, most * sizeof(*cache->layers));
    if (cache->layers == NULL) {
        return DCACHE_NO_MEMORY;
    }
    memset(cache->layers, 0, most * sizeof(*cache->layers));
    cache->layer_count = 1;
    if (config->read_only_from_environment && config->read_only_count > 0 &&
        dcache_sys_is_secure()) {
        dcache_report(cache, DCACHE_LOG_WARNING, DCACHE_SETUID, "read-only cache folders: %s",
                      dcache_result_text(DCACHE_SETUID));
    } else {
        for (size_t i = 0; i < config->read_only_count; i++) {
            const enum dcache_result result =
                add_read_only(cache, config->read_only_folders[i]);
            if (result != DCACHE_OK) {
                return result;
            }
        }
    }
    return add_writable(cache, config);
}

enum dcache_result dcache_open(const struct dcache_config *config, dcache **out)
{
    if (out == NULL) {
        return DCACHE_INVALID;
    }
    *out = NULL;
    if (config == NULL || (config->read_only_folders == NULL && config->read_only_count > 0) ||
        (config->memory.allocate == NULL) != (config->memory.deallocate == NULL)) {
        return DCACHE_INVALID;
    }
    dcache *cache = dcache_alloc(&config->memory, sizeof(*cache));
    if (cache == NULL) {
        return DCACHE_NO_MEMORY;
    }
    memset(cache, 0, sizeof(*cache));
    cache->memory = config->memory;
    cache->log = config->log;
    cache->log_user = config->log_user;
    cache->max_bytes = or_default(config->max_bytes, DCACHE_DEFAULT_MAX_BYTES);
    cache->max_entries = or_default(config->max_entries, DCACHE_DEFAULT_MAX_ENTRIES);
    cache->lock_wait_ms = or_default(config->lock_wait_ms, DCACHE_DEFAULT_LOCK_WAIT_MS);
    cache->stamp_interval_ms =
        or_default(config->stamp_interval_ms, DCACHE_DEFAULT_STAMP_INTERVAL_MS);
    if (cache->stamp_interval_ms > UINT64_MAX / 1000000) {
        cache->stamp_interval_ms = UINT64_MAX / 1000000;
    }
    const enum dcache_result result = add_layers(cache, config);
    if (result != DCACHE_OK) {
        dcache_close(cache);
        return result;
    }
    *out = cache;
    return DCACHE_OK;
}

void dcache_close(dcache *cache)
{
    if (cache == NULL) {
        return;
    }
    /* Copied: the hooks must outlive the memory that they are kept in. */
    const struct dcache_memory memory = cache->memory;
    for (size_t i = 0; cache->layers != NULL && i < cache->layer_count; i++) {
        dcache_free(&memory, cache->layers[i].path);
    }
    dcache_free(&memory, cache->layers);
    dcache_free(&memory, cache);
}
