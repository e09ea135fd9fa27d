/* SPDX-License-Identifier: MIT */
/*
 * The host threads that run workgroups.  A dispatch hands out workgroups in order; the
 * launching thread and any idle pool threads take them.  A workgroup that waits for
 * another one (s_sleep, or a long spin) is put aside and the thread takes a further one,
 * so that workgroups which depend on each other make progress whatever the thread count.
 */
#include "group.h"
#include "run.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX 256
/* Workgroups that one thread keeps unfinished at most. */
#define ASIDE_MAX 64

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct sim_dispatch *queue; /* dispatches that want helpers; below guarded by lock */
    struct sim_context *idle;   /* contexts for reuse */
    unsigned idle_count;
    pthread_t threads[THREADS_MAX];
    unsigned started;
    bool is_stopping;
    pid_t pid; /* threads belong to this process */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .work = PTHREAD_COND_INITIALIZER,
           .done = PTHREAD_COND_INITIALIZER };

unsigned sim_pool_threads(void)
{
    const char *v = getenv("MXGSIM_THREADS");
    char *end = NULL;
    long n = v ? strtol(v, &end, 10) : 0;
    if (!v || end == v || *end != 0 || n < 1) {
        n = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

static struct sim_context *take_context(void)
{
    pthread_mutex_lock(&pool.lock);
    struct sim_context *c = pool.idle;
    if (c) {
        pool.idle = *sim_context_link(c);
        pool.idle_count--;
    }
    pthread_mutex_unlock(&pool.lock);
    return c ? c : sim_context_create();
}

static void return_context(struct sim_context *c)
{
    pthread_mutex_lock(&pool.lock);
    bool keeps = pool.idle_count < THREADS_MAX / 8;
    if (keeps) {
        *sim_context_link(c) = pool.idle;
        pool.idle = c;
        pool.idle_count++;
    }
    pthread_mutex_unlock(&pool.lock);
    if (!keeps) {
        sim_context_destroy(c);
    }
}

/* The next workgroup in a context of its own; NULL when none is left or on failure. */
static struct sim_context *start_group(struct sim_dispatch *d)
{
    if (atomic_load(&d->stop)) {
        return NULL;
    }
    uint64_t linear = atomic_fetch_add(&d->next_group, 1);
    if (linear >= d->groups) {
        return NULL;
    }
    struct sim_context *c = take_context();
    if (!c || !sim_group_begin(c, d, linear)) {
        sim_context_destroy(c);
        sim_dispatch_stop(d, SIM_E_HOST_MEMORY, "no host memory for a workgroup's state");
        return NULL;
    }
    return c;
}

/* Run workgroups of d until none is left to take and all taken ones ended. */
static void work_on(struct sim_dispatch *d)
{
    struct sim_context *aside[ASIDE_MAX];
    unsigned count = 0, turn = 0;
    struct sim_context *c = start_group(d);
    while (c) {
        bool is_done = sim_group_slice(c) == SIM_SLICE_DONE || atomic_load(&d->stop);
        if (is_done) {
            sim_group_end(c);
            return_context(c);
        }
        struct sim_context *next = count < ASIDE_MAX - 1 ? start_group(d) : NULL;
        if (!is_done && next) {
            aside[count++] = c;
            c = next;
        } else if (is_done && next) {
            c = next;
        } else if (count == 0) {
            if (!is_done) {
                sched_yield();
            }
            c = is_done ? NULL : c;
        } else {
            /* Take turns among those put aside. */
            turn = (turn + 1) % count;
            next = aside[turn];
            if (is_done) {
                aside[turn] = aside[--count];
            } else {
                aside[turn] = c;
                sched_yield();
            }
            c = next;
        }
    }
}

/* A queued dispatch with workgroups left to take. */
static struct sim_dispatch *find_work(void)
{
    struct sim_dispatch *d = pool.queue;
    while (d && (atomic_load(&d->stop) || atomic_load(&d->next_group) >= d->groups)) {
        d = d->next_queued;
    }
    return d;
}

static void *pool_main(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&pool.lock);
    while (!pool.is_stopping) {
        struct sim_dispatch *d = find_work();
        if (!d) {
            pthread_cond_wait(&pool.work, &pool.lock);
            continue;
        }
        d->users++;
        pthread_mutex_unlock(&pool.lock);
        work_on(d);
        pthread_mutex_lock(&pool.lock);
        if (--d->users == 0) {
            pthread_cond_broadcast(&pool.done);
        }
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* Start threads up to `wanted`; called with the lock held. */
static void start_threads(unsigned wanted)
{
    if (pool.pid != getpid()) {
        /* Threads do not survive a fork. */
        pool.started = 0;
        pool.pid = getpid();
    }
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool.started < wanted && pool.started < THREADS_MAX &&
           pthread_create(&pool.threads[pool.started], NULL, pool_main, NULL) == 0) {
        pool.started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void sim_pool_run(struct sim_dispatch *d)
{
    unsigned threads = sim_pool_threads();
    bool is_shared = threads > 1 && d->groups > 1 && !d->kernel->ordered_groups;
    if (is_shared) {
        pthread_mutex_lock(&pool.lock);
        start_threads(threads - 1);
        d->next_queued = pool.queue;
        pool.queue = d;
        pthread_cond_broadcast(&pool.work);
        pthread_mutex_unlock(&pool.lock);
    }
    work_on(d);
    if (is_shared) {
        pthread_mutex_lock(&pool.lock);
        struct sim_dispatch **link = &pool.queue;
        while (*link != d) {
            link = &(*link)->next_queued;
        }
        *link = d->next_queued;
        while (d->users > 0) {
            pthread_cond_wait(&pool.done, &pool.lock);
        }
        pthread_mutex_unlock(&pool.lock);
    }
}

void sim_pool_stop(void)
{
    pthread_mutex_lock(&pool.lock);
    unsigned n = pool.pid == getpid() ? pool.started : 0;
    pool.is_stopping = true;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(pool.threads[i], NULL);
    }
    pthread_mutex_lock(&pool.lock);
    pool.started = 0;
    pool.is_stopping = false;
    struct sim_context *c = pool.idle;
    pool.idle = NULL;
    pool.idle_count = 0;
    pthread_mutex_unlock(&pool.lock);
    while (c) {
        struct sim_context *next = *sim_context_link(c);
        sim_context_destroy(c);
        c = next;
    }
}
