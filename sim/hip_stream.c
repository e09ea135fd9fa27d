/* SPDX-License-Identifier: MIT */
/*
 * Streams: one thread each, started on first use, that runs commands in order.
 *
 * Legacy default-stream order: a command of the null stream depends on all that
 * the device's blocking streams hold at that moment, a command of a blocking
 * stream on all that the null stream holds.  Dependencies point to earlier
 * commands only, so there is no cycle.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "hip_core.h"
#include "hip_rt.h"

/* A thread's own default stream is closed when the thread ends. */
static pthread_key_t thread_key;
static bool thread_key_made; /* guarded by hip_rt.lock */

void hip_op_release(struct hip_op *op)
{
    if (op != NULL && atomic_fetch_sub(&op->refs, 1) == 1) {
        op->release(op);
    }
}

static void stream_free_locked(struct ihipStream_t *s)
{
    pthread_cond_destroy(&s->work);
    free(s);
}

void hip_stream_release_locked(struct ihipStream_t *s)
{
    if (--s->refs == 0) {
        stream_free_locked(s);
    }
}

void hip_stream_release(struct ihipStream_t *s)
{
    pthread_mutex_lock(&hip_rt.lock);
    hip_stream_release_locked(s);
    pthread_mutex_unlock(&hip_rt.lock);
}

/* ------------------------------------------------------------------ commands */

static bool cmd_is_ready_locked(const struct hip_cmd *cmd)
{
    if (cmd->wait != NULL && !cmd->wait->done) {
        return false;
    }
    for (unsigned i = 0; i < cmd->dep_count; i++) {
        if (cmd->deps[i].stream->done_seq < cmd->deps[i].seq) {
            return false;
        }
    }
    return true;
}

/* Take the head command off, tell everyone, free it.  The op is released by the caller. */
static void cmd_complete_locked(struct ihipStream_t *s, struct hip_cmd *cmd)
{
    s->head = cmd->next;
    if (s->head == NULL) {
        s->tail = NULL;
    }
    s->done_seq = cmd->seq;
    if (cmd->record != NULL) {
        cmd->record->done = true;
        cmd->record->when_ns = hip_now_ns();
        hip_marker_release_locked(cmd->record);
    }
    if (cmd->wait != NULL) {
        hip_marker_release_locked(cmd->wait);
    }
    for (unsigned i = 0; i < cmd->dep_count; i++) {
        hip_stream_release_locked(cmd->deps[i].stream);
    }
    free(cmd->deps);
    free(cmd);
    pthread_cond_broadcast(&hip_rt.changed);
}

/* Run the head command; the lock is dropped while its operation runs. */
static void cmd_run_locked(struct ihipStream_t *s)
{
    struct hip_cmd *cmd = s->head;
    struct hip_op *op = cmd->op;
    const bool dropped = atomic_load(&hip_rt.stopping) || s->device->fault != hipSuccess;
    if (op != NULL && (!dropped || op->runs_after_fault)) {
        pthread_mutex_unlock(&hip_rt.lock);
        const hipError_t status = op->run(op, s);
        pthread_mutex_lock(&hip_rt.lock);
        if (status != hipSuccess && s->device->fault == hipSuccess) {
            s->device->fault = status;
        }
    }
    if (op != NULL) {
        /* Before completion: what op refers to may be freed by whoever waits for it. */
        pthread_mutex_unlock(&hip_rt.lock);
        hip_op_release(op);
        pthread_mutex_lock(&hip_rt.lock);
    }
    cmd_complete_locked(s, cmd);
}

static void *stream_main(void *arg)
{
    struct ihipStream_t *s = arg;
    hip_tls.is_stream = true;
    pthread_mutex_lock(&hip_rt.lock);
    for (;;) {
        if (s->head == NULL) {
            if (s->closing || atomic_load(&hip_rt.stopping)) {
                break;
            }
            pthread_cond_wait(&s->work, &hip_rt.lock);
        } else if (atomic_load(&hip_rt.stopping) || cmd_is_ready_locked(s->head)) {
            cmd_run_locked(s);
        } else {
            pthread_cond_wait(&hip_rt.changed, &hip_rt.lock);
        }
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static bool stream_start_locked(struct ihipStream_t *s)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    s->thread_started = pthread_create(&s->thread, NULL, stream_main, s) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (s->thread_started) {
        char name[16];
        (void)snprintf(name, sizeof(name), "hipsim-%u", (unsigned)(s->id % 1000000u));
        (void)pthread_setname_np(s->thread, name);
    }
    return s->thread_started;
}

/* Does `a` order against `b`, both of one device, by the legacy default-stream rule? */
static bool orders_with(const struct ihipStream_t *a, const struct ihipStream_t *b)
{
    if (a == b || a->device != b->device || b->done_seq == b->last_seq) {
        return false;
    }
    return (a->kind == HIP_STREAM_NULL && (b->flags & hipStreamNonBlocking) == 0) ||
           (b->kind == HIP_STREAM_NULL && (a->flags & hipStreamNonBlocking) == 0);
}

static bool collect_deps_locked(struct hip_cmd *cmd, struct ihipStream_t *s)
{
    unsigned count = 0;
    for (struct ihipStream_t *o = hip_rt.streams; o != NULL; o = o->next) {
        count += orders_with(s, o);
    }
    if (count == 0) {
        return true;
    }
    cmd->deps = calloc(count, sizeof(*cmd->deps));
    if (cmd->deps == NULL) {
        return false;
    }
    for (struct ihipStream_t *o = hip_rt.streams; o != NULL; o = o->next) {
        if (orders_with(s, o)) {
            o->refs++;
            cmd->deps[cmd->dep_count++] = (struct hip_dep){ .stream = o, .seq = o->last_seq };
        }
    }
    return true;
}

/*
 * Queue a command.  Takes over one reference of op, and adds one to each marker.
 * On failure nothing is queued and op is released.
 */
hipError_t hip_stream_push(struct ihipStream_t *s, struct hip_op *op, struct hip_marker *record,
                           struct hip_marker *wait, uint64_t *seq)
{
    struct hip_cmd *cmd = calloc(1, sizeof(*cmd));
    hipError_t status = cmd == NULL ? hipErrorOutOfMemory : hipSuccess;
    pthread_mutex_lock(&hip_rt.lock);
    if (status == hipSuccess && atomic_load(&hip_rt.stopping)) {
        status = hipErrorDeinitialized;
    } else if (status == hipSuccess && s->closing) {
        status = hipErrorContextIsDestroyed;
    } else if (status == hipSuccess && (!collect_deps_locked(cmd, s) ||
                                        (!s->thread_started && !stream_start_locked(s)))) {
        status = hipErrorOutOfMemory;
    }
    if (status == hipSuccess) {
        cmd->op = op;
        cmd->record = record;
        cmd->wait = wait;
        if (record != NULL) {
            record->refs++;
        }
        if (wait != NULL) {
            wait->refs++;
        }
        cmd->seq = ++s->last_seq;
        *seq = cmd->seq;
        if (s->tail != NULL) {
            s->tail->next = cmd;
        } else {
            s->head = cmd;
        }
        s->tail = cmd;
        pthread_cond_signal(&s->work);
    } else if (cmd != NULL) {
        for (unsigned i = 0; i < cmd->dep_count; i++) {
            hip_stream_release_locked(cmd->deps[i].stream);
        }
        free(cmd->deps);
        free(cmd);
    }
    pthread_mutex_unlock(&hip_rt.lock);
    if (status != hipSuccess) {
        hip_op_release(op);
    }
    return status;
}

/* ------------------------------------------------------------------- waiting */

hipError_t hip_stream_finish(struct ihipStream_t *s, uint64_t seq)
{
    pthread_mutex_lock(&hip_rt.lock);
    while (s->done_seq < seq && !atomic_load(&hip_rt.stopping)) {
        pthread_cond_wait(&hip_rt.changed, &hip_rt.lock);
    }
    const hipError_t status = s->done_seq < seq ? hipErrorDeinitialized : s->device->fault;
    pthread_mutex_unlock(&hip_rt.lock);
    return status;
}

/* Wait for what the device's streams hold now: all of them, or those of the legacy order. */
hipError_t hip_device_finish(struct hip_device *device, bool blocking_only)
{
    struct hip_cmd snapshot = { 0 };
    pthread_mutex_lock(&hip_rt.lock);
    unsigned count = 0;
    for (struct ihipStream_t *s = hip_rt.streams; s != NULL; s = s->next) {
        count++;
    }
    snapshot.deps = calloc(count + 1, sizeof(*snapshot.deps));
    if (snapshot.deps == NULL) {
        pthread_mutex_unlock(&hip_rt.lock);
        return hipErrorOutOfMemory;
    }
    for (struct ihipStream_t *s = hip_rt.streams; s != NULL; s = s->next) {
        if (s->device == device && s->done_seq < s->last_seq &&
            !(blocking_only && (s->flags & hipStreamNonBlocking) != 0)) {
            s->refs++;
            snapshot.deps[snapshot.dep_count++] =
                (struct hip_dep){ .stream = s, .seq = s->last_seq };
        }
    }
    while (!cmd_is_ready_locked(&snapshot) && !atomic_load(&hip_rt.stopping)) {
        pthread_cond_wait(&hip_rt.changed, &hip_rt.lock);
    }
    const hipError_t status =
        cmd_is_ready_locked(&snapshot) ? device->fault : hipErrorDeinitialized;
    for (unsigned i = 0; i < snapshot.dep_count; i++) {
        hip_stream_release_locked(snapshot.deps[i].stream);
    }
    pthread_mutex_unlock(&hip_rt.lock);
    free(snapshot.deps);
    return status;
}

/* --------------------------------------------------------- making and finding */

static hipError_t stream_new_locked(struct hip_device *device, enum hip_stream_kind kind,
                                    unsigned flags, int priority, struct ihipStream_t **out)
{
    struct ihipStream_t *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return hipErrorOutOfMemory;
    }
    pthread_cond_init(&s->work, NULL);
    s->refs = 1;
    s->device = device;
    s->kind = kind;
    s->flags = flags;
    s->priority = priority;
    s->owner = pthread_self();
    s->id = hip_rt.next_stream_id++;
    s->next = hip_rt.streams;
    hip_rt.streams = s;
    *out = s;
    return hipSuccess;
}

hipError_t hip_stream_new(struct hip_device *device, enum hip_stream_kind kind, unsigned flags,
                          int priority, struct ihipStream_t **stream)
{
    pthread_mutex_lock(&hip_rt.lock);
    const hipError_t status = stream_new_locked(device, kind, flags, priority, stream);
    pthread_mutex_unlock(&hip_rt.lock);
    return status;
}

static void unlist_locked(struct ihipStream_t *stream)
{
    for (struct ihipStream_t **p = &hip_rt.streams; *p != NULL; p = &(*p)->next) {
        if (*p == stream) {
            *p = stream->next;
            return;
        }
    }
}

/*
 * Let the stream do what it holds (or drop it, while stopping), end its thread and
 * give up the list's reference.  The stream stays listed until its thread has ended,
 * because the null stream orders against it.
 */
void hip_stream_close(struct ihipStream_t *s)
{
    pthread_mutex_lock(&hip_rt.lock);
    s->closing = true;
    pthread_cond_signal(&s->work);
    const bool join = s->thread_started;
    pthread_mutex_unlock(&hip_rt.lock);
    if (join) {
        if (pthread_equal(s->thread, pthread_self())) {
            /* exit() called from a host function: this thread cannot wait for itself. */
            (void)pthread_detach(s->thread);
            return;
        }
        (void)pthread_join(s->thread, NULL);
    }
    hip_capture_drop(s);
    pthread_mutex_lock(&hip_rt.lock);
    unlist_locked(s);
    if (s->device->null_stream == s) {
        s->device->null_stream = NULL;
    }
    hip_stream_release_locked(s);
    pthread_mutex_unlock(&hip_rt.lock);
}

static void close_thread_streams(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&hip_rt.lock);
        struct ihipStream_t *s = hip_rt.streams;
        while (s != NULL && !(s->kind == HIP_STREAM_THREAD && !s->closing &&
                              pthread_equal(s->owner, pthread_self()))) {
            s = s->next;
        }
        if (s != NULL) {
            s->closing = true;
        }
        pthread_mutex_unlock(&hip_rt.lock);
        if (s == NULL) {
            return;
        }
        hip_stream_close(s);
    }
}

static hipError_t thread_stream_locked(struct hip_device *device, struct ihipStream_t **out)
{
    for (struct ihipStream_t *s = hip_rt.streams; s != NULL; s = s->next) {
        if (s->kind == HIP_STREAM_THREAD && s->device == device && !s->closing &&
            pthread_equal(s->owner, pthread_self())) {
            *out = s;
            return hipSuccess;
        }
    }
    if (!thread_key_made) {
        if (pthread_key_create(&thread_key, close_thread_streams) != 0) {
            return hipErrorOutOfMemory;
        }
        thread_key_made = true;
    }
    (void)pthread_setspecific(thread_key, &hip_tls);
    return stream_new_locked(device, HIP_STREAM_THREAD, hipStreamDefault, 0, out);
}

static hipError_t find_locked(hipStream_t handle, struct ihipStream_t **out)
{
    struct hip_device *device = hip_current_device();
    if (handle == NULL || handle == hipStreamLegacy) {
        *out = device->null_stream;
        if (*out != NULL) {
            return hipSuccess;
        }
        const hipError_t status =
            stream_new_locked(device, HIP_STREAM_NULL, hipStreamDefault, 0, out);
        device->null_stream = status == hipSuccess ? *out : NULL;
        return status;
    }
    if (handle == hipStreamPerThread) {
        return thread_stream_locked(device, out);
    }
    for (struct ihipStream_t *s = hip_rt.streams; s != NULL; s = s->next) {
        if (s == handle && s->kind == HIP_STREAM_USER && !s->closing) {
            *out = s;
            return hipSuccess;
        }
    }
    return hipErrorContextIsDestroyed; /* what AMD's runtime answers for a dead stream */
}

/* The stream behind a handle, with a reference for the caller. */
hipError_t hip_stream_resolve(hipStream_t handle, struct ihipStream_t **stream)
{
    *stream = NULL;
    pthread_mutex_lock(&hip_rt.lock);
    const hipError_t status = find_locked(handle, stream);
    if (status == hipSuccess) {
        (*stream)->refs++;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return status;
}

void hip_streams_close(struct hip_device *device)
{
    for (;;) {
        pthread_mutex_lock(&hip_rt.lock);
        struct ihipStream_t *s = hip_rt.streams;
        while (s != NULL && (s->closing || (device != NULL && s->device != device))) {
            s = s->next;
        }
        if (s != NULL) {
            s->closing = true;
        }
        pthread_mutex_unlock(&hip_rt.lock);
        if (s == NULL) {
            return;
        }
        hip_stream_close(s);
    }
}

void hip_streams_stop(void)
{
    hip_streams_close(NULL);
    pthread_mutex_lock(&hip_rt.lock);
    if (thread_key_made) {
        (void)pthread_key_delete(thread_key);
        thread_key_made = false;
    }
    pthread_mutex_unlock(&hip_rt.lock);
}

hipError_t hip_submit(hipStream_t handle, struct hip_op *op, unsigned how)
{
    const bool wait = (how & HIP_SUBMIT_WAIT) != 0;
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(handle, &s);
    if (status != hipSuccess) {
        hip_op_release(op);
        return status;
    }
    bool captured = false;
    status = hip_capture_op(s, op, (how & HIP_SUBMIT_ASYNC) != 0, &captured);
    if (status == hipSuccess && !captured) {
        status = hip_device_fault(s->device);
    }
    if (status == hipSuccess && !captured) {
        uint64_t seq = 0;
        status = hip_stream_push(s, op, NULL, NULL, &seq);
        op = NULL;
        if (status == hipSuccess && wait) {
            status = hip_stream_finish(s, seq);
        }
    }
    hip_op_release(op);
    hip_stream_release(s);
    return status;
}
