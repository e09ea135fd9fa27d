/* SPDX-License-Identifier: MIT */
/* Public entry points around a product: each checks its arguments and calls one module. */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "context.h"
#include "kernel.h"
#include "resolve.h"
#include "status.h"

/*
 * A borrowed buffer: the caller's workspace, or the stream's, with the right to enqueue on
 * it.
 */
struct scratch {
    unsigned char *pointer;
    size_t scale_offset;
    void *lease; /* NULL = the caller's, or none needed */
};

static mxg_status take_scratch(mxg_context *context, const struct ready_plan *plan,
                               const struct gemm_call *call, void *stream,
                               struct scratch *scratch)
{
    size_t bytes = 0;
    void *pointer = NULL;
    memset(scratch, 0, sizeof *scratch);
    mxg_status status =
        select_workspace(&plan->plan, &call->shape, &bytes, &scratch->scale_offset);
    if (status != MXG_OK || bytes == 0) {
        return status;
    }
    if (call->workspace != NULL) {
        if (call->workspace_size < bytes) {
            return status_set(MXG_E_WORKSPACE,
                              "workspace_size is %zu; this call needs %zu bytes",
                              call->workspace_size, bytes);
        }
        scratch->pointer = call->workspace;
        return MXG_OK;
    }
    status = workspace_acquire(context->workspace, stream, bytes, &pointer, &scratch->lease);
    scratch->pointer = pointer;
    return status;
}

static mxg_status launch_plan(mxg_context *context, const struct ready_plan *plan,
                              const struct gemm_call *call, const struct scratch *scratch,
                              void *stream)
{
    struct kernel_operands operands = {
        .a = call->a,
        .a_scale = call->a_scale,
        .b = call->b,
        .b_scale = call->b_scale,
        .c = call->c,
        .m = call->shape.m,
        .lda = call->lda,
        .ldb = call->ldb,
        .ldc = call->ldc,
    };
    if (scratch->pointer != NULL) {
        operands.q = scratch->pointer;
        operands.q_scale = scratch->pointer + scratch->scale_offset;
    }
    for (uint32_t i = 0; i < plan->plan.num_kernels; i++) {
        mxg_status status = kernel_launch(&context->hip, plan->kernels[i], &operands, stream);
        if (status != MXG_OK) {
            return status;
        }
        stats_count(&context->stats, STATS_LAUNCHES);
        if (plan->kernels[i]->config.family == FAMILY_QUANTIZE) {
            /* What follows multiplies the quantised A, which is dense. */
            operands.a = operands.q;
            operands.a_scale = operands.q_scale;
            operands.lda = call->shape.k;
        }
    }
    return MXG_OK;
}

typedef mxg_status check_function(const mxg_gemm_args *args, struct gemm_call *call);

/*
 * What launching and preparing share: check, make the device current, find or build the
 * kernels.  On OK the caller goes back to `*previous`; on failure that has been done.
 */
static mxg_status enter_call(mxg_context *context, const mxg_gemm_args *args,
                             check_function *check, struct gemm_call *call,
                             const struct ready_plan **plan, int *previous)
{
    mxg_status status = context_check(context);
    if (status == MXG_OK) {
        status = check(args, call);
    }
    if (status == MXG_OK) {
        status = hiprt_enter(&context->hip, context->settings.device, previous);
    }
    if (status != MXG_OK) {
        return status;
    }
    stats_count(&context->stats, STATS_CALLS);
    status = resolve_plan(context, &call->shape, plan);
    if (status != MXG_OK) {
        hiprt_leave(&context->hip, context->settings.device, *previous);
    }
    return status;
}

mxg_status mxg_gemm(mxg_context *context, const mxg_gemm_args *args, void *stream)
{
    struct gemm_call call;
    const struct ready_plan *plan = NULL;
    struct scratch scratch;
    int previous = 0;
    mxg_status status = enter_call(context, args, arguments_check, &call, &plan, &previous);
    if (status != MXG_OK) {
        return status;
    }
    const uint64_t start = stats_now();
    status = take_scratch(context, plan, &call, stream, &scratch);
    if (status == MXG_OK) {
        status = launch_plan(context, plan, &call, &scratch, stream);
        if (scratch.lease != NULL) {
            workspace_release(context->workspace, scratch.lease);
        }
    }
    stats_stage_end(&context->stats, MXG_STAGE_LAUNCH, start);
    hiprt_leave(&context->hip, context->settings.device, previous);
    return status;
}

mxg_status mxg_prepare(mxg_context *context, const mxg_gemm_args *args)
{
    struct gemm_call call;
    const struct ready_plan *plan = NULL;
    int previous = 0;
    const mxg_status status =
        enter_call(context, args, arguments_check_shape, &call, &plan, &previous);
    if (status == MXG_OK) {
        hiprt_leave(&context->hip, context->settings.device, previous);
    }
    return status;
}

mxg_status mxg_workspace_size(mxg_context *context, const mxg_gemm_args *args, size_t *bytes)
{
    struct gemm_call call;
    struct select_plan plan;
    size_t scale_offset = 0;
    mxg_status status = context_check(context);
    if (status == MXG_OK && bytes == NULL) {
        status = status_set(MXG_E_NULL, "bytes is NULL");
    }
    if (status != MXG_OK) {
        return status;
    }
    *bytes = 0;
    status = arguments_check_shape(args, &call);
    if (status == MXG_OK) {
        status = select_choose(&context->device, &call.shape, &plan);
    }
    if (status == MXG_OK) {
        status = select_workspace(&plan, &call.shape, bytes, &scale_offset);
    }
    return status;
}

mxg_status mxg_forget_failures(mxg_context *context)
{
    mxg_status status = context_check(context);
    if (status == MXG_OK) {
        ktab_forget_failures(context->table);
    }
    return status;
}

/* What is known of a kernel before it is loaded, and its figures once it is. */
static mxg_status describe(mxg_context *context, const struct kernel_config *config, int64_t m,
                           mxg_kernel_info *info)
{
    struct kernel_geometry g;
    kernel_config_name(config, info->name, sizeof info->name);
    mxg_status status = kernel_config_geometry(config, m, &g);
    if (status != MXG_OK) {
        return status;
    }
    info->threads = g.threads;
    info->workgroups = (uint64_t)g.grid[0] * g.grid[1] * g.grid[2];
    const struct kernel *kernel = ktab_peek(context->table, config);
    if (kernel == NULL) {
        return MXG_OK;
    }
    const struct codeobj_kernel *f = &kernel->figures;
    snprintf(info->provider, sizeof info->provider, "%s", kernel->provider);
    info->source = kernel->source;
    info->vgprs = f->vgprs;
    info->agprs = f->agprs;
    info->sgprs = f->sgprs;
    info->vgpr_spills = f->vgpr_spills;
    info->sgpr_spills = f->sgpr_spills;
    info->scratch_bytes = f->scratch_bytes;
    info->lds_bytes = f->lds_bytes + g.dynamic_lds;
    info->code_bytes = f->code_bytes;
    info->waves_per_cu = select_waves_per_cu(f->vgprs, info->lds_bytes, g.threads);
    return MXG_OK;
}

mxg_status mxg_explain(mxg_context *context, const mxg_gemm_args *args, mxg_plan *plan)
{
    struct gemm_call call;
    struct select_plan chosen;
    mxg_status status = context_check(context);
    if (status == MXG_OK && plan == NULL) {
        status = status_set(MXG_E_NULL, "plan is NULL");
    }
    if (status == MXG_OK) {
        status = settings_check_size(plan, plan->struct_size, sizeof *plan, "mxg_plan");
    }
    if (status == MXG_OK) {
        status = arguments_check_shape(args, &call);
    }
    if (status == MXG_OK) {
        status = select_choose(&context->device, &call.shape, &chosen);
    }
    if (status != MXG_OK) {
        return status;
    }
    const size_t struct_size = plan->struct_size;
    memset(plan, 0, sizeof *plan);
    plan->struct_size = struct_size;
    plan->variant = (mxg_variant)chosen.variant;
    plan->num_kernels = chosen.num_kernels;
    plan->m_class_min = chosen.m_min;
    plan->m_class_max = chosen.m_max;
    snprintf(plan->reason, sizeof plan->reason, "%s", chosen.reason);
    for (uint32_t i = 0; status == MXG_OK && i < chosen.num_kernels; i++) {
        status = describe(context, &chosen.kernels[i], call.shape.m, &plan->kernels[i]);
    }
    return status;
}
