/* SPDX-License-Identifier: MIT */
/*
 * The library's use of the disk cache: what goes into a key and an entry, and how failures
 * are told.
 */
#include "disk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bake.h"
#include "status.h"

/* Part of the key: raise it when what an entry means changes. */
#define ENTRY_FORMAT "mxgemm-kernel-1"

static void forward_log(enum dcache_level level, enum dcache_result code, const char *text,
                        void *user)
{
    static const mxg_log_level levels[] = {
        [DCACHE_LOG_ERROR] = MXG_LOG_ERROR,
        [DCACHE_LOG_WARNING] = MXG_LOG_WARNING,
        [DCACHE_LOG_INFO] = MXG_LOG_INFO,
        [DCACHE_LOG_DEBUG] = MXG_LOG_DEBUG,
    };
    const struct log *log = user;
    log_at(log, levels[level], "cache: %s (%s)", text, dcache_result_name(code));
}

/* The hooks' type is the cache's own, their meaning the same. */
static struct dcache_memory memory_of(const struct mem *mem)
{
    return (struct dcache_memory){ mem->allocate, mem->deallocate, mem->user };
}

/* Split "a:b::c" in place; empty parts are dropped. */
static size_t split_folders(char *list, const char **folders, size_t room)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *f = strtok_r(list, ":", &rest); f != NULL; f = strtok_r(NULL, ":", &rest)) {
        if (count < room) {
            folders[count++] = f;
        }
    }
    return count;
}

enum { MAX_READ_FOLDERS = 16 };

mxg_status disk_open(mxg_context *context)
{
    struct settings *s = &context->settings;
    const char *folders[MAX_READ_FOLDERS];
    size_t count = 0;
    char *list = NULL;
    if (s->cache_read_dirs != NULL) {
        list = mem_strdup(&s->mem, s->cache_read_dirs);
        if (list == NULL) {
            return status_set(MXG_E_HOST_MEMORY, "no memory for the list of read-only caches");
        }
        count = split_folders(list, folders, MAX_READ_FOLDERS);
    }
    const struct dcache_config config = {
        .folder = s->cache_dir,
        .read_only_folders = folders,
        .read_only_count = count,
        .folder_from_environment = s->cache_dir_is_from_env,
        .max_bytes = s->cache_max_bytes,
        .max_entries = s->cache_max_entries,
        .lock_wait_ms = s->compile_timeout_ms,
        .log = forward_log,
        .log_user = &s->log,
        .memory = memory_of(&s->mem),
    };
    const enum dcache_result result = dcache_open(&config, &context->disk);
    mem_free(&s->mem, list);
    return result == DCACHE_OK
               ? MXG_OK
               : status_set(MXG_E_HOST_MEMORY, "the disk cache did not open: %s",
                            dcache_result_text(result));
}

static mxg_status folder_status(enum dcache_result state)
{
    switch (state) {
    case DCACHE_OK:
    case DCACHE_UNAVAILABLE: /* none was asked for */
        return MXG_OK;
    case DCACHE_UNSAFE:
    case DCACHE_SETUID:
        return MXG_E_CACHE_UNSAFE;
    case DCACHE_FULL:
        return MXG_E_CACHE_FULL;
    case DCACHE_UNWRITABLE:
        return MXG_E_CACHE_UNWRITABLE;
    default:
        return MXG_E_CACHE_IO;
    }
}

void disk_stats(const mxg_context *context, mxg_stats *stats)
{
    struct dcache_stats d;
    dcache_stats(context->disk, &d);
    stats->disk_bad_entries = d.bad_entries;
    stats->disk_stores = d.stores;
    stats->disk_store_failures = d.store_failures;
    stats->disk_evictions = d.evictions;
    stats->cache_status = folder_status(d.folder_state);
}

mxg_status disk_key(const mxg_context *context, const struct compiler *compiler,
                    const char *source, size_t source_size, struct dcache_key *key)
{
    const struct dcache_memory memory = memory_of(&context->settings.mem);
    size_t num_options = 0;
    const char *const *options = bake_options(&num_options);
    dcache_key_begin(key, &memory);
    dcache_key_text(key, "entry", ENTRY_FORMAT);
    dcache_key_text(key, "arch", context->device.arch);
    dcache_key_text(key, "provider", compiler_name(compiler));
    dcache_key_text(key, "compiler", compiler_identity(compiler));
    for (size_t i = 0; i < num_options; i++) {
        dcache_key_text(key, "option", options[i]);
    }
    dcache_key_field(key, "source", source, source_size);
    const enum dcache_result result = dcache_key_end(key);
    return result == DCACHE_OK ? MXG_OK
                               : status_set(MXG_E_HOST_MEMORY, "the cache key was not made: %s",
                                            dcache_result_text(result));
}

/*
 * Metadata: for people and tools who look into a cache; nothing here is read back by the
 * library.
 */
void disk_store(mxg_context *context, const struct dcache_key *key, const struct kernel *kernel,
                const struct compiler *compiler, uint64_t compile_ns, const void *code,
                size_t size)
{
    const struct codeobj_kernel *f = &kernel->figures;
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        { "vgprs", f->vgprs },
        { "agprs", f->agprs },
        { "sgprs", f->sgprs },
        { "vgpr_spills", f->vgpr_spills },
        { "sgpr_spills", f->sgpr_spills },
        { "lds_bytes", f->lds_bytes },
        { "scratch_bytes", f->scratch_bytes },
        { "code_bytes", f->code_bytes },
        { "compile_us", compile_ns / 1000 },
    };
    enum { NUMBERS = sizeof numbers / sizeof numbers[0], TEXTS = 4 };
    char texts[NUMBERS][24];
    struct dcache_pair pairs[TEXTS + NUMBERS] = {
        { "arch", context->device.arch },
        { "config", kernel->name },
        { "provider", compiler_name(compiler) },
        { "compiler", compiler_identity(compiler) },
    };
    for (size_t i = 0; i < NUMBERS; i++) {
        snprintf(texts[i], sizeof texts[i], "%" PRIu64, numbers[i].value);
        pairs[TEXTS + i] = (struct dcache_pair){ numbers[i].name, texts[i] };
    }
    dcache_store(context->disk, key, pairs, TEXTS + NUMBERS, code, size);
}
