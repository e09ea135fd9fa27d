/* SPDX-License-Identifier: MIT */
/* Modules: loading code objects, functions, globals, attributes, occupancy. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_module.h"

static struct ihipModule_t *modules; /* guarded by hip_rt.lock */

static void module_free(struct ihipModule_t *module)
{
    while (module->functions != NULL) {
        struct ihipModuleSymbol_t *f = module->functions;
        module->functions = f->next;
        free(f);
    }
    sim_code_unload(module->code);
    free(module);
}

void hip_module_release(struct ihipModule_t *module)
{
    pthread_mutex_lock(&hip_rt.lock);
    const bool last = --module->refs == 0;
    pthread_mutex_unlock(&hip_rt.lock);
    if (last) {
        module_free(module);
    }
}

void hip_modules_free_all(void)
{
    while (modules != NULL) {
        struct ihipModule_t *m = modules;
        modules = m->next;
        hip_module_release(m);
    }
}

static struct ihipModule_t *find_module_locked(hipModule_t handle)
{
    struct ihipModule_t *m = modules;
    while (m != NULL && m != handle) {
        m = m->next;
    }
    return m;
}

static struct ihipModuleSymbol_t *find_function_locked(const void *handle)
{
    for (struct ihipModule_t *m = modules; m != NULL; m = m->next) {
        for (struct ihipModuleSymbol_t *f = m->functions; f != NULL; f = f->next) {
            if (f == handle) {
                return f;
            }
        }
    }
    return NULL;
}

hipError_t hip_function_take(hipFunction_t handle, struct ihipModule_t **module,
                             const struct sim_kernel **kernel)
{
    pthread_mutex_lock(&hip_rt.lock);
    struct ihipModuleSymbol_t *f = find_function_locked(handle);
    if (f != NULL) {
        *module = f->module;
        *kernel = f->kernel;
        f->module->refs++;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return f != NULL ? hipSuccess : hipErrorInvalidHandle;
}

/* ------------------------------------------------------------------- loading */

static hipError_t error_of(enum sim_load_result result)
{
    switch (result) {
    case SIM_LOAD_OK:
        return hipSuccess;
    case SIM_LOAD_DAMAGED:
        return hipErrorInvalidImage;
    case SIM_LOAD_WRONG_ARCH:
        return hipErrorNoBinaryForGpu;
    case SIM_LOAD_NO_MEMORY:
        return hipErrorOutOfMemory;
    }
    return hipErrorUnknown;
}

/* Code objects that the simulator can run fit the device only when it claims to be one. */
static bool device_is_gfx950(void)
{
    return strcmp(hip_rt.arch, "gfx950") == 0 || strncmp(hip_rt.arch, "gfx950:", 7) == 0;
}

static hipError_t load(hipModule_t *out, const void *image, size_t avail)
{
    if (out == NULL || image == NULL) {
        return hipErrorInvalidValue;
    }
    *out = NULL;
    struct ihipModule_t *m = calloc(1, sizeof(*m));
    if (m == NULL) {
        return hipErrorOutOfMemory;
    }
    char error[256] = "";
    hipError_t status =
        error_of(sim_code_load(hip_tls.device, image, avail, &m->code, error, sizeof(error)));
    if (status == hipSuccess && !device_is_gfx950()) {
        sim_code_unload(m->code);
        (void)snprintf(error, sizeof(error), "a code object for gfx950, the device is %s",
                       hip_rt.arch);
        status = hipErrorNoBinaryForGpu;
    }
    if (status != hipSuccess) {
        free(m);
        hip_say("module not loaded: %s", error);
        return status;
    }
    m->refs = 1;
    m->device = hip_tls.device;
    pthread_mutex_lock(&hip_rt.lock);
    m->next = modules;
    modules = m;
    pthread_mutex_unlock(&hip_rt.lock);
    *out = m;
    return hipSuccess;
}

/* The whole file; NULL with *status set when that fails. */
static void *read_file(const char *name, size_t *size, hipError_t *status)
{
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        *status = hipErrorFileNotFound;
        return NULL;
    }
    unsigned char *data = NULL;
    size_t room = 0, length = 0, got = 0;
    *status = hipSuccess;
    do {
        if (length == room) {
            room = room == 0 ? 65536 : room * 2;
            unsigned char *more = realloc(data, room);
            if (more == NULL) {
                *status = hipErrorOutOfMemory;
                break;
            }
            data = more;
        }
        got = fread(data + length, 1, room - length, file);
        length += got;
    } while (got > 0);
    if (*status == hipSuccess && ferror(file) != 0) {
        *status = hipErrorFileNotFound;
    }
    (void)fclose(file);
    if (*status != hipSuccess) {
        free(data);
        return NULL;
    }
    *size = length;
    return data;
}

hipError_t hipModuleLoad(hipModule_t *module, const char *fname)
{
    HIP_ENTER(hipModuleLoad, HIP_NEED_ALIVE);
    if (module == NULL || fname == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    *module = NULL;
    hipError_t status = hipSuccess;
    size_t size = 0;
    void *data = read_file(fname, &size, &status);
    if (data != NULL) {
        status = load(module, data, size);
        free(data);
    }
    return hip_leave(status);
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image)
{
    HIP_ENTER(hipModuleLoadData, HIP_NEED_ALIVE);
    return hip_leave(load(module, image, SIZE_MAX));
}

hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned numOptions,
                               hipJitOption *options, void **optionValues)
{
    HIP_ENTER(hipModuleLoadDataEx, HIP_NEED_ALIVE);
    /* AMD's runtime ignores JIT options for code objects. */
    (void)numOptions, (void)options, (void)optionValues;
    return hip_leave(load(module, image, SIZE_MAX));
}

hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *fatbin)
{
    HIP_ENTER(hipModuleLoadFatBinary, HIP_NEED_ALIVE);
    return hip_leave(load(module, fatbin, SIZE_MAX));
}

/* Waits for the device, so that no kernel of the module is still queued. */
hipError_t hipModuleUnload(hipModule_t module)
{
    HIP_ENTER(hipModuleUnload, HIP_NEED_DEVICE);
    pthread_mutex_lock(&hip_rt.lock);
    struct ihipModule_t *m = module == NULL ? NULL : find_module_locked(module);
    const int device = m != NULL ? m->device : 0;
    pthread_mutex_unlock(&hip_rt.lock);
    hipError_t status = m == NULL ? hipErrorInvalidHandle : hip_capture_guard();
    if (status != hipSuccess) {
        return hip_leave(status);
    }
    status = hip_device_finish(&hip_rt.devices[device], false);
    bool found = false;
    pthread_mutex_lock(&hip_rt.lock);
    for (struct ihipModule_t **p = &modules; *p != NULL && !found; p = &(*p)->next) {
        if (*p == m) {
            *p = m->next;
            found = true;
            break;
        }
    }
    pthread_mutex_unlock(&hip_rt.lock);
    if (!found) {
        return hip_leave(hipErrorInvalidHandle);
    }
    hip_module_release(m);
    return hip_leave(status);
}

/* ------------------------------------------------------------------- symbols */

static hipError_t get_function_locked(hipFunction_t *out, struct ihipModule_t *m,
                                      const char *name)
{
    const struct sim_kernel *kernel = sim_code_kernel(m->code, name);
    if (kernel == NULL) {
        return hipErrorNotFound;
    }
    for (struct ihipModuleSymbol_t *f = m->functions; f != NULL; f = f->next) {
        if (f->kernel == kernel) {
            *out = f;
            return hipSuccess;
        }
    }
    struct ihipModuleSymbol_t *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        return hipErrorOutOfMemory;
    }
    f->module = m;
    f->kernel = kernel;
    f->max_dynamic_lds = (int)(HIP_SIM_LDS_BYTES - kernel->lds_size);
    f->next = m->functions;
    m->functions = f;
    *out = f;
    return hipSuccess;
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname)
{
    HIP_ENTER(hipModuleGetFunction, HIP_NEED_ALIVE);
    if (function == NULL || kname == NULL || kname[0] == '\0') {
        return hip_leave(hipErrorInvalidValue);
    }
    *function = NULL;
    pthread_mutex_lock(&hip_rt.lock);
    struct ihipModule_t *m = module == NULL ? NULL : find_module_locked(module);
    const hipError_t status =
        m == NULL ? hipErrorInvalidHandle : get_function_locked(function, m, kname);
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(status);
}

hipError_t hipModuleGetFunctionCount(unsigned *count, hipModule_t mod)
{
    HIP_ENTER(hipModuleGetFunctionCount, HIP_NEED_ALIVE);
    if (count == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    pthread_mutex_lock(&hip_rt.lock);
    struct ihipModule_t *m = mod == NULL ? NULL : find_module_locked(mod);
    if (m != NULL) {
        *count = (unsigned)sim_code_kernel_count(m->code);
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(m != NULL ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t *dptr, size_t *bytes, hipModule_t hmod,
                              const char *name)
{
    HIP_ENTER(hipModuleGetGlobal, HIP_NEED_ALIVE);
    if ((dptr == NULL && bytes == NULL) || name == NULL || name[0] == '\0') {
        return hip_leave(hipErrorInvalidValue);
    }
    uint64_t address = 0;
    size_t size = 0;
    hipError_t status = hipSuccess;
    pthread_mutex_lock(&hip_rt.lock);
    struct ihipModule_t *m = hmod == NULL ? NULL : find_module_locked(hmod);
    if (m == NULL) {
        status = hipErrorInvalidHandle;
    } else if (!sim_code_global(m->code, name, &address, &size)) {
        status = hipErrorNotFound;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    if (status == hipSuccess && dptr != NULL) {
        *dptr = (hipDeviceptr_t)(uintptr_t)address;
    }
    if (status == hipSuccess && bytes != NULL) {
        *bytes = size;
    }
    return hip_leave(status);
}

/* ---------------------------------------------------------------- attributes */

static hipError_t function_attribute(const struct ihipModuleSymbol_t *f,
                                     hipFunction_attribute attrib, int *value)
{
    const struct sim_kernel *k = f->kernel;
    switch (attrib) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value =
            (int)(k->max_flat_group_size != 0 ? k->max_flat_group_size : HIP_SIM_MAX_THREADS);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)k->lds_size;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)k->scratch_size;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)(k->meta_vgpr != 0 ? k->meta_vgpr : k->vgpr_count);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 95; /* gfx950: major 9, minor 5 */
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)(HIP_SIM_LDS_BYTES - k->lds_size);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = f->carveout;
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attrib, hipFunction_t hfunc)
{
    HIP_ENTER(hipFuncGetAttribute, HIP_NEED_ALIVE);
    if (value == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    pthread_mutex_lock(&hip_rt.lock);
    const struct ihipModuleSymbol_t *f = find_function_locked(hfunc);
    const hipError_t status =
        f == NULL ? hipErrorInvalidHandle : function_attribute(f, attrib, value);
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(status);
}

static hipError_t set_attribute(struct ihipModuleSymbol_t *f, hipFuncAttribute attr, int value)
{
    if (attr == hipFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || (unsigned)value > HIP_SIM_LDS_BYTES - f->kernel->lds_size) {
            return hipErrorInvalidValue;
        }
        f->max_dynamic_lds = value;
    } else if (attr == hipFuncAttributePreferredSharedMemoryCarveout) {
        if (value < -1 || value > 100) {
            return hipErrorInvalidValue;
        }
        f->carveout = value;
    } else if ((int)attr < 0 || (int)attr > hipFuncAttributeMax) {
        return hipErrorInvalidValue;
    }
    return hipSuccess;
}

hipError_t hipFuncSetAttribute(const void *func, hipFuncAttribute attr, int value)
{
    HIP_ENTER(hipFuncSetAttribute, HIP_NEED_ALIVE);
    pthread_mutex_lock(&hip_rt.lock);
    struct ihipModuleSymbol_t *f = find_function_locked(func);
    const hipError_t status =
        f == NULL ? hipErrorInvalidDeviceFunction : set_attribute(f, attr, value);
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(status);
}

/* ----------------------------------------------------------------- occupancy */

/*
 * Blocks that fit one compute unit: 4 SIMDs of at most 8 waves, 512 registers a lane
 * given out in eights, and 160 KiB of LDS.
 */
static int blocks_per_cu(const struct sim_kernel *k, unsigned threads, size_t dynamic_lds)
{
    const unsigned registers = ((k->vgpr_count != 0 ? k->vgpr_count : 1) + 7) / 8 * 8;
    unsigned waves = registers > HIP_SIM_VGPRS ? 0 : HIP_SIM_VGPRS / registers;
    waves = 4 * (waves > 8 ? 8 : waves);
    const unsigned by_waves = waves / ((threads + 63) / 64);
    const size_t lds = k->lds_size + dynamic_lds;
    const size_t by_lds = lds == 0 ? by_waves : HIP_SIM_LDS_BYTES / lds;
    return (int)(by_lds < by_waves ? by_lds : by_waves);
}

static hipError_t occupancy(int *num_blocks, hipFunction_t f, int block_size,
                            size_t dynamic_lds)
{
    struct ihipModule_t *module = NULL;
    const struct sim_kernel *kernel = NULL;
    if (num_blocks == NULL || block_size <= 0 || block_size > (int)HIP_SIM_MAX_THREADS) {
        return hipErrorInvalidValue;
    }
    const hipError_t status = hip_function_take(f, &module, &kernel);
    if (status != hipSuccess) {
        return hipErrorInvalidDeviceFunction;
    }
    *num_blocks = dynamic_lds > HIP_SIM_LDS_BYTES
                      ? 0
                      : blocks_per_cu(kernel, (unsigned)block_size, dynamic_lds);
    hip_module_release(module);
    return hipSuccess;
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, hipFunction_t f,
                                                              int blockSize,
                                                              size_t dynSharedMemPerBlk)
{
    HIP_ENTER(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, HIP_NEED_ALIVE);
    return hip_leave(occupancy(numBlocks, f, blockSize, dynSharedMemPerBlk));
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, hipFunction_t f, int blockSize, size_t dynSharedMemPerBlk, unsigned flags)
{
    HIP_ENTER(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, HIP_NEED_ALIVE);
    /* 0 default, 1 disable caching override: no effect on AMD. */
    return hip_leave(flags > 1 ? hipErrorInvalidValue
                               : occupancy(numBlocks, f, blockSize, dynSharedMemPerBlk));
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize,
                                                   hipFunction_t f, size_t dynSharedMemPerBlk,
                                                   int blockSizeLimit)
{
    HIP_ENTER(hipModuleOccupancyMaxPotentialBlockSize, HIP_NEED_ALIVE);
    if (gridSize == NULL || blockSize == NULL || blockSizeLimit < 0) {
        return hip_leave(hipErrorInvalidValue);
    }
    int limit = (int)HIP_SIM_MAX_THREADS;
    if (blockSizeLimit > 0 && blockSizeLimit < limit) {
        limit = blockSizeLimit;
    }
    int best = 0;
    hipError_t status = hipSuccess;
    *gridSize = *blockSize = 0;
    for (int size = (limit + 63) / 64 * 64; size >= 64 && status == hipSuccess; size -= 64) {
        const int threads = size < limit ? size : limit;
        int blocks = 0;
        status = occupancy(&blocks, f, threads, dynSharedMemPerBlk);
        if (blocks * threads > best) {
            best = blocks * threads;
            *gridSize = blocks * 256;
            *blockSize = threads;
        }
    }
    return hip_leave(status);
}
