/* SPDX-License-Identifier: MIT */
/*
 * The entry format: encode, decode, checksum.  Pure: no I/O, no allocation, no
 * state.  doc/cache-format.md gives the grammar.
 */
#ifndef MXG_DCACHE_FMT_H
#define MXG_DCACHE_FMT_H

#include "dcache.h"

#define DCACHE_FMT_VERSION 1u
#define DCACHE_FMT_HEADER_BYTES ((size_t)96)
/* Payloads begin at a multiple of this, counted from the start of the file. */
#define DCACHE_FMT_ALIGNMENT ((size_t)64)

/* What an entry is made of. */
struct dcache_fmt_parts {
    const unsigned char *digest;
    const unsigned char *echo;
    size_t echo_size;
    const struct dcache_pair *pairs;
    size_t pair_count;
    const void *payload;
    size_t payload_size;
};

/* Where things lie in a file.  The echo begins right after the header, metadata right after it.
 */
struct dcache_fmt_layout {
    size_t echo_size;
    size_t metadata_offset;
    size_t metadata_size;
    size_t pair_count;
    size_t payload_offset;
    size_t payload_size;
    size_t file_size;
};

/* XXH3-128 in its canonical (big-endian) byte order. */
void dcache_fmt_digest(const void *bytes, size_t size, unsigned char digest[DCACHE_KEY_BYTES]);

/* The layout of `parts`.  Returns OK, INVALID (a pair breaks a rule) or TOO_LARGE. */
enum dcache_result dcache_fmt_measure(const struct dcache_fmt_parts *parts,
                                      struct dcache_fmt_layout *layout);

/* Write layout->file_size bytes; `layout` is what dcache_fmt_measure gave. */
void dcache_fmt_encode(const struct dcache_fmt_parts *parts,
                       const struct dcache_fmt_layout *layout, unsigned char *file);

/* Put the checksum of file[0..size) into it; size is at least a header. */
void dcache_fmt_seal(unsigned char *file, size_t size);

/*
 * Check a header and its lengths against the size of the file; `have` bytes of
 * it are there.  Returns OK, BAD_LENGTH, BAD_MAGIC or BAD_VERSION.
 */
enum dcache_result dcache_fmt_decode_header(const unsigned char *file, size_t have,
                                            uint64_t file_size,
                                            struct dcache_fmt_layout *layout);

/* Check all of a file.  Returns OK or the BAD_ result of the first rule broken. */
enum dcache_result dcache_fmt_decode(const unsigned char *file, size_t size,
                                     struct dcache_fmt_layout *layout);

/*
 * Split metadata into layout's number of pairs that point into it: each '='
 * after a name becomes NUL.  Returns OK or BAD_METADATA.
 */
enum dcache_result dcache_fmt_split_pairs(unsigned char *metadata, size_t size,
                                          struct dcache_pair *pairs, size_t pair_count);

/* True if the decoded file is the entry of this digest and echo. */
bool dcache_fmt_is_of_key(const unsigned char *file, const struct dcache_fmt_layout *layout,
                          const unsigned char *digest, const unsigned char *echo,
                          size_t echo_size);

/* The digest in a decoded header. */
const unsigned char *dcache_fmt_digest_of(const unsigned char *file);

#endif
