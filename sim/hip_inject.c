/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: make the n-th call of an entry point fail, make calls slow,
 * and count calls.  MXGSIM_FAIL and MXGSIM_DELAY are read when the runtime
 * starts; mxgsim_fail and mxgsim_delay change the same table.
 *
 *   MXGSIM_FAIL="hipModuleLaunchKernel:3:719,hipMalloc:2+:2"   n-th call; from the n-th on
 *   MXGSIM_DELAY="kernel:20000"                                microseconds before each
 *
 * The name "kernel" stands for the execution of a kernel on its stream, so
 * that its error is asynchronous.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hip_rt.h"
#include "mxgsim.h"

static const char *const fn_names[HIP_FN_COUNT] = {
#define HIP_SIMULATED(name) #name,
#define HIP_UNSIMULATED(name)
#define HIP_UNSIMULATED_PTR(name)
#include "hip_names.def"
    "kernel", "unknown"
};

struct site {
    unsigned long calls; /* since the runtime started or mxgsim_clear_faults */
    unsigned long first; /* the call that fails, from 1; 0 = none */
    bool onward;         /* and all that follow */
    hipError_t error;
    unsigned delay_us;
};

/* Guarded by site_lock, which is taken last and never held while anything else runs. */
static struct site sites[HIP_FN_COUNT];
static pthread_mutex_t site_lock = PTHREAD_MUTEX_INITIALIZER;

enum hip_fn hip_fn_by_name(const char *name)
{
    for (int i = 0; i < HIP_FN_unknown; i++) {
        if (strcmp(fn_names[i], name) == 0) {
            return (enum hip_fn)i;
        }
    }
    return HIP_FN_unknown;
}

static void sleep_us(unsigned us)
{
    const struct timespec t = { .tv_sec = us / 1000000u,
                                .tv_nsec = (long)(us % 1000000u) * 1000 };
    (void)nanosleep(&t, NULL);
}

hipError_t hip_inject(enum hip_fn fn)
{
    pthread_mutex_lock(&site_lock);
    struct site *s = &sites[fn];
    s->calls++;
    const bool hit =
        s->first != 0 && (s->calls == s->first || (s->onward && s->calls > s->first));
    const hipError_t error = hit ? s->error : hipSuccess;
    const unsigned delay = s->delay_us;
    pthread_mutex_unlock(&site_lock);
    if (delay != 0) {
        sleep_us(delay);
    }
    return error;
}

int mxgsim_fail(const char *name, unsigned long nth, int onward, int error)
{
    const enum hip_fn fn = name != NULL ? hip_fn_by_name(name) : HIP_FN_unknown;
    if (fn == HIP_FN_unknown) {
        return hipErrorInvalidValue;
    }
    pthread_mutex_lock(&site_lock);
    sites[fn].calls = 0;
    sites[fn].first = nth;
    sites[fn].onward = onward != 0;
    sites[fn].error = (hipError_t)error;
    pthread_mutex_unlock(&site_lock);
    return hipSuccess;
}

int mxgsim_delay(const char *name, unsigned microseconds)
{
    const enum hip_fn fn = name != NULL ? hip_fn_by_name(name) : HIP_FN_unknown;
    if (fn == HIP_FN_unknown) {
        return hipErrorInvalidValue;
    }
    pthread_mutex_lock(&site_lock);
    sites[fn].delay_us = microseconds;
    pthread_mutex_unlock(&site_lock);
    return hipSuccess;
}

unsigned long mxgsim_call_count(const char *name)
{
    const enum hip_fn fn = name != NULL ? hip_fn_by_name(name) : HIP_FN_unknown;
    pthread_mutex_lock(&site_lock);
    const unsigned long calls = fn == HIP_FN_unknown ? 0 : sites[fn].calls;
    pthread_mutex_unlock(&site_lock);
    return calls;
}

void mxgsim_clear_faults(void)
{
    pthread_mutex_lock(&site_lock);
    memset(sites, 0, sizeof(sites));
    pthread_mutex_unlock(&site_lock);
}

/* One entry "name:n[+]:error" of MXGSIM_FAIL; false when it is malformed. */
static bool parse_fail(const char *item)
{
    char name[128];
    const char *colon = strchr(item, ':');
    if (colon == NULL || (size_t)(colon - item) >= sizeof(name)) {
        return false;
    }
    memcpy(name, item, (size_t)(colon - item));
    name[colon - item] = '\0';
    char *end = NULL;
    const unsigned long nth = strtoul(colon + 1, &end, 10);
    const bool onward = *end == '+';
    end += onward;
    if (nth == 0 || *end != ':') {
        return false;
    }
    char *tail = NULL;
    const long error = strtol(end + 1, &tail, 10);
    return tail != end + 1 && *tail == '\0' && error > 0 &&
           mxgsim_fail(name, nth, onward, (int)error) == hipSuccess;
}

static bool parse_delay(const char *item)
{
    char name[128];
    const char *colon = strchr(item, ':');
    if (colon == NULL || (size_t)(colon - item) >= sizeof(name)) {
        return false;
    }
    memcpy(name, item, (size_t)(colon - item));
    name[colon - item] = '\0';
    char *end = NULL;
    const unsigned long us = strtoul(colon + 1, &end, 10);
    return end != colon + 1 && *end == '\0' && us <= 60000000ul &&
           mxgsim_delay(name, (unsigned)us) == hipSuccess;
}

static void parse_list(const char *variable, bool (*parse)(const char *item))
{
    const char *text = getenv(variable);
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, ",");
        char item[256];
        (void)snprintf(item, sizeof(item), "%.*s", (int)(length < 255 ? length : 255), text);
        if (length > 0 && !parse(item)) {
            hip_say("%s: \"%s\" is ignored: no such form or function", variable, item);
        }
        text += length + (text[length] == ',');
    }
}

void hip_inject_configure(void)
{
    mxgsim_clear_faults();
    parse_list("MXGSIM_FAIL", parse_fail);
    parse_list("MXGSIM_DELAY", parse_delay);
}
