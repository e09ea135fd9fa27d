/* SPDX-License-Identifier: MIT */
/* Entry points of streams and host functions; what streams do is in hip_stream.c. */
#include <stdlib.h>

#include "hip_core.h"
#include "hip_rt.h"

/* Numerically lower is more urgent, as HIP has it. */
enum { PRIORITY_HIGH = -1, PRIORITY_LOW = 1 };

static hipError_t stream_create(hipStream_t *stream, unsigned flags, int priority)
{
    if (stream == NULL || (flags != hipStreamDefault && flags != hipStreamNonBlocking)) {
        return hipErrorInvalidValue;
    }
    priority = priority < PRIORITY_HIGH  ? PRIORITY_HIGH
               : priority > PRIORITY_LOW ? PRIORITY_LOW
                                         : priority;
    *stream = NULL;
    return hip_stream_new(hip_current_device(), HIP_STREAM_USER, flags, priority, stream);
}

hipError_t hipStreamCreate(hipStream_t *stream)
{
    HIP_ENTER(hipStreamCreate, HIP_NEED_ALIVE);
    return hip_leave(stream_create(stream, hipStreamDefault, 0));
}

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags)
{
    HIP_ENTER(hipStreamCreateWithFlags, HIP_NEED_ALIVE);
    return hip_leave(stream_create(stream, flags, 0));
}

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority)
{
    HIP_ENTER(hipStreamCreateWithPriority, HIP_NEED_ALIVE);
    return hip_leave(stream_create(stream, flags, priority));
}

hipError_t hipDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    HIP_ENTER(hipDeviceGetStreamPriorityRange, HIP_NEED_DEVICE);
    if (leastPriority != NULL) {
        *leastPriority = PRIORITY_LOW;
    }
    if (greatestPriority != NULL) {
        *greatestPriority = PRIORITY_HIGH;
    }
    return hip_leave(hipSuccess);
}

/* Waits for the stream's work, as AMD's runtime does. */
hipError_t hipStreamDestroy(hipStream_t stream)
{
    HIP_ENTER(hipStreamDestroy, HIP_NEED_DEVICE);
    if (stream == NULL || stream == hipStreamLegacy || stream == hipStreamPerThread) {
        return hip_leave(hipErrorInvalidHandle);
    }
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return hip_leave(status);
    }
    pthread_mutex_lock(&hip_rt.lock);
    const bool first = !s->closing;
    s->closing = true;
    pthread_mutex_unlock(&hip_rt.lock);
    if (first) {
        hip_stream_close(s);
        status = hip_device_fault(s->device);
    } else {
        status = hipErrorContextIsDestroyed;
    }
    hip_stream_release(s);
    return hip_leave(status);
}

static hipError_t stream_synchronize(hipStream_t stream)
{
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return status;
    }
    status = hip_capture_refuse(s);
    if (status == hipSuccess && s->kind == HIP_STREAM_NULL) {
        status = hip_device_finish(s->device, true);
    } else if (status == hipSuccess) {
        pthread_mutex_lock(&hip_rt.lock);
        const uint64_t seq = s->last_seq;
        pthread_mutex_unlock(&hip_rt.lock);
        status = hip_stream_finish(s, seq);
    }
    hip_stream_release(s);
    return status;
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
    HIP_ENTER(hipStreamSynchronize, HIP_NEED_DEVICE);
    return hip_leave(stream_synchronize(stream));
}

hipError_t hipStreamSynchronize_spt(hipStream_t stream)
{
    HIP_ENTER(hipStreamSynchronize_spt, HIP_NEED_DEVICE);
    return hip_leave(stream_synchronize(stream != NULL ? stream : hipStreamPerThread));
}

static hipError_t stream_query(hipStream_t stream)
{
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return status;
    }
    status = hip_capture_refuse(s);
    if (status == hipSuccess) {
        pthread_mutex_lock(&hip_rt.lock);
        status = s->done_seq < s->last_seq ? hipErrorNotReady : s->device->fault;
        pthread_mutex_unlock(&hip_rt.lock);
    }
    hip_stream_release(s);
    return status;
}

hipError_t hipStreamQuery(hipStream_t stream)
{
    HIP_ENTER(hipStreamQuery, HIP_NEED_DEVICE);
    return hip_leave(stream_query(stream));
}

hipError_t hipStreamQuery_spt(hipStream_t stream)
{
    HIP_ENTER(hipStreamQuery_spt, HIP_NEED_DEVICE);
    return hip_leave(stream_query(stream != NULL ? stream : hipStreamPerThread));
}

/* ---------------------------------------------------------------- properties */

enum property { PROPERTY_FLAGS, PROPERTY_PRIORITY, PROPERTY_DEVICE, PROPERTY_ID };

static hipError_t stream_property(hipStream_t stream, enum property what,
                                  unsigned long long *value)
{
    struct ihipStream_t *s = NULL;
    const hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return status;
    }
    switch (what) {
    case PROPERTY_FLAGS:
        *value = s->flags;
        break;
    case PROPERTY_PRIORITY:
        *value = (unsigned long long)(long long)s->priority;
        break;
    case PROPERTY_DEVICE:
        *value = (unsigned long long)s->device->id;
        break;
    case PROPERTY_ID:
        *value = s->id;
        break;
    }
    hip_stream_release(s);
    return hipSuccess;
}

static hipError_t get_flags(hipStream_t stream, unsigned *flags)
{
    unsigned long long value = 0;
    const hipError_t status =
        flags == NULL ? hipErrorInvalidValue : stream_property(stream, PROPERTY_FLAGS, &value);
    if (status == hipSuccess) {
        *flags = (unsigned)value;
    }
    return status;
}

static hipError_t get_priority(hipStream_t stream, int *priority)
{
    unsigned long long value = 0;
    const hipError_t status = priority == NULL
                                  ? hipErrorInvalidValue
                                  : stream_property(stream, PROPERTY_PRIORITY, &value);
    if (status == hipSuccess) {
        *priority = (int)(long long)value;
    }
    return status;
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags)
{
    HIP_ENTER(hipStreamGetFlags, HIP_NEED_DEVICE);
    return hip_leave(get_flags(stream, flags));
}

hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned *flags)
{
    HIP_ENTER(hipStreamGetFlags_spt, HIP_NEED_DEVICE);
    return hip_leave(get_flags(stream != NULL ? stream : hipStreamPerThread, flags));
}

hipError_t hipStreamGetPriority(hipStream_t stream, int *priority)
{
    HIP_ENTER(hipStreamGetPriority, HIP_NEED_DEVICE);
    return hip_leave(get_priority(stream, priority));
}

hipError_t hipStreamGetPriority_spt(hipStream_t stream, int *priority)
{
    HIP_ENTER(hipStreamGetPriority_spt, HIP_NEED_DEVICE);
    return hip_leave(get_priority(stream != NULL ? stream : hipStreamPerThread, priority));
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device)
{
    HIP_ENTER(hipStreamGetDevice, HIP_NEED_DEVICE);
    unsigned long long value = 0;
    const hipError_t status = device == NULL ? hipErrorInvalidValue
                                             : stream_property(stream, PROPERTY_DEVICE, &value);
    if (status == hipSuccess) {
        *device = (int)value;
    }
    return hip_leave(status);
}

hipError_t hipStreamGetId(hipStream_t stream, unsigned long long *streamId)
{
    HIP_ENTER(hipStreamGetId, HIP_NEED_DEVICE);
    return hip_leave(streamId == NULL ? hipErrorInvalidValue
                                      : stream_property(stream, PROPERTY_ID, streamId));
}

/* AMD's own call: the device number itself, -1 when there is no such stream. */
int hipGetStreamDeviceId(hipStream_t stream)
{
    unsigned long long value = 0;
    if (hip_enter(HIP_FN_hipGetStreamDeviceId, "hipGetStreamDeviceId", HIP_NEED_DEVICE) !=
            hipSuccess ||
        stream_property(stream, PROPERTY_DEVICE, &value) != hipSuccess) {
        return -1;
    }
    return (int)value;
}

/* ------------------------------------------------------------ host functions */

struct host_op {
    struct hip_op op;
    hipHostFn_t fn;
    hipStreamCallback_t callback;
    hipStream_t stream;
    void *data;
};

static hipError_t host_run(struct hip_op *op, struct ihipStream_t *stream)
{
    (void)stream;
    const struct host_op *h = (const struct host_op *)op;
    if (h->fn != NULL) {
        h->fn(h->data);
    } else {
        h->callback(h->stream, hipSuccess, h->data);
    }
    return hipSuccess;
}

static void host_release(struct hip_op *op)
{
    free(op);
}

static hipError_t launch_host(hipStream_t stream, hipHostFn_t fn, hipStreamCallback_t callback,
                              void *data)
{
    if (fn == NULL && callback == NULL) {
        return hipErrorInvalidValue;
    }
    struct host_op *h = calloc(1, sizeof(*h));
    if (h == NULL) {
        return hipErrorOutOfMemory;
    }
    h->op = (struct hip_op){ .refs = 1, .run = host_run, .release = host_release };
    h->fn = fn;
    h->callback = callback;
    h->stream = stream;
    h->data = data;
    return hip_submit(stream, &h->op, HIP_SUBMIT_ASYNC);
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *userData)
{
    HIP_ENTER(hipLaunchHostFunc, HIP_NEED_DEVICE);
    return hip_leave(launch_host(stream, fn, NULL, userData));
}

hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t fn, void *userData)
{
    HIP_ENTER(hipLaunchHostFunc_spt, HIP_NEED_DEVICE);
    return hip_leave(
        launch_host(stream != NULL ? stream : hipStreamPerThread, fn, NULL, userData));
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback,
                                void *userData, unsigned flags)
{
    HIP_ENTER(hipStreamAddCallback, HIP_NEED_DEVICE);
    return hip_leave(flags != 0 ? hipErrorInvalidValue
                                : launch_host(stream, NULL, callback, userData));
}
