/* SPDX-License-Identifier: MIT */
/* Lock files: kernel-released OFD locks, bounded waits, removal of dead processes' files. */
#include "dcache_lock.h"
#include "dcache_file.h"
#include "dcache_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_PAUSE_US 500u
#define LONGEST_PAUSE_US 20000u
/* Where the file system has no locks, a file of this age is taken for a dead process's. */
#define DEAD_AFTER_NS ((int64_t)3600 * 1000000000)

/* True if `name` still is the open file: who locks a file that was unlinked holds nothing. */
static bool is_still_named(int folder, const char *name, int fd)
{
    struct stat opened;
    struct stat named;
    return dcache_sys_fstat(fd, &opened) == 0 && dcache_sys_stat(folder, name, &named) == 0 &&
           dcache_sys_is_same(&opened, &named);
}

/* One try.  *fd is kept open over tries that end in TIMEOUT. */
static enum dcache_result try_once(int folder, const char *name, int *fd)
{
    /* Each round ends or means that another process removed the file in between. */
    for (int round = 0; round < 1000; round++) {
        if (*fd < 0) {
            *fd = dcache_sys_open(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
            if (*fd < 0) {
                return DCACHE_UNAVAILABLE;
            }
        }
        const enum dcache_sys_lock lock = dcache_sys_try_lock(*fd);
        if (lock == DCACHE_SYS_BUSY) {
            return DCACHE_TIMEOUT;
        }
        if (lock == DCACHE_SYS_NO_LOCKS) {
            const int error = errno;
            (void)dcache_sys_unlink(folder, name);
            errno = error;
            return DCACHE_UNAVAILABLE;
        }
        if (is_still_named(folder, name, *fd)) {
            return DCACHE_OK;
        }
        dcache_sys_unlock(*fd);
        dcache_sys_close(*fd);
        *fd = -1;
    }
    errno = EAGAIN;
    return DCACHE_UNAVAILABLE;
}

enum dcache_result dcache_lock_take(int folder, const char *name, uint64_t wait_ms, int *fd)
{
    const uint64_t start = dcache_sys_monotonic_ms();
    unsigned pause = FIRST_PAUSE_US;
    enum dcache_result result;
    *fd = -1;
    /*
     * The kernel offers either a try or a wait without end (F_OFD_SETLKW), which
     * only a signal could cut short, and signals belong to the host.  So this
     * polls: at most 50 tries a second once the first tens of milliseconds are over.
     */
    while ((result = try_once(folder, name, fd)) == DCACHE_TIMEOUT) {
        const uint64_t waited = dcache_sys_monotonic_ms() - start;
        if (waited >= wait_ms) {
            break;
        }
        const uint64_t left_us = wait_ms - waited < 1000 ? (wait_ms - waited) * 1000 : 1000000;
        dcache_sys_sleep_us(pause < left_us ? pause : (unsigned)left_us);
        pause = pause * 2 > LONGEST_PAUSE_US ? LONGEST_PAUSE_US : pause * 2;
    }
    if (result != DCACHE_OK) {
        dcache_sys_close(*fd);
        *fd = -1;
    }
    return result;
}

void dcache_lock_drop(int folder, const char *name, int fd)
{
    /* Whoever emptied the folder by hand let others make a new lock file: that one stays. */
    if (folder >= 0 && is_still_named(folder, name, fd)) {
        (void)dcache_sys_unlink(folder, name);
    }
    dcache_sys_unlock(fd);
    dcache_sys_close(fd);
}

bool dcache_lock_remove_dead(int folder, const char *name)
{
    struct stat status;
    bool is_removed = false;
    const int fd = dcache_sys_open(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    if (dcache_sys_fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid()) {
        const enum dcache_sys_lock lock = dcache_sys_try_lock(fd);
        const bool is_dead =
            lock == DCACHE_SYS_HELD ||
            (lock == DCACHE_SYS_NO_LOCKS &&
             dcache_sys_now_ns() - dcache_sys_stamp_of(&status) > DEAD_AFTER_NS);
        if (is_dead && is_still_named(folder, name, fd)) {
            is_removed = dcache_sys_unlink(folder, name) == 0;
        }
        if (lock == DCACHE_SYS_HELD) {
            dcache_sys_unlock(fd);
        }
    }
    dcache_sys_close(fd);
    return is_removed;
}

/* --------------------------------------------------- locks of the keys */

static void lock_name(const unsigned char *digest, char name[DCACHE_NAME_SIZE],
                      char hex[DCACHE_HEX_SIZE])
{
    dcache_hex(digest, hex);
    (void)snprintf(name, DCACHE_NAME_SIZE, "%s" DCACHE_LOCK_SUFFIX, hex);
}

enum dcache_result dcache_lock(dcache *cache, const struct dcache_key *key, int64_t wait_ms,
                               struct dcache_lock *lock)
{
    char hex[DCACHE_HEX_SIZE];
    char name[DCACHE_NAME_SIZE];
    int leaf = -1;
    if (lock == NULL) {
        return DCACHE_INVALID;
    }
    lock->fd = -1;
    if (cache == NULL || !dcache_key_is_usable(key)) {
        return DCACHE_INVALID;
    }
    if (dcache_folder_admits(cache) != DCACHE_OK) {
        return DCACHE_UNAVAILABLE;
    }
    lock_name(key->digest, name, hex);
    enum dcache_result result = dcache_leaf_open(dcache_writable(cache), hex, true, &leaf);
    if (result != DCACHE_OK) {
        dcache_folder_problem(cache, result, "opening it to lock a key", errno);
        return DCACHE_UNAVAILABLE;
    }
    const uint64_t wait = wait_ms < 0 ? cache->lock_wait_ms : (uint64_t)wait_ms;
    result = dcache_lock_take(leaf, name, wait, &lock->fd);
    const int error = errno;
    dcache_sys_close(leaf);
    if (result == DCACHE_OK) {
        memcpy(lock->digest, key->digest, DCACHE_KEY_BYTES);
    } else if (result == DCACHE_TIMEOUT) {
        dcache_count(&cache->lock_timeouts);
        dcache_report(cache, DCACHE_LOG_INFO, result, "lock of key %s not free within %llu ms",
                      hex, (unsigned long long)wait);
    } else {
        dcache_folder_problem(cache, dcache_sys_result(error), "locking a key", error);
    }
    return result;
}

void dcache_unlock(dcache *cache, struct dcache_lock *lock)
{
    char hex[DCACHE_HEX_SIZE];
    char name[DCACHE_NAME_SIZE];
    int leaf = -1;
    if (cache == NULL || lock == NULL || lock->fd < 0) {
        return;
    }
    lock_name(lock->digest, name, hex);
    (void)dcache_leaf_open(dcache_writable(cache), hex, false, &leaf);
    dcache_lock_drop(leaf, name, lock->fd);
    dcache_sys_close(leaf);
    lock->fd = -1;
}
