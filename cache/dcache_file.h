/* SPDX-License-Identifier: MIT */
/* Folders and entry files of the disk cache: opening, reading, atomic writing, names. */
#ifndef MXG_DCACHE_FILE_H
#define MXG_DCACHE_FILE_H

#include "dcache_fmt.h"
#include "dcache_internal.h"

#include <sys/stat.h>

/* <32 hex>.mxc, <32 hex>.lock, <32 hex>.<pid>-<16 hex>.tmp */
#define DCACHE_ENTRY_SUFFIX ".mxc"
#define DCACHE_LOCK_SUFFIX ".lock"
#define DCACHE_TEMP_SUFFIX ".tmp"
#define DCACHE_EVICT_LOCK "evict.lock"
#define DCACHE_NAME_SIZE 96

enum dcache_name { DCACHE_NAME_OTHER, DCACHE_NAME_ENTRY, DCACHE_NAME_LOCK, DCACHE_NAME_TEMP };

/* What a file called `name` in folder level1/level2 is; one that lies elsewhere is OTHER. */
enum dcache_name dcache_name_kind(const char *level1, const char *level2, const char *name);

/*
 * Open a folder and check its owner and mode; with `create` a missing one is
 * made, parents included.  Returns OK; MISS (it is not there, and `create` is
 * off); UNSAFE; else what errno means.  errno is left for messages, 0 = no error.
 */
enum dcache_result dcache_folder_open(const struct dcache_layer *layer, bool create, int *fd);

/* Open one directory level below `parent`, under the same rules, links not followed. */
enum dcache_result dcache_level_open(const struct dcache_layer *layer, int parent,
                                     const char *name, bool create, int *fd);

/* Open the directory that holds the files of the key with these digits. */
enum dcache_result dcache_leaf_open(const struct dcache_layer *layer, const char *hex,
                                    bool create, int *fd);

/* An entry file in memory. */
struct dcache_file {
    unsigned char *bytes; /* free with dcache_free */
    size_t size;          /* bytes there: the whole file, or all before the payload */
    struct dcache_fmt_layout layout;
    struct stat status; /* st_ino 0 if the file could not even be opened */
};

/*
 * Read and check the entry file `name`; with `is_head_only` the payload is not
 * read, so that neither it nor the checksum is checked.  `stamp_ns` > 0 is the
 * age in nanoseconds from which on the stamp of last use is renewed on success;
 * 0 leaves it.
 * Returns OK, MISS, NO_MEMORY, IO or a BAD_ result; memory comes with OK only.
 */
enum dcache_result dcache_file_read(const dcache *cache, const struct dcache_layer *layer,
                                    int leaf, const char *name, bool is_head_only,
                                    const struct dcache_key *key, uint64_t stamp_ns,
                                    struct dcache_file *file);

/* Remove `name` if it still is the file of `status`; st_ino 0 = whatever it is. */
void dcache_file_remove(int leaf, const char *name, const struct stat *status);

/* Write an entry under its name by way of a temp file.  OK or what errno means; errno is left.
 */
enum dcache_result dcache_file_write(int leaf, const char *hex, const void *bytes, size_t size);

#endif
