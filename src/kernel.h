/* SPDX-License-Identifier: MIT */
/* A loaded kernel: module, function, figures; and launching it. */
#ifndef MXG_KERNEL_H
#define MXG_KERNEL_H

#include "codeobj.h"
#include "hiprt.h"
#include "kernel_config.h"
#include "mem.h"

struct kernel {
    struct kernel_config config;
    struct codeobj_kernel figures;
    char name[64];
    char provider[32];
    mxg_source source;
    void *module, *function;
};

/*
 * Load a code object on the current device.  Returns OK, E_CODE_OBJECT, E_LOAD,
 * E_HOST_MEMORY, E_DEVICE_MEMORY.
 */
mxg_status kernel_load(const struct hiprt *hip, const struct mem *mem, const char *arch,
                       const struct kernel_config *config, const void *code, size_t size,
                       struct kernel **kernel);
void kernel_unload(const struct hiprt *hip, const struct mem *mem, struct kernel *kernel);

/* Enqueue on `stream`; the device is current.  Returns OK, E_UNSUPPORTED, E_LAUNCH. */
mxg_status kernel_launch(const struct hiprt *hip, const struct kernel *kernel,
                         const struct kernel_operands *operands, void *stream);

#endif
