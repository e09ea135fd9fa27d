/* SPDX-License-Identifier: MIT */
/* A private folder for the helper's temporary files. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 8 /* comgr nests three deep */

bool scratch_make(char *path, size_t size)
{
    const char *base = secure_getenv("TMPDIR");
    base = base != NULL && base[0] == '/' ? base : "/tmp";
    int n = snprintf(path, size, "%s/mxgemm-cc-XXXXXX", base);
    if (n < 0 || (size_t)n >= size || mkdtemp(path) == NULL) {
        path[0] = '\0';
        return false;
    }
    return true;
}

/* Empty the folder that `fd` has open; takes over `fd`. */
static void empty_folder(int fd, int depth)
{
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        close(fd);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        if (unlinkat(dirfd(folder), name, 0) == 0 || depth >= DEPTH_MAX) {
            continue;
        }
        int inner =
            openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) {
            empty_folder(inner, depth + 1);
            unlinkat(dirfd(folder), name, AT_REMOVEDIR);
        }
    }
    closedir(folder);
}

void scratch_remove(const char *path)
{
    if (path[0] == '\0') {
        return;
    }
    /* Again if a compile that is just ending adds a file meanwhile. */
    for (int i = 0; i < 4; i++) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) {
            return;
        }
        empty_folder(fd, 0);
        if (rmdir(path) == 0) {
            return;
        }
    }
}
