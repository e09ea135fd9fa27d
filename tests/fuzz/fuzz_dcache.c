/* SPDX-License-Identifier: MIT */
/*
 * Fuzzer of the entry decoder.  With MXG_LIBFUZZER libFuzzer drives it; else
 * main makes its own seeds and runs a number of deterministic mutations:
 * fuzz_dcache [COUNT [SEED]].
 *
 * Checked: no access outside the input (a sanitizer sees to that), and that an
 * accepted file is the one that the encoder would write for the same parts.
 */
#include "dcache_fmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static unsigned long accepted;
static unsigned long results[DCACHE_RESULT_COUNT];

static void fail(const char *what)
{
    (void)fprintf(stderr, "fuzz_dcache: %s\n", what);
    abort();
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size == 0 ? 1 : size);
    if (memory == NULL) {
        fail("out of memory");
    }
    return memory;
}

/* What was accepted must come back from the encoder byte for byte. */
static void check_canonical(const unsigned char *file, size_t size,
                            const struct dcache_fmt_layout *layout)
{
    struct dcache_pair pairs[DCACHE_MAX_PAIRS];
    struct dcache_fmt_layout again;
    unsigned char *metadata = allocate(layout->metadata_size);
    unsigned char *copy = allocate(size);
    memcpy(metadata, file + layout->metadata_offset, layout->metadata_size);
    if (layout->pair_count > DCACHE_MAX_PAIRS ||
        dcache_fmt_split_pairs(metadata, layout->metadata_size, pairs, layout->pair_count) !=
            DCACHE_OK) {
        fail("an accepted file has metadata that cannot be split");
    }
    const struct dcache_fmt_parts parts = {
        .digest = dcache_fmt_digest_of(file),
        .echo = file + DCACHE_FMT_HEADER_BYTES,
        .echo_size = layout->echo_size,
        .pairs = pairs,
        .pair_count = layout->pair_count,
        .payload = file + layout->payload_offset,
        .payload_size = layout->payload_size,
    };
    if (dcache_fmt_measure(&parts, &again) != DCACHE_OK ||
        memcmp(&again, layout, sizeof(again)) != 0 || again.file_size != size) {
        fail("an accepted file has another layout than the encoder gives");
    }
    dcache_fmt_encode(&parts, &again, copy);
    if (memcmp(copy, file, size) != 0) {
        fail("an accepted file is not what the encoder writes");
    }
    if (!dcache_fmt_is_of_key(file, layout, parts.digest, parts.echo, parts.echo_size)) {
        fail("an accepted file is not of its own key");
    }
    free(copy);
    free(metadata);
}

static void decode(const unsigned char *file, size_t size)
{
    struct dcache_fmt_layout layout;
    /* As the listing reads: a header alone, with the size of the whole file. */
    if (size >= DCACHE_FMT_HEADER_BYTES &&
        dcache_fmt_decode_header(file, DCACHE_FMT_HEADER_BYTES, size, &layout) == DCACHE_OK &&
        layout.file_size != size) {
        fail("a header was accepted for a file of another size");
    }
    const enum dcache_result result = dcache_fmt_decode(file, size, &layout);
    results[result]++;
    if (result == DCACHE_OK) {
        accepted++;
        check_canonical(file, size, &layout);
    }
}

/* Metadata from outside, without an entry around it. */
static void split(const unsigned char *data, size_t size)
{
    struct dcache_pair pairs[8];
    unsigned char *copy = allocate(size);
    memcpy(copy, data, size);
    (void)dcache_fmt_split_pairs(copy, size, pairs, size % 9);
    free(copy);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    /* A copy of the exact size, so that reading past its end shows. */
    unsigned char *file = allocate(size);
    if (size > 0) {
        memcpy(file, data, size);
        split(data, size);
    }
    decode(file, size);
    if (size >= DCACHE_FMT_HEADER_BYTES) {
        /* A right checksum leads the input to the rules behind it; the digest likewise. */
        struct dcache_fmt_layout layout;
        if (dcache_fmt_decode_header(file, size, size, &layout) == DCACHE_OK) {
            dcache_fmt_seal(file, size);
            decode(file, size);
            dcache_fmt_digest(file + DCACHE_FMT_HEADER_BYTES, layout.echo_size, file + 16);
            dcache_fmt_seal(file, size);
            decode(file, size);
        }
    }
    free(file);
    return 0;
}

#ifndef MXG_LIBFUZZER
static uint64_t state;

static uint32_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* A sound entry of random parts.  Returns its size; *file is malloc'd with `room` more. */
static size_t make_seed(unsigned char **file, size_t room)
{
    static const char *const values[] = { "", "gfx950", "a=b", "two\nlines", "comgr 3.0.0" };
    unsigned char echo[64];
    unsigned char payload[96];
    unsigned char digest[DCACHE_KEY_BYTES];
    char names[4][8];
    struct dcache_pair pairs[4];
    struct dcache_fmt_layout layout;
    struct dcache_fmt_parts parts = { .digest = digest, .echo = echo, .pairs = pairs };
    parts.echo_size = next_random() % sizeof(echo);
    parts.payload = payload;
    parts.payload_size = next_random() % sizeof(payload);
    parts.pair_count = next_random() % 5;
    for (size_t i = 0; i < sizeof(payload); i++) {
        payload[i] = (unsigned char)next_random();
        echo[i % sizeof(echo)] = (unsigned char)next_random();
    }
    for (size_t i = 0; i < parts.pair_count; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "n%u", next_random() % 1000);
        pairs[i] = (struct dcache_pair){ names[i], values[next_random() % 5] };
    }
    dcache_fmt_digest(echo, parts.echo_size, digest);
    if (dcache_fmt_measure(&parts, &layout) != DCACHE_OK) {
        fail("a seed cannot be measured");
    }
    *file = allocate(layout.file_size + room);
    dcache_fmt_encode(&parts, &layout, *file);
    return layout.file_size;
}

/* Values that lengths break at. */
static void put_edge(unsigned char *file, size_t size)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      95,
                                      96,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      UINT64_MAX,
                                      UINT64_MAX - 95,
                                      (uint64_t)1 << 28,
                                      (uint64_t)1 << 63 };
    const size_t at = 8 * (next_random() % 12);
    uint64_t value = edges[next_random() % 11];
    for (size_t i = 0; i < 8 && at + i < size; i++, value >>= 8) {
        file[at + i] = (unsigned char)value;
    }
}

/* Change the file in one to four ways.  Returns its new size. */
static size_t mutate(unsigned char *file, size_t size, size_t room)
{
    for (unsigned left = 1 + next_random() % 4; left > 0 && size > 0; left--) {
        const size_t at = next_random() % size;
        switch (next_random() % 8) {
        case 0:
            file[at] ^= (unsigned char)(1u << (next_random() % 8));
            break;
        case 1:
            file[at] = (unsigned char)next_random();
            break;
        case 2:
            put_edge(file, size);
            break;
        case 3:
            file[next_random() % (size < 96 ? size : 96)] ^= (unsigned char)next_random();
            break;
        case 4:
            size = at;
            break;
        case 5:
            if (room > 0) {
                file[size++] = (unsigned char)next_random();
                room--;
            }
            break;
        case 6: {
            const size_t from = next_random() % size;
            const size_t most = size - (from > at ? from : at);
            memmove(file + at, file + from, 1 + next_random() % most);
            break;
        }
        default:
            /* Small steps of one length field: the likeliest to be taken. */
            file[(next_random() % 2 ? 40 : 72) % size] +=
                (unsigned char)(next_random() % 3) - 1;
            break;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned long seeds = 0;
    for (unsigned long i = 0; i < count; i++) {
        enum { ROOM = 8 };
        unsigned char *file;
        size_t size = make_seed(&file, ROOM);
        if (i % 16 == 0) {
            seeds++;
        } else {
            size = mutate(file, size, ROOM);
        }
        (void)LLVMFuzzerTestOneInput(file, size);
        free(file);
    }
    (void)printf("fuzz_dcache: %lu inputs, %lu sound seeds, %lu accepted;", count, seeds,
                 accepted);
    for (int i = 0; i < DCACHE_RESULT_COUNT; i++) {
        if (results[i] > 0) {
            (void)printf(" %s %lu", dcache_result_name((enum dcache_result)i), results[i]);
        }
    }
    (void)printf("\n");
    /* Every rule must have been reached, or the mutations are too weak to show anything. */
    for (int i = DCACHE_BAD_LENGTH; i < DCACHE_RESULT_COUNT && count >= 100000; i++) {
        if (results[i] == 0) {
            fail("a rule of the format was never broken");
        }
    }
    return accepted >= seeds ? EXIT_SUCCESS : EXIT_FAILURE;
}
#endif
