/* SPDX-License-Identifier: MIT */
/*
 * Compiling kernel source to a gfx950 code object.  Providers are rows of a
 * table of function pointers, one file each:
 *   comgr    amd_comgr in this process
 *   hiprtc   hiprtc in this process
 *   worker   either of them in a helper process (mxgemm-cc)
 * doc/adding-a-provider.md tells how to add one.
 */
#ifndef MXG_COMPILER_H
#define MXG_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log.h"
#include "mem.h"
#include "mxgemm.h"

/* Where things are; texts are borrowed and outlive the compiler.  NULL or "" = not set. */
struct compiler_config {
    const char *choice;      /* auto, comgr, hiprtc, worker, worker:comgr, worker:hiprtc */
    const char *rocm_path;   /* folder of an installed ROCm */
    const char *rocm_prefix; /* folder made by tools/rocm-prefix: holds mxgemm-rocm.conf */
    const char *worker_path; /* the helper program */
    uint64_t timeout_ms;     /* worker: longest wait for one answer */
    const struct mem *mem;
    const struct log *log;
};

struct compile_request {
    const char *name;        /* kernel name, for messages */
    const char *arch;        /* as the device says it: "gfx950:sramecc+:xnack-" */
    const char *source;      /* complete and freestanding; no includes */
    size_t source_size;      /* without terminator; source[source_size] == 0 */
    const char *const *options; /* compiler options, the same text for every provider */
    size_t num_options;
};

struct compile_result {
    void *code;              /* the code object (AMDGPU ELF); owned by the caller, mem_free */
    size_t code_size;
    char *log;               /* the compiler's messages, "" if none; owned by the caller */
};

struct compiler;

/*
 * One provider.  `self` is what open returned.  Threads: compile may be called
 * from any, concurrently.
 */
struct compiler_ops {
    const char *name;
    /* then an -mllvm option is refused: LLVM exits the process on one it does not know */
    bool runs_in_host;
    /*
     * Open libraries or find the helper.  E_NO_COMPILER with a sentence that
     * names what is missing.
     */
    mxg_status (*open)(const struct compiler_config *config, const char *argument, void **self);
    /*
     * Name, full version and identity: whatever changes the machine code it
     * makes (a cache key field).
     */
    const char *(*identity)(const void *self);
    /*
     * E_COMPILE has the compiler's log in the detail text.  Blocks; no lock of
     * the caller is held.
     */
    mxg_status (*compile)(void *self, const struct compile_request *request,
                          struct compile_result *result);
    uint64_t (*restarts)(const void *self); /* NULL = never restarts */
    void (*close)(void *self);
};

extern const struct compiler_ops compiler_comgr_ops;
extern const struct compiler_ops compiler_hiprtc_ops;
extern const struct compiler_ops compiler_worker_ops;

/* E_OPTION unless `name` is auto, NULL, "" or a row of the table of choices. */
mxg_status compiler_check_choice(const char *name);

/*
 * Open the provider that config->choice names; for `auto` the first of comgr,
 * hiprtc, worker that opens, and log at info level which and why.  A worker's
 * helper process is not started yet.
 * Returns OK, E_OPTION (unknown choice), E_NO_COMPILER, E_HOST_MEMORY, E_WORKER.
 */
mxg_status compiler_open(const struct compiler_config *config, struct compiler **compiler);
void compiler_close(struct compiler *compiler);
const char *compiler_name(const struct compiler *compiler);     /* "worker:comgr" */
/* Also covers the AMD_COMGR_* and HIPRTC_* variables that change what compiles yield. */
const char *compiler_identity(const struct compiler *compiler);
uint64_t compiler_restarts(const struct compiler *compiler);
mxg_status compiler_compile(struct compiler *compiler, const struct compile_request *request,
                            struct compile_result *result);
void compile_result_free(const struct mem *mem, struct compile_result *result);

#endif
