/* SPDX-License-Identifier: MIT */
/* Kernel config to source text: constants as #define lines, then the embedded sources. */
#ifndef MXG_BAKE_H
#define MXG_BAKE_H

#include "kernel_config.h"
#include "mem.h"

/* [out] source: terminated text owned by the caller (mem_free); size without terminator. */
mxg_status bake_source(const struct mem *mem, const struct kernel_config *config, char **source,
                       size_t *size);

/* Compiler options that go with every kernel, the same for each provider. */
const char *const *bake_options(size_t *count);

#endif
