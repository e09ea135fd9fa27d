/* SPDX-License-Identifier: MIT */
/*
 * First call of one shape through each way to compile, side by side in one
 * run: caches off, the ways in turn within each round, so that a change of the
 * machine's speed meets all of them.
 *
 *   compile_paths [ROUNDS [M N K]]          default 9 rounds of 16 x 2112 x 7168
 *
 * "first" is mxg_prepare in a new context: opening the compiler (a new helper
 * process, or the libraries) and compiling the plan's kernels.  "next" is
 * another shape in the same context: the compiler is warm.  Ratios are per
 * round against worker:comgr.  In-process ways show up where the compilers
 * open in this process.
 */
#include <inttypes.h>
#include <mxgemm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ROUNDS = 101, WAYS = 4 };

static const char *const ways[WAYS] = { "worker:comgr", "worker:hiprtc", "comgr", "hiprtc" };

struct figures {
    double first_ms[MAX_ROUNDS], next_ms[MAX_ROUNDS];
    int is_there;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* 0, or -1 with a line on stderr; *is_there 0 where the compiler is not to be had. */
static int measure(const char *way, const int64_t shape[3], double *first, double *next,
                   int *is_there)
{
    mxg_context_options options = MXG_CONTEXT_OPTIONS_INIT;
    mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
    mxg_context *context = NULL;
    options.cache_dir = "";
    options.compiler = way;
    args.m = shape[0], args.n = shape[1], args.k = shape[2];
    mxg_status status = mxg_context_create(&options, &context);
    double start = now_ms();
    if (status == MXG_OK) {
        status = mxg_prepare(context, &args);
    }
    *first = now_ms() - start;
    args.n += 16;
    start = now_ms();
    if (status == MXG_OK) {
        status = mxg_prepare(context, &args);
    }
    *next = now_ms() - start;
    *is_there = status == MXG_OK;
    if (status != MXG_OK && status != MXG_E_NO_COMPILER) {
        fprintf(stderr, "compile_paths: %s: %s\n", way, mxg_last_error());
    }
    mxg_context_destroy(context);
    return status == MXG_OK || status == MXG_E_NO_COMPILER ? 0 : -1;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_spread(const char *name, const double *values, int count, const char *unit)
{
    double sorted[MAX_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    printf("  %-28s %9.2f %9.2f %9.2f %s\n", name, sorted[0], sorted[count / 2],
           sorted[count - 1], unit);
}

static void print_way(const char *way, const struct figures *f, const struct figures *base,
                      int rounds)
{
    double first[MAX_ROUNDS], next[MAX_ROUNDS];
    for (int i = 0; i < rounds; i++) {
        first[i] = f->first_ms[i] / base->first_ms[i];
        next[i] = f->next_ms[i] / base->next_ms[i];
    }
    printf("%s\n", way);
    print_spread("first call", f->first_ms, rounds, "ms");
    print_spread("next shape", f->next_ms, rounds, "ms");
    print_spread("first call / worker:comgr", first, rounds, "x");
    print_spread("next shape / worker:comgr", next, rounds, "x");
}

int main(int argc, char **argv)
{
    static struct figures figures[WAYS];
    int64_t shape[3] = { 16, 2112, 7168 };
    const int rounds = argc > 1 ? atoi(argv[1]) : 9;
    if (rounds < 1 || rounds > MAX_ROUNDS || (argc != 1 && argc != 2 && argc != 5)) {
        fprintf(stderr, "usage: compile_paths [ROUNDS (1 to %d) [M N K]]\n", MAX_ROUNDS);
        return 2;
    }
    for (int i = 0; i < 3 && argc == 5; i++) {
        shape[i] = atoll(argv[2 + i]);
    }
    setenv("AMD_COMGR_CACHE", "0", 1);
    for (int round = 0; round < rounds; round++) {
        for (int way = 0; way < WAYS; way++) {
            struct figures *f = &figures[way];
            if (measure(ways[way], shape, &f->first_ms[round], &f->next_ms[round],
                        &f->is_there) != 0) {
                return 1;
            }
        }
    }
    printf("%" PRId64 " x %" PRId64 " x %" PRId64
           ", %d rounds, all caches off: min, median, max\n",
           shape[0], shape[1], shape[2], rounds);
    if (!figures[0].is_there) {
        fprintf(stderr, "compile_paths: worker:comgr is not to be had: %s\n", mxg_last_error());
        return 1;
    }
    for (int way = 0; way < WAYS; way++) {
        if (figures[way].is_there) {
            print_way(ways[way], &figures[way], &figures[0], rounds);
        } else {
            printf("%s: does not open in this process\n", ways[way]);
        }
    }
    return 0;
}
