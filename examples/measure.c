/* SPDX-License-Identifier: MIT */
/* The cold call, the call of a fresh process that finds the disk cache, and the hot call. */
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "first_call.h"
#include "oracle.h"

extern char **environ;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int complain(const char *what)
{
    fprintf(stderr, "first_call: %s: %s\n", what, mxg_last_error());
    return -1;
}

/* FNV-1a, to compare the bits of two processes' results. */
static uint64_t checksum(const void *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001B3);
    }
    return hash;
}

/* C is poisoned with NaN first, so that a tile that is not written shows. */
static int poison(const struct problem *p, mxg_context *context, uint16_t *c)
{
    memset(c, 0xFF, (size_t)(p->m * p->n) * sizeof *c);
    return mxg_copy_to_device(context, p->dev_c, c, (size_t)(p->m * p->n) * sizeof *c) == MXG_OK
               ? 0
               : complain("mxg_copy_to_device");
}

static int timed_call(const struct problem *p, mxg_context *context, void *stream, uint16_t *c,
                      struct call_times *times)
{
    mxg_stats before = MXG_STATS_INIT, after = MXG_STATS_INIT;
    mxg_gemm_args args;
    problem_arguments(p, &args);
    if (poison(p, context, c) != 0 || mxg_get_stats(context, &before) != MXG_OK) {
        return -1;
    }
    const double start = now_ms();
    if (mxg_gemm(context, &args, stream) != MXG_OK) {
        return complain(p->name);
    }
    const double returned = now_ms();
    if (mxg_stream_synchronize(context, stream) != MXG_OK) {
        return complain(p->name);
    }
    times->call_ms = returned - start;
    times->device_ms = now_ms() - returned;
    if (mxg_get_stats(context, &after) != MXG_OK ||
        mxg_copy_to_host(context, c, p->dev_c, (size_t)(p->m * p->n) * sizeof *c) != MXG_OK) {
        return complain(p->name);
    }
    for (int i = 0; i < MXG_STAGE_COUNT; i++) {
        times->stage_ms[i] = (double)(after.stage[i].total_ns - before.stage[i].total_ns) / 1e6;
    }
    times->compiles = after.compiles - before.compiles;
    times->disk_hits = after.disk_hits - before.disk_hits;
    times->checksum = checksum(c, (size_t)(p->m * p->n) * sizeof *c);
    return 0;
}

struct session {
    mxg_context *context;
    void *stream;
    uint16_t *c;
};

static int session_open(struct session *s, struct problem *p, const char *cache_dir)
{
    mxg_context_options options = MXG_CONTEXT_OPTIONS_INIT;
    memset(s, 0, sizeof *s);
    options.cache_dir = cache_dir;
    if (mxg_context_create(&options, &s->context) != MXG_OK) {
        return complain("mxg_context_create");
    }
    s->c = malloc((size_t)(p->m * p->n) * sizeof *s->c);
    if (s->c == NULL || mxg_stream_create(s->context, &s->stream) != MXG_OK) {
        return complain("mxg_stream_create");
    }
    return problem_upload(p, s->context);
}

static void session_close(struct session *s, struct problem *p)
{
    if (s->context != NULL) {
        problem_release_device(p, s->context);
        if (s->stream != NULL) {
            mxg_stream_destroy(s->context, s->stream);
        }
    }
    free(s->c);
    mxg_context_destroy(s->context);
}

int measure_child(struct problem *problem, const char *cache_dir)
{
    struct session s;
    struct call_times t = { 0 };
    int status = session_open(&s, problem, cache_dir);
    if (status == 0) {
        status = timed_call(problem, s.context, s.stream, s.c, &t);
    }
    if (status == 0) {
        for (int i = 0; i < MXG_STAGE_COUNT; i++) {
            printf("%.9g ", t.stage_ms[i]);
        }
        printf("%.9g %.9g %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", t.call_ms, t.device_ms,
               t.compiles, t.disk_hits, t.checksum);
    }
    session_close(&s, problem);
    return status;
}

static int parse_child(FILE *in, struct call_times *t)
{
    for (int i = 0; i < MXG_STAGE_COUNT; i++) {
        if (fscanf(in, "%lf", &t->stage_ms[i]) != 1) {
            return -1;
        }
    }
    return fscanf(in, "%lf %lf %" SCNu64 " %" SCNu64 " %" SCNx64, &t->call_ms, &t->device_ms,
                  &t->compiles, &t->disk_hits, &t->checksum) == 5
               ? 0
               : -1;
}

/* Start `self` again, which calls measure_child, and read its line. */
static int run_child(const char *self, char *const arguments[], struct call_times *times)
{
    int ends[2];
    pid_t pid;
    int wait_status = 0;
    if (pipe(ends) != 0) {
        perror("first_call: pipe");
        return -1;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    const int error = posix_spawn(&pid, self, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    if (error != 0 || in == NULL) {
        fprintf(stderr, "first_call: the second process did not start: %s\n", strerror(error));
        if (in != NULL) {
            fclose(in);
        }
        return -1;
    }
    int status = parse_child(in, times);
    fclose(in);
    waitpid(pid, &wait_status, 0);
    if (status != 0 || wait_status != 0) {
        fprintf(stderr, "first_call: the second process failed\n");
        return -1;
    }
    return 0;
}

static int check_numbers(const struct problem *p, const uint16_t *c, struct measurement *r)
{
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    struct oracle_product product = { 0 };
    uint8_t *q = malloc(m * k / 2), *scale = malloc(m * k / 32);
    int status = -1;
    if (q != NULL && scale != NULL) {
        oracle_quantize_bf16(m, k, p->a, k, q, scale);
        if (oracle_multiply(&product, m, n, k, q, scale, p->b, p->b_scale)) {
            const struct oracle_verdict v = oracle_check(&product, c, n, MXG_TYPE_BF16);
            r->worst_error = v.worst;
            r->relative_error = v.mean_ratio;
            r->bad_elements = v.bad;
            oracle_product_free(&product);
            status = 0;
        }
    }
    if (status != 0) {
        fprintf(stderr, "first_call: no memory to check %s\n", p->name);
    }
    free(q);
    free(scale);
    return status;
}

int measure_problem(struct problem *p, const char *self, char *const child_arguments[],
                    const char *cache_dir, struct measurement *r)
{
    struct session s;
    const mxg_plan plan = MXG_PLAN_INIT;
    mxg_stats stats = MXG_STATS_INIT;
    mxg_gemm_args args;
    memset(r, 0, sizeof *r);
    r->plan = plan;
    int status = session_open(&s, p, cache_dir);
    if (status == 0) {
        status = timed_call(p, s.context, s.stream, s.c, &r->cold);
    }
    if (status == 0) {
        status = check_numbers(p, s.c, r);
    }
    if (status == 0) {
        status = timed_call(p, s.context, s.stream, s.c, &r->hot);
    }
    if (status == 0) {
        problem_arguments(p, &args);
        status = mxg_explain(s.context, &args, &r->plan) == MXG_OK &&
                         mxg_get_stats(s.context, &stats) == MXG_OK
                     ? 0
                     : complain("mxg_explain");
        memcpy(r->compiler, stats.compiler, sizeof r->compiler);
    }
    session_close(&s, p);
    if (status == 0) {
        status = run_child(self, child_arguments, &r->fresh);
    }
    r->is_right = status == 0 && r->bad_elements == 0 &&
                  r->cold.compiles == r->plan.num_kernels && r->fresh.compiles == 0 &&
                  r->fresh.disk_hits == r->plan.num_kernels && r->hot.compiles == 0 &&
                  r->cold.checksum == r->hot.checksum && r->cold.checksum == r->fresh.checksum;
    return status;
}
