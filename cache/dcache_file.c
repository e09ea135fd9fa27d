/* SPDX-License-Identifier: MIT */
/* Folders and entry files of the disk cache. */
#include "dcache_file.h"
#include "dcache_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEX_DIGITS ((size_t)DCACHE_HEX_SIZE - 1)

/* Make a folder and its missing parents, as mkdir -p does.  0 or -1 with errno. */
static int make_folder(const char *path)
{
    char part[PATH_MAX];
    const size_t length = strlen(path);
    if (length >= sizeof(part)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(part, path, length + 1);
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        /* Any other error shows again in the last mkdir, with the same cause. */
        if (dcache_sys_mkdir(AT_FDCWD, part) != 0 && (errno == ENOSPC || errno == EDQUOT)) {
            return -1;
        }
        *slash = '/';
    }
    return dcache_sys_mkdir(AT_FDCWD, part) == 0 || errno == EEXIST ? 0 : -1;
}

/*
 * Who else could put files there?  Entries are machine code that will run, so a
 * folder or file is trusted only if we own it (a read-only one: root may too)
 * and nobody else may write to it.
 */
static bool is_trusted(const struct dcache_layer *layer, const struct stat *status)
{
    const bool is_owned =
        status->st_uid == geteuid() || (layer->is_read_only && status->st_uid == 0);
    return is_owned && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Check a just opened directory; closes it unless OK. */
static enum dcache_result check_folder(const struct dcache_layer *layer, int opened, int *fd)
{
    struct stat status;
    if (dcache_sys_fstat(opened, &status) != 0) {
        dcache_sys_close(opened);
        return dcache_sys_result(errno);
    }
    if (!is_trusted(layer, &status)) {
        dcache_sys_close(opened);
        errno = 0;
        return DCACHE_UNSAFE;
    }
    *fd = opened;
    return DCACHE_OK;
}

enum dcache_result dcache_folder_open(const struct dcache_layer *layer, bool create, int *fd)
{
    *fd = -1;
    int opened = dcache_sys_open(AT_FDCWD, layer->path, O_RDONLY | O_DIRECTORY);
    if (opened < 0 && errno == ENOENT) {
        if (!create) {
            return DCACHE_MISS;
        }
        if (make_folder(layer->path) == 0) {
            opened = dcache_sys_open(AT_FDCWD, layer->path, O_RDONLY | O_DIRECTORY);
        }
    }
    return opened < 0 ? dcache_sys_result(errno) : check_folder(layer, opened, fd);
}

enum dcache_result dcache_level_open(const struct dcache_layer *layer, int parent,
                                     const char *name, bool create, int *fd)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    *fd = -1;
    int opened = dcache_sys_open(parent, name, flags);
    if (opened < 0 && errno == ENOENT) {
        if (!create) {
            return DCACHE_MISS;
        }
        if (dcache_sys_mkdir(parent, name) == 0) {
            /* Else a power loss could take the new level with all its entries. */
            if (dcache_sys_fsync(parent) != 0) {
                return dcache_sys_result(errno);
            }
        } else if (errno != EEXIST) {
            return dcache_sys_result(errno);
        }
        opened = dcache_sys_open(parent, name, flags);
    }
    return opened < 0 ? dcache_sys_result(errno) : check_folder(layer, opened, fd);
}

enum dcache_result dcache_leaf_open(const struct dcache_layer *layer, const char *hex,
                                    bool create, int *fd)
{
    const char level1[2] = { hex[0], '\0' };
    const char level2[2] = { hex[1], '\0' };
    int root = -1;
    int middle = -1;
    *fd = -1;
    enum dcache_result result = dcache_folder_open(layer, create, &root);
    if (result == DCACHE_OK) {
        result = dcache_level_open(layer, root, level1, create, &middle);
    }
    if (result == DCACHE_OK) {
        result = dcache_level_open(layer, middle, level2, create, fd);
    }
    dcache_sys_close(middle);
    dcache_sys_close(root);
    return result;
}

static bool ends_in(const char *name, size_t length, const char *suffix)
{
    const size_t size = strlen(suffix);
    return length >= size && strcmp(name + length - size, suffix) == 0;
}

enum dcache_name dcache_name_kind(const char *level1, const char *level2, const char *name)
{
    const size_t length = strlen(name);
    if (strspn(name, "0123456789abcdef") != HEX_DIGITS || name[0] != level1[0] ||
        name[1] != level2[0]) {
        return DCACHE_NAME_OTHER;
    }
    if (strcmp(name + HEX_DIGITS, DCACHE_ENTRY_SUFFIX) == 0) {
        return DCACHE_NAME_ENTRY;
    }
    if (strcmp(name + HEX_DIGITS, DCACHE_LOCK_SUFFIX) == 0) {
        return DCACHE_NAME_LOCK;
    }
    return ends_in(name, length, DCACHE_TEMP_SUFFIX) ? DCACHE_NAME_TEMP : DCACHE_NAME_OTHER;
}

/* ------------------------------------------------------------- reading */

/* Open the file and check everything that is not in its bytes. */
static enum dcache_result open_entry(const struct dcache_layer *layer, int leaf,
                                     const char *name, int *fd, struct stat *status)
{
    /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
    *fd = dcache_sys_open(leaf, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0) {
        switch (errno) {
        case ENOENT:
            return DCACHE_MISS;
        case ELOOP:  /* a symbolic link */
        case ENXIO:  /* a socket */
        case EACCES: /* a mode that keeps its own owner out */
            return DCACHE_BAD_FILE;
        default:
            return dcache_sys_result(errno) == DCACHE_NO_MEMORY ? DCACHE_NO_MEMORY : DCACHE_IO;
        }
    }
    if (dcache_sys_fstat(*fd, status) != 0) {
        status->st_ino = 0;
        return DCACHE_IO;
    }
    if (!S_ISREG(status->st_mode) || !is_trusted(layer, status)) {
        return DCACHE_BAD_FILE;
    }
    const uint64_t most = DCACHE_FMT_HEADER_BYTES + DCACHE_MAX_ECHO_BYTES +
                          DCACHE_MAX_METADATA_BYTES + DCACHE_FMT_ALIGNMENT +
                          DCACHE_MAX_PAYLOAD_BYTES;
    const uint64_t size = (uint64_t)status->st_size;
    return size < DCACHE_FMT_HEADER_BYTES || size > most ? DCACHE_BAD_LENGTH : DCACHE_OK;
}

static enum dcache_result read_result(void)
{
    return errno == 0 ? DCACHE_BAD_LENGTH : DCACHE_IO;
}

/* Read the header, then as much of the rest as is wanted, in one allocation. */
static enum dcache_result read_bytes(const dcache *cache, int fd, bool is_head_only,
                                     struct dcache_file *file)
{
    const uint64_t file_size = (uint64_t)file->status.st_size;
    unsigned char header[DCACHE_FMT_HEADER_BYTES];
    if (dcache_sys_read(fd, header, sizeof(header)) != 0) {
        return read_result();
    }
    /* A wrong length is found before memory is spent on it. */
    const enum dcache_result result =
        dcache_fmt_decode_header(header, sizeof(header), file_size, &file->layout);
    if (result != DCACHE_OK) {
        return result;
    }
    file->size = is_head_only ? file->layout.payload_offset : file->layout.file_size;
    file->bytes = dcache_alloc(&cache->memory, file->size);
    if (file->bytes == NULL) {
        return DCACHE_NO_MEMORY;
    }
    memcpy(file->bytes, header, sizeof(header));
    if (dcache_sys_read(fd, file->bytes + sizeof(header), file->size - sizeof(header)) != 0) {
        return read_result();
    }
    return is_head_only ? DCACHE_OK : dcache_fmt_decode(file->bytes, file->size, &file->layout);
}

enum dcache_result dcache_file_read(const dcache *cache, const struct dcache_layer *layer,
                                    int leaf, const char *name, bool is_head_only,
                                    const struct dcache_key *key, uint64_t stamp_ns,
                                    struct dcache_file *file)
{
    int fd = -1;
    memset(file, 0, sizeof(*file));
    enum dcache_result result = open_entry(layer, leaf, name, &fd, &file->status);
    if (result == DCACHE_OK) {
        result = read_bytes(cache, fd, is_head_only, file);
    }
    if (result == DCACHE_OK && key != NULL &&
        !dcache_fmt_is_of_key(file->bytes, &file->layout, key->digest, key->echo,
                              key->echo_size)) {
        result = DCACHE_BAD_KEY;
    }
    if (result == DCACHE_OK && stamp_ns > 0) {
        const int64_t now = dcache_sys_now_ns();
        const int64_t used = dcache_sys_stamp_of(&file->status);
        /* A stamp in the future comes from a clock that was wrong: it is renewed as well. */
        if (used > now || (uint64_t)(now - used) >= stamp_ns) {
            /* Losing a stamp only makes the entry look older than it is. */
            (void)dcache_sys_stamp(fd, now);
        }
    }
    dcache_sys_close(fd);
    if (result != DCACHE_OK) {
        dcache_free(&cache->memory, file->bytes);
        file->bytes = NULL;
    }
    return result;
}

void dcache_file_remove(int leaf, const char *name, const struct stat *status)
{
    struct stat found;
    /* Another process may have replaced a bad file by a good one meanwhile. */
    if (status->st_ino == 0 ||
        (dcache_sys_stat(leaf, name, &found) == 0 && dcache_sys_is_same(&found, status))) {
        (void)dcache_sys_unlink(leaf, name);
    }
}

/* ------------------------------------------------------------- writing */

/*
 * Make a temp file that nobody else has and hold its lock: the lock is what
 * tells a live writer's file from that of a dead process.  -1 with errno.
 */
static int make_temp(int leaf, const char *hex, char name[DCACHE_NAME_SIZE])
{
    static atomic_uint_fast64_t serial;
    for (int attempt = 0; attempt < 64; attempt++) {
        const uint64_t unique =
            (uint64_t)dcache_sys_now_ns() + (atomic_fetch_add(&serial, 1) << 32);
        (void)snprintf(name, DCACHE_NAME_SIZE, "%s.%ld-%016" PRIx64 DCACHE_TEMP_SUFFIX, hex,
                       (long)getpid(), unique);
        const int fd = dcache_sys_open(leaf, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
        if (fd < 0 && errno == EEXIST) {
            continue;
        }
        if (fd < 0) {
            return -1;
        }
        /*
         * Between the two calls a cleaner may take the file for a dead one's: it
         * then holds the lock, or has unlinked the file already.
         */
        struct stat status;
        if (dcache_sys_try_lock(fd) != DCACHE_SYS_BUSY && dcache_sys_fstat(fd, &status) == 0 &&
            status.st_nlink > 0) {
            return fd;
        }
        (void)dcache_sys_unlink(leaf, name);
        dcache_sys_close(fd);
    }
    errno = EEXIST;
    return -1;
}

/* Give the temp file its final name.  0 or -1 with errno. */
static int publish(int leaf, const char *temp, const char *entry)
{
    if (dcache_sys_rename(leaf, temp, entry) == 0) {
        return 0;
    }
    /* A directory under the entry's name is not ours; an empty one can be moved out of the way.
     */
    if (errno == EISDIR && dcache_sys_unlink(leaf, entry) == 0) {
        return dcache_sys_rename(leaf, temp, entry);
    }
    return -1;
}

enum dcache_result dcache_file_write(int leaf, const char *hex, const void *bytes, size_t size)
{
    char temp[DCACHE_NAME_SIZE];
    char entry[DCACHE_NAME_SIZE];
    (void)snprintf(entry, sizeof(entry), "%s" DCACHE_ENTRY_SUFFIX, hex);
    const int fd = make_temp(leaf, hex, temp);
    if (fd < 0) {
        return dcache_sys_result(errno);
    }
    int error = 0;
    bool is_published = false;
    if (dcache_sys_write(fd, bytes, size) != 0) {
        error = errno;
    }
    if (error == 0) {
        /* The kernel's own stamps are ticks of some milliseconds; the order of uses is finer.
         */
        (void)dcache_sys_stamp(fd, dcache_sys_now_ns());
        /* The data must be on disk before the name is, or a power loss gives a name without
         * data. */
        if (dcache_sys_fsync(fd) != 0 || publish(leaf, temp, entry) != 0) {
            error = errno;
        } else {
            is_published = true;
        }
    }
    if (is_published && dcache_sys_fsync(leaf) != 0) {
        error = errno;
    }
    if (!is_published) {
        (void)dcache_sys_unlink(leaf, temp);
    }
    dcache_sys_close(fd);
    errno = error;
    return error == 0 ? DCACHE_OK : dcache_sys_result(error);
}
