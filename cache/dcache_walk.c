/* SPDX-License-Identifier: MIT */
/* Visit the files of one cache folder: two levels of one hexadecimal digit each. */
#include "dcache_walk.h"
#include "dcache_sys.h"

#include <errno.h>

/* Visit one directory of files; `leaf` is closed. */
static enum dcache_result walk_leaf(int leaf, const char *level1, const char *level2,
                                    dcache_visitor visitor, void *user, int *error)
{
    const char *name;
    enum dcache_result result = DCACHE_OK;
    DIR *stream = dcache_sys_list(leaf);
    if (stream == NULL) {
        *error = errno;
        dcache_sys_close(leaf);
        return DCACHE_OK;
    }
    while ((name = dcache_sys_next(stream)) != NULL) {
        const enum dcache_name kind = dcache_name_kind(level1, level2, name);
        if (kind != DCACHE_NAME_OTHER) {
            result = visitor(dirfd(stream), kind, name, user);
            if (result != DCACHE_OK) {
                break;
            }
        }
    }
    if (name == NULL && errno != 0) {
        *error = errno;
    }
    (void)closedir(stream);
    return result;
}

enum dcache_result dcache_walk(const struct dcache_layer *layer, int root,
                               dcache_visitor visitor, void *user)
{
    static const char digits[] = "0123456789abcdef";
    enum dcache_result result = DCACHE_OK;
    int error = 0;
    for (unsigned i = 0; i < 16 && result == DCACHE_OK; i++) {
        const char level1[2] = { digits[i], '\0' };
        int middle = -1;
        const enum dcache_result opened =
            dcache_level_open(layer, root, level1, false, &middle);
        if (opened != DCACHE_OK) {
            /* A level that is missing is empty; one that is not trusted has no entries. */
            error = opened == DCACHE_MISS || opened == DCACHE_UNSAFE ? error : errno;
            continue;
        }
        for (unsigned j = 0; j < 16 && result == DCACHE_OK; j++) {
            const char level2[2] = { digits[j], '\0' };
            int leaf = -1;
            const enum dcache_result found =
                dcache_level_open(layer, middle, level2, false, &leaf);
            if (found == DCACHE_OK) {
                result = walk_leaf(leaf, level1, level2, visitor, user, &error);
            } else if (found != DCACHE_MISS && found != DCACHE_UNSAFE) {
                error = errno;
            }
        }
        dcache_sys_close(middle);
    }
    if (result == DCACHE_OK && error != 0) {
        errno = error;
        return dcache_sys_result(error) == DCACHE_NO_MEMORY ? DCACHE_NO_MEMORY : DCACHE_IO;
    }
    return result;
}
