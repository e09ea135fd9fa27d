/* SPDX-License-Identifier: MIT */
/* Visit the files of one cache folder. */
#ifndef MXG_DCACHE_WALK_H
#define MXG_DCACHE_WALK_H

#include "dcache_file.h"

/* `leaf` is the open directory that holds `name`.  Anything but OK ends the walk with it. */
typedef enum dcache_result (*dcache_visitor)(int leaf, enum dcache_name kind, const char *name,
                                             void *user);

/*
 * Visit every file of a kind other than OTHER below the open folder `root`.
 * Returns OK, what the visitor returned, or what a failed listing means (the
 * rest is visited all the same, and errno is left).
 */
enum dcache_result dcache_walk(const struct dcache_layer *layer, int root,
                               dcache_visitor visitor, void *user);

#endif
