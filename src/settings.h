/* SPDX-License-Identifier: MIT */
/* Options and MXG_* variables of one context, read once; an option beats its variable. */
#ifndef MXG_SETTINGS_H
#define MXG_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "mem.h"
#include "mxgemm.h"

struct settings {
    struct mem mem;
    struct log log;
    int device;
    bool cache_dir_is_from_env; /* not to be trusted when the process is setuid */
    uint64_t cache_max_bytes;
    uint64_t cache_max_entries;
    uint64_t compile_timeout_ms;
    /* Owned; NULL = not set. */
    char *hip_library;
    char *compiler;
    char *rocm_path;
    char *rocm_prefix;
    char *worker_path;
    char *cache_dir;
    char *cache_read_dirs;
};

/* Returns OK, E_VERSION, E_OPTION, E_HOST_MEMORY; on failure nothing is owned. */
mxg_status settings_read(const mxg_context_options *options, struct settings *settings);
void settings_clear(struct settings *settings);

/*
 * E_VERSION unless a caller's structure has the size this library knows, or is
 * longer with nothing but zeros behind it (a newer header, no new member used).
 */
mxg_status settings_check_size(const void *structure, size_t struct_size, size_t known,
                               const char *name);

#endif
