/* SPDX-License-Identifier: MIT */
/*
 * A private folder for the helper's temporary files.  comgr writes each
 * compile's files below TMPDIR and removes them, unless it is killed.
 */
#ifndef MXG_SCRATCH_H
#define MXG_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Tells the helper which folder it may remove; TMPDIR alone may be anybody's. */
#define SCRATCH_VARIABLE "MXG_WORKER_TMPDIR"

/*
 * Make a folder of mode 0700 below TMPDIR or /tmp; path becomes "" and false is
 * returned if that fails.
 */
bool scratch_make(char *path, size_t size);

/* Remove the folder and all below it, following no link.  "" is a no-op. */
void scratch_remove(const char *path);

#endif
