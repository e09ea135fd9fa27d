/* SPDX-License-Identifier: MIT */
/*
 * A context: everything that belongs to one device of one process.
 *
 * Locks, none of which is held while another is taken, and none across a
 * compile, dlopen, file I/O or a user callback:
 *   ktab.lock            the tables
 *   compiler_lock        opening the compiler; held across dlopen, as that is all it is for
 *   workspace.lock       the table of streams
 *   stream_buffer.enqueue  one stream's workspace: across the launches that share it, and
 *                        across the wait that must come before it is freed
 */
#ifndef MXG_CONTEXT_H
#define MXG_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "compiler.h"
#include "dcache.h"
#include "hiprt.h"
#include "ktab.h"
#include "settings.h"
#include "stats.h"
#include "workspace.h"

struct mxg_context {
    struct settings settings;
    struct hiprt hip;
    struct device_facts device;
    struct ktab *table;
    struct workspace_pool *workspace;
    dcache *disk;
    struct stats stats;
    unsigned process;           /* context_process() at creation */

    pthread_mutex_t compiler_lock;
    /* Set once under compiler_lock, read without it. */
    _Atomic(struct compiler *) compiler;
};

/* A number that changes in a forked child. */
unsigned context_process(void);

/* E_NULL, E_FORKED or OK: the first check of every public function that takes a context. */
mxg_status context_check(const mxg_context *context);

/* Open the compiler on first need. */
mxg_status context_compiler(mxg_context *context, struct compiler **compiler);

#endif
