/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the disk cache, with their retries and fault points.
 * Where not said otherwise: 0 or a descriptor on success, -1 with errno.
 */
#ifndef MXG_DCACHE_SYS_H
#define MXG_DCACHE_SYS_H

#include "dcache.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

/* openat with O_CLOEXEC added; files are made with mode 0600. */
int dcache_sys_open(int folder, const char *name, int flags);
/* mkdirat with mode 0700. */
int dcache_sys_mkdir(int folder, const char *name);
int dcache_sys_fstat(int fd, struct stat *status);
/* fstatat, not following a symbolic link. */
int dcache_sys_stat(int folder, const char *name, struct stat *status);
/* Read exactly `size` bytes; a file that ends earlier gives -1 with errno 0. */
int dcache_sys_read(int fd, void *bytes, size_t size);
/* Write all of it. */
int dcache_sys_write(int fd, const void *bytes, size_t size);
int dcache_sys_fsync(int fd);
int dcache_sys_rename(int folder, const char *from, const char *to);
/* unlinkat; an empty directory of that name is removed as well. */
int dcache_sys_unlink(int folder, const char *name);
/* Set the modification time, which is the cache's stamp of last use. */
int dcache_sys_stamp(int fd, int64_t nanoseconds);
/* Closes a descriptor; -1 is a no-op.  errno is kept. */
void dcache_sys_close(int fd);

/* A stream over the directory `fd`, which it owns on success. */
DIR *dcache_sys_list(int fd);
/* The next name but "." and ".."; NULL with errno 0 at the end, else with its error. */
const char *dcache_sys_next(DIR *stream);

enum dcache_sys_lock { DCACHE_SYS_HELD, DCACHE_SYS_BUSY, DCACHE_SYS_NO_LOCKS };
/* Try for the exclusive lock on a file that is open for writing.  Never waits. */
enum dcache_sys_lock dcache_sys_try_lock(int fd);
void dcache_sys_unlock(int fd);

/* True if both are the same file. */
bool dcache_sys_is_same(const struct stat *a, const struct stat *b);
int64_t dcache_sys_stamp_of(const struct stat *status);

/* Nanoseconds since 1970, and milliseconds of a clock that nobody sets. */
int64_t dcache_sys_now_ns(void);
uint64_t dcache_sys_monotonic_ms(void);
void dcache_sys_sleep_us(unsigned microseconds);
/* True in a setuid, setgid or otherwise privileged process (AT_SECURE). */
bool dcache_sys_is_secure(void);

/* What an errno value means for a folder: FULL, UNWRITABLE, NO_MEMORY or IO. */
enum dcache_result dcache_sys_result(int error);

#endif
