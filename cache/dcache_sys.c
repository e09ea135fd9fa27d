/* SPDX-License-Identifier: MIT */
/* The system calls of the disk cache. */
#include "dcache_sys.h"
#include "dcache_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

int dcache_sys_open(int folder, const char *name, int flags)
{
    int fd;
    do {
        if (dcache_fault_hit(DCACHE_FAULT_OPEN)) {
            fd = -1;
        } else {
            fd = openat(folder, name, flags | O_CLOEXEC, 0600);
        }
    } while (fd < 0 && errno == EINTR);
    return fd;
}

int dcache_sys_mkdir(int folder, const char *name)
{
    if (dcache_fault_hit(DCACHE_FAULT_MKDIR)) {
        return -1;
    }
    return mkdirat(folder, name, 0700);
}

int dcache_sys_fstat(int fd, struct stat *status)
{
    if (dcache_fault_hit(DCACHE_FAULT_STAT)) {
        return -1;
    }
    return fstat(fd, status);
}

int dcache_sys_stat(int folder, const char *name, struct stat *status)
{
    if (dcache_fault_hit(DCACHE_FAULT_STAT)) {
        return -1;
    }
    return fstatat(folder, name, status, AT_SYMLINK_NOFOLLOW);
}

int dcache_sys_read(int fd, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        ssize_t count;
        if (dcache_fault_hit(DCACHE_FAULT_READ)) {
            count = -1;
        } else {
            count = read(fd, at, dcache_fault_hit(DCACHE_FAULT_SHORT_READ) ? 1 : size);
        }
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            errno = count == 0 ? 0 : errno;
            return -1;
        }
        at += count;
        size -= (size_t)count;
    }
    return 0;
}

/*
 * A write past RLIMIT_FSIZE raises SIGXFSZ, which kills a host that did not ask
 * for that.  So the limit is read first; one lowered meanwhile is the host's doing.
 */
static bool is_over_size_limit(size_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           size > limit.rlim_cur;
}

int dcache_sys_write(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    if (is_over_size_limit(size)) {
        errno = EFBIG;
        return -1;
    }
    while (size > 0) {
        ssize_t count;
        if (dcache_fault_hit(DCACHE_FAULT_WRITE)) {
            count = -1;
        } else {
            count = write(fd, at, dcache_fault_hit(DCACHE_FAULT_SHORT_WRITE) ? 1 : size);
        }
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            /* POSIX leaves a write of 0 open; taking it as an error keeps this loop finite. */
            errno = count == 0 ? EIO : errno;
            return -1;
        }
        at += count;
        size -= (size_t)count;
    }
    return 0;
}

int dcache_sys_fsync(int fd)
{
    int result;
    do {
        result = dcache_fault_hit(DCACHE_FAULT_FSYNC) ? -1 : fsync(fd);
    } while (result != 0 && errno == EINTR);
    /* EINVAL: the file system has nothing to synchronise here, as some have for folders. */
    return result != 0 && errno == EINVAL ? 0 : result;
}

int dcache_sys_rename(int folder, const char *from, const char *to)
{
    if (dcache_fault_hit(DCACHE_FAULT_RENAME)) {
        return -1;
    }
    return renameat(folder, from, folder, to);
}

int dcache_sys_unlink(int folder, const char *name)
{
    if (dcache_fault_hit(DCACHE_FAULT_UNLINK)) {
        return -1;
    }
    if (unlinkat(folder, name, 0) == 0) {
        return 0;
    }
    /* Linux says EISDIR, POSIX says EPERM. */
    if (errno == EISDIR || errno == EPERM) {
        return unlinkat(folder, name, AT_REMOVEDIR);
    }
    return -1;
}

int dcache_sys_stamp(int fd, int64_t nanoseconds)
{
    const struct timespec times[2] = {
        { 0, UTIME_OMIT },
        { (time_t)(nanoseconds / NS_PER_S), (long)(nanoseconds % NS_PER_S) },
    };
    if (dcache_fault_hit(DCACHE_FAULT_STAMP)) {
        return -1;
    }
    return futimens(fd, times);
}

void dcache_sys_close(int fd)
{
    if (fd >= 0) {
        const int saved = errno;
        /* On EINTR Linux has closed the descriptor: a retry could close another thread's. */
        (void)close(fd);
        errno = saved;
    }
}

DIR *dcache_sys_list(int fd)
{
    if (dcache_fault_hit(DCACHE_FAULT_LIST)) {
        return NULL;
    }
    return fdopendir(fd);
}

const char *dcache_sys_next(DIR *stream)
{
    for (;;) {
        errno = 0;
        if (dcache_fault_hit(DCACHE_FAULT_LIST)) {
            return NULL;
        }
        const struct dirent *item = readdir(stream);
        if (item == NULL) {
            return NULL;
        }
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0) {
            return item->d_name;
        }
    }
}

static int set_lock(int fd, short type)
{
    struct flock lock;
    memset(&lock, 0, sizeof(lock)); /* an OFD lock needs l_pid 0; l_len 0 = the whole file */
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return fcntl(fd, F_OFD_SETLK, &lock);
}

enum dcache_sys_lock dcache_sys_try_lock(int fd)
{
    if (!dcache_fault_hit(DCACHE_FAULT_LOCK)) {
        if (set_lock(fd, F_WRLCK) == 0) {
            return DCACHE_SYS_HELD;
        }
    }
    return errno == EAGAIN || errno == EACCES || errno == EINTR ? DCACHE_SYS_BUSY
                                                                : DCACHE_SYS_NO_LOCKS;
}

void dcache_sys_unlock(int fd)
{
    /* Closing alone would leave the lock to a child that was forked meanwhile. */
    (void)set_lock(fd, F_UNLCK);
}

bool dcache_sys_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int64_t dcache_sys_stamp_of(const struct stat *status)
{
    return (int64_t)status->st_mtim.tv_sec * NS_PER_S + status->st_mtim.tv_nsec;
}

int64_t dcache_sys_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

uint64_t dcache_sys_monotonic_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void dcache_sys_sleep_us(unsigned microseconds)
{
    const struct timespec pause = { microseconds / 1000000,
                                    (long)(microseconds % 1000000) * 1000 };
    (void)nanosleep(&pause, NULL);
}

bool dcache_sys_is_secure(void)
{
    return getauxval(AT_SECURE) != 0 || dcache_fault_hit(DCACHE_FAULT_SECURE);
}

enum dcache_result dcache_sys_result(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return DCACHE_FULL;
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EEXIST:
    case ELOOP:
    case ENAMETOOLONG:
        return DCACHE_UNWRITABLE;
    case ENOMEM:
        return DCACHE_NO_MEMORY;
    default:
        return DCACHE_IO;
    }
}
