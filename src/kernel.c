/* SPDX-License-Identifier: MIT */
/* A loaded kernel: module, function, figures; and launching it. */
#include "kernel.h"

#include <string.h>

#include "fault.h"
#include "status.h"

/*
 * kernel_config_pack of some families needs more than the code object declares only if the
 * two disagree.
 */
static mxg_status check_figures(const struct kernel *kernel)
{
    const struct codeobj_kernel *f = &kernel->figures;
    struct kernel_geometry geometry;
    mxg_status status = kernel_config_geometry(&kernel->config, 1, &geometry);
    if (status != MXG_OK) {
        return status;
    }
    if (f->max_threads < geometry.threads) {
        return status_set(MXG_E_CODE_OBJECT,
                          "%s was compiled for %u threads a workgroup and needs %u",
                          kernel->name, f->max_threads, geometry.threads);
    }
    if (f->kernarg_bytes > KERNEL_ARGS_MAX) {
        return status_set(MXG_E_CODE_OBJECT,
                          "%s takes %u bytes of arguments; at most %d are passed", kernel->name,
                          f->kernarg_bytes, KERNEL_ARGS_MAX);
    }
    return MXG_OK;
}

static mxg_status load_module(const struct hiprt *hip, struct kernel *kernel, const void *code)
{
    int error = fault_hit(FAULT_LOAD) ? HIP_ERROR_OUT_OF_MEMORY
                                      : hip->hipModuleLoadData(&kernel->module, code);
    if (error != HIP_SUCCESS) {
        kernel->module = NULL;
        return hiprt_error(hip, MXG_E_LOAD, error, "hipModuleLoadData");
    }
    error =
        hip->hipModuleGetFunction(&kernel->function, kernel->module, kernel->figures.symbol);
    return error == HIP_SUCCESS ? MXG_OK
                                : hiprt_error(hip, MXG_E_LOAD, error, "hipModuleGetFunction");
}

mxg_status kernel_load(const struct hiprt *hip, const struct mem *mem, const char *arch,
                       const struct kernel_config *config, const void *code, size_t size,
                       struct kernel **kernel)
{
    *kernel = NULL;
    struct kernel *k = mem_zalloc(mem, 1, sizeof *k);
    if (k == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "no memory for a kernel");
    }
    k->config = *config;
    kernel_config_name(config, k->name, sizeof k->name);
    mxg_status status = codeobj_check_arch(code, size, arch);
    if (status == MXG_OK) {
        status = codeobj_read(code, size, &k->figures);
    }
    if (status == MXG_OK) {
        status = check_figures(k);
    }
    if (status == MXG_OK) {
        status = load_module(hip, k, code);
    }
    if (status != MXG_OK) {
        kernel_unload(hip, mem, k);
        return status;
    }
    *kernel = k;
    return MXG_OK;
}

void kernel_unload(const struct hiprt *hip, const struct mem *mem, struct kernel *kernel)
{
    if (kernel == NULL) {
        return;
    }
    if (kernel->module != NULL) {
        hip->hipModuleUnload(kernel->module);
    }
    mem_free(mem, kernel);
}

/* Keys of the `extra` array of hipModuleLaunchKernel (hip_runtime_api.h). */
#define LAUNCH_BUFFER_POINTER ((void *)1)
#define LAUNCH_BUFFER_SIZE ((void *)2)
#define LAUNCH_END ((void *)3)

mxg_status kernel_launch(const struct hiprt *hip, const struct kernel *kernel,
                         const struct kernel_operands *operands, void *stream)
{
    _Alignas(16) unsigned char args[KERNEL_ARGS_MAX] = { 0 };
    struct kernel_geometry g;
    mxg_status status = kernel_config_geometry(&kernel->config, operands->m, &g);
    if (status != MXG_OK) {
        return status;
    }
    size_t size = kernel_config_pack(&kernel->config, operands, args);
    if (size == 0) {
        return MXG_E_UNSUPPORTED; /* the detail text says which leading dimension */
    }
    /* A code object may declare padding behind the last argument. */
    if (size < kernel->figures.kernarg_bytes) {
        size = kernel->figures.kernarg_bytes;
    }
    void *extra[] = { LAUNCH_BUFFER_POINTER, args, LAUNCH_BUFFER_SIZE, &size, LAUNCH_END };
    int error =
        fault_hit(FAULT_LAUNCH)
            ? HIP_ERROR_INVALID_DEVICE
            : hip->hipModuleLaunchKernel(kernel->function, g.grid[0], g.grid[1], g.grid[2],
                                         g.threads, 1, 1, g.dynamic_lds, stream, NULL, extra);
    if (error != HIP_SUCCESS) {
        status = hiprt_error(hip, MXG_E_LAUNCH, error, "hipModuleLaunchKernel");
        return status_prefix(status, "%s, %u x %u x %u workgroups of %u: ", kernel->name,
                             g.grid[0], g.grid[1], g.grid[2], g.threads);
    }
    return MXG_OK;
}
