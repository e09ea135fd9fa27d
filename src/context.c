/* SPDX-License-Identifier: MIT */
/* Creating and destroying a context; the fork check; opening the compiler on first need. */
#include "context.h"

#include <string.h>

#include "disk.h"
#include "status.h"

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static atomic_uint process_number = 1;

static void in_forked_child(void)
{
    atomic_fetch_add(&process_number, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_forked_child);
}

unsigned context_process(void)
{
    return atomic_load_explicit(&process_number, memory_order_relaxed);
}

mxg_status context_check(const mxg_context *context)
{
    if (context == NULL) {
        return status_set(MXG_E_NULL, "context is NULL");
    }
    if (context->process != context_process()) {
        return status_set(MXG_E_FORKED,
                          "this context was created before fork; create one in the child");
    }
    return MXG_OK;
}

mxg_status context_compiler(mxg_context *context, struct compiler **compiler)
{
    *compiler = atomic_load(&context->compiler);
    if (*compiler != NULL) {
        return MXG_OK;
    }
    const struct compiler_config config = {
        .choice = context->settings.compiler,
        .rocm_path = context->settings.rocm_path,
        .rocm_prefix = context->settings.rocm_prefix,
        .worker_path = context->settings.worker_path,
        .timeout_ms = context->settings.compile_timeout_ms,
        .mem = &context->settings.mem,
        .log = &context->settings.log,
    };
    mxg_status status = MXG_OK;
    pthread_mutex_lock(&context->compiler_lock);
    *compiler = atomic_load(&context->compiler);
    if (*compiler == NULL) {
        status = compiler_open(&config, compiler);
        if (status == MXG_OK) {
            atomic_store(&context->compiler, *compiler);
        }
    }
    pthread_mutex_unlock(&context->compiler_lock);
    return status;
}

static mxg_status open_parts(mxg_context *c)
{
    mxg_status status = compiler_check_choice(c->settings.compiler);
    if (status == MXG_OK) {
        status = hiprt_open(c->settings.hip_library, c->settings.rocm_path, &c->hip);
    }
    if (status != MXG_OK) {
        return status;
    }
    int previous = 0;
    status = hiprt_device_facts(&c->hip, c->settings.device, &c->device);
    if (status == MXG_OK) {
        status = hiprt_enter(&c->hip, c->settings.device, &previous);
    }
    if (status != MXG_OK) {
        return status;
    }
    hiprt_leave(&c->hip, c->settings.device, previous);
    status = ktab_create(&c->settings.mem, &c->table);
    if (status == MXG_OK) {
        status = workspace_create(&c->settings.mem, &c->hip, &c->workspace);
    }
    if (status == MXG_OK) {
        status = disk_open(c);
    }
    return status;
}

mxg_status mxg_context_create(const mxg_context_options *options, mxg_context **context)
{
    struct settings settings;
    if (context == NULL) {
        return status_set(MXG_E_NULL, "context is NULL");
    }
    *context = NULL;
    pthread_once(&fork_once, watch_forks);
    mxg_status status = settings_read(options, &settings);
    if (status != MXG_OK) {
        return status;
    }
    mxg_context *c = mem_zalloc(&settings.mem, 1, sizeof *c);
    if (c == NULL) {
        settings_clear(&settings);
        return status_set(MXG_E_HOST_MEMORY, "no memory for a context");
    }
    c->settings = settings;
    c->process = context_process();
    pthread_mutex_init(&c->compiler_lock, NULL);
    status = open_parts(c);
    if (status != MXG_OK) {
        mxg_context_destroy(c);
        return status;
    }
    log_info(&c->settings.log, "device %d: %s, %u compute units, through %s",
             c->settings.device, c->device.arch, c->device.compute_units, c->hip.library);
    *context = c;
    return MXG_OK;
}

struct unloader {
    mxg_context *context;
    int is_child; /* of a fork: the device's objects are the parent's */
};

static void unload(struct kernel *kernel, void *user)
{
    const struct unloader *u = user;
    if (u->is_child) {
        kernel->module = NULL;
    }
    kernel_unload(&u->context->hip, &u->context->settings.mem, kernel);
}

void mxg_context_destroy(mxg_context *context)
{
    if (context == NULL) {
        return;
    }
    struct unloader u = { context, context->process != context_process() };
    struct compiler *compiler = atomic_load(&context->compiler);
    int previous = 0;
    bool is_current = false;
    if (!u.is_child && context->table != NULL) {
        is_current = hiprt_enter(&context->hip, context->settings.device, &previous) == MXG_OK;
        context->hip.hipDeviceSynchronize();
    }
    ktab_destroy(context->table, unload, &u);
    workspace_destroy(context->workspace, !u.is_child);
    if (is_current) {
        hiprt_leave(&context->hip, context->settings.device, previous);
    }
    if (!u.is_child) {
        compiler_close(compiler);
    }
    dcache_close(context->disk);
    if (!u.is_child) {
        hiprt_close(&context->hip);
    }
    pthread_mutex_destroy(&context->compiler_lock);
    struct settings settings = context->settings;
    mem_free(&settings.mem, context);
    settings_clear(&settings);
}
