/* SPDX-License-Identifier: MIT */
/*
 * Index of the kernel sources embedded in the library: kernel_blob.c, made by
 * build-aux/embed.awk.
 */
#ifndef MXG_KERNEL_SRC_H
#define MXG_KERNEL_SRC_H

#include <stddef.h>

struct kernel_blob {
    const char *name;          /* file name in kernel_src/ */
    const unsigned char *text; /* not terminated */
    size_t size;
};

extern const struct kernel_blob kernel_blobs[];
extern const unsigned kernel_blob_count;

#endif
