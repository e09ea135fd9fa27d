/* SPDX-License-Identifier: MIT */
/*
 * The hiprtc provider.  hiprtc opens libamd_comgr by itself and aborts the
 * process when it cannot, so comgr is opened here first: that makes sure that
 * it can, and its build is the part of the identity that matters
 * (hiprtcVersion is the same for every release).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "compiler.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler_library.h"
#include "dynlib.h"
#include "libfile.h"
#include "status.h"

enum {
    HIPRTC_SUCCESS = 0,
    HIPRTC_OUT_OF_MEMORY = 1
};

#define HIPRTC_FUNCTION_MAP(XX)                                                           \
    XX(CreateProgram, int, (void **, const char *, const char *, int, const char *const *, \
                            const char *const *))                                         \
    XX(DestroyProgram, int, (void **))                                                    \
    XX(CompileProgram, int, (void *, int, const char *const *))                           \
    XX(GetProgramLogSize, int, (void *, size_t *))                                        \
    XX(GetProgramLog, int, (void *, char *))                                              \
    XX(GetCodeSize, int, (void *, size_t *))                                              \
    XX(GetCode, int, (void *, char *))                                                    \
    XX(GetErrorString, const char *, (int))

struct hiprtc_api {
#define HIPRTC_MEMBER(name, type, args) type (*name) args;
    HIPRTC_FUNCTION_MAP(HIPRTC_MEMBER)
#undef HIPRTC_MEMBER
};

static const struct dynlib_symbol hiprtc_symbols[] = {
#define HIPRTC_SYMBOL(name, type, args)                                                        \
    { "hiprtc" #name, offsetof(struct hiprtc_api, name), 0 },
    HIPRTC_FUNCTION_MAP(HIPRTC_SYMBOL)
#undef HIPRTC_SYMBOL
};

struct hiprtc {
    struct hiprtc_api api;
    const struct mem *mem;
    void *comgr; /* opened by the comgr provider's row */
    char identity[1536];
};

/*
 * Options of ours, in front of the caller's: those of the comgr provider, but
 * for -nogpuinc, which hiprtc passes itself.  The source calls nothing of the
 * device libraries.
 */
static const char *const hiprtc_options[] = { "--no-default-config", "-nogpulib" };
#define NUM_HIPRTC_OPTIONS (sizeof hiprtc_options / sizeof hiprtc_options[0])

static mxg_status hiprtc_failed(const struct hiprtc *rtc, int code, const char *call)
{
    const char *text = rtc->api.GetErrorString(code);
    return status_set(code == HIPRTC_OUT_OF_MEMORY ? MXG_E_HOST_MEMORY : MXG_E_COMPILE,
                      "hiprtc%s failed: %s (%d)", call, text != NULL ? text : "unknown", code);
}

/* The comgr beside the hiprtc that was opened, else wherever comgr is looked for. */
static mxg_status open_comgr(const struct compiler_config *config, const char *hiprtc_path,
                             struct hiprtc *rtc)
{
    char path[COMPILER_PATH_SIZE];
    const char *slash = strrchr(hiprtc_path, '/');
    const char *beside = NULL;
    if (slash != NULL) {
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - hiprtc_path), hiprtc_path,
                         compiler_comgr_sonames[0]);
        beside = n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0 ? path : NULL;
    }
    mxg_status status = compiler_comgr_ops.open(config, beside, &rtc->comgr);
    return status == MXG_OK ? MXG_OK : status_prefix(status, "hiprtc needs comgr: ");
}

static void hiprtc_close(void *self)
{
    struct hiprtc *rtc = self;
    if (rtc != NULL) {
        compiler_comgr_ops.close(rtc->comgr);
        mem_free(rtc->mem, rtc);
    }
}

static mxg_status open_library(const struct compiler_config *config, const char *argument,
                               struct hiprtc *rtc)
{
    void *handle = NULL;
    char path[COMPILER_PATH_SIZE], build_id[LIBFILE_BUILD_ID_SIZE], closure[256];
    mxg_status status =
        compiler_library_open(config, argument, compiler_hiprtc_sonames, &handle);
    if (status == MXG_OK) {
        status = dynlib_resolve(handle, "libhiprtc", hiprtc_symbols,
                                sizeof hiprtc_symbols / sizeof hiprtc_symbols[0],
                                MXG_E_NO_COMPILER, &rtc->api);
    }
    if (status == MXG_OK) {
        void *symbol;
        memcpy(&symbol, &rtc->api.CreateProgram, sizeof symbol);
        dynlib_identity(symbol, path, sizeof path, build_id, sizeof build_id);
        if (!dynlib_closure(symbol, closure, sizeof closure)) {
            snprintf(closure, sizeof closure, "unknown build");
        }
        /* An hiprtc that asks for another comgr than ours would abort in its first call. */
        if (!libfile_contains(path, compiler_comgr_sonames[0])) {
            status = status_set(MXG_E_NO_COMPILER, "%s does not use %s", path,
                                compiler_comgr_sonames[0]);
        }
    }
    if (status == MXG_OK) {
        status = open_comgr(config, path, rtc);
    }
    if (status != MXG_OK) {
        /* Nothing of it has run yet; once it has, it stays mapped as comgr does. */
        dynlib_close(handle);
        return status;
    }
    snprintf(rtc->identity, sizeof rtc->identity, "hiprtc %s; %s", closure,
             compiler_comgr_ops.identity(rtc->comgr));
    return MXG_OK;
}

static mxg_status hiprtc_open(const struct compiler_config *config, const char *argument,
                              void **self)
{
    *self = NULL;
    struct hiprtc *rtc = mem_zalloc(config->mem, 1, sizeof *rtc);
    if (rtc == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "out of host memory for the hiprtc provider");
    }
    rtc->mem = config->mem;
    mxg_status status = open_library(config, argument, rtc);
    if (status != MXG_OK) {
        hiprtc_close(rtc);
        return status;
    }
    *self = rtc;
    return MXG_OK;
}

static const char *hiprtc_identity(const void *self)
{
    return ((const struct hiprtc *)self)->identity;
}

/* The log as owned text, "" if hiprtc has none; NULL when out of memory. */
static char *take_log(const struct hiprtc *rtc, void *program)
{
    size_t size = 0;
    if (rtc->api.GetProgramLogSize(program, &size) != HIPRTC_SUCCESS || size == SIZE_MAX) {
        size = 0;
    }
    char *log = mem_zalloc(rtc->mem, size + 1, 1);
    if (log != NULL && size > 0 && rtc->api.GetProgramLog(program, log) != HIPRTC_SUCCESS) {
        log[0] = '\0';
    }
    return log;
}

static mxg_status run_compile(const struct hiprtc *rtc, const struct compile_request *request,
                              void *program)
{
    char arch[160];
    snprintf(arch, sizeof arch, "--offload-arch=%.128s", request->arch);
    size_t count = 1 + NUM_HIPRTC_OPTIONS + request->num_options;
    const char **options =
        count < INT32_MAX ? mem_zalloc(rtc->mem, count, sizeof *options) : NULL;
    if (options == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "out of host memory for %zu compiler options",
                          count);
    }
    options[0] = arch;
    memcpy(options + 1, hiprtc_options, sizeof hiprtc_options);
    if (request->num_options > 0) {
        memcpy(options + 1 + NUM_HIPRTC_OPTIONS, request->options,
               request->num_options * sizeof *options);
    }
    int code = rtc->api.CompileProgram(program, (int)count, options);
    mem_free(rtc->mem, options);
    if (code == HIPRTC_SUCCESS) {
        return MXG_OK;
    }
    mxg_status status = hiprtc_failed(rtc, code, "CompileProgram");
    status_prefix(status, "\"%s\" for %s: ", request->name, request->arch);
    char *log = take_log(rtc, program);
    if (log != NULL && log[0] != '\0') {
        status = status_set(status, "\"%s\" does not compile:\n%s", request->name, log);
    }
    mem_free(rtc->mem, log);
    return status;
}

static mxg_status take_code(const struct hiprtc *rtc, void *program,
                            struct compile_result *result)
{
    size_t size = 0;
    int code = rtc->api.GetCodeSize(program, &size);
    if (code != HIPRTC_SUCCESS) {
        return hiprtc_failed(rtc, code, "GetCodeSize");
    }
    char *bytes = mem_alloc(rtc->mem, size);
    char *log = take_log(rtc, program);
    mxg_status status = MXG_OK;
    if (bytes == NULL || log == NULL) {
        status =
            status_set(MXG_E_HOST_MEMORY, "out of host memory for %zu bytes of code", size);
    } else {
        code = rtc->api.GetCode(program, bytes);
        status = code == HIPRTC_SUCCESS ? MXG_OK : hiprtc_failed(rtc, code, "GetCode");
    }
    if (status != MXG_OK) {
        mem_free(rtc->mem, bytes);
        mem_free(rtc->mem, log);
        return status;
    }
    result->code = bytes;
    result->code_size = size;
    result->log = log;
    return MXG_OK;
}

static mxg_status hiprtc_compile(void *self, const struct compile_request *request,
                                 struct compile_result *result)
{
    const struct hiprtc *rtc = self;
    void *program = NULL;
    char name[128];
    memset(result, 0, sizeof *result);
    snprintf(name, sizeof name, "%.100s.hip", request->name);
    int code = rtc->api.CreateProgram(&program, request->source, name, 0, NULL, NULL);
    if (code != HIPRTC_SUCCESS) {
        return hiprtc_failed(rtc, code, "CreateProgram");
    }
    mxg_status status = run_compile(rtc, request, program);
    if (status == MXG_OK) {
        status = take_code(rtc, program, result);
    }
    rtc->api.DestroyProgram(&program);
    return status;
}

const struct compiler_ops compiler_hiprtc_ops = {
    "hiprtc", true, hiprtc_open, hiprtc_identity, hiprtc_compile, NULL, hiprtc_close,
};
