/* SPDX-License-Identifier: MIT */
/* Public entry points for statistics, streams and device memory. */
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "disk.h"
#include "status.h"

mxg_status mxg_get_stats(mxg_context *context, mxg_stats *stats)
{
    mxg_status status = context_check(context);
    if (status == MXG_OK && stats == NULL) {
        status = status_set(MXG_E_NULL, "stats is NULL");
    }
    if (status == MXG_OK) {
        status = settings_check_size(stats, stats->struct_size, sizeof *stats, "mxg_stats");
    }
    if (status != MXG_OK) {
        return status;
    }
    const size_t struct_size = stats->struct_size;
    memset(stats, 0, sizeof *stats);
    stats->struct_size = struct_size;
    stats_snapshot(&context->stats, stats);
    disk_stats(context, stats);
    struct compiler *compiler = atomic_load(&context->compiler);
    if (compiler != NULL) {
        stats->worker_restarts = compiler_restarts(compiler);
        snprintf(stats->compiler, sizeof stats->compiler, "%s", compiler_identity(compiler));
    }
    return MXG_OK;
}

/* The common frame: check, make the device current, call HIP, go back. */
struct device_scope {
    mxg_context *context;
    int previous;
};

static mxg_status scope_enter(mxg_context *context, struct device_scope *scope)
{
    scope->context = context;
    scope->previous = 0;
    mxg_status status = context_check(context);
    if (status == MXG_OK) {
        status = hiprt_enter(&context->hip, context->settings.device, &scope->previous);
    }
    return status;
}

static mxg_status scope_leave(const struct device_scope *scope, int error, const char *call)
{
    const mxg_context *c = scope->context;
    mxg_status status =
        error == HIP_SUCCESS ? MXG_OK : hiprt_error(&c->hip, MXG_E_HIP, error, call);
    hiprt_leave(&c->hip, c->settings.device, scope->previous);
    return status;
}

mxg_status mxg_device_allocate(mxg_context *context, size_t bytes, void **pointer)
{
    struct device_scope scope;
    if (pointer == NULL) {
        return status_set(MXG_E_NULL, "pointer is NULL");
    }
    *pointer = NULL;
    mxg_status status = scope_enter(context, &scope);
    if (status != MXG_OK) {
        return status;
    }
    void *made = NULL;
    status = scope_leave(&scope, context->hip.hipMalloc(&made, bytes), "hipMalloc");
    if (status == MXG_OK) {
        *pointer = made;
        return MXG_OK;
    }
    return status_prefix(status, "%zu bytes: ", bytes);
}

mxg_status mxg_device_free(mxg_context *context, void *pointer)
{
    struct device_scope scope;
    mxg_status status = scope_enter(context, &scope);
    if (status != MXG_OK || pointer == NULL) {
        return status;
    }
    return scope_leave(&scope, context->hip.hipFree(pointer), "hipFree");
}

static mxg_status copy(mxg_context *context, void *dst, const void *src, size_t bytes, int kind)
{
    struct device_scope scope;
    if (bytes > 0 && (dst == NULL || src == NULL)) {
        return status_set(MXG_E_NULL, "%s is NULL", dst == NULL ? "dst" : "src");
    }
    mxg_status status = scope_enter(context, &scope);
    if (status != MXG_OK) {
        return status;
    }
    return scope_leave(&scope, context->hip.hipMemcpy(dst, src, bytes, kind), "hipMemcpy");
}

mxg_status mxg_copy_to_device(mxg_context *context, void *dst, const void *src, size_t bytes)
{
    return copy(context, dst, src, bytes, HIP_MEMCPY_HOST_TO_DEVICE);
}

mxg_status mxg_copy_to_host(mxg_context *context, void *dst, const void *src, size_t bytes)
{
    return copy(context, dst, src, bytes, HIP_MEMCPY_DEVICE_TO_HOST);
}

mxg_status mxg_stream_create(mxg_context *context, void **stream)
{
    struct device_scope scope;
    if (stream == NULL) {
        return status_set(MXG_E_NULL, "stream is NULL");
    }
    *stream = NULL;
    mxg_status status = scope_enter(context, &scope);
    if (status != MXG_OK) {
        return status;
    }
    void *made = NULL;
    const int error = context->hip.hipStreamCreateWithFlags(&made, HIP_STREAM_NON_BLOCKING);
    status = scope_leave(&scope, error, "hipStreamCreateWithFlags");
    if (status == MXG_OK) {
        *stream = made;
    }
    return status;
}

mxg_status mxg_stream_synchronize(mxg_context *context, void *stream)
{
    struct device_scope scope;
    mxg_status status = scope_enter(context, &scope);
    if (status != MXG_OK) {
        return status;
    }
    return scope_leave(&scope, context->hip.hipStreamSynchronize(stream),
                       "hipStreamSynchronize");
}

mxg_status mxg_stream_forget(mxg_context *context, void *stream)
{
    struct device_scope scope;
    mxg_status status = scope_enter(context, &scope);
    if (status != MXG_OK) {
        return status;
    }
    const int error = workspace_forget(context->workspace, stream);
    return scope_leave(&scope, error, "hipStreamSynchronize");
}

mxg_status mxg_stream_destroy(mxg_context *context, void *stream)
{
    struct device_scope scope;
    mxg_status status = mxg_stream_forget(context, stream);
    if (status != MXG_OK || stream == NULL) {
        return status;
    }
    status = scope_enter(context, &scope);
    if (status != MXG_OK) {
        return status;
    }
    return scope_leave(&scope, context->hip.hipStreamDestroy(stream), "hipStreamDestroy");
}
