/* SPDX-License-Identifier: MIT */
/*
 * Which build a shared library file is, read from the file without loading
 * it: a look-up in the disk cache needs the compiler's identity, and must not
 * pay for mapping LLVM.
 */
#ifndef MXG_LIBFILE_H
#define MXG_LIBFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

#define LIBFILE_BUILD_ID_SIZE 129 /* 64 bytes in hex: more than any linker writes */

/*
 * "soname=build-id" of the library at `path` and of each part of the compiler
 * that it needs (dynlib_is_compiler_part), joined by commas: the text that
 * dynlib_closure gives for the loaded library.  Needed libraries are looked
 * for in `dirs` (colon-separated, may be NULL), in the library's DT_RUNPATH,
 * then in its own folder.  false if a file cannot be read as ELF, a needed
 * part is not found, or the text does not fit.
 */
bool libfile_closure(const char *path, const char *dirs, char *text, size_t size);

/* Whether the file holds these characters anywhere; false if it cannot be read. */
bool libfile_contains(const char *path, const char *text);

/* Find a GNU build-id note; hex (LIBFILE_BUILD_ID_SIZE bytes) becomes "" if there is none. */
void libfile_build_id_of_notes(const uint8_t *notes, size_t size, char *hex);

/*
 * Append ",soname=id"; st serves a library without a build-id, NULL = none
 * known.  false if it does not fit.
 */
bool libfile_append_identity(const char *soname, const char *build_id, const struct stat *st,
                             char *text, size_t size);

#endif
