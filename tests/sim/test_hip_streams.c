/* SPDX-License-Identifier: MIT */
/* Streams run by themselves and in order; events, default streams, host functions, captures. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hip_test.h"

static void sleep_ms(unsigned ms)
{
    const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
    nanosleep(&t, NULL);
}

/* A gate that a host function waits at until the test opens it. */
static atomic_int gate_open;
static atomic_int log_at;
static atomic_int log_of[64];

static void wait_at_gate(void *unused)
{
    (void)unused;
    while (!atomic_load(&gate_open)) {
        sleep_ms(1);
    }
}

static void note(void *value)
{
    atomic_store(&log_of[atomic_fetch_add(&log_at, 1)], (int)(intptr_t)value);
}

static void slow_note(void *value)
{
    sleep_ms(20);
    note(value);
}

static void streams_setup(void)
{
    atomic_store(&gate_open, 0);
    atomic_store(&log_at, 0);
    hip_test_setup();
}

static void ck_log(const int *expected, int count)
{
    ck_assert_int_eq(atomic_load(&log_at), count);
    for (int i = 0; i < count; i++) {
        ck_assert_msg(atomic_load(&log_of[i]) == expected[i], "entry %d is %d, not %d", i,
                      atomic_load(&log_of[i]), expected[i]);
    }
}

#define NOTE(n) ((void *)(intptr_t)(n))

START_TEST(test_hip_stream_is_asynchronous)
{
    hipStream_t s;
    hipEvent_t e;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipEventCreate(&e));
    ck_hip(hipLaunchHostFunc(s, wait_at_gate, NULL));
    ck_hip(hipEventRecord(e, s));
    ck_hip_is(hipStreamQuery(s), hipErrorNotReady);
    ck_hip_is(hipEventQuery(e), hipErrorNotReady);
    ck_hip(hipGetLastError()); /* not ready is no error */
    atomic_store(&gate_open, 1);
    ck_hip(hipEventSynchronize(e));
    ck_hip(hipEventQuery(e));
    ck_hip(hipStreamSynchronize(s));
    ck_hip(hipStreamQuery(s));
    ck_hip(hipEventDestroy(e));
    ck_hip(hipStreamDestroy(s));
}
END_TEST

START_TEST(test_hip_stream_runs_in_order)
{
    hipStream_t s;
    int expected[50];
    ck_hip(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    for (int i = 0; i < 50; i++) {
        expected[i] = i;
        ck_hip(hipLaunchHostFunc(s, i % 10 == 0 ? slow_note : note, NOTE(i)));
    }
    ck_hip(hipStreamSynchronize(s));
    ck_log(expected, 50);
    ck_hip(hipStreamDestroy(s));
}
END_TEST

START_TEST(test_hip_stream_two_overlap)
{
    hipStream_t a, b;
    ck_hip(hipStreamCreate(&a));
    ck_hip(hipStreamCreate(&b));
    ck_hip(hipLaunchHostFunc(a, wait_at_gate, NULL));
    ck_hip(hipLaunchHostFunc(b, note, NOTE(1)));
    ck_hip(hipStreamSynchronize(b)); /* though a still stands at the gate */
    ck_hip_is(hipStreamQuery(a), hipErrorNotReady);
    atomic_store(&gate_open, 1);
    ck_hip(hipDeviceSynchronize());
    ck_hip(hipStreamQuery(a));
    ck_hip(hipStreamDestroy(a));
    ck_hip(hipStreamDestroy(b));
}
END_TEST

START_TEST(test_hip_stream_waits_for_event)
{
    hipStream_t a, b;
    hipEvent_t e;
    ck_hip(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    ck_hip(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    ck_hip(hipEventCreateWithFlags(&e, hipEventDisableTiming));
    ck_hip(hipStreamWaitEvent(b, e, 0)); /* never recorded: no wait */
    ck_hip(hipStreamSynchronize(b));
    ck_hip(hipLaunchHostFunc(a, wait_at_gate, NULL));
    ck_hip(hipLaunchHostFunc(a, note, NOTE(1)));
    ck_hip(hipEventRecord(e, a));
    ck_hip(hipStreamWaitEvent(b, e, 0));
    ck_hip(hipLaunchHostFunc(b, note, NOTE(2)));
    /* The wait is for the record of that moment; later records, or destroying, change nothing.
     */
    ck_hip(hipLaunchHostFunc(a, slow_note, NOTE(3)));
    ck_hip(hipEventRecord(e, a));
    ck_hip(hipEventDestroy(e));
    atomic_store(&gate_open, 1);
    ck_hip(hipDeviceSynchronize());
    ck_log((const int[]){ 1, 2, 3 }, 3);
    ck_hip(hipStreamDestroy(a));
    ck_hip(hipStreamDestroy(b));
}
END_TEST

/* Legacy null stream: after all blocking streams' work, before their later work. */
START_TEST(test_hip_null_stream_orders_blocking)
{
    hipStream_t a, b;
    ck_hip(hipStreamCreate(&a));
    ck_hip(hipStreamCreate(&b));
    ck_hip(hipLaunchHostFunc(a, slow_note, NOTE(1)));
    ck_hip(hipLaunchHostFunc(NULL, slow_note, NOTE(2)));
    ck_hip(hipLaunchHostFunc(b, note, NOTE(3)));
    ck_hip(hipStreamSynchronize(b));
    ck_log((const int[]){ 1, 2, 3 }, 3);
    ck_hip(hipLaunchHostFunc(b, slow_note, NOTE(4)));
    ck_hip(hipStreamSynchronize(NULL)); /* the null stream's wait covers blocking streams */
    ck_assert_int_eq(atomic_load(&log_at), 4);
    ck_hip(hipStreamDestroy(a));
    ck_hip(hipStreamDestroy(b));
}
END_TEST

START_TEST(test_hip_null_stream_ignores_nonblocking)
{
    hipStream_t s;
    ck_hip(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    ck_hip(hipLaunchHostFunc(s, wait_at_gate, NULL));
    ck_hip(hipLaunchHostFunc(hipStreamLegacy, note, NOTE(1)));
    ck_hip(hipStreamSynchronize(NULL));
    ck_hip_is(hipStreamQuery(s), hipErrorNotReady);
    atomic_store(&gate_open, 1);
    ck_hip(hipStreamSynchronize(s));
    ck_hip(hipStreamDestroy(s));
}
END_TEST

static void *use_thread_stream(void *arg)
{
    unsigned flags = 99;
    ck_hip(hipLaunchHostFunc(hipStreamPerThread, note, arg));
    ck_hip(hipStreamSynchronize_spt(NULL));
    ck_hip(hipStreamGetFlags(hipStreamPerThread, &flags));
    ck_assert_uint_eq(flags, hipStreamDefault);
    return NULL;
}

START_TEST(test_hip_per_thread_stream)
{
    pthread_t threads[4];
    ck_hip(hipLaunchHostFunc(hipStreamPerThread, wait_at_gate, NULL));
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_thread_stream, NOTE(i)), 0);
    }
    /* Each thread has its own, so the closed gate holds none of them up. */
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(atomic_load(&log_at), 4);
    atomic_store(&gate_open, 1);
    ck_hip(hipStreamSynchronize(hipStreamPerThread));
}
END_TEST

START_TEST(test_hip_stream_bad_handles)
{
    hipStream_t s, dead;
    hipEvent_t e;
    ck_hip_is(hipStreamCreate(NULL), hipErrorInvalidValue);
    ck_hip_is(hipStreamCreateWithFlags(&s, 8), hipErrorInvalidValue);
    ck_hip_is(hipStreamDestroy(NULL), hipErrorInvalidHandle);
    ck_hip(hipStreamCreate(&dead));
    ck_hip(hipStreamDestroy(dead));
    ck_hip_is(hipStreamDestroy(dead), hipErrorContextIsDestroyed);
    ck_hip_is(hipStreamSynchronize(dead), hipErrorContextIsDestroyed);
    ck_hip_is(hipLaunchHostFunc(dead, note, NULL), hipErrorContextIsDestroyed);
    ck_hip_is(hipLaunchHostFunc(NULL, NULL, NULL), hipErrorInvalidValue);
    ck_hip_is(hipEventCreate(NULL), hipErrorInvalidValue);
    ck_hip_is(hipEventCreateWithFlags(&e, 0x100), hipErrorInvalidValue);
    ck_hip(hipEventCreate(&e));
    ck_hip(hipEventDestroy(e));
    ck_hip_is(hipEventRecord(e, NULL), hipErrorInvalidHandle);
    ck_hip_is(hipEventSynchronize(NULL), hipErrorInvalidHandle);
    ck_hip_is(hipEventDestroy(NULL), hipErrorInvalidHandle);
}
END_TEST

START_TEST(test_hip_event_elapsed_time)
{
    hipEvent_t a, b, untimed;
    float ms = -1;
    ck_hip(hipEventCreate(&a));
    ck_hip(hipEventCreate(&b));
    ck_hip(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    ck_hip_is(hipEventElapsedTime(&ms, a, b), hipErrorInvalidHandle); /* not recorded */
    ck_hip(hipEventRecord(a, NULL));
    ck_hip(hipLaunchHostFunc(NULL, slow_note, NULL));
    ck_hip(hipLaunchHostFunc(NULL, wait_at_gate, NULL));
    ck_hip(hipEventRecord(b, NULL));
    ck_hip(hipEventRecord(untimed, NULL));
    ck_hip_is(hipEventElapsedTime(&ms, a, b), hipErrorNotReady);
    atomic_store(&gate_open, 1);
    ck_hip(hipEventSynchronize(b));
    ck_hip(hipEventElapsedTime(&ms, a, b));
    ck_assert_msg(ms >= 19 && ms < 10000, "%f ms", (double)ms);
    ck_hip_is(hipEventElapsedTime(&ms, a, untimed), hipErrorInvalidHandle);
    ck_hip_is(hipEventElapsedTime(NULL, a, b), hipErrorInvalidValue);
    ck_hip(hipEventDestroy(a));
    ck_hip(hipEventDestroy(b));
    ck_hip(hipEventDestroy(untimed));
}
END_TEST

static atomic_int status_in_callback;

static void call_hip(void *unused)
{
    (void)unused;
    atomic_store(&status_in_callback, hipDeviceSynchronize());
}

/* HIP forbids it; here it fails instead of hanging. */
START_TEST(test_hip_host_function_may_not_call)
{
    ck_hip(hipLaunchHostFunc(NULL, call_hip, NULL));
    ck_hip(hipDeviceSynchronize());
    ck_assert_int_eq(atomic_load(&status_in_callback), hipErrorIllegalState);
}
END_TEST

static void callback(hipStream_t stream, hipError_t status, void *data)
{
    *(hipStream_t *)data = status == hipSuccess ? stream : NULL;
}

START_TEST(test_hip_stream_callback)
{
    hipStream_t s, seen = NULL;
    ck_hip(hipStreamCreateWithPriority(&s, hipStreamDefault, -100));
    int priority = 0;
    ck_hip(hipStreamGetPriority(s, &priority));
    ck_assert_int_eq(priority, -1);
    ck_hip_is(hipStreamAddCallback(s, callback, &seen, 1), hipErrorInvalidValue);
    ck_hip(hipStreamAddCallback(s, callback, &seen, 0));
    ck_hip(hipStreamDestroy(s)); /* waits */
    ck_assert_ptr_eq(seen, s);
}
END_TEST

/* Pinned memory: the copy is queued.  Pageable memory: the call waits. */
START_TEST(test_hip_copy_async_by_memory)
{
    hipStream_t s;
    int *device = NULL, *pinned = NULL, pageable = 7;
    ck_hip(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    ck_hip(hipMalloc((void **)&device, sizeof(int)));
    ck_hip(hipHostMalloc((void **)&pinned, sizeof(int), 0));
    *pinned = 5;
    ck_hip(hipLaunchHostFunc(s, wait_at_gate, NULL));
    ck_hip(hipMemcpyAsync(device, pinned, sizeof(int), hipMemcpyHostToDevice, s));
    ck_hip_is(hipStreamQuery(s), hipErrorNotReady);
    *pinned = 6; /* the copy has not happened: it will see this */
    atomic_store(&gate_open, 1);
    ck_hip(hipMemcpyAsync(&pageable, device, sizeof(int), hipMemcpyDeviceToHost, s));
    ck_assert_int_eq(pageable, 6);
    ck_hip(hipFree(device));
    ck_hip(hipHostFree(pinned));
    ck_hip(hipStreamDestroy(s));
}
END_TEST

START_TEST(test_hip_free_waits_for_device)
{
    hipStream_t s;
    void *p = NULL;
    ck_hip(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    ck_hip(hipMalloc(&p, 64));
    ck_hip(hipLaunchHostFunc(s, slow_note, NOTE(1)));
    ck_hip(hipFree(p));
    ck_assert_int_eq(atomic_load(&log_at), 1);
    ck_hip(hipStreamDestroy(s));
}
END_TEST

START_TEST(test_hip_free_async_in_order)
{
    hipStream_t s;
    void *p = NULL;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipMallocAsync(&p, 4096, s));
    ck_hip(hipLaunchHostFunc(s, wait_at_gate, NULL));
    ck_hip(hipMemsetAsync(p, 1, 4096, s));
    ck_hip(hipFreeAsync(p, s));
    ck_hip_is(hipFreeAsync(p, s), hipErrorInvalidValue);
    ck_hip_is(hipFree(p), hipErrorInvalidValue);
    ck_hip_is(hipMemsetAsync(p, 1, 4096, s), hipErrorInvalidValue);
    atomic_store(&gate_open, 1);
    ck_hip(hipStreamSynchronize(s)); /* the fill was before the release */
    hipPointerAttribute_t a;
    ck_hip(hipPointerGetAttributes(&a, p));
    ck_assert_int_eq(a.type, hipMemoryTypeUnregistered);
    ck_hip(hipStreamDestroy(s));
}
END_TEST

/* ------------------------------------------------------------------ captures */

START_TEST(test_hip_capture_and_replay)
{
    hipStream_t s;
    hipGraph_t graph = NULL;
    hipGraphExec_t exec = NULL;
    hipStreamCaptureStatus status;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
    ck_hip(hipStreamIsCapturing(s, &status));
    ck_assert_int_eq(status, hipStreamCaptureStatusActive);
    ck_hip(hipLaunchHostFunc(s, note, NOTE(1)));
    ck_hip(hipLaunchHostFunc(s, note, NOTE(2)));
    ck_hip(hipStreamEndCapture(s, &graph));
    ck_hip(hipDeviceSynchronize());
    ck_assert_int_eq(atomic_load(&log_at), 0); /* recorded, not run */
    ck_hip(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    ck_hip(hipGraphDestroy(graph));
    ck_hip(hipGraphLaunch(exec, s));
    ck_hip(hipGraphLaunch(exec, s));
    ck_hip(hipGraphExecDestroy(exec));
    ck_hip(hipStreamSynchronize(s));
    ck_log((const int[]){ 1, 2, 1, 2 }, 4);
    ck_hip_is(hipGraphLaunch(exec, s), hipErrorInvalidValue);
    ck_hip(hipStreamIsCapturing(s, &status));
    ck_assert_int_eq(status, hipStreamCaptureStatusNone);
    ck_hip(hipStreamDestroy(s));
}
END_TEST

/* Each of these must not happen during a capture, and spoils it. */
START_TEST(test_hip_capture_invalidated)
{
    for (int i = 0; i < 4; i++) {
        hipStream_t s;
        hipGraph_t graph = (hipGraph_t)1;
        void *p = NULL;
        ck_hip(hipStreamCreate(&s));
        ck_hip(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
        switch (i) {
        case 0:
            ck_hip_is(hipMalloc(&p, 8), hipErrorStreamCaptureUnsupported);
            break;
        case 1:
            ck_hip_is(hipStreamSynchronize(s), hipErrorStreamCaptureUnsupported);
            break;
        case 2:
            ck_hip_is(hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
            break;
        default:
            ck_hip_is(hipLaunchHostFunc(NULL, note, NULL), hipErrorStreamCaptureImplicit);
            break;
        }
        ck_hip_is(hipLaunchHostFunc(s, note, NULL), hipErrorStreamCaptureInvalidated);
        ck_hip_is(hipStreamEndCapture(s, &graph), hipErrorStreamCaptureInvalidated);
        ck_assert_ptr_null(graph);
        ck_hip(hipStreamDestroy(s));
    }
    ck_assert_int_eq(atomic_load(&log_at), 0);
}
END_TEST

START_TEST(test_hip_capture_modes)
{
    hipStream_t s;
    hipGraph_t graph = NULL;
    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
    void *p = NULL;
    ck_hip(hipStreamCreate(&s));
    ck_hip_is(hipStreamBeginCapture(NULL, mode), hipErrorStreamCaptureUnsupported);
    ck_hip_is(hipStreamEndCapture(s, &graph), hipErrorIllegalState);
    ck_hip(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed));
    ck_hip_is(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed), hipErrorIllegalState);
    ck_hip(hipMalloc(&p, 8)); /* a relaxed capture forbids nothing */
    ck_hip(hipStreamEndCapture(s, &graph));
    ck_hip(hipGraphDestroy(graph));
    ck_hip(hipThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, hipStreamCaptureModeGlobal);
    ck_hip(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
    ck_hip(hipFree(p));          /* this thread has said that it knows */
    ck_hip(hipStreamDestroy(s)); /* in mid-capture */
}
END_TEST

/* ------------------------------------------------------------------- threads */

struct worker {
    hipStream_t shared;
    int *memory;
};

static void *hammer(void *arg)
{
    const struct worker *w = arg;
    for (int i = 0; i < 40; i++) {
        hipStream_t s;
        hipEvent_t e;
        void *p = NULL;
        int value = 0;
        ck_hip(hipStreamCreateWithFlags(&s, i % 2 == 0 ? hipStreamNonBlocking : 0));
        ck_hip(hipEventCreate(&e));
        ck_hip(hipMalloc(&p, 256));
        ck_hip(hipMemsetD32Async(p, i, 64, s));
        ck_hip(hipEventRecord(e, s));
        ck_hip(hipStreamWaitEvent(w->shared, e, 0));
        ck_hip(hipMemcpyAsync(w->memory, w->memory + 1, 4, hipMemcpyDeviceToDevice, w->shared));
        ck_hip(hipMemcpy(&value, p, 4, hipMemcpyDeviceToHost));
        ck_hip(hipStreamSynchronize(s));
        ck_hip(hipMemcpy(&value, p, 4, hipMemcpyDeviceToHost));
        ck_assert_int_eq(value, i);
        ck_hip_is(hipSetDevice(5), hipErrorInvalidDevice);
        ck_hip_is(hipGetLastError(), hipErrorInvalidDevice);
        ck_hip(hipEventDestroy(e));
        ck_hip(hipStreamDestroy(s));
        ck_hip(hipFree(p));
    }
    return NULL;
}

START_TEST(test_hip_threads_share_runtime)
{
    struct worker w;
    pthread_t threads[8];
    ck_hip(hipStreamCreate(&w.shared));
    ck_hip(hipMalloc((void **)&w.memory, 64));
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, &w), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_hip(hipDeviceSynchronize());
    ck_hip(hipFree(w.memory));
    ck_hip(hipStreamDestroy(w.shared));
}
END_TEST

START_TEST(test_hip_shutdown_drops_queue)
{
    hipStream_t s;
    hipEvent_t e;
    void *p = NULL;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipEventCreate(&e));
    ck_hip(hipMalloc(&p, 1 << 20));
    ck_hip(hipLaunchHostFunc(s, slow_note, NOTE(1)));
    for (int i = 0; i < 20; i++) {
        ck_hip(hipLaunchHostFunc(s, slow_note, NOTE(2)));
    }
    ck_hip(hipEventRecord(e, s));
    mxgsim_shutdown(); /* with all of it alive */
    ck_assert_int_le(atomic_load(&log_at), 2);
    ck_hip_is(hipStreamSynchronize(s), hipErrorContextIsDestroyed); /* a new runtime */
    ck_hip_is(hipFree(p), hipErrorInvalidValue);
    ck_hip_is(hipEventQuery(e), hipErrorInvalidHandle);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hip_streams");
    TCase *c = tcase_create("streams");
    tcase_add_checked_fixture(c, streams_setup, hip_test_teardown);
    tcase_set_timeout(c, 120);
    suite_add_tcase(s, c);
    tcase_add_test(c, test_hip_stream_is_asynchronous);
    tcase_add_test(c, test_hip_stream_runs_in_order);
    tcase_add_test(c, test_hip_stream_two_overlap);
    tcase_add_test(c, test_hip_stream_waits_for_event);
    tcase_add_test(c, test_hip_null_stream_orders_blocking);
    tcase_add_test(c, test_hip_null_stream_ignores_nonblocking);
    tcase_add_test(c, test_hip_per_thread_stream);
    tcase_add_test(c, test_hip_stream_bad_handles);
    tcase_add_test(c, test_hip_event_elapsed_time);
    tcase_add_test(c, test_hip_host_function_may_not_call);
    tcase_add_test(c, test_hip_stream_callback);
    tcase_add_test(c, test_hip_copy_async_by_memory);
    tcase_add_test(c, test_hip_free_waits_for_device);
    tcase_add_test(c, test_hip_free_async_in_order);
    tcase_add_test(c, test_hip_capture_and_replay);
    tcase_add_test(c, test_hip_capture_invalidated);
    tcase_add_test(c, test_hip_capture_modes);
    tcase_add_test(c, test_hip_threads_share_runtime);
    tcase_add_test(c, test_hip_shutdown_drops_queue);
    return hip_test_main(s);
}
