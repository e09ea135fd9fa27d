/* SPDX-License-Identifier: MIT */
/*
 * The comgr provider: source to relocatable to executable through amd_comgr
 * in this process, freestanding source, no headers, no device libraries.  The
 * two actions are those that hiprtc takes, so that both make the same code.
 *
 * The declarations below are the part of amd_comgr's C interface 3 that is
 * used here (amd_comgr.h); the library is opened at run time.
 */
#include "compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler_library.h"
#include "dynlib.h"
#include "status.h"

struct comgr_handle {
    uint64_t handle;
};

enum {
    COMGR_SUCCESS = 0,
    COMGR_OUT_OF_RESOURCES = 3,
    COMGR_LANGUAGE_HIP = 3,
    COMGR_KIND_SOURCE = 1,
    COMGR_KIND_LOG = 5,
    COMGR_KIND_EXECUTABLE = 8,
    COMGR_LINK_RELOCATABLE_TO_EXECUTABLE = 7,
    COMGR_COMPILE_SOURCE_TO_RELOCATABLE = 13,
    COMGR_INTERFACE_MAJOR = 3
};

/* name, return type, arguments, optional */
#define COMGR_FUNCTION_MAP(XX)                                                                 \
    XX(get_version, void, (size_t *, size_t *), 0)                                             \
    XX(status_string, int, (int, const char **), 0)                                            \
    XX(create_data, int, (int, struct comgr_handle *), 0)                                      \
    XX(release_data, int, (struct comgr_handle), 0)                                            \
    XX(set_data, int, (struct comgr_handle, size_t, const char *), 0)                          \
    XX(set_data_name, int, (struct comgr_handle, const char *), 0)                             \
    XX(get_data, int, (struct comgr_handle, size_t *, char *), 0)                              \
    XX(create_data_set, int, (struct comgr_handle *), 0)                                       \
    XX(destroy_data_set, int, (struct comgr_handle), 0)                                        \
    XX(data_set_add, int, (struct comgr_handle, struct comgr_handle), 0)                       \
    XX(action_data_count, int, (struct comgr_handle, int, size_t *), 0)                        \
    XX(action_data_get_data, int, (struct comgr_handle, int, size_t, struct comgr_handle *),   \
       0)                                                                                      \
    XX(create_action_info, int, (struct comgr_handle *), 0)                                    \
    XX(destroy_action_info, int, (struct comgr_handle), 0)                                     \
    XX(action_info_set_isa_name, int, (struct comgr_handle, const char *), 0)                  \
    XX(action_info_set_language, int, (struct comgr_handle, int), 0)                           \
    XX(action_info_set_option_list, int, (struct comgr_handle, const char **, size_t), 0)      \
    XX(action_info_set_logging, int, (struct comgr_handle, bool), 0)                           \
    XX(do_action, int, (int, struct comgr_handle, struct comgr_handle, struct comgr_handle),   \
       0)                                                                                      \
    XX(action_info_set_vfs, int, (struct comgr_handle, bool), 1)                               \
    XX(get_cache_identifier, int, (const char **), 1)

struct comgr_api {
#define COMGR_MEMBER(name, type, args, optional) type (*name) args;
    COMGR_FUNCTION_MAP(COMGR_MEMBER)
#undef COMGR_MEMBER
};

static const struct dynlib_symbol comgr_symbols[] = {
#define COMGR_SYMBOL(name, type, args, optional) \
    { "amd_comgr_" #name, offsetof(struct comgr_api, name), optional },
    COMGR_FUNCTION_MAP(COMGR_SYMBOL)
#undef COMGR_SYMBOL
};

struct comgr {
    struct comgr_api api;
    const struct mem *mem;
    char identity[1024];
};

/* What one compile holds; a zero handle is "none". */
struct comgr_job {
    const struct comgr *comgr;
    const struct compile_request *request;
    struct comgr_handle source, input, relocatable, executable;
};

/*
 * Options of ours, in front of the caller's.  hiprtc's have the same effect on
 * the code.  A clang.cfg of the host's would change code unseen by any key.
 */
static const char *const comgr_options[] = { "--no-default-config", "-nogpuinc", "-nogpulib" };
#define NUM_COMGR_OPTIONS (sizeof comgr_options / sizeof comgr_options[0])

static mxg_status comgr_failed(const struct comgr *comgr, int code, const char *call)
{
    const char *text = NULL;
    if (comgr->api.status_string(code, &text) != COMGR_SUCCESS || text == NULL) {
        text = "unknown status";
    }
    return status_set(code == COMGR_OUT_OF_RESOURCES ? MXG_E_HOST_MEMORY : MXG_E_COMPILE,
                      "amd_comgr_%s failed: %s (%d)", call, text, code);
}

static mxg_status comgr_open(const struct compiler_config *config, const char *argument,
                             void **self)
{
    void *handle = NULL;
    size_t major = 0, minor = 0;
    *self = NULL;
    struct comgr *comgr = mem_zalloc(config->mem, 1, sizeof *comgr);
    if (comgr == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "out of host memory for the comgr provider");
    }
    comgr->mem = config->mem;
    mxg_status status =
        compiler_library_open(config, argument, compiler_comgr_sonames, &handle);
    if (status == MXG_OK) {
        status = dynlib_resolve(handle, "libamd_comgr", comgr_symbols,
                                sizeof comgr_symbols / sizeof comgr_symbols[0],
                                MXG_E_NO_COMPILER, &comgr->api);
    }
    if (status == MXG_OK) {
        comgr->api.get_version(&major, &minor);
        if (major != COMGR_INTERFACE_MAJOR) {
            status = status_set(MXG_E_NO_COMPILER,
                                "libamd_comgr has interface %zu.%zu, but %d.x is needed", major,
                                minor, COMGR_INTERFACE_MAJOR);
        }
    }
    if (status != MXG_OK) {
        /* Nothing of it has run but get_version, so it can still be unloaded. */
        dynlib_close(handle);
        mem_free(config->mem, comgr);
        return status;
    }
    char closure[768];
    const char *cache_id = NULL;
    void *symbol;
    memcpy(&symbol, &comgr->api.do_action, sizeof symbol);
    if (!dynlib_closure(symbol, closure, sizeof closure)) {
        snprintf(closure, sizeof closure, "unknown build");
    }
    if (comgr->api.get_cache_identifier != NULL &&
        comgr->api.get_cache_identifier(&cache_id) != COMGR_SUCCESS) {
        cache_id = NULL;
    }
    snprintf(comgr->identity, sizeof comgr->identity, "comgr %zu.%zu %s%s%s", major, minor,
             closure, cache_id != NULL ? " " : "", cache_id != NULL ? cache_id : "");
    *self = comgr;
    return MXG_OK;
}

static const char *comgr_identity(const void *self)
{
    return ((const struct comgr *)self)->identity;
}

static mxg_status add_source(struct comgr_job *job)
{
    const struct comgr_api *api = &job->comgr->api;
    char name[128];
    snprintf(name, sizeof name, "%.100s.hip", job->request->name);
    const char *call = "create_data";
    int code = api->create_data(COMGR_KIND_SOURCE, &job->source);
    if (code == COMGR_SUCCESS) {
        call = "set_data";
        code = api->set_data(job->source, job->request->source_size, job->request->source);
    }
    if (code == COMGR_SUCCESS) {
        call = "set_data_name";
        code = api->set_data_name(job->source, name);
    }
    if (code == COMGR_SUCCESS) {
        call = "create_data_set";
        code = api->create_data_set(&job->input);
    }
    if (code == COMGR_SUCCESS) {
        call = "data_set_add";
        code = api->data_set_add(job->input, job->source);
    }
    return code == COMGR_SUCCESS ? MXG_OK : comgr_failed(job->comgr, code, call);
}

/*
 * First data object of a kind, as an owned block with a terminator added; *data
 * NULL if there is none.
 */
static mxg_status take_data(const struct comgr *comgr, struct comgr_handle set, int kind,
                            char **data, size_t *size)
{
    struct comgr_handle object = { 0 };
    size_t count = 0, bytes = 0;
    *data = NULL;
    *size = 0;
    if (comgr->api.action_data_count(set, kind, &count) != COMGR_SUCCESS || count == 0) {
        return MXG_OK;
    }
    int code = comgr->api.action_data_get_data(set, kind, 0, &object);
    if (code != COMGR_SUCCESS) {
        return comgr_failed(comgr, code, "action_data_get_data");
    }
    mxg_status status = MXG_OK;
    char *block = NULL;
    code = comgr->api.get_data(object, &bytes, NULL);
    if (code == COMGR_SUCCESS) {
        block = bytes < SIZE_MAX ? mem_alloc(comgr->mem, bytes + 1) : NULL;
        if (block == NULL) {
            status = status_set(MXG_E_HOST_MEMORY, "out of host memory for %zu bytes of output",
                                bytes);
        } else {
            code = comgr->api.get_data(object, &bytes, block);
        }
    }
    if (code != COMGR_SUCCESS) {
        status = comgr_failed(comgr, code, "get_data");
    }
    comgr->api.release_data(object);
    if (status != MXG_OK) {
        mem_free(comgr->mem, block);
        return status;
    }
    block[bytes] = '\0';
    *data = block;
    *size = bytes;
    return MXG_OK;
}

/* Make the action's description: isa, language, options. */
static mxg_status describe_action(const struct comgr_job *job, const char **options,
                                  size_t count, struct comgr_handle *info)
{
    const struct comgr_api *api = &job->comgr->api;
    char isa[160];
    snprintf(isa, sizeof isa, "amdgcn-amd-amdhsa--%.128s", job->request->arch);
    const char *call = "create_action_info";
    int code = api->create_action_info(info);
    if (code == COMGR_SUCCESS) {
        code = api->action_info_set_isa_name(*info, isa);
        if (code != COMGR_SUCCESS) {
            return status_set(MXG_E_COMPILE, "this comgr does not know the architecture \"%s\"",
                              job->request->arch);
        }
        call = "action_info_set_language";
        code = api->action_info_set_language(*info, COMGR_LANGUAGE_HIP);
    }
    if (code == COMGR_SUCCESS) {
        call = "action_info_set_option_list";
        code = api->action_info_set_option_list(*info, options, count);
    }
    if (code == COMGR_SUCCESS) {
        call = "action_info_set_logging";
        code = api->action_info_set_logging(*info, true);
    }
    if (code == COMGR_SUCCESS && api->action_info_set_vfs != NULL) {
        /* No temporary files: quicker, and nothing is left behind by a killed process. */
        call = "action_info_set_vfs";
        code = api->action_info_set_vfs(*info, true);
    }
    return code == COMGR_SUCCESS ? MXG_OK : comgr_failed(job->comgr, code, call);
}

static mxg_status run_action(const struct comgr_job *job, int kind, const char **options,
                             size_t count, struct comgr_handle input,
                             struct comgr_handle *output)
{
    const struct comgr *comgr = job->comgr;
    struct comgr_handle info = { 0 };
    char *log = NULL;
    size_t log_size;
    mxg_status status = describe_action(job, options, count, &info);
    if (status == MXG_OK && comgr->api.create_data_set(output) != COMGR_SUCCESS) {
        status = status_set(MXG_E_HOST_MEMORY, "amd_comgr_create_data_set failed");
    }
    if (status == MXG_OK) {
        int code = comgr->api.do_action(kind, info, input, *output);
        if (code != COMGR_SUCCESS) {
            status = comgr_failed(comgr, code, "do_action");
            if (take_data(comgr, *output, COMGR_KIND_LOG, &log, &log_size) == MXG_OK &&
                log != NULL && log[0] != '\0') {
                status = status_set(status, "\"%s\" does not compile:\n%s", job->request->name,
                                    log);
            }
            mem_free(comgr->mem, log);
        }
    }
    if (info.handle != 0) {
        comgr->api.destroy_action_info(info);
    }
    return status;
}

/*
 * comgr has a cache of its own, on unless AMD_COMGR_CACHE is "0", that hands
 * out damaged entries unseen.  The host's environment is not ours to change,
 * so requests are made that it cannot answer: it does not keep a compile with
 * an option about profiles, and no link has been seen with a new -rpath-link,
 * which the linker ignores.  Neither changes a byte of the result.
 */
static bool comgr_cache_is_on(void)
{
    const char *value = getenv("AMD_COMGR_CACHE");
    return value == NULL || strcmp(value, "0") != 0;
}

static const char *const uncached_options[] = { "-Xclang", "-fprofile-update=single" };
#define NUM_UNCACHED_OPTIONS (sizeof uncached_options / sizeof uncached_options[0])

static mxg_status compile_source(struct comgr_job *job)
{
    const struct compile_request *request = job->request;
    size_t count = 0;
    const char **options = mem_zalloc(
        job->comgr->mem, NUM_COMGR_OPTIONS + NUM_UNCACHED_OPTIONS + request->num_options,
        sizeof *options);
    if (options == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "out of host memory for %zu compiler options",
                          request->num_options);
    }
    for (size_t i = 0; i < NUM_COMGR_OPTIONS; i++) {
        options[count++] = comgr_options[i];
    }
    for (size_t i = 0; i < NUM_UNCACHED_OPTIONS && comgr_cache_is_on(); i++) {
        options[count++] = uncached_options[i];
    }
    for (size_t i = 0; i < request->num_options; i++) {
        options[count++] = request->options[i];
    }
    mxg_status status = run_action(job, COMGR_COMPILE_SOURCE_TO_RELOCATABLE, options, count,
                                   job->input, &job->relocatable);
    mem_free(job->comgr->mem, options);
    return status;
}

static mxg_status link_executable(struct comgr_job *job)
{
    static atomic_uint serial;
    char option[96];
    const char *options[] = { option };
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(option, sizeof option, "-Wl,-rpath-link=%ld-%u-%lld-%ld", (long)getpid(),
             atomic_fetch_add(&serial, 1), (long long)now.tv_sec, now.tv_nsec);
    return run_action(job, COMGR_LINK_RELOCATABLE_TO_EXECUTABLE, options,
                      comgr_cache_is_on() ? 1 : 0, job->relocatable, &job->executable);
}

static mxg_status take_result(const struct comgr_job *job, struct compile_result *result)
{
    const struct comgr *comgr = job->comgr;
    char *code = NULL, *log = NULL;
    size_t code_size = 0, log_size = 0;
    mxg_status status =
        take_data(comgr, job->executable, COMGR_KIND_EXECUTABLE, &code, &code_size);
    if (status == MXG_OK && code == NULL) {
        status = status_set(MXG_E_COMPILE, "comgr linked \"%s\" but gave no executable",
                            job->request->name);
    }
    if (status == MXG_OK) {
        status = take_data(comgr, job->relocatable, COMGR_KIND_LOG, &log, &log_size);
    }
    if (status == MXG_OK && log == NULL) {
        log = mem_strdup(comgr->mem, "");
        status = log != NULL ? MXG_OK : status_set(MXG_E_HOST_MEMORY, "out of host memory");
    }
    if (status != MXG_OK) {
        mem_free(comgr->mem, code);
        mem_free(comgr->mem, log);
        return status;
    }
    result->code = code;
    result->code_size = code_size;
    result->log = log;
    return MXG_OK;
}

static mxg_status comgr_compile(void *self, const struct compile_request *request,
                                struct compile_result *result)
{
    const struct comgr *comgr = self;
    struct comgr_job job = { comgr, request, { 0 }, { 0 }, { 0 }, { 0 } };
    memset(result, 0, sizeof *result);
    mxg_status status = add_source(&job);
    if (status == MXG_OK) {
        status = compile_source(&job);
    }
    if (status == MXG_OK) {
        status = link_executable(&job);
    }
    if (status == MXG_OK) {
        status = take_result(&job, result);
    }
    if (job.source.handle != 0) {
        comgr->api.release_data(job.source);
    }
    const struct comgr_handle sets[] = { job.input, job.relocatable, job.executable };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if (sets[i].handle != 0) {
            comgr->api.destroy_data_set(sets[i]);
        }
    }
    return status;
}

/*
 * The library stays mapped: LLVM has exit handlers and thread-local
 * destructors, and unloading it under a running host is not safe.
 */
static void comgr_close(void *self)
{
    struct comgr *comgr = self;
    if (comgr != NULL) {
        mem_free(comgr->mem, comgr);
    }
}

const struct compiler_ops compiler_comgr_ops = {
    "comgr", true, comgr_open, comgr_identity, comgr_compile, NULL, comgr_close,
};
