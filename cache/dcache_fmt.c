/* SPDX-License-Identifier: MIT */
/*
 * The entry format.  Every byte of a file is determined by its parts, so a
 * decoder that accepts a file accepts exactly what the encoder would write.
 */
#include "dcache_fmt.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* "MXGC", then the line ends and the end-of-file mark that text transfers change. */
static const unsigned char magic[8] = { 'M', 'X', 'G', 'C', '\r', '\n', 0x1a, '\n' };

/* Byte offsets of the header's fields. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_HEADER_SIZE = 12,
    AT_DIGEST = 16,
    AT_FILE_SIZE = 32,
    AT_ECHO_SIZE = 40,
    AT_METADATA_SIZE = 48,
    AT_PAYLOAD_SIZE = 56,
    AT_PAYLOAD_OFFSET = 64,
    AT_PAIR_COUNT = 72,
    AT_RESERVED = 76,
    AT_CHECKSUM = 80
};

static void put_le(unsigned char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
}

static uint64_t get_le(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

void dcache_fmt_digest(const void *bytes, size_t size, unsigned char digest[DCACHE_KEY_BYTES])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
    memcpy(digest, canonical.digest, DCACHE_KEY_BYTES);
}

/* The checksum covers the whole file but the 16 bytes that hold it. */
static void checksum(const unsigned char *file, size_t size,
                     unsigned char sum[DCACHE_KEY_BYTES])
{
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    (void)XXH3_128bits_reset(&state);
    (void)XXH3_128bits_update(&state, file, AT_CHECKSUM);
    (void)XXH3_128bits_update(&state, file + DCACHE_FMT_HEADER_BYTES,
                              size - DCACHE_FMT_HEADER_BYTES);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(sum, canonical.digest, DCACHE_KEY_BYTES);
}

void dcache_fmt_seal(unsigned char *file, size_t size)
{
    checksum(file, size, file + AT_CHECKSUM);
}

static bool is_name_char(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/* The length of a leading pair name, or 0 if it breaks the rule or does not end in `end`. */
static size_t name_length(const unsigned char *text, size_t room, unsigned char end)
{
    size_t length = 0;
    while (length < room && is_name_char(text[length])) {
        length++;
    }
    if (length > DCACHE_MAX_PAIR_NAME || length == room || text[length] != end) {
        return 0;
    }
    return length;
}

static size_t align_up(size_t value)
{
    return (value + DCACHE_FMT_ALIGNMENT - 1) & ~(DCACHE_FMT_ALIGNMENT - 1);
}

enum dcache_result dcache_fmt_measure(const struct dcache_fmt_parts *parts,
                                      struct dcache_fmt_layout *layout)
{
    size_t metadata = 0;
    memset(layout, 0, sizeof(*layout));
    if (parts->pair_count > DCACHE_MAX_PAIRS || parts->echo_size > DCACHE_MAX_ECHO_BYTES ||
        parts->payload_size > DCACHE_MAX_PAYLOAD_BYTES) {
        return DCACHE_TOO_LARGE;
    }
    for (size_t i = 0; i < parts->pair_count; i++) {
        const struct dcache_pair *pair = &parts->pairs[i];
        if (pair->name == NULL || pair->value == NULL ||
            name_length((const unsigned char *)pair->name, strlen(pair->name) + 1, '\0') == 0) {
            return DCACHE_INVALID;
        }
        const size_t value = strlen(pair->value);
        if (value > DCACHE_MAX_METADATA_BYTES) {
            return DCACHE_TOO_LARGE;
        }
        metadata += strlen(pair->name) + 1 + value + 1;
        if (metadata > DCACHE_MAX_METADATA_BYTES) {
            return DCACHE_TOO_LARGE;
        }
    }
    layout->echo_size = parts->echo_size;
    layout->metadata_offset = DCACHE_FMT_HEADER_BYTES + parts->echo_size;
    layout->metadata_size = metadata;
    layout->pair_count = parts->pair_count;
    layout->payload_offset = align_up(layout->metadata_offset + metadata);
    layout->payload_size = parts->payload_size;
    layout->file_size = layout->payload_offset + parts->payload_size;
    return DCACHE_OK;
}

void dcache_fmt_encode(const struct dcache_fmt_parts *parts,
                       const struct dcache_fmt_layout *layout, unsigned char *file)
{
    memset(file, 0, layout->payload_offset);
    memcpy(file + AT_MAGIC, magic, sizeof(magic));
    put_le(file + AT_VERSION, DCACHE_FMT_VERSION, 4);
    put_le(file + AT_HEADER_SIZE, DCACHE_FMT_HEADER_BYTES, 4);
    memcpy(file + AT_DIGEST, parts->digest, DCACHE_KEY_BYTES);
    put_le(file + AT_FILE_SIZE, layout->file_size, 8);
    put_le(file + AT_ECHO_SIZE, layout->echo_size, 8);
    put_le(file + AT_METADATA_SIZE, layout->metadata_size, 8);
    put_le(file + AT_PAYLOAD_SIZE, layout->payload_size, 8);
    put_le(file + AT_PAYLOAD_OFFSET, layout->payload_offset, 8);
    put_le(file + AT_PAIR_COUNT, layout->pair_count, 4);
    if (parts->echo_size > 0) {
        memcpy(file + DCACHE_FMT_HEADER_BYTES, parts->echo, parts->echo_size);
    }
    unsigned char *at = file + layout->metadata_offset;
    for (size_t i = 0; i < parts->pair_count; i++) {
        const size_t name = strlen(parts->pairs[i].name);
        const size_t value = strlen(parts->pairs[i].value);
        memcpy(at, parts->pairs[i].name, name);
        at[name] = '=';
        memcpy(at + name + 1, parts->pairs[i].value, value + 1);
        at += name + 1 + value + 1;
    }
    if (parts->payload_size > 0) {
        memcpy(file + layout->payload_offset, parts->payload, parts->payload_size);
    }
    dcache_fmt_seal(file, layout->file_size);
}

enum dcache_result dcache_fmt_decode_header(const unsigned char *file, size_t have,
                                            uint64_t file_size,
                                            struct dcache_fmt_layout *layout)
{
    memset(layout, 0, sizeof(*layout));
    if (have < DCACHE_FMT_HEADER_BYTES || file_size < have) {
        return DCACHE_BAD_LENGTH;
    }
    if (memcmp(file + AT_MAGIC, magic, sizeof(magic)) != 0) {
        return DCACHE_BAD_MAGIC;
    }
    if (get_le(file + AT_VERSION, 4) != DCACHE_FMT_VERSION) {
        return DCACHE_BAD_VERSION;
    }
    const uint64_t echo = get_le(file + AT_ECHO_SIZE, 8);
    const uint64_t metadata = get_le(file + AT_METADATA_SIZE, 8);
    const uint64_t payload = get_le(file + AT_PAYLOAD_SIZE, 8);
    const uint64_t pairs = get_le(file + AT_PAIR_COUNT, 4);
    /* With each part under its own limit no sum below can wrap, on 32 bits either. */
    if (get_le(file + AT_HEADER_SIZE, 4) != DCACHE_FMT_HEADER_BYTES ||
        get_le(file + AT_RESERVED, 4) != 0 || echo > DCACHE_MAX_ECHO_BYTES ||
        metadata > DCACHE_MAX_METADATA_BYTES || payload > DCACHE_MAX_PAYLOAD_BYTES ||
        pairs > DCACHE_MAX_PAIRS) {
        return DCACHE_BAD_LENGTH;
    }
    layout->echo_size = (size_t)echo;
    layout->metadata_offset = DCACHE_FMT_HEADER_BYTES + layout->echo_size;
    layout->metadata_size = (size_t)metadata;
    layout->pair_count = (size_t)pairs;
    layout->payload_offset = align_up(layout->metadata_offset + layout->metadata_size);
    layout->payload_size = (size_t)payload;
    layout->file_size = layout->payload_offset + layout->payload_size;
    if (get_le(file + AT_PAYLOAD_OFFSET, 8) != layout->payload_offset ||
        get_le(file + AT_FILE_SIZE, 8) != layout->file_size || file_size != layout->file_size) {
        return DCACHE_BAD_LENGTH;
    }
    return DCACHE_OK;
}

/* The length of the pair (name "=" value NUL) at the start of `text`, or 0. */
static size_t pair_length(const unsigned char *text, size_t room, size_t *name)
{
    *name = name_length(text, room, '=');
    if (*name == 0) {
        return 0;
    }
    const unsigned char *end = memchr(text + *name, '\0', room - *name);
    return end == NULL ? 0 : (size_t)(end - text) + 1;
}

static bool are_pairs_valid(const unsigned char *metadata, size_t size, size_t pair_count)
{
    size_t name;
    for (size_t i = 0; i < pair_count; i++) {
        const size_t length = pair_length(metadata, size, &name);
        if (length == 0) {
            return false;
        }
        metadata += length;
        size -= length;
    }
    return size == 0;
}

enum dcache_result dcache_fmt_decode(const unsigned char *file, size_t size,
                                     struct dcache_fmt_layout *layout)
{
    unsigned char sum[DCACHE_KEY_BYTES];
    const enum dcache_result result = dcache_fmt_decode_header(file, size, size, layout);
    if (result != DCACHE_OK) {
        return result;
    }
    checksum(file, size, sum);
    if (memcmp(sum, file + AT_CHECKSUM, sizeof(sum)) != 0) {
        return DCACHE_BAD_CHECKSUM;
    }
    if (!are_pairs_valid(file + layout->metadata_offset, layout->metadata_size,
                         layout->pair_count)) {
        return DCACHE_BAD_METADATA;
    }
    for (size_t i = layout->metadata_offset + layout->metadata_size; i < layout->payload_offset;
         i++) {
        if (file[i] != 0) {
            return DCACHE_BAD_LENGTH;
        }
    }
    dcache_fmt_digest(file + DCACHE_FMT_HEADER_BYTES, layout->echo_size, sum);
    return memcmp(sum, file + AT_DIGEST, sizeof(sum)) == 0 ? DCACHE_OK : DCACHE_BAD_KEY;
}

enum dcache_result dcache_fmt_split_pairs(unsigned char *metadata, size_t size,
                                          struct dcache_pair *pairs, size_t pair_count)
{
    size_t name;
    for (size_t i = 0; i < pair_count; i++) {
        const size_t length = pair_length(metadata, size, &name);
        if (length == 0) {
            return DCACHE_BAD_METADATA;
        }
        metadata[name] = '\0';
        pairs[i].name = (const char *)metadata;
        pairs[i].value = (const char *)metadata + name + 1;
        metadata += length;
        size -= length;
    }
    return size == 0 ? DCACHE_OK : DCACHE_BAD_METADATA;
}

bool dcache_fmt_is_of_key(const unsigned char *file, const struct dcache_fmt_layout *layout,
                          const unsigned char *digest, const unsigned char *echo,
                          size_t echo_size)
{
    return memcmp(file + AT_DIGEST, digest, DCACHE_KEY_BYTES) == 0 &&
           layout->echo_size == echo_size &&
           (echo_size == 0 || memcmp(file + DCACHE_FMT_HEADER_BYTES, echo, echo_size) == 0);
}

const unsigned char *dcache_fmt_digest_of(const unsigned char *file)
{
    return file + AT_DIGEST;
}
