/* SPDX-License-Identifier: MIT */
/*
 * Life of the simulated runtime: lazy start from the environment, what every
 * entry point does on entry and exit, shutdown, and unloading of the library.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hip_core.h"
#include "hip_rt.h"
#include "report.h"

struct hip_runtime hip_rt = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

_Thread_local struct hip_thread hip_tls;

/* Set by the library's destructor: nothing may start again after it. */
static atomic_bool unloading;

void hip_say(const char *fmt, ...)
{
    const char *quiet = getenv("MXGSIM_QUIET");
    if (quiet != NULL && quiet[0] == '1') {
        return;
    }
    char line[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    /* One write, so that lines of several threads do not mix. */
    fprintf(stderr, "hipsim: %s\n", line);
}

/* Value of a numeric variable, or `fallback` (with a complaint) when it is not a number. */
static unsigned long long env_number(const char *name, unsigned long long fallback,
                                     unsigned long long max)
{
    const char *text = getenv(name);
    if (text == NULL || text[0] == '\0') {
        return fallback;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 0);
    if (errno != 0 || *end != '\0' || text[0] == '-' || value > max) {
        hip_say("%s=\"%s\" is not a number in 0..%llu: %llu is used", name, text, max,
                fallback);
        return fallback;
    }
    return value;
}

static void configure(void)
{
    const char *arch = getenv("MXGSIM_ARCH");
    if (arch == NULL || arch[0] == '\0') {
        arch = "gfx950:sramecc+:xnack-";
    }
    (void)snprintf(hip_rt.arch, sizeof(hip_rt.arch), "%s", arch);
    hip_rt.device_count = (int)env_number("MXGSIM_DEVICES", 1, HIP_MAX_DEVICES);
    hip_rt.memory_bytes = (size_t)env_number("MXGSIM_MEMORY", HIP_SIM_MEMORY_BYTES, SIZE_MAX);
    const char *poison = getenv("MXGSIM_POISON");
    hip_rt.poison = poison != NULL && strcmp(poison, "none") == 0
                        ? -1
                        : (int)env_number("MXGSIM_POISON", 0xff, 0xff);
    for (int i = 0; i < HIP_MAX_DEVICES; i++) {
        hip_rt.devices[i] = (struct hip_device){ .id = i };
    }
    hip_inject_configure();
}

hipError_t hip_start(void)
{
    if (atomic_load(&unloading)) {
        return hipErrorDeinitialized;
    }
    pthread_mutex_lock(&hip_rt.lock);
    if (!hip_rt.ready) {
        configure();
        hip_core_start(hip_rt.memory_bytes, hip_rt.poison);
        __atomic_store_n(&hip_rt.cancel, 0, __ATOMIC_RELAXED);
        atomic_store(&hip_rt.stopping, false);
        atomic_store(&hip_rt.owner, getpid());
        hip_rt.generation++;
        hip_rt.ready = true;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return hipSuccess;
}

/*
 * True in a child forked from a process that used the runtime: the stream threads
 * are not there, and the lock may be held by one of them.  AMD's runtime does not
 * work in such a child either.
 */
static bool is_forked_child(void)
{
    const pid_t owner = atomic_load(&hip_rt.owner);
    return owner != 0 && owner != getpid();
}

void hip_stop(void)
{
    if (is_forked_child()) {
        return;
    }
    pthread_mutex_lock(&hip_rt.lock);
    if (!hip_rt.ready) {
        pthread_mutex_unlock(&hip_rt.lock);
        return;
    }
    atomic_store(&hip_rt.stopping, true);
    __atomic_store_n(&hip_rt.cancel, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&hip_rt.changed);
    pthread_mutex_unlock(&hip_rt.lock);

    hip_streams_stop();
    hip_graphs_free_all();
    hip_modules_free_all();
    hip_events_free_all();

    pthread_mutex_lock(&hip_rt.lock);
    hip_core_stop();
    hip_rt.ready = false;
    atomic_store(&hip_rt.owner, 0);
    pthread_mutex_unlock(&hip_rt.lock);
}

__attribute__((destructor)) static void unload(void)
{
    atomic_store(&unloading, true);
    hip_stop();
    if (!is_forked_child()) {
        sim_report_reset(); /* frees them; a shutdown alone keeps them for reading */
    }
}

/* Thread-local state belongs to one start of the runtime. */
void hip_thread_refresh(void)
{
    if (hip_tls.generation != hip_rt.generation) {
        hip_tls.generation = hip_rt.generation;
        hip_tls.device = 0;
        hip_tls.capture_mode = hipStreamCaptureModeGlobal;
    }
}

struct hip_device *hip_current_device(void)
{
    return &hip_rt.devices[hip_tls.device];
}

hipError_t hip_device_fault(struct hip_device *device)
{
    pthread_mutex_lock(&hip_rt.lock);
    const hipError_t fault = device->fault;
    pthread_mutex_unlock(&hip_rt.lock);
    return fault;
}

hipError_t hip_enter(enum hip_fn fn, const char *name, unsigned needs)
{
    if (is_forked_child()) {
        return hipErrorNotInitialized;
    }
    if (hip_tls.is_stream) {
        /* HIP forbids calls from host functions; waiting here would hang the stream. */
        hip_say("%s called from a stream's host function", name);
        return hipErrorIllegalState;
    }
    const hipError_t started = hip_start();
    if (started != hipSuccess) {
        return started;
    }
    hip_thread_refresh();
    const hipError_t injected = hip_inject(fn);
    if (injected != hipSuccess) {
        return injected;
    }
    if ((needs & (HIP_NEED_DEVICE | HIP_NEED_ALIVE)) != 0 && hip_rt.device_count == 0) {
        return hipErrorNoDevice;
    }
    return (needs & HIP_NEED_ALIVE) != 0 ? hip_device_fault(hip_current_device()) : hipSuccess;
}

/*
 * HIP 7: the last error is the last one that was an error; success and
 * "not ready" leave it.  hipExtGetLastError sees the last call's status.
 */
hipError_t hip_leave(hipError_t status)
{
    hip_tls.last_call = status;
    if (status != hipSuccess && status != hipErrorNotReady) {
        hip_tls.last_error = status;
    }
    return status;
}
