/* SPDX-License-Identifier: MIT */
/* Lock files of the disk cache.  doc/cache-format.md states the protocol and why it has no
 * race. */
#ifndef MXG_DCACHE_LOCK_H
#define MXG_DCACHE_LOCK_H

#include "dcache_sys.h"

/*
 * Take the lock on file `name` in directory `folder`, waiting up to `wait_ms`.
 * Returns OK with *fd, TIMEOUT, or UNAVAILABLE with errno.
 */
enum dcache_result dcache_lock_take(int folder, const char *name, uint64_t wait_ms, int *fd);

/* Release it; with `folder` >= 0 its file is removed first. */
void dcache_lock_drop(int folder, const char *name, int fd);

/* Remove a temp or lock file if the process that made it is gone.  True if it was removed. */
bool dcache_lock_remove_dead(int folder, const char *name);

#endif
