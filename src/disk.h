/* SPDX-License-Identifier: MIT */
/* The library's use of the disk cache: what goes into a key and an entry, and how failures are told. */
#ifndef MXG_DISK_H
#define MXG_DISK_H

#include <stdbool.h>

#include "context.h"
#include "kernel.h"

/* Open the cache that the settings name; a folder that cannot be used is a warning.  OK or E_HOST_MEMORY. */
mxg_status disk_open(mxg_context *context);

/* Fill the cache's counters and cache_status. */
void disk_stats(mxg_context *context, mxg_stats *stats);

#endif
