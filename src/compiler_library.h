/* SPDX-License-Identifier: MIT */
/* Where the compiler's libraries are looked for. */
#ifndef MXG_COMPILER_LIBRARY_H
#define MXG_COMPILER_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"

#define COMPILER_PATH_SIZE 2048

/* Sonames, newest first, NULL-terminated. */
extern const char *const compiler_comgr_sonames[];
extern const char *const compiler_hiprtc_sonames[];

/*
 * dlopen a library: `explicit_path` alone if it is set, else the folders of
 * config->rocm_path, then the plain sonames.  E_NO_COMPILER names all that was tried.
 */
mxg_status compiler_library_open(const struct compiler_config *config,
                                 const char *explicit_path, const char *const *sonames,
                                 void **handle);

/* The file in config->rocm_path's folders, without loading it; false if there is none. */
bool compiler_library_find(const struct compiler_config *config, const char *const *sonames,
                           char *path, size_t size);

#endif
