/* SPDX-License-Identifier: MIT */
/*
 * The library's use of the disk cache: what goes into a key and an entry, and
 * how failures are told.  None of these fail a caller: a cache that cannot be
 * used makes finds miss and stores do nothing.
 */
#ifndef MXG_DISK_H
#define MXG_DISK_H

#include <stdbool.h>

#include "context.h"
#include "kernel.h"

/*
 * Open the cache that the settings name; a folder that cannot be used is a warning.  OK or
 * E_HOST_MEMORY.
 */
mxg_status disk_open(mxg_context *context);

/* Fill the cache's counters and cache_status. */
void disk_stats(const mxg_context *context, mxg_stats *stats);

/*
 * Key of a source text as this context's compiler would compile it.  E_HOST_MEMORY;
 * release in any case.
 */
mxg_status disk_key(const mxg_context *context, const struct compiler *compiler,
                    const char *source, size_t source_size, struct dcache_key *key);

/* Store a code object with its figures as metadata. */
void disk_store(mxg_context *context, const struct dcache_key *key, const struct kernel *kernel,
                const struct compiler *compiler, uint64_t compile_ns, const void *code,
                size_t size);

#endif
