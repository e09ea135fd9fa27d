/* SPDX-License-Identifier: MIT */
/* Visit all entries with their metadata: what listing and verifying a cache is made of. */
#include "dcache_sys.h"
#include "dcache_walk.h"

#include <stdio.h>
#include <string.h>

struct listing {
    dcache *cache;
    const struct dcache_layer *layer;
    unsigned flags;
    dcache_item_callback callback;
    void *user;
};

/* True if the file name states the digest in the entry. */
static bool is_named_right(const unsigned char *bytes, const char *name)
{
    char hex[DCACHE_HEX_SIZE];
    dcache_hex(dcache_fmt_digest_of(bytes), hex);
    return strncmp(hex, name, DCACHE_HEX_SIZE - 1) == 0;
}

/* Read an entry and its pairs; `pairs` has room for the most there can be. */
static enum dcache_result read_item(const struct listing *list, int leaf, const char *name,
                                    struct dcache_file *file, struct dcache_pair *pairs)
{
    const bool is_head_only = (list->flags & DCACHE_VERIFY) == 0;
    const enum dcache_result result =
        dcache_file_read(list->cache, list->layer, leaf, name, is_head_only, NULL, 0, file);
    if (result != DCACHE_OK) {
        return result;
    }
    if (!is_named_right(file->bytes, name)) {
        return DCACHE_BAD_KEY;
    }
    return dcache_fmt_split_pairs(file->bytes + file->layout.metadata_offset,
                                  file->layout.metadata_size, pairs, file->layout.pair_count);
}

static enum dcache_result visit(int leaf, enum dcache_name kind, const char *name, void *user)
{
    const struct listing *list = user;
    struct dcache_pair pairs[DCACHE_MAX_PAIRS];
    struct dcache_file file;
    char hex[DCACHE_HEX_SIZE];
    char path[DCACHE_NAME_SIZE];
    if (kind != DCACHE_NAME_ENTRY) {
        return DCACHE_OK;
    }
    const enum dcache_result result = read_item(list, leaf, name, &file, pairs);
    if (result == DCACHE_MISS || result == DCACHE_NO_MEMORY) {
        return result == DCACHE_MISS ? DCACHE_OK : result; /* MISS: gone meanwhile */
    }
    memcpy(hex, name, DCACHE_HEX_SIZE - 1);
    hex[DCACHE_HEX_SIZE - 1] = '\0';
    (void)snprintf(path, sizeof(path), "%c/%c/%s", name[0], name[1], name);
    const struct dcache_item item = {
        .folder = list->layer->path,
        .hex = hex,
        .path = path,
        .is_read_only = list->layer->is_read_only,
        .file_bytes = (uint64_t)file.status.st_size,
        .payload_bytes = file.layout.payload_size,
        .used_s = (int64_t)file.status.st_mtim.tv_sec,
        .result = result,
        .pairs = pairs,
        .pair_count = result == DCACHE_OK ? file.layout.pair_count : 0,
    };
    const bool is_bad = result != DCACHE_OK && result != DCACHE_IO;
    if (is_bad) {
        dcache_count(&list->cache->bad_entries);
    }
    /* Another version's entry is sound to the library that wrote it. */
    if (is_bad && result != DCACHE_BAD_VERSION && !list->layer->is_read_only &&
        (list->flags & DCACHE_REMOVE_BAD) != 0) {
        dcache_file_remove(leaf, name, &file.status);
    }
    const bool goes_on = list->callback(&item, list->user);
    dcache_free(&list->cache->memory, file.bytes);
    return goes_on ? DCACHE_OK : DCACHE_STOPPED;
}

enum dcache_result dcache_iterate(dcache *cache, unsigned flags, dcache_item_callback callback,
                                  void *user)
{
    enum dcache_result result = DCACHE_OK;
    if (cache == NULL || callback == NULL ||
        (flags & ~(unsigned)(DCACHE_VERIFY | DCACHE_REMOVE_BAD)) != 0) {
        return DCACHE_INVALID;
    }
    for (size_t i = 0; i < cache->layer_count; i++) {
        const struct dcache_layer *layer = &cache->layers[i];
        struct listing list = { cache, layer, flags, callback, user };
        int root = -1;
        if (layer->path == NULL || dcache_folder_open(layer, false, &root) != DCACHE_OK) {
            continue; /* a folder that is missing or not trusted has no entries for us */
        }
        const enum dcache_result walked = dcache_walk(layer, root, visit, &list);
        dcache_sys_close(root);
        if (walked == DCACHE_STOPPED || walked == DCACHE_NO_MEMORY) {
            return walked;
        }
        result = walked == DCACHE_OK ? result : walked;
    }
    return result;
}
