/* SPDX-License-Identifier: MIT */
/*
 * Stream capture into graphs, for captures of one stream: what is queued is recorded
 * in order and a graph launch queues it again.  A capture that spreads to a second
 * stream by events is refused.
 */
#include <stdlib.h>

#include "hip_rt.h"

/* Guarded by hip_rt.lock. */
struct ihipGraph {
    struct ihipGraph *next;
    struct hip_op **ops;
    size_t count, room;
};

struct hipGraphExec {
    struct hipGraphExec *next;
    struct hip_op **ops;
    size_t count;
};

static struct ihipGraph *graphs;
static struct hipGraphExec *execs;

static void graph_free(struct ihipGraph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        hip_op_release(graph->ops[i]);
    }
    free(graph->ops);
    free(graph);
}

static void exec_free(struct hipGraphExec *exec)
{
    for (size_t i = 0; i < exec->count; i++) {
        hip_op_release(exec->ops[i]);
    }
    free(exec->ops);
    free(exec);
}

/* ------------------------------------------------------------------- capture */

static bool is_capturing(const struct ihipStream_t *s)
{
    return s->capture_status != hipStreamCaptureStatusNone;
}

static void invalidate_locked(struct ihipStream_t *s)
{
    s->capture_status = hipStreamCaptureStatusInvalidated;
}

static bool append_locked(struct ihipGraph *graph, struct hip_op *op)
{
    if (graph->count == graph->room) {
        const size_t room = graph->room == 0 ? 8 : graph->room * 2;
        struct hip_op **ops = realloc(graph->ops, room * sizeof(struct hip_op *));
        if (ops == NULL) {
            return false;
        }
        graph->ops = ops;
        graph->room = room;
    }
    atomic_fetch_add(&op->refs, 1);
    graph->ops[graph->count++] = op;
    return true;
}

/* Work for the null stream would order against every blocking stream that captures. */
static bool disturbs_locked(const struct ihipStream_t *null_stream)
{
    bool found = false;
    for (struct ihipStream_t *s = hip_rt.streams; s != NULL; s = s->next) {
        if (s->device == null_stream->device && is_capturing(s) &&
            (s->flags & hipStreamNonBlocking) == 0) {
            invalidate_locked(s);
            found = true;
        }
    }
    return found;
}

hipError_t hip_capture_op(struct ihipStream_t *s, struct hip_op *op, bool async, bool *captured)
{
    hipError_t status = hipSuccess;
    *captured = false;
    pthread_mutex_lock(&hip_rt.lock);
    if (s->kind == HIP_STREAM_NULL) {
        status = disturbs_locked(s) ? hipErrorStreamCaptureImplicit : hipSuccess;
    } else if (s->capture_status == hipStreamCaptureStatusInvalidated) {
        status = hipErrorStreamCaptureInvalidated;
    } else if (is_capturing(s) && !async) {
        invalidate_locked(s);
        status = hipErrorStreamCaptureUnsupported;
    } else if (is_capturing(s)) {
        *captured = append_locked(s->capture, op);
        status = *captured ? hipSuccess : hipErrorOutOfMemory;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return status;
}

hipError_t hip_capture_refuse(struct ihipStream_t *s)
{
    hipError_t status = hipSuccess;
    pthread_mutex_lock(&hip_rt.lock);
    if (is_capturing(s)) {
        invalidate_locked(s);
        status = hipErrorStreamCaptureUnsupported;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return status;
}

/* Does a capture of `s` forbid calls of this thread that might disturb it? */
static bool forbids_locked(const struct ihipStream_t *s)
{
    if (!is_capturing(s) || hip_tls.capture_mode == hipStreamCaptureModeRelaxed) {
        return false;
    }
    const bool mine = pthread_equal(s->capture_thread, pthread_self()) != 0;
    return (s->capture_mode == hipStreamCaptureModeGlobal &&
            (mine || hip_tls.capture_mode == hipStreamCaptureModeGlobal)) ||
           (s->capture_mode == hipStreamCaptureModeThreadLocal && mine);
}

hipError_t hip_capture_guard(void)
{
    hipError_t status = hipSuccess;
    pthread_mutex_lock(&hip_rt.lock);
    for (struct ihipStream_t *s = hip_rt.streams; s != NULL; s = s->next) {
        if (forbids_locked(s)) {
            invalidate_locked(s);
            status = hipErrorStreamCaptureUnsupported;
        }
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return status;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
    HIP_ENTER(hipStreamBeginCapture, HIP_NEED_ALIVE);
    if (mode != hipStreamCaptureModeGlobal && mode != hipStreamCaptureModeThreadLocal &&
        mode != hipStreamCaptureModeRelaxed) {
        return hip_leave(hipErrorInvalidValue);
    }
    struct ihipStream_t *s = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return hip_leave(status);
    }
    struct ihipGraph *graph = calloc(1, sizeof(*graph));
    pthread_mutex_lock(&hip_rt.lock);
    if (s->kind == HIP_STREAM_NULL) {
        status = hipErrorStreamCaptureUnsupported;
    } else if (is_capturing(s)) {
        status = hipErrorIllegalState;
    } else if (graph == NULL) {
        status = hipErrorOutOfMemory;
    } else {
        s->capture = graph;
        s->capture_status = hipStreamCaptureStatusActive;
        s->capture_mode = mode;
        s->capture_thread = pthread_self();
        s->capture_id = ++hip_rt.next_stream_id;
        graph = NULL;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    free(graph);
    hip_stream_release(s);
    return hip_leave(status);
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph)
{
    HIP_ENTER(hipStreamEndCapture, HIP_NEED_DEVICE);
    struct ihipStream_t *s = NULL;
    if (pGraph == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    *pGraph = NULL;
    hipError_t status = hip_stream_resolve(stream, &s);
    if (status != hipSuccess) {
        return hip_leave(status);
    }
    struct ihipGraph *dropped = NULL;
    pthread_mutex_lock(&hip_rt.lock);
    if (!is_capturing(s)) {
        status = hipErrorIllegalState;
    } else if (s->capture_mode != hipStreamCaptureModeRelaxed &&
               !pthread_equal(s->capture_thread, pthread_self())) {
        status = hipErrorStreamCaptureWrongThread;
    } else {
        if (s->capture_status == hipStreamCaptureStatusActive) {
            s->capture->next = graphs;
            graphs = s->capture;
            *pGraph = s->capture;
        } else {
            dropped = s->capture;
            status = hipErrorStreamCaptureInvalidated;
        }
        s->capture = NULL;
        s->capture_status = hipStreamCaptureStatusNone;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    if (dropped != NULL) {
        graph_free(dropped);
    }
    hip_stream_release(s);
    return hip_leave(status);
}

/* A stream that ends while it captures. */
void hip_capture_drop(struct ihipStream_t *s)
{
    pthread_mutex_lock(&hip_rt.lock);
    struct ihipGraph *graph = s->capture;
    s->capture = NULL;
    s->capture_status = hipStreamCaptureStatusNone;
    pthread_mutex_unlock(&hip_rt.lock);
    if (graph != NULL) {
        graph_free(graph);
    }
}

static hipError_t capture_status(hipStream_t stream, hipStreamCaptureStatus *status_out,
                                 unsigned long long *id_out)
{
    struct ihipStream_t *s = NULL;
    if (status_out == NULL) {
        return hipErrorInvalidValue;
    }
    const hipError_t status = hip_stream_resolve(stream, &s);
    if (status == hipSuccess) {
        pthread_mutex_lock(&hip_rt.lock);
        *status_out = s->capture_status;
        if (id_out != NULL) {
            *id_out = is_capturing(s) ? s->capture_id : 0;
        }
        pthread_mutex_unlock(&hip_rt.lock);
        hip_stream_release(s);
    }
    return status;
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus)
{
    HIP_ENTER(hipStreamIsCapturing, HIP_NEED_DEVICE);
    return hip_leave(capture_status(stream, pCaptureStatus, NULL));
}

hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus)
{
    HIP_ENTER(hipStreamIsCapturing_spt, HIP_NEED_DEVICE);
    return hip_leave(
        capture_status(stream != NULL ? stream : hipStreamPerThread, pCaptureStatus, NULL));
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
                                   unsigned long long *pId)
{
    HIP_ENTER(hipStreamGetCaptureInfo, HIP_NEED_DEVICE);
    return hip_leave(capture_status(stream, pCaptureStatus, pId));
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode)
{
    HIP_ENTER(hipThreadExchangeStreamCaptureMode, 0);
    if (mode == NULL ||
        (*mode != hipStreamCaptureModeGlobal && *mode != hipStreamCaptureModeThreadLocal &&
         *mode != hipStreamCaptureModeRelaxed)) {
        return hip_leave(hipErrorInvalidValue);
    }
    const hipStreamCaptureMode before = hip_tls.capture_mode;
    hip_tls.capture_mode = *mode;
    *mode = before;
    return hip_leave(hipSuccess);
}

/* -------------------------------------------------------------------- graphs */

static bool graph_is_live_locked(hipGraph_t graph)
{
    struct ihipGraph *g = graphs;
    while (g != NULL && g != graph) {
        g = g->next;
    }
    return g != NULL;
}

static bool exec_is_live_locked(hipGraphExec_t exec)
{
    struct hipGraphExec *e = execs;
    while (e != NULL && e != exec) {
        e = e->next;
    }
    return e != NULL;
}

static hipError_t instantiate(hipGraphExec_t *out, hipGraph_t graph)
{
    if (out == NULL || graph == NULL) {
        return hipErrorInvalidValue;
    }
    *out = NULL;
    hipError_t status = hipSuccess;
    struct hipGraphExec *exec = calloc(1, sizeof(*exec));
    pthread_mutex_lock(&hip_rt.lock);
    if (!graph_is_live_locked(graph)) {
        status = hipErrorInvalidValue;
    } else if (exec == NULL ||
               (exec->ops = calloc(graph->count + 1, sizeof(struct hip_op *))) == NULL) {
        status = hipErrorOutOfMemory;
    } else {
        for (size_t i = 0; i < graph->count; i++) {
            atomic_fetch_add(&graph->ops[i]->refs, 1);
            exec->ops[exec->count++] = graph->ops[i];
        }
        exec->next = execs;
        execs = exec;
        *out = exec;
        exec = NULL;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    free(exec);
    return status;
}

hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                               hipGraphNode_t *pErrorNode, char *pLogBuffer, size_t bufferSize)
{
    HIP_ENTER(hipGraphInstantiate, HIP_NEED_ALIVE);
    if (pErrorNode != NULL) {
        *pErrorNode = NULL;
    }
    if (pLogBuffer != NULL && bufferSize > 0) {
        pLogBuffer[0] = '\0';
    }
    return hip_leave(instantiate(pGraphExec, graph));
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                        unsigned long long flags)
{
    HIP_ENTER(hipGraphInstantiateWithFlags, HIP_NEED_ALIVE);
    (void)flags; /* they concern memory nodes, which captures here do not make */
    return hip_leave(instantiate(pGraphExec, graph));
}

hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream)
{
    HIP_ENTER(hipGraphLaunch, HIP_NEED_DEVICE);
    pthread_mutex_lock(&hip_rt.lock);
    const bool live = graphExec != NULL && exec_is_live_locked(graphExec);
    pthread_mutex_unlock(&hip_rt.lock);
    if (!live) {
        return hip_leave(hipErrorInvalidValue);
    }
    hipError_t status = hipSuccess;
    for (size_t i = 0; i < graphExec->count && status == hipSuccess; i++) {
        atomic_fetch_add(&graphExec->ops[i]->refs, 1);
        status = hip_submit(stream, graphExec->ops[i], HIP_SUBMIT_ASYNC);
    }
    return hip_leave(status);
}

hipError_t hipGraphDestroy(hipGraph_t graph)
{
    HIP_ENTER(hipGraphDestroy, HIP_NEED_DEVICE);
    struct ihipGraph *found = NULL;
    pthread_mutex_lock(&hip_rt.lock);
    for (struct ihipGraph **p = &graphs; *p != NULL; p = &(*p)->next) {
        if (*p == graph) {
            found = graph;
            *p = graph->next;
            break;
        }
    }
    pthread_mutex_unlock(&hip_rt.lock);
    if (found == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    graph_free(found);
    return hip_leave(hipSuccess);
}

hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec)
{
    HIP_ENTER(hipGraphExecDestroy, HIP_NEED_DEVICE);
    struct hipGraphExec *found = NULL;
    pthread_mutex_lock(&hip_rt.lock);
    for (struct hipGraphExec **p = &execs; *p != NULL; p = &(*p)->next) {
        if (*p == graphExec) {
            found = graphExec;
            *p = graphExec->next;
            break;
        }
    }
    pthread_mutex_unlock(&hip_rt.lock);
    if (found == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    exec_free(found); /* queued launches hold their own references */
    return hip_leave(hipSuccess);
}

void hip_graphs_free_all(void)
{
    while (graphs != NULL) {
        struct ihipGraph *g = graphs;
        graphs = g->next;
        graph_free(g);
    }
    while (execs != NULL) {
        struct hipGraphExec *e = execs;
        execs = e->next;
        exec_free(e);
    }
}
