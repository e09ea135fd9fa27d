/* SPDX-License-Identifier: MIT */
/*
 * Allocation: device memory, pinned host memory, registered host memory, and
 * questions about pointers.
 *
 * Fresh memory is filled with MXGSIM_POISON (default 0xff, which is NaN as bf16 and
 * as an E8M0 scale; "none" leaves it as the host gives it).  Each device has
 * MXGSIM_MEMORY bytes.  With MXGSIM_TRACK=1 kernels that read bytes never written
 * are reported.
 */
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "hip_core.h"

/* Guards the list and the records; taken after hip_rt.lock, never the other way. */
static pthread_mutex_t mem_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hip_alloc *allocs;

/* Written when the runtime starts, before any allocation. */
static int poison_byte;
static unsigned track_flag;

void hip_core_start(size_t bytes_each, int poison)
{
    const char *track = getenv("MXGSIM_TRACK");
    poison_byte = poison;
    track_flag = track != NULL && track[0] == '1' ? SIM_ALLOC_TRACK : 0;
    sim_mem_set_limit(bytes_each);
}

static void forget_locked(struct hip_alloc *a)
{
    if (a->prev != NULL) {
        a->prev->next = a->next;
    } else {
        allocs = a->next;
    }
    if (a->next != NULL) {
        a->next->prev = a->prev;
    }
    (void)sim_mem_free(a->base);
    free(a);
}

void hip_core_stop(void)
{
    pthread_mutex_lock(&mem_lock);
    while (allocs != NULL) {
        forget_locked(allocs);
    }
    pthread_mutex_unlock(&mem_lock);
    sim_pool_stop();
    sim_mem_reset();
}

void hip_alloc_free_device(int device)
{
    pthread_mutex_lock(&mem_lock);
    struct hip_alloc *next = NULL;
    for (struct hip_alloc *a = allocs; a != NULL; a = next) {
        next = a->next;
        if (a->kind == HIP_MEM_DEVICE && a->device == device) {
            forget_locked(a);
        }
    }
    pthread_mutex_unlock(&mem_lock);
}

/* The record is the one of `base` when it is a live allocation made here. */
static struct hip_alloc *record_locked(const void *ptr)
{
    struct sim_mem_info info;
    if (ptr == NULL || !sim_mem_find((uint64_t)(uintptr_t)ptr, &info)) {
        return NULL;
    }
    return info.user;
}

bool hip_alloc_find(const void *ptr, struct hip_alloc *out)
{
    pthread_mutex_lock(&mem_lock);
    const struct hip_alloc *a = record_locked(ptr);
    if (a != NULL) {
        *out = *a;
    }
    pthread_mutex_unlock(&mem_lock);
    return a != NULL;
}

bool hip_alloc_was_freed(const void *ptr)
{
    const enum sim_mem_state state = sim_mem_lookup((uint64_t)(uintptr_t)ptr, NULL);
    return state == SIM_MEM_FREED || state == SIM_MEM_GAP;
}

static void enlist_locked(struct hip_alloc *a)
{
    a->next = allocs;
    if (allocs != NULL) {
        allocs->prev = a;
    }
    allocs = a;
    (void)sim_mem_set_user(a->base, a);
}

static hipError_t allocate(void **ptr, size_t size, enum hip_mem_kind kind, int device,
                           unsigned flags)
{
    if (ptr == NULL) {
        return hipErrorInvalidValue;
    }
    *ptr = NULL;
    if (size == 0) {
        return hipSuccess;
    }
    struct hip_alloc *a = calloc(1, sizeof(*a));
    if (a == NULL) {
        return hipErrorOutOfMemory;
    }
    *a = (struct hip_alloc){ .size = size, .kind = kind, .device = device, .flags = flags };
    void *base = sim_mem_alloc(
        device, size, kind == HIP_MEM_DEVICE ? track_flag : SIM_ALLOC_HOST, poison_byte);
    if (base == NULL) {
        free(a);
        return hipErrorOutOfMemory;
    }
    a->base = base;
    pthread_mutex_lock(&mem_lock);
    enlist_locked(a);
    pthread_mutex_unlock(&mem_lock);
    *ptr = base;
    return hipSuccess;
}

hipError_t hipMalloc(void **ptr, size_t size)
{
    HIP_ENTER(hipMalloc, HIP_NEED_ALIVE);
    const hipError_t status = hip_capture_guard();
    return hip_leave(
        status != hipSuccess ? status : allocate(ptr, size, HIP_MEM_DEVICE, hip_tls.device, 0));
}

hipError_t hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned flags)
{
    HIP_ENTER(hipExtMallocWithFlags, HIP_NEED_ALIVE);
    if (flags != hipDeviceMallocDefault && flags != hipDeviceMallocFinegrained &&
        flags != hipDeviceMallocUncached && flags != hipDeviceMallocContiguous) {
        return hip_leave(hipErrorInvalidValue);
    }
    const hipError_t status = hip_capture_guard();
    return hip_leave(status != hipSuccess
                         ? status
                         : allocate(ptr, sizeBytes, HIP_MEM_DEVICE, hip_tls.device, flags));
}

/* The address is known at once; stream order only matters for when it may be used. */
hipError_t hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream)
{
    HIP_ENTER(hipMallocAsync, HIP_NEED_ALIVE);
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return hip_leave(status);
    }
    status = hip_capture_refuse(s);
    if (status == hipSuccess) {
        status = allocate(dev_ptr, size, HIP_MEM_DEVICE, s->device->id, 0);
    }
    hip_stream_release(s);
    return hip_leave(status);
}

static hipError_t host_malloc(void **ptr, size_t size, unsigned flags)
{
    const unsigned coherence = hipHostMallocCoherent | hipHostMallocNonCoherent;
    const unsigned known = hipHostMallocPortable | hipHostMallocMapped |
                           hipHostMallocWriteCombined | hipHostMallocUncached |
                           hipHostMallocNumaUser | coherence;
    if ((flags & coherence) == coherence || (flags & ~known) != 0 ||
        ((flags & hipHostMallocUncached) != 0 && (flags & coherence) != 0)) {
        return hipErrorInvalidValue;
    }
    const hipError_t status = hip_capture_guard();
    return status != hipSuccess ? status
                                : allocate(ptr, size, HIP_MEM_HOST, hip_tls.device, flags);
}

hipError_t hipHostMalloc(void **ptr, size_t size, unsigned flags)
{
    HIP_ENTER(hipHostMalloc, HIP_NEED_ALIVE);
    return hip_leave(host_malloc(ptr, size, flags));
}

hipError_t hipHostAlloc(void **ptr, size_t size, unsigned flags)
{
    HIP_ENTER(hipHostAlloc, HIP_NEED_ALIVE);
    return hip_leave(host_malloc(ptr, size, flags));
}

hipError_t hipMallocHost(void **ptr, size_t size)
{
    HIP_ENTER(hipMallocHost, HIP_NEED_ALIVE);
    return hip_leave(host_malloc(ptr, size, hipHostMallocDefault));
}

hipError_t hipMemAllocHost(void **ptr, size_t size)
{
    HIP_ENTER(hipMemAllocHost, HIP_NEED_ALIVE);
    return hip_leave(host_malloc(ptr, size, hipHostMallocDefault));
}

/*
 * Free an allocation of one of two kinds, after all work of its device, as HIP does.
 * The memory goes even on a faulted device; the fault is still the answer.
 */
static hipError_t free_waiting(void *ptr, enum hip_mem_kind kind)
{
    if (ptr == NULL) {
        return hipSuccess;
    }
    hipError_t status = hip_capture_guard();
    struct hip_alloc a;
    if (status != hipSuccess) {
        return status;
    }
    if (!hip_alloc_find(ptr, &a) || a.base != ptr || a.kind != kind || a.releasing) {
        return hipErrorInvalidValue;
    }
    status = hip_device_finish(&hip_rt.devices[a.device], false);
    pthread_mutex_lock(&mem_lock);
    struct hip_alloc *record = record_locked(ptr);
    if (record != NULL && record->base == ptr && !record->releasing) {
        forget_locked(record);
    } else {
        status = hipErrorInvalidValue; /* another thread was faster */
    }
    pthread_mutex_unlock(&mem_lock);
    return status;
}

hipError_t hipFree(void *ptr)
{
    HIP_ENTER(hipFree, HIP_NEED_DEVICE);
    return hip_leave(free_waiting(ptr, HIP_MEM_DEVICE));
}

hipError_t hipHostFree(void *ptr)
{
    HIP_ENTER(hipHostFree, HIP_NEED_DEVICE);
    return hip_leave(free_waiting(ptr, HIP_MEM_HOST));
}

hipError_t hipFreeHost(void *ptr)
{
    HIP_ENTER(hipFreeHost, HIP_NEED_DEVICE);
    return hip_leave(free_waiting(ptr, HIP_MEM_HOST));
}

struct free_op {
    struct hip_op op;
    void *ptr;
};

static hipError_t free_run(struct hip_op *op, struct ihipStream_t *stream)
{
    (void)stream;
    pthread_mutex_lock(&mem_lock);
    struct hip_alloc *record = record_locked(((struct free_op *)op)->ptr);
    if (record != NULL) {
        forget_locked(record);
    }
    pthread_mutex_unlock(&mem_lock);
    return hipSuccess;
}

static void free_release(struct hip_op *op)
{
    free(op);
}

hipError_t hipFreeAsync(void *dev_ptr, hipStream_t stream)
{
    HIP_ENTER(hipFreeAsync, HIP_NEED_DEVICE);
    if (dev_ptr == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return hip_leave(status);
    }
    status = hip_capture_refuse(s);
    struct free_op *op = status == hipSuccess ? calloc(1, sizeof(*op)) : NULL;
    if (op == NULL) {
        hip_stream_release(s);
        return hip_leave(status != hipSuccess ? status : hipErrorOutOfMemory);
    }
    op->op = (struct hip_op){
        .refs = 1, .run = free_run, .release = free_release, .runs_after_fault = true
    };
    op->ptr = dev_ptr;
    pthread_mutex_lock(&mem_lock);
    struct hip_alloc *a = record_locked(dev_ptr);
    if (a == NULL || a->base != dev_ptr || a->kind != HIP_MEM_DEVICE || a->releasing) {
        status = hipErrorInvalidValue;
    } else {
        a->releasing = true;
    }
    pthread_mutex_unlock(&mem_lock);
    uint64_t seq = 0;
    if (status == hipSuccess) {
        status = hip_stream_push(s, &op->op, NULL, NULL, &seq);
    } else {
        hip_op_release(&op->op);
    }
    hip_stream_release(s);
    return hip_leave(status);
}

hipError_t hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned flags)
{
    HIP_ENTER(hipHostRegister, HIP_NEED_ALIVE);
    const unsigned known = hipHostRegisterPortable | hipHostRegisterMapped |
                           hipHostRegisterReadOnly | hipExtHostRegisterUncached;
    if (hostPtr == NULL || sizeBytes == 0 || (flags & ~known) != 0) {
        return hip_leave(hipErrorInvalidValue);
    }
    struct hip_alloc *a = calloc(1, sizeof(*a));
    if (a == NULL) {
        return hip_leave(hipErrorOutOfMemory);
    }
    *a = (struct hip_alloc){ .base = hostPtr,
                             .size = sizeBytes,
                             .kind = HIP_MEM_REGISTERED,
                             .device = hip_tls.device,
                             .flags = flags };
    pthread_mutex_lock(&mem_lock);
    const bool adopted = sim_mem_adopt(hip_tls.device, hostPtr, sizeBytes, SIM_ALLOC_HOST);
    if (adopted) {
        enlist_locked(a);
    }
    pthread_mutex_unlock(&mem_lock);
    if (!adopted) {
        free(a);
        return hip_leave(hipErrorHostMemoryAlreadyRegistered);
    }
    return hip_leave(hipSuccess);
}

hipError_t hipHostUnregister(void *hostPtr)
{
    HIP_ENTER(hipHostUnregister, HIP_NEED_DEVICE);
    if (hostPtr == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    const hipError_t status = free_waiting(hostPtr, HIP_MEM_REGISTERED);
    return hip_leave(status == hipErrorInvalidValue ? hipErrorHostMemoryNotRegistered : status);
}

hipError_t hipHostGetDevicePointer(void **devPtr, void *hstPtr, unsigned flags)
{
    HIP_ENTER(hipHostGetDevicePointer, HIP_NEED_ALIVE);
    struct hip_alloc a;
    if (devPtr == NULL || flags != 0 || !hip_alloc_find(hstPtr, &a)) {
        return hip_leave(hipErrorInvalidValue);
    }
    *devPtr = hstPtr; /* one address space */
    return hip_leave(hipSuccess);
}

hipError_t hipHostGetFlags(unsigned *flagsPtr, void *hostPtr)
{
    HIP_ENTER(hipHostGetFlags, HIP_NEED_ALIVE);
    struct hip_alloc a;
    if (flagsPtr == NULL || !hip_alloc_find(hostPtr, &a) || a.kind == HIP_MEM_DEVICE) {
        return hip_leave(hipErrorInvalidValue);
    }
    *flagsPtr = a.flags;
    return hip_leave(hipSuccess);
}

hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    HIP_ENTER(hipMemGetInfo, HIP_NEED_ALIVE);
    if (free_bytes == NULL && total == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    uint64_t used = 0, count = 0;
    const uint64_t limit = sim_mem_limit();
    sim_mem_usage(hip_tls.device, &used, &count);
    if (free_bytes != NULL) {
        *free_bytes = (size_t)(limit - used);
    }
    if (total != NULL) {
        *total = (size_t)limit;
    }
    return hip_leave(hipSuccess);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *pbase, size_t *psize, hipDeviceptr_t dptr)
{
    HIP_ENTER(hipMemGetAddressRange, HIP_NEED_ALIVE);
    struct hip_alloc a;
    if (!hip_alloc_find(dptr, &a)) {
        return hip_leave(hipErrorNotFound);
    }
    if (pbase != NULL) {
        *pbase = a.base;
    }
    if (psize != NULL) {
        *psize = a.size;
    }
    return hip_leave(hipSuccess);
}

hipError_t hipMemPtrGetInfo(void *ptr, size_t *size)
{
    HIP_ENTER(hipMemPtrGetInfo, HIP_NEED_ALIVE);
    struct hip_alloc a;
    if (ptr == NULL || size == NULL || !hip_alloc_find(ptr, &a)) {
        return hip_leave(hipErrorInvalidValue);
    }
    *size = a.size;
    return hip_leave(hipSuccess);
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr)
{
    HIP_ENTER(hipPointerGetAttributes, HIP_NEED_DEVICE);
    if (attributes == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    struct hip_alloc a;
    if (!hip_alloc_find(ptr, &a)) {
        /* HIP 6 and later: not an error.  -2 is hipInvalidDeviceId. */
        *attributes =
            (hipPointerAttribute_t){ .type = hipMemoryTypeUnregistered, .device = -2 };
        return hip_leave(hipSuccess);
    }
    const bool host = a.kind != HIP_MEM_DEVICE;
    *attributes = (hipPointerAttribute_t){
        .type = host ? hipMemoryTypeHost : hipMemoryTypeDevice,
        .device = a.device,
        .devicePointer = (void *)(uintptr_t)ptr,
        .hostPointer = host ? (void *)(uintptr_t)ptr : NULL,
        .allocationFlags = a.flags,
    };
    return hip_leave(hipSuccess);
}
