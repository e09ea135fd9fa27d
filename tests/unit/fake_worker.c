/* SPDX-License-Identifier: MIT */
/*
 * A helper process that misbehaves as MXG_FAKE_MODE says, for test_worker.
 * Its "machine code" is the source text with each byte inverted.  A counter
 * file, MXG_FAKE_COUNTER, lets it misbehave on its first start only.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mxgemm.h"
#include "worker_wire.h"

static const char *mode;

static bool is_mode(const char *name)
{
    return strcmp(mode, name) == 0;
}

static void crash(void)
{
    fprintf(stderr, "fake compiler: assertion failed\n");
    fflush(stderr);
    abort();
}

/* Starts so far, this one included. */
static long count_start(void)
{
    const char *path = getenv("MXG_FAKE_COUNTER");
    FILE *file = path != NULL ? fopen(path, "a+") : NULL;
    if (file == NULL) {
        return 1;
    }
    fputc('x', file);
    fflush(file);
    fseek(file, 0, SEEK_END);
    long count = ftell(file);
    fclose(file);
    return count;
}

static void send_raw(const void *bytes, size_t size)
{
    if (send(3, bytes, size, MSG_NOSIGNAL) != (ssize_t)size) {
        exit(9);
    }
}

static void say_hello(void)
{
    struct wire_writer w = { &mem_default, NULL, 0, 0, false };
    const char *identity = getenv("MXG_FAKE_IDENTITY");
    wire_put_u32(&w, is_mode("wrong-protocol") ? 99 : WIRE_PROTOCOL);
    wire_put_u32(&w, is_mode("hello-error") ? (uint32_t)MXG_E_NO_COMPILER : 0);
    wire_put_text(&w, identity != NULL ? identity : "fake 1.0");
    wire_put_text(&w, is_mode("hello-error") ? "libfake.so lacks everything" : "");
    size_t size = is_mode("hello-cut") ? w.size - 1 : w.size;
    wire_send(3, WIRE_HELLO, w.bytes, size, WIRE_NO_DEADLINE);
    wire_writer_free(&w);
}

/* Misbehave in mid-exchange; returns if the mode is not one of those. */
static void misbehave(long start)
{
    static const unsigned char huge[16] = { 'M', 'X', 'C', '1', 3, 0, 0, 0,
                                            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    static const unsigned char cut[16] = { 'M', 'X', 'C', '1', 3, 0, 0, 0,
                                           100, 0,   0,   0,   0, 0, 0, 0 };
    if (is_mode("crash") || (is_mode("crash-once") && start == 1)) {
        crash();
    } else if (is_mode("exit-3")) {
        exit(3);
    } else if (is_mode("hang") || (is_mode("hang-once") && start == 1)) {
        for (;;) {
            pause();
        }
    } else if (is_mode("garbage")) {
        send_raw("this is no message of the protocol", 34);
        pause();
    } else if (is_mode("huge-length")) {
        send_raw(huge, sizeof huge);
        pause();
    } else if (is_mode("cut-answer")) {
        send_raw(cut, sizeof cut);
        send_raw("only a few bytes", 16);
        exit(5);
    } else if (is_mode("noise")) {
        for (int i = 0; i < 1000; i++) {
            printf("the compiler prints to standard output %d\n", i);
        }
        fflush(stdout);
        fprintf(stderr, "and to standard error\n");
    }
}

static void answer(const uint8_t *payload, size_t size)
{
    struct wire_reader r = { payload, size, 0, false };
    struct wire_writer w = { &mem_default, NULL, 0, 0, false };
    size_t source_size;
    mem_free(&mem_default, wire_get_text(&r, &mem_default));
    mem_free(&mem_default, wire_get_text(&r, &mem_default));
    const uint8_t *source = wire_get_block(&r, &source_size);
    uint8_t *code = malloc(source_size + 1);
    if (code == NULL || source == NULL) {
        exit(6);
    }
    for (size_t i = 0; i < source_size; i++) {
        code[i] = (uint8_t)~source[i];
    }
    wire_put_u32(&w, is_mode("bad-status") ? 12345
                     : is_mode("compile-error") ? (uint32_t)MXG_E_COMPILE : 0);
    wire_put_text(&w, is_mode("compile-error") ? "kernel.hip:7:3: error: fake" : "");
    wire_put_text(&w, "a warning");
    wire_put_block(&w, code, is_mode("compile-error") ? 0 : source_size);
    if (is_mode("extra-bytes")) {
        wire_put_u32(&w, 0);
    }
    wire_send(3, WIRE_RESULT, w.bytes, w.size, WIRE_NO_DEADLINE);
    wire_writer_free(&w);
    free(code);
}

int main(void)
{
    const char *wanted = getenv("MXG_FAKE_MODE");
    mode = wanted != NULL ? wanted : "good";
    const long start = count_start();
    if (is_mode("crash-at-start")) {
        crash();
    } else if (is_mode("silent")) {
        pause();
    }
    say_hello();
    for (;;) {
        uint8_t *payload;
        size_t size;
        if (wire_receive(3, &mem_default, WIRE_COMPILE, &payload, &size, WIRE_NO_DEADLINE) !=
            WIRE_OK) {
            return 0;
        }
        misbehave(start);
        answer(payload, size);
        mem_free(&mem_default, payload);
    }
}
