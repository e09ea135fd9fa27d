/* SPDX-License-Identifier: MIT */
/*
 * Opening shared libraries by a list of names, and resolving a table of symbols,
 * every missing one named.
 */
#ifndef MXG_DYNLIB_H
#define MXG_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

#include "mxgemm.h"

struct dynlib_symbol {
    const char *name;
    size_t offset; /* of the function pointer in the table that dynlib_resolve fills */
    int optional;  /* left NULL when missing */
};

/*
 * dlopen the first of `names` (NULL-terminated) that opens, with
 * RTLD_NOW|RTLD_LOCAL.  On failure *handle is NULL, the status is `failure`
 * and the detail text holds every name tried with its dlerror text.
 * [out] opened: the name that opened (borrowed from names), may be NULL.
 */
mxg_status dynlib_open(const char *const *names, mxg_status failure, void **handle,
                       const char **opened);

/* Fill `table` from `handle`; `failure` with every missing required name in the detail text. */
mxg_status dynlib_resolve(void *handle, const char *library,
                          const struct dynlib_symbol *symbols, size_t count, mxg_status failure,
                          void *table);

/* NULL is a no-op. */
void dynlib_close(void *handle);

/* The file that `symbol` was loaded from and its GNU build-id in hex (empty if none). */
void dynlib_identity(const void *symbol, char *path, size_t path_size, char *build_id,
                     size_t build_id_size);

/*
 * "soname=build-id" of the library that `symbol` was loaded from, and of each
 * part of the compiler that it names as needed (dynlib_is_compiler_part), as
 * they are mapped now, joined by commas.  A library without a build-id is told
 * by its file's size and time.  false if it does not fit or nothing is known.
 * libfile_closure gives the same text from files on disk.
 */
bool dynlib_closure(const void *symbol, char *text, size_t size);

/* Whether a soname is one whose build changes the machine code: LLVM, clang, lld, comgr. */
bool dynlib_is_compiler_part(const char *soname);

#endif
