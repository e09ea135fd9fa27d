/* SPDX-License-Identifier: MIT */
/*
 * One server process of the cache tests.
 *   cache_child FOLDER THREADS SHAPES
 * Each thread runs the first SHAPES products, in an order of its own, on a
 * stream of its own; every result is checked.  Prints one line: compiles,
 * disk hits, bad entries, failures.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "oracle.h"

/* Small products with distinct kernels: N and K are baked, M picks a class. */
static void shape_of(int i, int64_t *m, int64_t *n, int64_t *k)
{
    static const int64_t ms[] = { 1, 5, 16, 33 };
    *m = ms[i % 4];
    *n = 16 + 8 * i;
    *k = 32 * (1 + i % 9);
}

struct worker {
    mxg_context *context;
    int shapes, start;
    pthread_t thread;
    atomic_int *failures;
};

/*
 * As product_make and product_check, but without a test framework: threads may not use its
 * asserts.
 */
static bool run_one(mxg_context *context, void *stream, int index)
{
    int64_t m, n, k;
    shape_of(index, &m, &n, &k);
    struct host {
        uint16_t *a, *c;
        uint8_t *b, *scale, *shuffled, *shuffled_scale, *q, *q_scale;
    } h = { 0 };
    size_t b_bytes, scale_bytes;
    void *device[4] = { 0 };
    struct oracle_product reference = { 0 };
    bool right = false;
    mxg_b_size(n, k, MXG_LAYOUT_SHUFFLED, &b_bytes);
    mxg_scale_size(n, k, MXG_LAYOUT_SHUFFLED, &scale_bytes);
    h.a = malloc((size_t)(m * k) * 2);
    h.c = malloc((size_t)(m * n) * 2);
    h.b = malloc((size_t)(n * k / 2));
    h.scale = malloc((size_t)(n * k / 32));
    h.shuffled = malloc(b_bytes);
    h.shuffled_scale = malloc(scale_bytes);
    h.q = malloc((size_t)(m * k / 2));
    h.q_scale = malloc((size_t)(m * k / 32));
    oracle_fill_activations(h.a, (size_t)m, (size_t)k, (size_t)k, (uint64_t)index);
    oracle_fill_weights(h.b, h.scale, (size_t)n, (size_t)k, (uint64_t)index + 77);
    mxg_shuffle_b(n, k, h.b, h.shuffled);
    mxg_shuffle_scale(n, k, h.scale, h.shuffled_scale);
    mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
    args.m = m, args.n = n, args.k = k;
    if (mxg_device_allocate(context, (size_t)(m * k) * 2, &device[0]) == MXG_OK &&
        mxg_device_allocate(context, b_bytes, &device[1]) == MXG_OK &&
        mxg_device_allocate(context, scale_bytes, &device[2]) == MXG_OK &&
        mxg_device_allocate(context, (size_t)(m * n) * 2, &device[3]) == MXG_OK &&
        mxg_copy_to_device(context, device[0], h.a, (size_t)(m * k) * 2) == MXG_OK &&
        mxg_copy_to_device(context, device[1], h.shuffled, b_bytes) == MXG_OK &&
        mxg_copy_to_device(context, device[2], h.shuffled_scale, scale_bytes) == MXG_OK) {
        args.a = device[0];
        args.b = device[1];
        args.b_scale = device[2];
        args.c = device[3];
        if (mxg_gemm(context, &args, stream) == MXG_OK &&
            mxg_stream_synchronize(context, stream) == MXG_OK &&
            mxg_copy_to_host(context, h.c, device[3], (size_t)(m * n) * 2) == MXG_OK) {
            oracle_quantize_bf16((size_t)m, (size_t)k, h.a, (size_t)k, h.q, h.q_scale);
            right = oracle_multiply(&reference, (size_t)m, (size_t)n, (size_t)k, h.q, h.q_scale,
                                    h.b, h.scale) &&
                    oracle_check(&reference, h.c, (size_t)n, MXG_TYPE_BF16).bad == 0;
            oracle_product_free(&reference);
        }
    }
    if (!right) {
        fprintf(stderr, "cache_child: %" PRId64 " x %" PRId64 " x %" PRId64 ": wrong; %s\n", m,
                n, k, mxg_last_error());
    }
    for (int i = 0; i < 4; i++) {
        mxg_device_free(context, device[i]);
    }
    free(h.a), free(h.c), free(h.b), free(h.scale);
    free(h.shuffled), free(h.shuffled_scale), free(h.q), free(h.q_scale);
    return right;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    void *stream = NULL;
    if (mxg_stream_create(w->context, &stream) != MXG_OK) {
        atomic_fetch_add(w->failures, 1);
        return NULL;
    }
    for (int i = 0; i < w->shapes; i++) {
        if (!run_one(w->context, stream, (i + w->start) % w->shapes)) {
            atomic_fetch_add(w->failures, 1);
        }
    }
    mxg_stream_destroy(w->context, stream);
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[64];
    mxg_context_options options = MXG_CONTEXT_OPTIONS_INIT;
    mxg_stats stats = MXG_STATS_INIT;
    mxg_context *context = NULL;
    atomic_int failures = 0;
    if (argc != 4) {
        fprintf(stderr, "usage: cache_child FOLDER THREADS SHAPES\n");
        return 2;
    }
    const int threads = atoi(argv[2]), shapes = atoi(argv[3]);
    if (threads < 1 || threads > 64 || shapes < 1) {
        return 2;
    }
    options.cache_dir = argv[1];
    if (mxg_context_create(&options, &context) != MXG_OK) {
        fprintf(stderr, "cache_child: %s\n", mxg_last_error());
        return 1;
    }
    for (int i = 0; i < threads; i++) {
        workers[i] = (struct worker){ context, shapes, i * shapes / threads, 0, &failures };
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    mxg_get_stats(context, &stats);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", stats.compiles, stats.disk_hits,
           stats.disk_bad_entries, (int)failures);
    mxg_context_destroy(context);
    return failures == 0 ? 0 : 1;
}
