/* SPDX-License-Identifier: MIT */
/* The messages between the library and its helper process: fields, framing, deadlines. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "worker_wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define WIRE_MAGIC 0x3143584du /* "MXC1" */

struct wire_header {
    uint32_t magic, type;
    uint64_t length;
};

/* ----------------------------------------------------------------- fields */

static bool reserve(struct wire_writer *writer, size_t more)
{
    if (writer->failed || more > WIRE_MAX_PAYLOAD || writer->size > WIRE_MAX_PAYLOAD - more) {
        writer->failed = true;
        return false;
    }
    size_t need = writer->size + more;
    if (need <= writer->capacity) {
        return true;
    }
    size_t capacity = need + need / 2 + 256;
    uint8_t *bytes = mem_alloc(writer->mem, capacity);
    if (bytes == NULL) {
        writer->failed = true;
        return false;
    }
    if (writer->size > 0) {
        memcpy(bytes, writer->bytes, writer->size);
    }
    mem_free(writer->mem, writer->bytes);
    writer->bytes = bytes;
    writer->capacity = capacity;
    return true;
}

static void put_bytes(struct wire_writer *writer, const void *bytes, size_t size)
{
    if (reserve(writer, size) && size > 0) {
        memcpy(writer->bytes + writer->size, bytes, size);
        writer->size += size;
    }
}

void wire_put_u32(struct wire_writer *writer, uint32_t value)
{
    put_bytes(writer, &value, sizeof value);
}

void wire_put_block(struct wire_writer *writer, const void *bytes, size_t size)
{
    uint64_t length = size;
    put_bytes(writer, &length, sizeof length);
    put_bytes(writer, bytes, size);
}

void wire_put_text(struct wire_writer *writer, const char *text)
{
    wire_put_block(writer, text, strlen(text));
}

void wire_writer_free(struct wire_writer *writer)
{
    mem_free(writer->mem, writer->bytes);
    writer->bytes = NULL;
    writer->size = writer->capacity = 0;
}

static const uint8_t *take(struct wire_reader *reader, uint64_t size)
{
    if (reader->failed || size > reader->size - reader->at) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *bytes = reader->bytes + reader->at;
    reader->at += (size_t)size;
    return bytes;
}

uint32_t wire_get_u32(struct wire_reader *reader)
{
    uint32_t value = 0;
    const uint8_t *bytes = take(reader, sizeof value);
    if (bytes != NULL) {
        memcpy(&value, bytes, sizeof value);
    }
    return value;
}

const uint8_t *wire_get_block(struct wire_reader *reader, size_t *size)
{
    uint64_t length = 0;
    *size = 0;
    const uint8_t *bytes = take(reader, sizeof length);
    if (bytes == NULL) {
        return NULL;
    }
    memcpy(&length, bytes, sizeof length);
    bytes = take(reader, length);
    if (bytes != NULL) {
        *size = (size_t)length;
    }
    return bytes;
}

char *wire_get_text(struct wire_reader *reader, const struct mem *mem)
{
    size_t size;
    const uint8_t *bytes = wire_get_block(reader, &size);
    if (bytes == NULL) {
        return NULL;
    }
    char *text = mem_alloc(mem, size + 1);
    if (text != NULL) {
        memcpy(text, bytes, size);
        text[size] = '\0';
    }
    return text;
}

bool wire_reader_done(const struct wire_reader *reader)
{
    return !reader->failed && reader->at == reader->size;
}

/* ---------------------------------------------------------------- framing */

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t wire_deadline(uint64_t ms)
{
    uint64_t now = now_ns();
    return ms < (WIRE_NO_DEADLINE - now) / 1000000u ? now + ms * 1000000u : WIRE_NO_DEADLINE;
}

/* Wait until the socket is ready, the peer is gone (both WIRE_OK), or the deadline passes. */
static enum wire_status wait_ready(int fd, short events, uint64_t deadline)
{
    for (;;) {
        int timeout = -1;
        if (deadline != WIRE_NO_DEADLINE) {
            uint64_t now = now_ns();
            if (now >= deadline) {
                return WIRE_TIMEOUT;
            }
            uint64_t ms = (deadline - now + 999999u) / 1000000u;
            timeout = ms < 3600000u ? (int)ms : 3600000;
        }
        struct pollfd poller = { fd, events, 0 };
        int n = poll(&poller, 1, timeout);
        if (n > 0) {
            return WIRE_OK;
        }
        if (n < 0 && errno != EINTR && errno != EAGAIN) {
            return WIRE_IO;
        }
    }
}

static enum wire_status send_bytes(int fd, const void *bytes, size_t size, uint64_t deadline)
{
    const uint8_t *at = bytes;
    while (size > 0) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            enum wire_status status = wait_ready(fd, POLLOUT, deadline);
            if (status != WIRE_OK) {
                return status;
            }
        } else if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
            return WIRE_CLOSED;
        } else if (n < 0 && errno != EINTR) {
            return WIRE_IO;
        }
    }
    return WIRE_OK;
}

static enum wire_status receive_bytes(int fd, void *bytes, size_t size, uint64_t deadline)
{
    uint8_t *at = bytes;
    while (size > 0) {
        ssize_t n = recv(fd, at, size, MSG_DONTWAIT);
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        } else if (n == 0 || errno == ECONNRESET) {
            return WIRE_CLOSED;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            enum wire_status status = wait_ready(fd, POLLIN, deadline);
            if (status != WIRE_OK) {
                return status;
            }
        } else if (errno != EINTR) {
            return WIRE_IO;
        }
    }
    return WIRE_OK;
}

enum wire_status wire_send(int fd, enum wire_type type, const void *payload, size_t size,
                           uint64_t deadline)
{
    const struct wire_header header = { WIRE_MAGIC, (uint32_t)type, size };
    enum wire_status status = send_bytes(fd, &header, sizeof header, deadline);
    return status == WIRE_OK ? send_bytes(fd, payload, size, deadline) : status;
}

enum wire_status wire_receive(int fd, const struct mem *mem, enum wire_type type,
                              uint8_t **payload, size_t *size, uint64_t deadline)
{
    struct wire_header header;
    *payload = NULL;
    *size = 0;
    enum wire_status status = receive_bytes(fd, &header, sizeof header, deadline);
    if (status != WIRE_OK) {
        return status;
    }
    if (header.magic != WIRE_MAGIC || header.type != (uint32_t)type ||
        header.length > WIRE_MAX_PAYLOAD) {
        return WIRE_GARBAGE;
    }
    uint8_t *bytes = mem_alloc(mem, (size_t)header.length);
    if (bytes == NULL) {
        return WIRE_MEMORY;
    }
    status = receive_bytes(fd, bytes, (size_t)header.length, deadline);
    if (status != WIRE_OK) {
        mem_free(mem, bytes);
        return status;
    }
    *payload = bytes;
    *size = (size_t)header.length;
    return WIRE_OK;
}

const char *wire_status_text(enum wire_status status)
{
    static const char *const texts[] = {
        "no error", "it closed its connection", "it did not answer in time",
        "it sent a malformed message", "out of host memory", "the connection failed",
    };
    return texts[status];
}
