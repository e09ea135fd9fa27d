/* SPDX-License-Identifier: MIT */
/*
 * uthash with this library's memory hooks.  Its default on allocation failure
 * is exit(); HASH_NONFATAL_OOM makes an insertion fail instead, seen by
 * uthash_nonfatal_oom, which clears the element's handle: callers test
 * element->hh.tbl after HASH_ADD.
 *
 * Functions that add or delete need a local `const struct mem *mem`.
 */
#ifndef MXG_UTHASH_CFG_H
#define MXG_UTHASH_CFG_H

#include <string.h>

#include "mem.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element))
#define uthash_malloc(size) mem_alloc(mem, (size))
#define uthash_free(pointer, size) mem_free(mem, (pointer))

#include <uthash.h>

#endif
