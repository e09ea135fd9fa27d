/* SPDX-License-Identifier: MIT */
/*
 * Kernel launches: checks with AMD's error codes, argument packing, and the operation
 * that runs the kernel on its stream.
 */
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "hip_module.h"

struct kernel_op {
    struct hip_op op;
    struct ihipModule_t *module; /* with a reference */
    struct sim_launch launch;
    unsigned char *kernarg;
};

/* A launch as the entry points understand it. */
struct request {
    hipFunction_t f;
    uint64_t items[3]; /* work-items */
    unsigned block[3];
    size_t dynamic_lds;
    void **params, **extra;
};

static hipError_t error_of(enum sim_result result)
{
    switch (result) {
    case SIM_OK:
        return hipSuccess;
    case SIM_E_BAD_LAUNCH:
        return hipErrorInvalidValue;
    case SIM_E_RESOURCES:
        return hipErrorLaunchOutOfResources;
    case SIM_E_HOST_MEMORY:
        return hipErrorOutOfMemory;
    case SIM_E_MEMORY_FAULT:
        return hipErrorIllegalAddress;
    case SIM_E_ILLEGAL_INST:
    case SIM_E_ABORTED:
    case SIM_E_CANCELLED:
        return hipErrorLaunchFailure; /* HIP 7 has no code of its own for an illegal instruction
                                       */
    }
    return hipErrorUnknown;
}

static hipError_t kernel_run(struct hip_op *op, struct ihipStream_t *stream)
{
    (void)stream;
    const struct kernel_op *k = (const struct kernel_op *)op;
    const hipError_t injected = hip_inject(HIP_FN_kernel);
    if (injected != hipSuccess) {
        return injected;
    }
    char text[512] = "";
    const enum sim_result result = sim_launch(&k->launch, text, sizeof(text));
    if (result != SIM_OK && result != SIM_E_CANCELLED) {
        hip_say("kernel %s: %s", k->launch.kernel->name, text);
    }
    return error_of(result);
}

static void kernel_release(struct hip_op *op)
{
    struct kernel_op *k = (struct kernel_op *)op;
    hip_module_release(k->module);
    free(k->kernarg);
    free(k);
}

/* ----------------------------------------------------------------- arguments */

static hipError_t pack_params(unsigned char *kernarg, const struct sim_kernel *kernel,
                              void **params)
{
    unsigned index = 0;
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const struct sim_arg *arg = &kernel->args[i];
        if (arg->kind >= SIM_ARG_HIDDEN_FIRST) {
            continue;
        }
        const void *value = params[index++];
        if (value == NULL) {
            return hipErrorInvalidValue;
        }
        memcpy(kernarg + arg->offset, value, arg->size);
    }
    return hipSuccess;
}

/* {BUFFER_POINTER, p, BUFFER_SIZE, &size, END}: the caller has laid the arguments out. */
static hipError_t pack_extra(unsigned char *kernarg, const struct sim_kernel *kernel,
                             void **extra)
{
    if (extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER ||
        extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE || extra[4] != HIP_LAUNCH_PARAM_END ||
        extra[3] == NULL) {
        return hipErrorInvalidValue;
    }
    size_t size = 0;
    memcpy(&size, extra[3], sizeof(size));
    if (kernel->explicit_count == 0) {
        return size == 0 ? hipSuccess : hipErrorLaunchOutOfResources;
    }
    if (extra[1] == NULL || size < kernel->kernarg_explicit) {
        return hipErrorInvalidValue;
    }
    memcpy(kernarg, extra[1], kernel->kernarg_explicit);
    return hipSuccess;
}

static hipError_t pack(unsigned char *kernarg, const struct sim_kernel *kernel, void **params,
                       void **extra)
{
    if (params != NULL && extra != NULL) {
        return hipErrorInvalidValue;
    }
    if (extra != NULL) {
        return pack_extra(kernarg, kernel, extra);
    }
    if (kernel->explicit_count == 0) {
        return hipSuccess;
    }
    return params != NULL ? pack_params(kernarg, kernel, params) : hipErrorInvalidValue;
}

/* -------------------------------------------------------------------- checks */

/* The part that needs no kernel, in the order of AMD's runtime. */
static hipError_t check_shape(const struct request *r)
{
    uint64_t threads = 1;
    for (int d = 0; d < 3; d++) {
        if (r->items[d] == 0 || r->items[d] > UINT32_MAX || r->block[d] == 0 ||
            r->block[d] > HIP_SIM_MAX_THREADS) {
            return hipErrorInvalidValue;
        }
        threads *= r->block[d];
    }
    if (threads > HIP_SIM_MAX_THREADS || r->dynamic_lds > HIP_SIM_LDS_BYTES) {
        return hipErrorInvalidValue;
    }
    return hipSuccess;
}

static hipError_t check_kernel(const struct request *r, const struct sim_kernel *kernel)
{
    const unsigned threads = r->block[0] * r->block[1] * r->block[2];
    if (kernel->max_flat_group_size != 0 && threads > kernel->max_flat_group_size) {
        hip_say("kernel %s: %u threads a block, compiled for at most %u", kernel->name, threads,
                kernel->max_flat_group_size);
        return hipErrorLaunchFailure;
    }
    if (kernel->lds_size + r->dynamic_lds > HIP_SIM_LDS_BYTES) {
        hip_say("kernel %s: %u + %zu bytes of LDS, a compute unit has %u", kernel->name,
                kernel->lds_size, r->dynamic_lds, HIP_SIM_LDS_BYTES);
        return hipErrorLaunchOutOfResources;
    }
    for (int d = 0; d < 3; d++) {
        if (kernel->reqd_group_size[d] != 0 && kernel->reqd_group_size[d] != r->block[d]) {
            return hipErrorInvalidValue;
        }
    }
    return hipSuccess;
}

static hipError_t make_op(const struct request *r, struct kernel_op **out)
{
    struct ihipModule_t *module = NULL;
    const struct sim_kernel *kernel = NULL;
    hipError_t status = hip_function_take(r->f, &module, &kernel);
    if (status != hipSuccess) {
        return status;
    }
    struct kernel_op *k = calloc(1, sizeof(*k));
    unsigned char *kernarg = calloc(1, kernel->kernarg_explicit + 1u);
    if (k == NULL || kernarg == NULL) {
        free(k);
        free(kernarg);
        hip_module_release(module);
        return hipErrorOutOfMemory;
    }
    k->op = (struct hip_op){ .refs = 1, .run = kernel_run, .release = kernel_release };
    k->module = module;
    k->kernarg = kernarg;
    status = module->device != hip_tls.device ? hipErrorInvalidHandle : check_kernel(r, kernel);
    if (status == hipSuccess) {
        status = pack(kernarg, kernel, r->params, r->extra);
    }
    if (status != hipSuccess) {
        hip_op_release(&k->op);
        return status;
    }
    struct sim_launch *l = &k->launch;
    l->code = module->code;
    l->kernel = kernel;
    l->dynamic_lds = (uint32_t)r->dynamic_lds;
    l->device = module->device;
    l->cancel = &hip_rt.cancel;
    l->kernarg = kernarg;
    l->kernarg_size = kernel->kernarg_explicit;
    for (int d = 0; d < 3; d++) {
        l->grid[d] = (uint32_t)((r->items[d] + r->block[d] - 1) / r->block[d]);
        l->block[d] = r->block[d];
        l->items[d] = r->items[d];
    }
    *out = k;
    return hipSuccess;
}

static hipError_t launch(const struct request *r, hipStream_t stream)
{
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return status;
    }
    /* A stream of another device than the current one is refused. */
    const bool foreign = s->device->id != hip_tls.device;
    hip_stream_release(s);
    status = check_shape(r);
    if (status == hipSuccess && (foreign || r->f == NULL)) {
        status = hipErrorInvalidHandle;
    }
    struct kernel_op *op = NULL;
    if (status == hipSuccess) {
        status = make_op(r, &op);
    }
    return status != hipSuccess ? status : hip_submit(stream, &op->op, HIP_SUBMIT_ASYNC);
}

static hipError_t launch_blocks(hipFunction_t f, const unsigned grid[3],
                                const unsigned block[3], unsigned lds, hipStream_t stream,
                                void **params, void **extra)
{
    struct request r = { .f = f, .dynamic_lds = lds, .params = params, .extra = extra };
    for (int d = 0; d < 3; d++) {
        r.items[d] = (uint64_t)grid[d] * block[d];
        r.block[d] = block[d];
    }
    /* HIP's limits on the number of blocks: 2^31 - 1, 65536, 65536. */
    if (grid[0] > INT32_MAX || grid[1] > 65536 || grid[2] > 65536) {
        return hipErrorInvalidValue;
    }
    return launch(&r, stream);
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gridDimX, unsigned gridDimY,
                                 unsigned gridDimZ, unsigned blockDimX, unsigned blockDimY,
                                 unsigned blockDimZ, unsigned sharedMemBytes,
                                 hipStream_t stream, void **kernelParams, void **extra)
{
    HIP_ENTER(hipModuleLaunchKernel, HIP_NEED_ALIVE);
    const unsigned grid[3] = { gridDimX, gridDimY, gridDimZ };
    const unsigned block[3] = { blockDimX, blockDimY, blockDimZ };
    return hip_leave(
        launch_blocks(f, grid, block, sharedMemBytes, stream, kernelParams, extra));
}

hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config, hipFunction_t f, void **params,
                                void **extra)
{
    HIP_ENTER(hipDrvLaunchKernelEx, HIP_NEED_ALIVE);
    if (config == NULL || (config->numAttrs > 0 && config->attrs == NULL)) {
        return hip_leave(hipErrorInvalidValue);
    }
    if (config->numAttrs > 0) {
        hip_say("hipDrvLaunchKernelEx: launch attributes are not simulated");
        return hip_leave(hipErrorNotSupported);
    }
    const unsigned grid[3] = { config->gridDimX, config->gridDimY, config->gridDimZ };
    const unsigned block[3] = { config->blockDimX, config->blockDimY, config->blockDimZ };
    return hip_leave(
        launch_blocks(f, grid, block, config->sharedMemBytes, config->hStream, params, extra));
}

/* AMD's own call: the grid in work-items, and events around the kernel. */
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
                                    uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
                                    uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                    uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                    hipStream_t hStream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t flags)
{
    HIP_ENTER(hipExtModuleLaunchKernel, HIP_NEED_ALIVE);
    const struct request r = {
        .f = f,
        .items = { globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ },
        .block = { localWorkSizeX, localWorkSizeY, localWorkSizeZ },
        .dynamic_lds = sharedMemBytes,
        .params = kernelParams,
        .extra = extra,
    };
    if (flags > 1) { /* hipExtAnyOrderLaunch, a permission that is not used */
        return hip_leave(hipErrorInvalidValue);
    }
    hipError_t status = startEvent != NULL ? hip_event_record(startEvent, hStream) : hipSuccess;
    if (status == hipSuccess) {
        status = launch(&r, hStream);
    }
    if (status == hipSuccess && stopEvent != NULL) {
        status = hip_event_record(stopEvent, hStream);
    }
    return hip_leave(status);
}
