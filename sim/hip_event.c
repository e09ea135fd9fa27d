/* SPDX-License-Identifier: MIT */
/*
 * Events.  Recording puts a marker into a stream; the event refers to the marker of
 * its last record, and who waits refers to the marker that was current then.
 * Times are those of the host's monotonic clock, not of hardware.
 */
#include <stdlib.h>
#include <time.h>

#include "hip_core.h"
#include "hip_rt.h"

int64_t hip_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void hip_marker_release_locked(struct hip_marker *marker)
{
    if (marker != NULL && --marker->refs == 0) {
        free(marker);
    }
}

static void marker_release(struct hip_marker *marker)
{
    pthread_mutex_lock(&hip_rt.lock);
    hip_marker_release_locked(marker);
    pthread_mutex_unlock(&hip_rt.lock);
}

static bool event_is_live_locked(hipEvent_t event)
{
    for (struct ihipEvent_t *e = hip_rt.events; e != NULL; e = e->next) {
        if (e == event) {
            return true;
        }
    }
    return false;
}

static hipError_t event_new(hipEvent_t *event, unsigned flags)
{
    const unsigned release =
        hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence;
    const unsigned known =
        hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | release;
    const unsigned fences = flags & release;
    if (event == NULL || (flags & ~known) != 0 || (fences & (fences - 1)) != 0 ||
        ((flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0)) {
        return hipErrorInvalidValue;
    }
    if ((flags & hipEventInterprocess) != 0) {
        hip_say("events shared between processes are not simulated");
        return hipErrorNotSupported;
    }
    struct ihipEvent_t *e = calloc(1, sizeof(*e));
    if (e == NULL) {
        return hipErrorOutOfMemory;
    }
    e->flags = flags;
    e->device = hip_tls.device;
    pthread_mutex_lock(&hip_rt.lock);
    e->next = hip_rt.events;
    hip_rt.events = e;
    pthread_mutex_unlock(&hip_rt.lock);
    *event = e;
    return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t *event)
{
    HIP_ENTER(hipEventCreate, HIP_NEED_ALIVE);
    return hip_leave(event_new(event, hipEventDefault));
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags)
{
    HIP_ENTER(hipEventCreateWithFlags, HIP_NEED_ALIVE);
    return hip_leave(event_new(event, flags));
}

/* A command that still refers to the event's marker keeps the marker, not the event. */
hipError_t hipEventDestroy(hipEvent_t event)
{
    HIP_ENTER(hipEventDestroy, HIP_NEED_DEVICE);
    if (event == NULL) {
        return hip_leave(hipErrorInvalidHandle);
    }
    hipError_t status = hipErrorContextIsDestroyed;
    pthread_mutex_lock(&hip_rt.lock);
    for (struct ihipEvent_t **p = &hip_rt.events; *p != NULL; p = &(*p)->next) {
        if (*p == event) {
            *p = event->next;
            hip_marker_release_locked(event->marker);
            free(event);
            status = hip_current_device()->fault;
            break;
        }
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(status);
}

void hip_events_free_all(void)
{
    pthread_mutex_lock(&hip_rt.lock);
    while (hip_rt.events != NULL) {
        struct ihipEvent_t *e = hip_rt.events;
        hip_rt.events = e->next;
        hip_marker_release_locked(e->marker);
        free(e);
    }
    pthread_mutex_unlock(&hip_rt.lock);
}

/* The stream is resolved and not capturing: queue the marker and make it the event's. */
static hipError_t record_on(struct ihipStream_t *s, hipEvent_t event)
{
    struct hip_marker *marker = calloc(1, sizeof(*marker));
    if (marker == NULL) {
        return hipErrorOutOfMemory;
    }
    marker->refs = 1;
    marker->device = s->device;
    uint64_t seq = 0;
    hipError_t status = hip_stream_push(s, NULL, marker, NULL, &seq);
    pthread_mutex_lock(&hip_rt.lock);
    if (status == hipSuccess && !event_is_live_locked(event)) {
        status = hipErrorInvalidHandle;
    }
    if (status == hipSuccess) {
        hip_marker_release_locked(event->marker);
        event->marker = marker;
        event->captured = NULL;
    } else {
        hip_marker_release_locked(marker);
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return status;
}

static hipError_t event_record(hipEvent_t event, hipStream_t stream, unsigned flags)
{
    if (flags != hipEventRecordDefault && flags != hipEventRecordExternal) {
        return hipErrorInvalidValue;
    }
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return status;
    }
    pthread_mutex_lock(&hip_rt.lock);
    const bool capturing = s->capture_status != hipStreamCaptureStatusNone;
    if (event == NULL || !event_is_live_locked(event)) {
        status = hipErrorInvalidHandle;
    } else if (event->device != s->device->id) {
        status = hipErrorInvalidHandle; /* HIP: events belong to the device they were made on */
    } else if (capturing) {
        event->captured = s; /* compared only, never followed */
    } else {
        status = s->device->fault;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    if (status == hipSuccess && !capturing) {
        status = record_on(s, event);
    }
    hip_stream_release(s);
    return status;
}

hipError_t hip_event_record(hipEvent_t event, hipStream_t stream)
{
    return event_record(event, stream, hipEventRecordDefault);
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    HIP_ENTER(hipEventRecord, HIP_NEED_DEVICE);
    return hip_leave(event_record(event, stream, hipEventRecordDefault));
}

hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags)
{
    HIP_ENTER(hipEventRecordWithFlags, HIP_NEED_DEVICE);
    return hip_leave(event_record(event, stream, flags));
}

hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream)
{
    HIP_ENTER(hipEventRecord_spt, HIP_NEED_DEVICE);
    return hip_leave(event_record(event, stream != NULL ? stream : hipStreamPerThread, 0));
}

/* The event's marker with a reference (NULL when never recorded). */
static hipError_t marker_of(hipEvent_t event, struct hip_marker **marker)
{
    hipError_t status = hipSuccess;
    *marker = NULL;
    pthread_mutex_lock(&hip_rt.lock);
    if (event == NULL || !event_is_live_locked(event)) {
        status = hipErrorInvalidHandle;
    } else if (event->captured != NULL) {
        status = hipErrorCapturedEvent;
    } else if (event->marker != NULL) {
        *marker = event->marker;
        event->marker->refs++;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return status;
}

hipError_t hipEventQuery(hipEvent_t event)
{
    HIP_ENTER(hipEventQuery, HIP_NEED_DEVICE);
    struct hip_marker *marker = NULL;
    hipError_t status = marker_of(event, &marker);
    if (status == hipSuccess && marker != NULL) {
        pthread_mutex_lock(&hip_rt.lock);
        status = !marker->done ? hipErrorNotReady : marker->device->fault;
        hip_marker_release_locked(marker);
        pthread_mutex_unlock(&hip_rt.lock);
    }
    return hip_leave(status);
}

hipError_t hipEventSynchronize(hipEvent_t event)
{
    HIP_ENTER(hipEventSynchronize, HIP_NEED_DEVICE);
    struct hip_marker *marker = NULL;
    hipError_t status = marker_of(event, &marker);
    if (status == hipSuccess && marker != NULL) {
        pthread_mutex_lock(&hip_rt.lock);
        while (!marker->done && !atomic_load(&hip_rt.stopping)) {
            pthread_cond_wait(&hip_rt.changed, &hip_rt.lock);
        }
        status = marker->done ? marker->device->fault : hipErrorDeinitialized;
        hip_marker_release_locked(marker);
        pthread_mutex_unlock(&hip_rt.lock);
    }
    return hip_leave(status);
}

static hipError_t elapsed_locked(float *ms, const struct ihipEvent_t *start,
                                 const struct ihipEvent_t *stop)
{
    if (((start->flags | stop->flags) & hipEventDisableTiming) != 0 || start->marker == NULL ||
        stop->marker == NULL || start->device != stop->device) {
        return hipErrorInvalidHandle;
    }
    if (!start->marker->done || !stop->marker->done) {
        return hipErrorNotReady;
    }
    *ms = (float)((double)(stop->marker->when_ns - start->marker->when_ns) * 1e-6);
    return start->marker->device->fault;
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
    HIP_ENTER(hipEventElapsedTime, HIP_NEED_DEVICE);
    if (ms == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    hipError_t status = hipErrorInvalidHandle;
    pthread_mutex_lock(&hip_rt.lock);
    if (event_is_live_locked(start) && event_is_live_locked(stop)) {
        status = elapsed_locked(ms, start, stop);
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(status);
}

static hipError_t stream_wait_event(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    if (flags != hipEventWaitDefault && flags != hipEventWaitExternal) {
        return hipErrorInvalidValue;
    }
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return status;
    }
    struct hip_marker *marker = NULL;
    pthread_mutex_lock(&hip_rt.lock);
    const bool capturing = s->capture_status != hipStreamCaptureStatusNone;
    const bool live = event != NULL && event_is_live_locked(event);
    const void *captured = live ? event->captured : NULL;
    pthread_mutex_unlock(&hip_rt.lock);
    if (!live) {
        status = hipErrorInvalidHandle;
    } else if (captured == s && capturing) {
        status = hipSuccess; /* in order anyway */
    } else if (captured != NULL) {
        hip_say("hipStreamWaitEvent: captures that span several streams are not simulated");
        status = hipErrorNotSupported;
    } else if (capturing) {
        status = hipErrorStreamCaptureIsolation;
    } else {
        status = marker_of(event, &marker);
    }
    if (status == hipSuccess && marker != NULL) {
        uint64_t seq = 0;
        status = hip_device_fault(s->device);
        if (status == hipSuccess) {
            status = hip_stream_push(s, NULL, NULL, marker, &seq);
        }
        marker_release(marker);
    }
    hip_stream_release(s);
    return status;
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    HIP_ENTER(hipStreamWaitEvent, HIP_NEED_DEVICE);
    return hip_leave(stream_wait_event(stream, event, flags));
}

hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    HIP_ENTER(hipStreamWaitEvent_spt, HIP_NEED_DEVICE);
    return hip_leave(
        stream_wait_event(stream != NULL ? stream : hipStreamPerThread, event, flags));
}
