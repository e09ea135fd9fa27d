/* SPDX-License-Identifier: MIT */
/* The HIP runtime, opened with dlopen: AMD's library or the simulator. */
#ifndef MXG_HIPRT_H
#define MXG_HIPRT_H

#include <stddef.h>

#include "mem.h"
#include "mxgemm.h"
#include "select.h"

/* hipError_t values that are told apart; hip_runtime_api.h of HIP 6 and 7. */
enum {
    HIP_SUCCESS = 0,
    HIP_ERROR_OUT_OF_MEMORY = 2,
    HIP_ERROR_NO_DEVICE = 100,
    HIP_ERROR_INVALID_DEVICE = 101
};

enum { HIP_MEMCPY_HOST_TO_DEVICE = 1, HIP_MEMCPY_DEVICE_TO_HOST = 2 };
enum { HIP_STREAM_NON_BLOCKING = 1 };

/* hipStreamPerThread: one handle that means another stream on every thread. */
#define HIP_STREAM_PER_THREAD ((void *)2)

struct hiprt {
    void *handle;
    const char *library; /* name it was opened by */
#define HIPRT(name, parameters) int (*name) parameters;
#include "hiprt.def"
#undef HIPRT
    const char *(*error_name)(int error);   /* hipGetErrorName */
    const char *(*error_string)(int error); /* hipGetErrorString */
};

/* `name` NULL or "" = the usual names.  Returns OK, E_NO_HIP, E_HIP_SYMBOL. */
mxg_status hiprt_open(const char *name, const char *rocm_path, struct hiprt *hip);
void hiprt_close(struct hiprt *hip);

/* Set `status` with a text that names the call and HIP's own error. */
mxg_status hiprt_error(const struct hiprt *hip, mxg_status status, int error, const char *call);

/* Start the runtime and read the facts of one device.  E_NO_DEVICE, E_ARCH, E_HIP. */
mxg_status hiprt_device_facts(const struct hiprt *hip, int device, struct device_facts *facts);

/*
 * Make `device` current on this thread, and back.  HIP keeps one current
 * device per thread; the host's choice must survive every call of ours.
 */
mxg_status hiprt_enter(const struct hiprt *hip, int device, int *previous);
void hiprt_leave(const struct hiprt *hip, int device, int previous);

#endif
