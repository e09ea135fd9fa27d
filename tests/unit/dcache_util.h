/* SPDX-License-Identifier: MIT */
/* What the disk-cache tests share: a folder a test, keys, entries, counted memory and log
 * lines. */
#ifndef MXG_DCACHE_UTIL_H
#define MXG_DCACHE_UTIL_H

#include "dcache.h"

#include <check.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>

/* A folder that is empty and belongs to one test; the cache of the test is below it. */
extern char util_root[PATH_MAX];
extern char util_folder[PATH_MAX]; /* "<util_root>/cache", not made yet */

/* Checked fixtures: make the folder, remove it with all it holds. */
void util_setup(void);
void util_teardown(void);

/* Blocks of the counting allocator that are not freed, and how often it was asked. */
extern atomic_long util_live_blocks;
extern atomic_long util_allocations;
extern const struct dcache_memory util_memory;

/* What the log callback has seen. */
struct util_log {
    int warnings;
    int lines;
    enum dcache_result last_code;
    char last[1024];
};
extern struct util_log util_seen;
void util_log_line(enum dcache_level level, enum dcache_result code, const char *text,
                   void *user);

/* The usual configuration: util_folder, counted memory, recorded log. */
struct dcache_config util_config(void);
dcache *util_open(void);
dcache *util_open_config(const struct dcache_config *config);

/* A finished key of a number. */
struct dcache_key util_key(unsigned number);
/* Store the entry of a number: its payload and metadata follow from it. */
enum dcache_result util_store(dcache *cache, unsigned number);
/* Load it; UTIL_WRONG_ENTRY if what comes is not what util_store wrote. */
#define UTIL_WRONG_ENTRY DCACHE_RESULT_COUNT
enum dcache_result util_load(dcache *cache, unsigned number);
/* Fill with what follows from the number. */
void util_payload(unsigned number, unsigned char *bytes, size_t size);
#define UTIL_PAYLOAD_BYTES 300

/* The entry's path below util_folder or below another folder. */
void util_entry_path(unsigned number, const char *suffix, char path[PATH_MAX]);
void util_entry_path_in(const char *folder, unsigned number, const char *suffix,
                        char path[PATH_MAX]);

bool util_exists(const char *path);
/* The whole file, malloc'd. */
unsigned char *util_read_file(const char *path, size_t *size);
void util_write_file(const char *path, const void *bytes, size_t size, mode_t mode);
/* Files below `folder` whose name ends in `suffix` ("" = all). */
unsigned util_count_files(const char *folder, const char *suffix);
/* rm -rf */
void util_remove_tree(const char *path);
struct dcache_stats util_stats(const dcache *cache);

/*
 * Run `work` in a child process.  Returns what it returns (0 = well, else by
 * custom the line that failed), or minus the signal that ended the child.
 * Checks inside use CHILD: Check's own would return into the parent's tests.
 */
int util_in_child(int (*work)(void *user), void *user);
#define CHILD(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            return __LINE__;                                                                   \
        }                                                                                      \
    } while (0)

/* Memory that forked processes share, zeroed. */
void *util_shared(size_t size);

/* True if this process may mount and change owners. */
bool util_is_root(void);

/* Run the tests of `suite` and return main's status. */
int util_run(Suite *suite);

#endif
