/* SPDX-License-Identifier: MIT */
/*
 * mxgemm-cc: the helper process of the worker provider.
 *
 *     mxgemm-cc comgr|hiprtc [LIBRARY]
 *
 * It serves compile requests on file descriptor 3 until that is closed (see
 * src/worker_wire.h) and is started by the library, never by hand.  Standard
 * output and error are the library's capture file: the compiler may print
 * there without touching the protocol.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler.h"
#include "log.h"
#include "mem.h"
#include "mxgemm.h"
#include "scratch.h"
#include "status.h"
#include "worker_wire.h"

#define WIRE_FD 3
#define OPTIONS_MAX 4096

struct request {
    char *name, *arch, *source;
    char **options;
    uint32_t num_options;
};

/* Descriptors that the host did not mark close-on-exec are none of ours. */
static void close_inherited(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, WIRE_FD + 1, ~0u, 0) == 0) {
        return;
    }
#endif
    for (int fd = WIRE_FD + 1; fd < 4096; fd++) {
        close(fd);
    }
}

/* Our temporary folder; the library removes it too, but may have been killed. */
static char scratch[512];

static void leave(int code)
{
    scratch_remove(scratch);
    /* _exit: LLVM's exit handlers take milliseconds and free what the kernel frees anyway. */
    _exit(code);
}

/*
 * The main thread may be deep in a compile when the host dies; this one waits
 * for nothing but that.  PR_SET_PDEATHSIG is no substitute: it fires when the
 * thread that started this process ends, which in the host is any thread.
 */
static void *watch_host(void *unused)
{
    (void)unused;
    for (;;) {
        struct pollfd poller = { WIRE_FD, 0, 0 }; /* POLLHUP needs no asking */
        if (poll(&poller, 1, -1) > 0 && (poller.revents & (POLLHUP | POLLERR)) != 0) {
            leave(0);
        }
    }
    return NULL;
}

static void request_free(struct request *request)
{
    for (uint32_t i = 0; request->options != NULL && i < request->num_options; i++) {
        mem_free(&mem_default, request->options[i]);
    }
    mem_free(&mem_default, request->options);
    mem_free(&mem_default, request->name);
    mem_free(&mem_default, request->arch);
    mem_free(&mem_default, request->source);
    memset(request, 0, sizeof *request);
}

static bool read_request(const uint8_t *payload, size_t size, struct request *request,
                         size_t *source_size)
{
    struct wire_reader reader = { payload, size, 0, false };
    memset(request, 0, sizeof *request);
    request->name = wire_get_text(&reader, &mem_default);
    request->arch = wire_get_text(&reader, &mem_default);
    const size_t before = reader.at;
    request->source = wire_get_text(&reader, &mem_default);
    *source_size = reader.failed ? 0 : reader.at - before - sizeof(uint64_t);
    uint32_t count = wire_get_u32(&reader);
    if (reader.failed || count > OPTIONS_MAX || request->name == NULL ||
        request->arch == NULL || request->source == NULL) {
        return false;
    }
    request->options = mem_zalloc(&mem_default, count, sizeof *request->options);
    if (request->options == NULL) {
        return false;
    }
    for (; request->num_options < count; request->num_options++) {
        request->options[request->num_options] = wire_get_text(&reader, &mem_default);
        if (request->options[request->num_options] == NULL) {
            return false;
        }
    }
    return wire_reader_done(&reader);
}

static enum wire_status send_result(mxg_status status, const struct compile_result *result)
{
    struct wire_writer writer = { &mem_default, NULL, 0, 0, false };
    wire_put_u32(&writer, (uint32_t)status);
    wire_put_text(&writer, status == MXG_OK ? "" : mxg_last_error());
    wire_put_text(&writer, result->log != NULL ? result->log : "");
    wire_put_block(&writer, result->code, result->code_size);
    enum wire_status sent = WIRE_MEMORY;
    if (!writer.failed) {
        sent = wire_send(WIRE_FD, WIRE_RESULT, writer.bytes, writer.size, WIRE_NO_DEADLINE);
    }
    wire_writer_free(&writer);
    return sent;
}

/* Serve one request; anything but WIRE_OK ends the process. */
static enum wire_status serve(const struct compiler_ops *ops, void *provider)
{
    uint8_t *payload;
    size_t size, source_size;
    struct request request;
    struct compile_result result = { NULL, 0, NULL };
    enum wire_status status =
        wire_receive(WIRE_FD, &mem_default, WIRE_COMPILE, &payload, &size, WIRE_NO_DEADLINE);
    if (status != WIRE_OK) {
        return status;
    }
    if (read_request(payload, size, &request, &source_size)) {
        const struct compile_request compile = {
            request.name, request.arch, request.source, source_size,
            (const char *const *)request.options, request.num_options,
        };
        mxg_status compiled = ops->compile(provider, &compile, &result);
        status = send_result(compiled, &result);
    } else {
        status = WIRE_GARBAGE;
    }
    mem_free(&mem_default, result.code);
    mem_free(&mem_default, result.log);
    request_free(&request);
    mem_free(&mem_default, payload);
    return status;
}

static enum wire_status say_hello(mxg_status opened, const char *identity)
{
    struct wire_writer writer = { &mem_default, NULL, 0, 0, false };
    wire_put_u32(&writer, WIRE_PROTOCOL);
    wire_put_u32(&writer, (uint32_t)opened);
    wire_put_text(&writer, identity);
    wire_put_text(&writer, opened == MXG_OK ? "" : mxg_last_error());
    enum wire_status sent = WIRE_MEMORY;
    if (!writer.failed) {
        sent = wire_send(WIRE_FD, WIRE_HELLO, writer.bytes, writer.size, WIRE_NO_DEADLINE);
    }
    wire_writer_free(&writer);
    return sent;
}

int main(int argc, char **argv)
{
    static const struct log quiet = { 0, NULL, NULL };
    static const struct compiler_ops *const rows[] = { &compiler_comgr_ops,
                                                       &compiler_hiprtc_ops };
    const struct compiler_ops *ops = NULL;
    for (size_t i = 0; argc >= 2 && i < sizeof rows / sizeof rows[0]; i++) {
        ops = strcmp(argv[1], rows[i]->name) == 0 ? rows[i] : ops;
    }
    struct stat st;
    if (ops == NULL || argc > 3 || fstat(WIRE_FD, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        fprintf(stderr,
                "mxgemm-cc is the compiler process of libmxgemm, which starts it; "
                "usage: mxgemm-cc comgr|hiprtc [LIBRARY], with a socket on descriptor 3\n");
        return 2;
    }
    close_inherited();
    /*
     * The library's own cache verifies its entries; comgr's does not, and is off
     * unless asked for.
     */
    setenv("AMD_COMGR_CACHE", "0", 0);
    const char *folder = secure_getenv(SCRATCH_VARIABLE);
    if (folder != NULL && strlen(folder) < sizeof scratch) {
        memcpy(scratch, folder, strlen(folder) + 1);
        setenv("TMPDIR", scratch, 1);
    }
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch_host, NULL) != 0) {
        return 3;
    }
    const struct compiler_config config = {
        NULL, secure_getenv("ROCM_PATH"), NULL, NULL, 0, &mem_default, &quiet,
    };
    void *provider = NULL;
    mxg_status opened = ops->open(&config, argc == 3 ? argv[2] : NULL, &provider);
    enum wire_status status =
        say_hello(opened, opened == MXG_OK ? ops->identity(provider) : "");
    while (opened == MXG_OK && status == WIRE_OK) {
        status = serve(ops, provider);
    }
    leave(opened == MXG_OK && status == WIRE_CLOSED ? 0 : 4);
}
