/* SPDX-License-Identifier: MIT */
/* Keys: the canonical encoding of tagged fields, and its digest. */
#include "dcache_fmt.h"
#include "dcache_internal.h"

#include <string.h>

#define MAX_TAG 64

/* Make room for `size` more bytes of echo.  False keeps an error in the key. */
static bool reserve(struct dcache_key *key, size_t size)
{
    if (size > DCACHE_MAX_ECHO_BYTES - key->echo_size) {
        key->state = DCACHE_TOO_LARGE;
        return false;
    }
    const size_t wanted = key->echo_size + size;
    if (wanted <= key->echo_room) {
        return true;
    }
    size_t room = key->echo_room == 0 ? 4096 : key->echo_room;
    while (room < wanted) {
        room *= 2;
    }
    unsigned char *echo = dcache_alloc(&key->memory, room);
    if (echo == NULL) {
        key->state = DCACHE_NO_MEMORY;
        return false;
    }
    if (key->echo_size > 0) {
        memcpy(echo, key->echo, key->echo_size);
    }
    dcache_free(&key->memory, key->echo);
    key->echo = echo;
    key->echo_room = room;
    return true;
}

static void append(struct dcache_key *key, const void *bytes, size_t size)
{
    if (size > 0) {
        memcpy(key->echo + key->echo_size, bytes, size);
        key->echo_size += size;
    }
}

static void append_le(struct dcache_key *key, uint64_t value, size_t bytes)
{
    unsigned char text[8];
    for (size_t i = 0; i < bytes; i++) {
        text[i] = (unsigned char)(value >> (8 * i));
    }
    append(key, text, bytes);
}

void dcache_key_begin(struct dcache_key *key, const struct dcache_memory *memory)
{
    const unsigned char version = DCACHE_FMT_VERSION;
    memset(key, 0, sizeof(*key));
    if (memory != NULL) {
        key->memory = *memory;
    }
    /* STOPPED stands for "under construction": no function takes such a key. */
    key->state = DCACHE_STOPPED;
    dcache_key_field(key, "format", &version, 1);
}

void dcache_key_field(struct dcache_key *key, const char *tag, const void *bytes, size_t size)
{
    if (key->state != DCACHE_STOPPED) {
        return;
    }
    const size_t tag_size = tag == NULL ? 0 : strlen(tag);
    if (tag_size == 0 || tag_size > MAX_TAG || (bytes == NULL && size > 0)) {
        key->state = DCACHE_INVALID;
        return;
    }
    if (size > DCACHE_MAX_ECHO_BYTES) {
        key->state = DCACHE_TOO_LARGE;
        return;
    }
    if (!reserve(key, 1 + tag_size + 8 + size)) {
        return;
    }
    append_le(key, tag_size, 1);
    append(key, tag, tag_size);
    append_le(key, size, 8);
    append(key, bytes, size);
}

void dcache_key_text(struct dcache_key *key, const char *tag, const char *text)
{
    dcache_key_field(key, tag, text, text == NULL ? 0 : strlen(text));
}

enum dcache_result dcache_key_end(struct dcache_key *key)
{
    if (key->state == DCACHE_STOPPED) {
        dcache_fmt_digest(key->echo, key->echo_size, key->digest);
        key->state = DCACHE_OK;
    }
    return key->state;
}

void dcache_key_release(struct dcache_key *key)
{
    if (key != NULL) {
        dcache_free(&key->memory, key->echo);
        memset(key, 0, sizeof(*key));
        key->state = DCACHE_INVALID;
    }
}

bool dcache_key_is_usable(const struct dcache_key *key)
{
    return key != NULL && key->state == DCACHE_OK && key->echo != NULL;
}

void dcache_hex(const unsigned char digest[DCACHE_KEY_BYTES], char hex[DCACHE_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DCACHE_KEY_BYTES; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[DCACHE_HEX_SIZE - 1] = '\0';
}

void dcache_key_hex(const struct dcache_key *key, char hex[DCACHE_HEX_SIZE])
{
    dcache_hex(key->digest, hex);
}
