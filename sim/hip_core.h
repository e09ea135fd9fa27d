/* SPDX-License-Identifier: MIT */
/*
 * What the HIP face keeps about memory on top of devmem.h: how each allocation
 * was made, and whether its release has been queued.
 */
#ifndef SIM_HIP_CORE_H
#define SIM_HIP_CORE_H

#include "devmem.h"
#include "hip_rt.h"

/* 288 GiB of HBM3E. */
#define HIP_SIM_MEMORY_BYTES (288ull << 30)

enum hip_mem_kind { HIP_MEM_DEVICE, HIP_MEM_HOST, HIP_MEM_REGISTERED };

struct hip_alloc {
    struct hip_alloc *prev, *next;
    void *base;
    size_t size;
    enum hip_mem_kind kind;
    int device;
    unsigned flags; /* as given to hipHostMalloc or hipHostRegister */
    bool releasing; /* hipFreeAsync has been called */
};

void hip_core_start(size_t bytes_each, int poison);
void hip_core_stop(void);

/* The live allocation that holds ptr, copied; false when there is none. */
bool hip_alloc_find(const void *ptr, struct hip_alloc *out);

/* Free what is left of a device's memory. */
void hip_alloc_free_device(int device);

/* Does ptr lie where an allocation has been freed, or between allocations? */
bool hip_alloc_was_freed(const void *ptr);

#endif
