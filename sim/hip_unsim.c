/* SPDX-License-Identifier: MIT */
/*
 * Entry points of HIP that the simulator does not implement.  Each says its
 * name once per call and fails, so that a program that needs one is told which
 * one it was instead of meeting a missing symbol or a silent success.
 */
#include "hip_rt.h"

hipError_t hip_unsimulated(const char *name);

hipError_t hip_unsimulated(const char *name)
{
    hip_say("%s is not simulated", name);
    return hip_leave(hipErrorNotSupported);
}

#pragma GCC visibility push(default)

/* Parameters do not matter to the callee in the C calling conventions that HIP exists for. */
#define HIP_SIMULATED(name)
#define HIP_UNSIMULATED(name)                                                                  \
    hipError_t name(void);                                                                     \
    hipError_t name(void)                                                                      \
    {                                                                                          \
        return hip_unsimulated(#name);                                                         \
    }
#define HIP_UNSIMULATED_PTR(name)                                                              \
    void *name(void);                                                                          \
    void *name(void)                                                                           \
    {                                                                                          \
        (void)hip_unsimulated(#name);                                                          \
        return NULL;                                                                           \
    }
#include "hip_names.def"

#pragma GCC visibility pop
