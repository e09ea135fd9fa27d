/* SPDX-License-Identifier: MIT */
/*
 * The library's own workspace: one device buffer per stream, grown when a call
 * needs more.  An outgrown buffer may still be in use by enqueued kernels, so
 * it is kept until the stream is forgotten; sizes double, so that all outgrown
 * buffers of a stream together are smaller than its present one.
 */
#ifndef MXG_WORKSPACE_H
#define MXG_WORKSPACE_H

#include <stddef.h>

#include "hiprt.h"
#include "mem.h"

struct workspace_pool;

mxg_status workspace_create(const struct mem *mem, const struct hiprt *hip,
                            struct workspace_pool **pool);
/* The device is idle and current.  With `free_device` 0 only host memory is freed. */
void workspace_destroy(struct workspace_pool *pool, int free_device);

/*
 * Take the stream's buffer of `bytes` or more, and the right to enqueue on it:
 * launches that belong together must not interleave with another thread's on
 * the same buffer.  Balanced by workspace_release on every OK.
 */
mxg_status workspace_acquire(struct workspace_pool *pool, void *stream, size_t bytes,
                             void **pointer, void **lease);
void workspace_release(struct workspace_pool *pool, void *lease);

/*
 * Wait for the stream, then free its buffers, while no call can enqueue on them.  The entry
 * itself stays until workspace_destroy: another thread may be waiting for it.  Returns HIP's
 * answer to the wait.
 */
int workspace_forget(struct workspace_pool *pool, void *stream);

#endif
