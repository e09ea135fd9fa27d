/* SPDX-License-Identifier: MIT */
/*
 * The messages between the library and its helper process mxgemm-cc, over a
 * stream socket.  Both ends are built from this file and run on one machine,
 * so numbers are in host order.
 *
 *   message  = magic u32, type u32, length u64, payload (length bytes)
 *   payload  = fields; a number is u32, a text or block is u64 length + bytes
 *
 *   HELLO    helper  protocol u32, status u32, identity text, detail text; first, unasked
 *   COMPILE  library name, arch, source, options u32 + that many texts
 *   RESULT   helper  status u32, detail text, log text, code block
 */
#ifndef MXG_WORKER_WIRE_H
#define MXG_WORKER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem.h"

#define WIRE_PROTOCOL 1u
#define WIRE_MAX_PAYLOAD ((uint64_t)256 << 20) /* far above any source or code object */
#define WIRE_NO_DEADLINE UINT64_MAX

enum wire_type {
    WIRE_HELLO = 1,
    WIRE_COMPILE = 2,
    WIRE_RESULT = 3
};

enum wire_status {
    WIRE_OK,
    WIRE_CLOSED,   /* the other end is gone */
    WIRE_TIMEOUT,
    WIRE_GARBAGE,  /* wrong magic, type or length */
    WIRE_MEMORY,
    WIRE_IO        /* errno tells */
};

/* A payload being written; `failed` sticks, so that only the end needs a check. */
struct wire_writer {
    const struct mem *mem;
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};

void wire_put_u32(struct wire_writer *writer, uint32_t value);
void wire_put_block(struct wire_writer *writer, const void *bytes, size_t size);
void wire_put_text(struct wire_writer *writer, const char *text);
void wire_writer_free(struct wire_writer *writer);

/* A payload being read; `failed` sticks, and failed reads give 0 and "". */
struct wire_reader {
    const uint8_t *bytes;
    size_t size, at;
    bool failed;
};

uint32_t wire_get_u32(struct wire_reader *reader);
/* Borrowed from the payload; not terminated. */
const uint8_t *wire_get_block(struct wire_reader *reader, size_t *size);
/*
 * An owned, terminated copy; NULL when out of memory or the field is malformed
 * (then `failed`).
 */
char *wire_get_text(struct wire_reader *reader, const struct mem *mem);
/* Every byte was read and nothing failed. */
bool wire_reader_done(const struct wire_reader *reader);

/*
 * `deadline` is CLOCK_MONOTONIC in nanoseconds, or WIRE_NO_DEADLINE.  The
 * socket may be blocking or not.  No signal is raised by a closed peer.
 */
enum wire_status wire_send(int fd, enum wire_type type, const void *payload, size_t size,
                           uint64_t deadline);
/* [out] payload: owned, mem_free; NULL unless WIRE_OK. */
enum wire_status wire_receive(int fd, const struct mem *mem, enum wire_type type,
                              uint8_t **payload, size_t *size, uint64_t deadline);

/* CLOCK_MONOTONIC now plus `ms`, saturating. */
uint64_t wire_deadline(uint64_t ms);

const char *wire_status_text(enum wire_status status);

#endif
