/* SPDX-License-Identifier: MIT */
/*
 * Inner state of the simulated HIP runtime, shared by sim/hip_*.c: devices,
 * streams with their threads, operations, events, and what every entry point
 * does on entry and exit.
 *
 * One lock, hip_rt.lock, guards everything below except where noted; no user
 * callback, kernel or copy runs while it is held.  hip_rt.changed is broadcast
 * whenever a stream completes a command, an event becomes ready or the runtime
 * stops.
 */
#ifndef SIM_HIP_RT_H
#define SIM_HIP_RT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "hip_api.h"

enum { HIP_MAX_DEVICES = 64 };

/* Facts of the simulated device, MI355X; see sim/hip_device.c. */
#define HIP_SIM_WALL_CLOCK_KHZ 100000
#define HIP_SIM_XCC_COUNT 8
#define HIP_SIM_VGPRS 512
#define HIP_SIM_PCI_CHIP_ID 0x75a3
#define HIP_SIM_LDS_BYTES 163840u
#define HIP_SIM_MAX_THREADS 1024u

/* Index of each simulated entry point: HIP_FN_hipMalloc, ... */
enum hip_fn {
#define HIP_SIMULATED(name) HIP_FN_##name,
#define HIP_UNSIMULATED(name)
#define HIP_UNSIMULATED_PTR(name)
#include "hip_names.def"
#undef HIP_SIMULATED
#undef HIP_UNSIMULATED
#undef HIP_UNSIMULATED_PTR
    HIP_FN_kernel, /* not a call: the execution of a kernel on its stream */
    HIP_FN_unknown,
    HIP_FN_COUNT
};

struct hip_device;

/*
 * What a command does.  Operations are immutable once queued and counted by
 * reference, so that a graph can queue the same one again and again.
 */
struct hip_op {
    atomic_int refs;
    hipError_t (*run)(struct hip_op *op, struct ihipStream_t *stream); /* without the lock */
    void (*release)(struct hip_op *op); /* frees what op owns and op itself */
    bool runs_after_fault;              /* frees memory: done even on a faulted device */
};

/* A point in a stream that others wait for.  Guarded by hip_rt.lock. */
struct hip_marker {
    int refs;
    bool done;
    int64_t when_ns; /* CLOCK_MONOTONIC at completion */
    struct hip_device *device;
};

struct hip_dep {
    struct ihipStream_t *stream; /* holds a reference */
    uint64_t seq;
};

struct hip_cmd {
    struct hip_cmd *next;
    uint64_t seq;
    struct hip_op *op;         /* NULL for marker commands */
    struct hip_marker *record; /* set done when reached */
    struct hip_marker *wait;   /* reached only once done */
    struct hip_dep *deps;      /* legacy default-stream order */
    unsigned dep_count;
};

enum hip_stream_kind { HIP_STREAM_USER, HIP_STREAM_NULL, HIP_STREAM_THREAD };

struct ihipStream_t {
    struct ihipStream_t *next; /* in hip_rt.streams */
    int refs;
    struct hip_device *device;
    enum hip_stream_kind kind;
    unsigned flags;
    int priority;
    uint64_t id;
    struct hip_cmd *head, *tail; /* queued and running */
    uint64_t last_seq, done_seq;
    bool thread_started, closing;
    pthread_t thread;
    pthread_t owner;           /* the user's thread that made it */
    pthread_cond_t work;       /* this stream has something to do */
    struct ihipGraph *capture; /* not NULL while capturing */
    hipStreamCaptureStatus capture_status;
    hipStreamCaptureMode capture_mode;
    pthread_t capture_thread;
    uint64_t capture_id;
};

struct ihipEvent_t {
    struct ihipEvent_t *next;
    unsigned flags;
    int device;
    struct hip_marker *marker; /* of the last record, NULL before the first */
    const void *captured;      /* the capturing stream it was last recorded into, or NULL */
};

struct hip_device {
    int id;
    hipError_t fault; /* first fault of a kernel; sticky until the device is reset */
    struct ihipStream_t *null_stream;
    unsigned flags;
};

struct hip_runtime {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ready;           /* devices exist */
    atomic_bool stopping; /* streams drop what is queued */
    volatile int cancel;  /* the same for running kernels, which poll it (dispatch.h) */
    _Atomic(pid_t) owner; /* process whose threads these are; 0 while stopped */
    unsigned generation;  /* grows with every start, so that thread-local state is not stale */
    int device_count;
    struct hip_device devices[HIP_MAX_DEVICES];
    struct ihipStream_t *streams;
    struct ihipEvent_t *events;
    uint64_t next_stream_id;
    char arch[64];
    size_t memory_bytes;
    int poison; /* byte that fresh memory is filled with, -1: none */
};

extern struct hip_runtime hip_rt;

/* Thread-local state. */
struct hip_thread {
    hipError_t last_error, last_call;
    unsigned generation;
    int device;
    bool is_stream; /* a stream's own thread: calls into HIP are refused */
    hipStreamCaptureMode capture_mode;
};

extern _Thread_local struct hip_thread hip_tls;

/* Entry and exit of every entry point (sim/hip_entry.c). */
enum {
    HIP_NEED_DEVICE = 1, /* refused with hipErrorNoDevice where there is none */
    HIP_NEED_ALIVE = 2   /* returns the current device's fault, if there is one */
};

hipError_t hip_enter(enum hip_fn fn, const char *name, unsigned needs);
hipError_t hip_leave(hipError_t status);

#define HIP_ENTER(fn, needs)                                                                   \
    do {                                                                                       \
        const hipError_t entered_ = hip_enter(HIP_FN_##fn, #fn, needs);                        \
        if (entered_ != hipSuccess) {                                                          \
            return hip_leave(entered_);                                                        \
        }                                                                                      \
    } while (0)

/* One line on stderr, "hipsim: ..."; silent with MXGSIM_QUIET=1. */
void hip_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Start devices when this has not happened; stop threads and free everything (hip_entry.c). */
hipError_t hip_start(void);
void hip_stop(void);
struct hip_device *hip_current_device(void);
hipError_t hip_device_fault(struct hip_device *device);
void hip_thread_refresh(void);

/* Fault injection (hip_inject.c): counts the call; the error it shall return, or hipSuccess. */
hipError_t hip_inject(enum hip_fn fn);
void hip_inject_configure(void);
enum hip_fn hip_fn_by_name(const char *name);

/* Streams (hip_stream.c).  "locked" functions want hip_rt.lock held. */
hipError_t hip_stream_resolve(hipStream_t handle, struct ihipStream_t **stream);
hipError_t hip_stream_new(struct hip_device *device, enum hip_stream_kind kind, unsigned flags,
                          int priority, struct ihipStream_t **stream);
void hip_stream_release_locked(struct ihipStream_t *stream);
void hip_stream_release(struct ihipStream_t *stream);
void hip_streams_close(struct hip_device *device); /* NULL: of all devices */
void hip_streams_stop(void);
hipError_t hip_stream_push(struct ihipStream_t *stream, struct hip_op *op,
                           struct hip_marker *record, struct hip_marker *wait, uint64_t *seq);
hipError_t hip_stream_finish(struct ihipStream_t *stream, uint64_t seq);
hipError_t hip_device_finish(struct hip_device *device, bool blocking_only);
void hip_stream_close(struct ihipStream_t *stream);

/*
 * Queue op on the stream of `handle`, taking over its reference.  An ASYNC call is
 * recorded while the stream captures, any other is refused; with WAIT the call returns
 * once op has run.
 */
enum { HIP_SUBMIT_ASYNC = 1, HIP_SUBMIT_WAIT = 2 };
hipError_t hip_submit(hipStream_t handle, struct hip_op *op, unsigned how);
void hip_op_release(struct hip_op *op);

/* Events (hip_event.c). */
void hip_marker_release_locked(struct hip_marker *marker);
void hip_events_free_all(void);
hipError_t hip_event_record(hipEvent_t event, hipStream_t stream);
int64_t hip_now_ns(void);

/* Modules (hip_module.c), graphs (hip_graph.c). */
void hip_modules_free_all(void);
void hip_graphs_free_all(void);
/* What a capture says to an operation: not capturing, recorded (adds a reference) or an error.
 */
hipError_t hip_capture_op(struct ihipStream_t *stream, struct hip_op *op, bool async,
                          bool *captured);
/* Error, and the capture is invalidated, when this stream captures; else hipSuccess. */
hipError_t hip_capture_refuse(struct ihipStream_t *stream);
/* The same for calls that concern no stream, by the capture modes of all streams. */
hipError_t hip_capture_guard(void);
void hip_capture_drop(struct ihipStream_t *stream);

#endif
