/* SPDX-License-Identifier: MIT */
/*
 * The worker provider: comgr or hiprtc in a helper process, mxgemm-cc.  The
 * helper is started at the first compile and kept; with a ROCm prefix it runs
 * under the prefix's own dynamic loader.  A crash of the compiler is an error
 * text here, not the end of the host.
 */
#include "compiler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler_library.h"
#include "libfile.h"
#include "rocm_prefix.h"
#include "status.h"
#include "worker_process.h"
#include "worker_wire.h"

#define DEFAULT_TIMEOUT_MS 120000u
#define CRASH_GRACE_MS 2000 /* a helper that closed its socket is about to end */
#define TRIES 2             /* a crashed helper is started once more for the same request */

#ifndef MXG_LIBEXECDIR
#define MXG_LIBEXECDIR "/usr/libexec/mxgemm"
#endif

struct worker {
    const struct mem *mem;
    const struct log *log;
    uint64_t timeout_ms;
    char kind[16]; /* "comgr" or "hiprtc" */
    char program[COMPILER_PATH_SIZE];
    char library[COMPILER_PATH_SIZE]; /* "" = the helper looks for it */
    struct rocm_prefix prefix;        /* loader "" = started directly */
    /* what the helper's identity must hold; "" = nothing known */
    char closure[2][768];
    char identity[2048];              /* fixed at open; a cache key field */
    pthread_mutex_t lock;             /* held for a whole exchange: requests queue here */
    struct worker_process process;    /* Guarded by lock. */
    atomic_ullong starts;             /* of the helper; read without the lock */
};

/* ---------------------------------------------------------------- the plan */

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static bool copy_path(char *to, const char *from)
{
    int n = snprintf(to, COMPILER_PATH_SIZE, "%s", from);
    return n >= 0 && n < COMPILER_PATH_SIZE;
}

static mxg_status find_program(const struct compiler_config *config, struct worker *worker)
{
    const char *path =
        is_set(config->worker_path) ? config->worker_path : MXG_LIBEXECDIR "/mxgemm-cc";
    if (!copy_path(worker->program, path)) {
        return status_set(MXG_E_NO_COMPILER, "the helper's path \"%.64s...\" is too long",
                          path);
    }
    if (access(path, X_OK) != 0) {
        return status_set(MXG_E_NO_COMPILER,
                          "the helper program \"%s\" is not there or not executable", path);
    }
    return MXG_OK;
}

/*
 * From the prefix if one is set and usable, else from the installed ROCm, else
 * wherever the helper finds it.
 */
static mxg_status find_library(const struct compiler_config *config, struct worker *worker)
{
    const bool is_comgr = strcmp(worker->kind, "comgr") == 0;
    const char *const *sonames = is_comgr ? compiler_comgr_sonames : compiler_hiprtc_sonames;
    if (is_set(config->rocm_prefix)) {
        mxg_status status = rocm_prefix_read(config->rocm_prefix, &worker->prefix);
        if (status == MXG_OK) {
            const char *path = is_comgr ? worker->prefix.comgr : worker->prefix.hiprtc;
            if (access(worker->prefix.loader, X_OK) != 0) {
                status =
                    status_set(MXG_E_NO_COMPILER, "the ROCm prefix's loader \"%s\" is missing",
                               worker->prefix.loader);
            } else if (!is_set(path) || access(path, R_OK) != 0) {
                status = status_set(MXG_E_NO_COMPILER, "the ROCm prefix \"%s\" has no %s",
                                    config->rocm_prefix, worker->kind);
            } else {
                return copy_path(worker->library, path)
                           ? MXG_OK
                           : status_set(MXG_E_NO_COMPILER, "\"%.64s...\" is too long", path);
            }
        }
        memset(&worker->prefix, 0, sizeof worker->prefix);
        if (!compiler_library_find(config, sonames, worker->library, sizeof worker->library)) {
            worker->library[0] = '\0';
            return status;
        }
        return MXG_OK;
    }
    if (!compiler_library_find(config, sonames, worker->library, sizeof worker->library)) {
        worker->library[0] = '\0';
    }
    return MXG_OK;
}

/*
 * The compiler's build from its files, so that a program whose kernels are
 * all on disk never starts the helper.  false if the files do not tell.
 */
static bool identify_files(struct worker *worker)
{
    const char *dirs = is_set(worker->prefix.library_path) ? worker->prefix.library_path : NULL;
    char comgr[COMPILER_PATH_SIZE];
    if (!is_set(worker->library) || !libfile_closure(worker->library, dirs, worker->closure[0],
                                                     sizeof worker->closure[0])) {
        return false;
    }
    if (strcmp(worker->kind, "hiprtc") == 0) {
        const char *slash = strrchr(worker->library, '/');
        int n = snprintf(comgr, sizeof comgr, "%.*s/%s", (int)(slash - worker->library),
                         worker->library, compiler_comgr_sonames[0]);
        if (n < 0 || (size_t)n >= sizeof comgr ||
            !libfile_closure(comgr, dirs, worker->closure[1], sizeof worker->closure[1])) {
            return false;
        }
    }
    snprintf(worker->identity, sizeof worker->identity, "%s %s %s %s", worker->kind,
             worker->prefix.version, worker->closure[0], worker->closure[1]);
    return true;
}

/* -------------------------------------------------------------- the helper */

/* The helper is of no more use: end it, and tell how it ended. */
static mxg_status worker_lost(struct worker *worker, enum wire_status why, const char *when)
{
    char how[1280] = "";
    const int grace = why == WIRE_CLOSED ? CRASH_GRACE_MS : 0;
    worker_process_end(&worker->process, grace, how, sizeof how);
    if (why == WIRE_MEMORY) {
        return status_set(MXG_E_HOST_MEMORY, "out of host memory %s", when);
    }
    if (why == WIRE_TIMEOUT) {
        return status_set(
            MXG_E_WORKER,
            "the compiler's helper process was killed %s: no answer within %llu ms", when,
            (unsigned long long)worker->timeout_ms);
    }
    return status_set(MXG_E_WORKER, "the compiler's helper process failed %s: %s (%s)", when,
                      wire_status_text(why), how);
}

/* The helper must run the build that the identity was told for. */
static mxg_status check_identity(struct worker *worker, const char *identity)
{
    bool agrees;
    if (worker->identity[0] == '\0') {
        int n = snprintf(worker->identity, sizeof worker->identity, "%s", identity);
        agrees = n > 0 && (size_t)n < sizeof worker->identity;
    } else if (worker->closure[0][0] == '\0') {
        agrees = strcmp(identity, worker->identity) == 0;
    } else {
        agrees = strstr(identity, worker->closure[0]) != NULL &&
                 strstr(identity, worker->closure[1]) != NULL;
    }
    if (agrees) {
        return MXG_OK;
    }
    worker_process_end(&worker->process, 0, NULL, 0);
    return status_set(MXG_E_WORKER,
                      "the compiler changed while it was in use: \"%s\" was found, the helper "
                      "runs \"%s\"; create the context anew", worker->identity, identity);
}

static mxg_status read_hello(struct worker *worker, const uint8_t *payload, size_t size)
{
    struct wire_reader reader = { payload, size, 0, false };
    uint32_t protocol = wire_get_u32(&reader);
    mxg_status opened = (mxg_status)(int32_t)wire_get_u32(&reader);
    char *identity = wire_get_text(&reader, worker->mem);
    char *detail = wire_get_text(&reader, worker->mem);
    mxg_status status = MXG_OK;
    if (reader.failed || (protocol == WIRE_PROTOCOL && !wire_reader_done(&reader))) {
        status = worker_lost(worker, WIRE_GARBAGE, "at its start");
    } else if (identity == NULL || detail == NULL) {
        status = worker_lost(worker, WIRE_MEMORY, "at its start");
    } else if (protocol != WIRE_PROTOCOL) {
        worker_process_end(&worker->process, 0, NULL, 0);
        status = status_set(MXG_E_WORKER, "the helper %s speaks protocol %u, this library %u",
                            worker->program, protocol, WIRE_PROTOCOL);
    } else if (opened != MXG_OK) {
        worker_process_end(&worker->process, CRASH_GRACE_MS, NULL, 0);
        status = status_set(MXG_E_NO_COMPILER, "in the helper process: %s", detail);
    } else {
        status = check_identity(worker, identity);
    }
    mem_free(worker->mem, identity);
    mem_free(worker->mem, detail);
    return status;
}

static mxg_status start_helper(struct worker *worker)
{
    char *argv[8];
    /* The host's ld.so.cache names libraries of another C library. */
    char inhibit[] = "--inhibit-cache", option[] = "--library-path";
    size_t argc = 0;
    if (is_set(worker->prefix.loader)) {
        argv[argc++] = worker->prefix.loader;
        argv[argc++] = inhibit;
        argv[argc++] = option;
        argv[argc++] = worker->prefix.library_path;
    }
    argv[argc++] = worker->program;
    argv[argc++] = worker->kind;
    if (is_set(worker->library)) {
        argv[argc++] = worker->library;
    }
    argv[argc] = NULL;
    mxg_status status = worker_process_start(worker->mem, argv, &worker->process);
    if (status != MXG_OK) {
        return status;
    }
    atomic_fetch_add(&worker->starts, 1);
    uint8_t *payload = NULL;
    size_t size = 0;
    enum wire_status received =
        wire_receive(worker->process.fd, worker->mem, WIRE_HELLO, &payload, &size,
                     wire_deadline(worker->timeout_ms));
    if (received != WIRE_OK) {
        return worker_lost(worker, received, "at its start");
    }
    status = read_hello(worker, payload, size);
    mem_free(worker->mem, payload);
    return status;
}

/* ------------------------------------------------------------ the exchange */

static void write_request(struct wire_writer *writer, const struct compile_request *request)
{
    wire_put_text(writer, request->name);
    wire_put_text(writer, request->arch);
    wire_put_block(writer, request->source, request->source_size);
    wire_put_u32(writer, (uint32_t)request->num_options);
    for (size_t i = 0; i < request->num_options; i++) {
        wire_put_text(writer, request->options[i]);
    }
}

/* Take an answer apart.  *wire is WIRE_GARBAGE or WIRE_MEMORY if that does not work. */
static mxg_status read_answer(const struct mem *mem, const uint8_t *payload, size_t size,
                              struct compile_result *result, enum wire_status *wire)
{
    struct wire_reader reader = { payload, size, 0, false };
    size_t code_size = 0;
    mxg_status status = (mxg_status)(int32_t)wire_get_u32(&reader);
    char *detail = wire_get_text(&reader, mem);
    char *log = wire_get_text(&reader, mem);
    const uint8_t *code = wire_get_block(&reader, &code_size);
    void *copy = NULL;
    if (!wire_reader_done(&reader) || status > MXG_OK) {
        *wire = WIRE_GARBAGE;
    } else if (detail == NULL || log == NULL || (copy = mem_alloc(mem, code_size)) == NULL) {
        *wire = WIRE_MEMORY;
    } else if (status != MXG_OK) {
        status_set(status, "%s", detail);
    } else {
        if (code_size > 0) {
            memcpy(copy, code, code_size);
        }
        result->code = copy;
        result->code_size = code_size;
        result->log = log;
        copy = NULL;
        log = NULL;
    }
    mem_free(mem, copy);
    mem_free(mem, detail);
    mem_free(mem, log);
    return status;
}

/* One request to a running helper.  *wire tells whether the helper can go on. */
static mxg_status exchange(struct worker *worker, const struct wire_writer *writer,
                           struct compile_result *result, enum wire_status *wire)
{
    uint8_t *payload = NULL;
    size_t size = 0;
    const uint64_t deadline = wire_deadline(worker->timeout_ms);
    worker_process_forget_output(&worker->process);
    *wire = wire_send(worker->process.fd, WIRE_COMPILE, writer->bytes, writer->size, deadline);
    if (*wire == WIRE_OK) {
        *wire = wire_receive(worker->process.fd, worker->mem, WIRE_RESULT, &payload, &size,
                             deadline);
    }
    mxg_status status = MXG_E_WORKER;
    if (*wire == WIRE_OK) {
        status = read_answer(worker->mem, payload, size, result, wire);
    }
    mem_free(worker->mem, payload);
    return status;
}

/* [out] crash: what became of a helper that was replaced; it is logged without the lock. */
static mxg_status compile_locked(struct worker *worker, const struct wire_writer *writer,
                                 const char *name, struct compile_result *result, char *crash,
                                 size_t crash_size)
{
    char when[192];
    mxg_status status = MXG_OK;
    if (worker->process.pid != 0 && worker->process.owner != getpid()) {
        return status_set(MXG_E_FORKED, "the helper process belongs to process %ld",
                          (long)worker->process.owner);
    }
    snprintf(when, sizeof when, "while compiling \"%.128s\"", name);
    for (int i = 0; i < TRIES; i++) {
        enum wire_status wire = WIRE_OK;
        if (worker->process.pid == 0) {
            status = start_helper(worker);
            if (status != MXG_OK) {
                return status;
            }
        }
        status = exchange(worker, writer, result, &wire);
        if (wire == WIRE_OK) {
            return status;
        }
        status = worker_lost(worker, wire, when);
        snprintf(crash, crash_size, "%s", mxg_last_error());
        if (wire == WIRE_TIMEOUT || wire == WIRE_MEMORY) {
            return status;
        }
    }
    return status;
}

static mxg_status worker_compile(void *self, const struct compile_request *request,
                                 struct compile_result *result)
{
    struct worker *worker = self;
    struct wire_writer writer = { worker->mem, NULL, 0, 0, false };
    char crash[1600] = "";
    memset(result, 0, sizeof *result);
    if (request->source_size > WIRE_MAX_PAYLOAD / 2) {
        return status_set(
            MXG_E_COMPILE, "the source of \"%s\" has %zu bytes, over the limit of %llu",
            request->name, request->source_size, (unsigned long long)WIRE_MAX_PAYLOAD / 2);
    }
    write_request(&writer, request);
    if (writer.failed) {
        wire_writer_free(&writer);
        return status_set(MXG_E_HOST_MEMORY,
                          "out of host memory for the request to the helper");
    }
    pthread_mutex_lock(&worker->lock);
    mxg_status status =
        compile_locked(worker, &writer, request->name, result, crash, sizeof crash);
    pthread_mutex_unlock(&worker->lock);
    wire_writer_free(&writer);
    if (crash[0] != '\0') {
        log_warning(worker->log, "%s", crash);
    }
    return status;
}

/* ------------------------------------------------------------ open, close */

static void worker_close(void *self)
{
    struct worker *worker = self;
    if (worker == NULL) {
        return;
    }
    worker_process_end(&worker->process, 0, NULL, 0);
    pthread_mutex_destroy(&worker->lock);
    mem_free(worker->mem, worker);
}

static mxg_status worker_open(const struct compiler_config *config, const char *argument,
                              void **self)
{
    static const struct worker_process none = WORKER_PROCESS_NONE;
    *self = NULL;
    struct worker *worker = mem_zalloc(config->mem, 1, sizeof *worker);
    if (worker == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "out of host memory for the worker provider");
    }
    worker->mem = config->mem;
    worker->log = config->log;
    worker->timeout_ms = config->timeout_ms > 0 ? config->timeout_ms : DEFAULT_TIMEOUT_MS;
    worker->process = none;
    snprintf(worker->kind, sizeof worker->kind, "%s", is_set(argument) ? argument : "comgr");
    if (pthread_mutex_init(&worker->lock, NULL) != 0) {
        mem_free(config->mem, worker);
        return status_set(MXG_E_HOST_MEMORY, "no mutex for the worker provider");
    }
    mxg_status status = find_program(config, worker);
    if (status == MXG_OK) {
        status = find_library(config, worker);
    }
    if (status == MXG_OK && !identify_files(worker)) {
        memset(worker->closure, 0, sizeof worker->closure);
        worker->identity[0] = '\0';
        status = start_helper(worker);
    }
    if (status != MXG_OK) {
        worker_close(worker);
        return status;
    }
    *self = worker;
    return MXG_OK;
}

static const char *worker_identity(const void *self)
{
    return ((const struct worker *)self)->identity;
}

static uint64_t worker_restarts(const void *self)
{
    const struct worker *worker = self;
    const uint64_t starts = atomic_load(&worker->starts);
    return starts > 0 ? starts - 1 : 0;
}

const struct compiler_ops compiler_worker_ops = {
    "worker",       false,           worker_open,  worker_identity,
    worker_compile, worker_restarts, worker_close,
};
