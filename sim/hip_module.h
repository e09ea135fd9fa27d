/* SPDX-License-Identifier: MIT */
/* Modules and functions, as launches see them. */
#ifndef SIM_HIP_MODULE_H
#define SIM_HIP_MODULE_H

#include "hip_rt.h"
#include "loader.h"

/* Guarded by hip_rt.lock; the code and the kernel do not change while a reference is held. */
struct ihipModule_t {
    struct ihipModule_t *next;
    int refs; /* the handle's and those of queued launches */
    int device;
    struct sim_code *code;
    struct ihipModuleSymbol_t *functions;
};

struct ihipModuleSymbol_t {
    struct ihipModuleSymbol_t *next;
    struct ihipModule_t *module;
    const struct sim_kernel *kernel;
    int max_dynamic_lds; /* as set by hipFuncSetAttribute; a hint, AMD needs no opt-in */
    int carveout;
};

/* The function's kernel, with a reference to its module; hipErrorInvalidHandle if dead. */
hipError_t hip_function_take(hipFunction_t f, struct ihipModule_t **module,
                             const struct sim_kernel **kernel);
void hip_module_release(struct ihipModule_t *module);

#endif
