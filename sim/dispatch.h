/* SPDX-License-Identifier: MIT */
/*
 * Kernel launch: one call runs one grid to its end on the calling thread and the
 * simulator's pool (MXGSIM_THREADS host threads in all, default: online CPUs).
 *
 * Threads: sim_launch may run on several threads at once (streams); the pool is shared.
 */
#ifndef SIM_DISPATCH_H
#define SIM_DISPATCH_H

#include "loader.h"

/* What hardware and driver would have answered.  The HIP layer maps these to hipError_t. */
enum sim_result {
    SIM_OK,
    SIM_E_BAD_LAUNCH, /* grid, block or argument size is wrong: hipErrorInvalidValue */
    SIM_E_RESOURCES,  /* registers, LDS or scratch do not fit: hipErrorOutOfMemory-like,
                             hipErrorLaunchOutOfResources */
    SIM_E_HOST_MEMORY,  /* the simulator itself is out of memory: hipErrorOutOfMemory */
    SIM_E_MEMORY_FAULT, /* hipErrorIllegalAddress */
    SIM_E_ILLEGAL_INST, /* hipErrorIllegalInstruction (hipErrorLaunchFailure where absent) */
    SIM_E_CANCELLED,    /* sim_launch.cancel became nonzero */
    SIM_E_ABORTED       /* s_trap, barrier not reached, endless kernel: hipErrorLaunchFailure */
};

struct sim_launch {
    const struct sim_code *code;
    const struct sim_kernel *kernel;
    uint32_t grid[3];  /* workgroups */
    uint32_t block[3]; /* work-items of a workgroup */
    uint64_t
        items[3]; /* work-items of the grid when the last group is partial; 0 = grid*block */
    uint32_t dynamic_lds; /* bytes beyond the kernel's own */
    const void *kernarg;  /* explicit arguments, packed at the offsets of kernel->args */
    size_t kernarg_size;  /* bytes at kernarg; at least kernel->kernarg_explicit */
    int device;
    const volatile int
        *cancel; /* nonzero there ends the launch early (process exit); may be NULL */
};

/*
 * Run a kernel to its end.  text (may be NULL) receives one line that explains any
 * result but SIM_OK.  The kernel's findings have been recorded when this returns.
 */
enum sim_result sim_launch(const struct sim_launch *launch, char *text, size_t textsize);

/* Stops and joins the pool's threads; a later launch starts them again. */
void sim_pool_stop(void);

/* The number of host threads that a launch may use. */
unsigned sim_pool_threads(void);

#endif
