/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills.  Addresses are checked when the call is made and again when the
 * stream reaches it, so that memory freed in between is found.
 *
 * Which calls return before the work is done follows HIP: the Async forms, except
 * where a side is pageable host memory; and, of the others, fills of and copies within
 * device memory.
 */
#include <stdlib.h>
#include <string.h>

#include "hip_core.h"

struct copy_op {
    struct hip_op op;
    unsigned char *dst;
    const unsigned char *src; /* NULL: fill */
    size_t size;              /* bytes */
    uint32_t pattern;
    unsigned width; /* bytes of the pattern: 1, 2, 4 */
};

/* Is [ptr, ptr+size) inside one allocation, or in pageable host memory? */
static bool range_is_live(const void *ptr, size_t size)
{
    struct hip_alloc a;
    if (hip_alloc_find(ptr, &a)) {
        return size <= a.size - (size_t)((const char *)ptr - (const char *)a.base);
    }
    return !hip_alloc_was_freed(ptr);
}

/* May a call name the range?  Not once hipFreeAsync has been called for it. */
static bool range_is_usable(const void *ptr, size_t size, bool must_be_known)
{
    struct hip_alloc a;
    if (hip_alloc_find(ptr, &a) ? a.releasing : must_be_known) {
        return false;
    }
    return range_is_live(ptr, size);
}

static void fill(const struct copy_op *c)
{
    if (c->width == 1) {
        memset(c->dst, (int)c->pattern, c->size);
        return;
    }
    for (size_t i = 0; i < c->size; i += c->width) {
        memcpy(c->dst + i, &c->pattern, c->width); /* little endian: the low bytes */
    }
}

static void mark_written(const struct copy_op *c)
{
    const uint64_t dst = (uint64_t)(uintptr_t)c->dst;
    struct hip_alloc a;
    if (hip_alloc_find(c->dst, &a)) {
        sim_mem_set_defined(dst, c->size, true);
    }
}

static hipError_t copy_run(struct hip_op *op, struct ihipStream_t *stream)
{
    (void)stream;
    const struct copy_op *c = (const struct copy_op *)op;
    if (!range_is_live(c->dst, c->size) ||
        (c->src != NULL && !range_is_live(c->src, c->size))) {
        hip_say("a queued copy or fill of %zu bytes reached freed memory", c->size);
        return hipErrorIllegalAddress;
    }
    if (c->src != NULL) {
        memmove(c->dst, c->src, c->size);
    } else {
        fill(c);
    }
    mark_written(c);
    return hipSuccess;
}

static void copy_release(struct hip_op *op)
{
    free(op);
}

static struct copy_op *copy_new(void *dst, const void *src, size_t size)
{
    struct copy_op *c = calloc(1, sizeof(*c));
    if (c != NULL) {
        c->op = (struct hip_op){ .refs = 1, .run = copy_run, .release = copy_release };
        c->dst = dst;
        c->src = src;
        c->size = size;
    }
    return c;
}

static hipError_t check_copy(const void *dst, const void *src, size_t size, hipMemcpyKind kind)
{
    if (dst == NULL || src == NULL) {
        return hipErrorInvalidValue;
    }
    if ((unsigned)kind > hipMemcpyDefault && kind != hipMemcpyDeviceToDeviceNoCU) {
        return hipErrorInvalidMemcpyDirection;
    }
    const bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice ||
                           kind == hipMemcpyDeviceToDeviceNoCU;
    const bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice ||
                             kind == hipMemcpyDeviceToDeviceNoCU;
    if (!range_is_usable(dst, size, to_device) || !range_is_usable(src, size, from_device)) {
        return hipErrorInvalidValue;
    }
    return hipSuccess;
}

/* Does the host wait, when the call may be asynchronous / may not be? */
static bool host_waits(const void *dst, const void *src, bool async)
{
    struct hip_alloc d, s;
    const bool dst_known = hip_alloc_find(dst, &d);
    const bool src_known = hip_alloc_find(src, &s);
    if (!dst_known || !src_known) {
        return true; /* pageable memory */
    }
    return !async && !(d.kind == HIP_MEM_DEVICE && s.kind == HIP_MEM_DEVICE);
}

static hipError_t copy(void *dst, const void *src, size_t size, hipMemcpyKind kind,
                       hipStream_t stream, bool async)
{
    if (size == 0) {
        return hipSuccess;
    }
    const hipError_t status = check_copy(dst, src, size, kind);
    if (status != hipSuccess) {
        return status;
    }
    struct copy_op *c = copy_new(dst, src, size);
    if (c == NULL) {
        return hipErrorOutOfMemory;
    }
    return hip_submit(stream, &c->op,
                      (async ? HIP_SUBMIT_ASYNC : 0) |
                          (host_waits(dst, src, async) ? HIP_SUBMIT_WAIT : 0));
}

hipError_t hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind)
{
    HIP_ENTER(hipMemcpy, HIP_NEED_ALIVE);
    return hip_leave(copy(dst, src, sizeBytes, kind, NULL, false));
}

hipError_t hipMemcpy_spt(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind)
{
    HIP_ENTER(hipMemcpy_spt, HIP_NEED_ALIVE);
    return hip_leave(copy(dst, src, sizeBytes, kind, hipStreamPerThread, false));
}

hipError_t hipMemcpyWithStream(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                               hipStream_t stream)
{
    HIP_ENTER(hipMemcpyWithStream, HIP_NEED_ALIVE);
    return hip_leave(copy(dst, src, sizeBytes, kind, stream, false));
}

hipError_t hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                          hipStream_t stream)
{
    HIP_ENTER(hipMemcpyAsync, HIP_NEED_DEVICE);
    return hip_leave(copy(dst, src, sizeBytes, kind, stream, true));
}

hipError_t hipMemcpyAsync_spt(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                              hipStream_t stream)
{
    HIP_ENTER(hipMemcpyAsync_spt, HIP_NEED_DEVICE);
    return hip_leave(
        copy(dst, src, sizeBytes, kind, stream != NULL ? stream : hipStreamPerThread, true));
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, const void *src, size_t sizeBytes)
{
    HIP_ENTER(hipMemcpyHtoD, HIP_NEED_ALIVE);
    return hip_leave(copy(dst, src, sizeBytes, hipMemcpyHostToDevice, NULL, false));
}

hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes)
{
    HIP_ENTER(hipMemcpyDtoH, HIP_NEED_ALIVE);
    return hip_leave(copy(dst, src, sizeBytes, hipMemcpyDeviceToHost, NULL, false));
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes)
{
    HIP_ENTER(hipMemcpyDtoD, HIP_NEED_ALIVE);
    return hip_leave(copy(dst, src, sizeBytes, hipMemcpyDeviceToDevice, NULL, false));
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void *src, size_t sizeBytes,
                              hipStream_t stream)
{
    HIP_ENTER(hipMemcpyHtoDAsync, HIP_NEED_DEVICE);
    return hip_leave(copy(dst, src, sizeBytes, hipMemcpyHostToDevice, stream, true));
}

hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes,
                              hipStream_t stream)
{
    HIP_ENTER(hipMemcpyDtoHAsync, HIP_NEED_DEVICE);
    return hip_leave(copy(dst, src, sizeBytes, hipMemcpyDeviceToHost, stream, true));
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes,
                              hipStream_t stream)
{
    HIP_ENTER(hipMemcpyDtoDAsync, HIP_NEED_DEVICE);
    return hip_leave(copy(dst, src, sizeBytes, hipMemcpyDeviceToDevice, stream, true));
}

/* --------------------------------------------------------------------- fills */

static hipError_t set(void *dst, uint32_t pattern, unsigned width, size_t count,
                      hipStream_t stream, bool async)
{
    if (count == 0) {
        return hipSuccess;
    }
    struct hip_alloc a;
    if (dst == NULL || count > SIZE_MAX / width || !range_is_usable(dst, count * width, true) ||
        !hip_alloc_find(dst, &a)) {
        return hipErrorInvalidValue;
    }
    struct copy_op *c = copy_new(dst, NULL, count * width);
    if (c == NULL) {
        return hipErrorOutOfMemory;
    }
    c->pattern = pattern;
    c->width = width;
    return hip_submit(stream, &c->op,
                      async                      ? HIP_SUBMIT_ASYNC
                      : a.kind != HIP_MEM_DEVICE ? HIP_SUBMIT_WAIT
                                                 : 0);
}

hipError_t hipMemset(void *dst, int value, size_t sizeBytes)
{
    HIP_ENTER(hipMemset, HIP_NEED_ALIVE);
    return hip_leave(set(dst, (unsigned char)value, 1, sizeBytes, NULL, false));
}

hipError_t hipMemset_spt(void *dst, int value, size_t sizeBytes)
{
    HIP_ENTER(hipMemset_spt, HIP_NEED_ALIVE);
    return hip_leave(set(dst, (unsigned char)value, 1, sizeBytes, hipStreamPerThread, false));
}

hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count)
{
    HIP_ENTER(hipMemsetD8, HIP_NEED_ALIVE);
    return hip_leave(set(dest, value, 1, count, NULL, false));
}

hipError_t hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count)
{
    HIP_ENTER(hipMemsetD16, HIP_NEED_ALIVE);
    return hip_leave(set(dest, value, 2, count, NULL, false));
}

hipError_t hipMemsetD32(hipDeviceptr_t dest, int value, size_t count)
{
    HIP_ENTER(hipMemsetD32, HIP_NEED_ALIVE);
    return hip_leave(set(dest, (uint32_t)value, 4, count, NULL, false));
}

hipError_t hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
    HIP_ENTER(hipMemsetAsync, HIP_NEED_DEVICE);
    return hip_leave(set(dst, (unsigned char)value, 1, sizeBytes, stream, true));
}

hipError_t hipMemsetAsync_spt(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
    HIP_ENTER(hipMemsetAsync_spt, HIP_NEED_DEVICE);
    return hip_leave(set(dst, (unsigned char)value, 1, sizeBytes,
                         stream != NULL ? stream : hipStreamPerThread, true));
}

hipError_t hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count,
                            hipStream_t stream)
{
    HIP_ENTER(hipMemsetD8Async, HIP_NEED_DEVICE);
    return hip_leave(set(dest, value, 1, count, stream, true));
}

hipError_t hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count,
                             hipStream_t stream)
{
    HIP_ENTER(hipMemsetD16Async, HIP_NEED_DEVICE);
    return hip_leave(set(dest, value, 2, count, stream, true));
}

hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream)
{
    HIP_ENTER(hipMemsetD32Async, HIP_NEED_DEVICE);
    return hip_leave(set(dst, (uint32_t)value, 4, count, stream, true));
}
