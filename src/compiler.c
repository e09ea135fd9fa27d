/* SPDX-License-Identifier: MIT */
/* Choosing a provider, its full identity, and the entry for every compile. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "compiler.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "status.h"

#define REASON_SIZE 1024 /* why one provider was passed over */

struct compiler {
    const struct compiler_ops *ops;
    const struct mem *mem;
    void *provider;
    char *identity;
    char name[32];
};

/* One row a choice; `auto` tries those marked so, in this order. */
struct choice {
    const char *name;
    const struct compiler_ops *ops;
    const char *argument;
    const char *full_name;
    bool in_auto;
};

static const struct choice choices[] = {
    { "comgr", &compiler_comgr_ops, NULL, "comgr", true },
    { "hiprtc", &compiler_hiprtc_ops, NULL, "hiprtc", true },
    { "worker", &compiler_worker_ops, "comgr", "worker:comgr", true },
    { "worker:comgr", &compiler_worker_ops, "comgr", "worker:comgr", false },
    { "worker:hiprtc", &compiler_worker_ops, "hiprtc", "worker:hiprtc", false },
};
#define NUM_CHOICES (sizeof choices / sizeof choices[0])

/* ------------------------------------------------------------ environment */

/*
 * Variables that can change the machine code: all of comgr's and hiprtc's but
 * for those known to change only where logs and files go, and a few of the
 * compiler driver's.  A new one counts until it is known to be harmless.
 */
static bool starts_with(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

static bool changes_code(const char *variable)
{
    static const char *const heads[] = { "AMD_COMGR_", "HIPRTC_", "LLVM_PATH=",
                                         "GPU_ENABLE_WGP_MODE=", "HIP_DEVICE_LIB_PATH=",
                                         "CCC_OVERRIDE_OPTIONS=" };
    static const char *const harmless[] = {
        "AMD_COMGR_CACHE=", "AMD_COMGR_CACHE_DIR=", "AMD_COMGR_CACHE_POLICY=",
        "AMD_COMGR_SAVE_TEMPS=", "AMD_COMGR_SAVE_LLVM_TEMPS=", "AMD_COMGR_REDIRECT_LOGS=",
        "AMD_COMGR_EMIT_VERBOSE_LOGS=", "AMD_COMGR_TIME_STATISTICS",
    };
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        if (starts_with(variable, harmless[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (starts_with(variable, heads[i])) {
            return true;
        }
    }
    return false;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Name, the provider's own identity, then the variables in order of name; NULL
 * when out of memory.
 */
static char *make_identity(const struct compiler *compiler)
{
    const char *own = compiler->ops->identity(compiler->provider);
    size_t count = 0, kept = 0, size = strlen(compiler->name) + strlen(own) + 2;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    const char **variables = mem_zalloc(compiler->mem, count, sizeof *variables);
    if (variables == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count && environ[i] != NULL; i++) {
        if (changes_code(environ[i])) {
            variables[kept++] = environ[i];
            size += strlen(environ[i]) + 2;
        }
    }
    qsort(variables, kept, sizeof *variables, compare_texts);
    char *identity = mem_alloc(compiler->mem, size);
    if (identity != NULL) {
        int used = snprintf(identity, size, "%s %s", compiler->name, own);
        for (size_t i = 0; i < kept; i++) {
            used += snprintf(identity + used, size - (size_t)used, "; %s", variables[i]);
        }
    }
    mem_free(compiler->mem, variables);
    return identity;
}

/* ------------------------------------------------------------ open, close */

static mxg_status open_choice(const struct compiler_config *config, const struct choice *choice,
                              struct compiler *compiler)
{
    mxg_status status = choice->ops->open(config, choice->argument, &compiler->provider);
    if (status == MXG_OK) {
        compiler->ops = choice->ops;
        snprintf(compiler->name, sizeof compiler->name, "%s", choice->full_name);
    }
    return status;
}

static mxg_status open_auto(const struct compiler_config *config, struct compiler *compiler)
{
    char reasons[3 * REASON_SIZE] = "";
    for (size_t i = 0; i < NUM_CHOICES; i++) {
        if (!choices[i].in_auto) {
            continue;
        }
        mxg_status status = open_choice(config, &choices[i], compiler);
        if (status == MXG_OK) {
            log_info(config->log,
                     "compiler: %s, the first of comgr, hiprtc, worker that opens%s%s",
                     compiler->name, reasons[0] != '\0' ? "; passed over: " : "", reasons);
            return MXG_OK;
        }
        if (status == MXG_E_HOST_MEMORY) {
            return status;
        }
        size_t used = strlen(reasons);
        snprintf(reasons + used, sizeof reasons - used, "%s%s: %.*s", used > 0 ? "; " : "",
                 choices[i].full_name, REASON_SIZE - 64, mxg_last_error());
    }
    return status_set(MXG_E_NO_COMPILER, "no compiler opens: %s", reasons);
}

mxg_status compiler_check_choice(const char *name)
{
    if (name == NULL || name[0] == '\0' || strcmp(name, "auto") == 0) {
        return MXG_OK;
    }
    for (size_t i = 0; i < NUM_CHOICES; i++) {
        if (strcmp(name, choices[i].name) == 0) {
            return MXG_OK;
        }
    }
    return status_set(
        MXG_E_OPTION,
        "the compiler \"%.64s\" is none of auto, comgr, hiprtc, worker, worker:comgr, "
        "worker:hiprtc",
        name);
}

static mxg_status open_named(const struct compiler_config *config, const char *name,
                             struct compiler *compiler)
{
    for (size_t i = 0; i < NUM_CHOICES; i++) {
        if (strcmp(name, choices[i].name) == 0) {
            mxg_status status = open_choice(config, &choices[i], compiler);
            if (status == MXG_OK) {
                log_info(config->log, "compiler: %s, as asked for", compiler->name);
                return MXG_OK;
            }
            return status_prefix(status, "the compiler \"%s\" does not open: ", name);
        }
    }
    return compiler_check_choice(name);
}

mxg_status compiler_open(const struct compiler_config *config, struct compiler **compiler)
{
    const char *name =
        config->choice != NULL && config->choice[0] != '\0' ? config->choice : "auto";
    *compiler = NULL;
    struct compiler *c = mem_zalloc(config->mem, 1, sizeof *c);
    if (c == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "out of host memory for the compiler");
    }
    c->mem = config->mem;
    mxg_status status =
        strcmp(name, "auto") == 0 ? open_auto(config, c) : open_named(config, name, c);
    if (status == MXG_OK) {
        c->identity = make_identity(c);
        if (c->identity == NULL) {
            status =
                status_set(MXG_E_HOST_MEMORY, "out of host memory for the compiler's identity");
        }
    }
    if (status != MXG_OK) {
        compiler_close(c);
        return status;
    }
    log_debug(config->log, "compiler identity: %s", c->identity);
    *compiler = c;
    return MXG_OK;
}

void compiler_close(struct compiler *compiler)
{
    if (compiler == NULL) {
        return;
    }
    if (compiler->ops != NULL) {
        compiler->ops->close(compiler->provider);
    }
    mem_free(compiler->mem, compiler->identity);
    mem_free(compiler->mem, compiler);
}

const char *compiler_name(const struct compiler *compiler)
{
    return compiler->name;
}

const char *compiler_identity(const struct compiler *compiler)
{
    return compiler->identity;
}

uint64_t compiler_restarts(const struct compiler *compiler)
{
    return compiler->ops->restarts != NULL ? compiler->ops->restarts(compiler->provider) : 0;
}

/* ---------------------------------------------------------------- compile */

/* "gfx950:sramecc+:xnack-": it becomes part of an option, so nothing else is let through. */
static bool is_arch(const char *arch)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789:+-";
    size_t len = strlen(arch);
    return len > 0 && len < 128 && strspn(arch, allowed) == len;
}

mxg_status compiler_compile(struct compiler *compiler, const struct compile_request *request,
                            struct compile_result *result)
{
    memset(result, 0, sizeof *result);
    if (!is_arch(request->arch)) {
        return status_set(MXG_E_ARCH, "\"%.64s\" is not the name of an architecture",
                          request->arch);
    }
    for (size_t i = 0; compiler->ops->runs_in_host && i < request->num_options; i++) {
        if (strncmp(request->options[i], "-mllvm", 6) == 0) {
            return status_set(
                MXG_E_COMPILE,
                "\"%s\" asks for an -mllvm option, which %s in this process does not "
                "take: LLVM exits on one that it does not know",
                request->name, compiler->name);
        }
    }
    if (fault_hit(FAULT_COMPILE)) {
        return status_set(MXG_E_COMPILE, "injected fault while compiling \"%s\"",
                          request->name);
    }
    return compiler->ops->compile(compiler->provider, request, result);
}

void compile_result_free(const struct mem *mem, struct compile_result *result)
{
    mem_free(mem, result->code);
    mem_free(mem, result->log);
    memset(result, 0, sizeof *result);
}
