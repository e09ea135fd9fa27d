/* SPDX-License-Identifier: MIT */
/*
 * One product with its data: generated or read, prepared by the library, copied to the
 * device.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "first_call.h"

/* xorshift64*, Marsaglia 2003 and Vigna 2016: small, fast, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static double uniform(uint64_t *state)
{
    return ((double)(next_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller 1958. */
static float normal(uint64_t *state)
{
    const double radius = sqrt(-2.0 * log(uniform(state)));
    return (float)(radius * cos(6.283185307179586 * uniform(state)));
}

/* Round to nearest even; the values here are finite. */
static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static int complain(const char *what)
{
    fprintf(stderr, "first_call: %s: %s\n", what, mxg_last_error());
    return -1;
}

static int allocate(struct problem *p, int64_t m, int64_t n, int64_t k)
{
    size_t b = 0, scale = 0;
    memset(p, 0, sizeof *p);
    p->m = m;
    p->n = n;
    p->k = k;
    snprintf(p->name, sizeof p->name, "%" PRId64 " x %" PRId64 " x %" PRId64, m, n, k);
    if (mxg_b_size(n, k, MXG_LAYOUT_ROW_MAJOR, &b) != MXG_OK ||
        mxg_scale_size(n, k, MXG_LAYOUT_ROW_MAJOR, &scale) != MXG_OK ||
        mxg_b_size(n, k, MXG_LAYOUT_SHUFFLED, &p->b_bytes) != MXG_OK ||
        mxg_scale_size(n, k, MXG_LAYOUT_SHUFFLED, &p->b_scale_bytes) != MXG_OK) {
        return complain(p->name);
    }
    p->a = malloc((size_t)(m * k) * sizeof *p->a);
    p->b = malloc(b);
    p->b_scale = malloc(scale);
    if (p->a == NULL || p->b == NULL || p->b_scale == NULL) {
        fprintf(stderr, "first_call: no memory for %s\n", p->name);
        return -1;
    }
    return 0;
}

/* One channel in 97 is an outlier, as in the inputs of a transformer's linear layers. */
static float channel_gain(int64_t channel)
{
    return channel % 97 == 13 ? 20.0f + (float)(channel % 41) : 1.0f;
}

int problem_generate(struct problem *p, int64_t m, int64_t n, int64_t k, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    if (allocate(p, m, n, k) != 0) {
        return -1;
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < k; j++) {
            p->a[i * k + j] = to_bf16(normal(&state) * channel_gain(j));
        }
    }
    float *weight = malloc((size_t)(n * k) * sizeof *weight);
    if (weight == NULL) {
        fprintf(stderr, "first_call: no memory for the weights of %s\n", p->name);
        return -1;
    }
    const float spread = 1.0f / sqrtf((float)k);
    for (int64_t i = 0; i < n * k; i++) {
        weight[i] = normal(&state) * spread;
    }
    const mxg_status status = mxg_quantize(n, k, MXG_TYPE_F32, weight, 0, p->b, p->b_scale);
    free(weight);
    return status == MXG_OK ? 0 : complain("mxg_quantize");
}

int problem_read(struct problem *p, const char *dir, int64_t m)
{
    char path[2048];
    float *a = NULL, *weight = NULL;
    int64_t rows = 0, k = 0, n = 0, weight_k = 0;
    memset(p, 0, sizeof *p);
    snprintf(path, sizeof path, "%s/activations.npy", dir);
    int status = npy_read_f32(path, &a, &rows, &k);
    snprintf(path, sizeof path, "%s/weight.npy", dir);
    if (status == 0) {
        status = npy_read_f32(path, &weight, &n, &weight_k);
    }
    if (status == 0 && weight_k != k) {
        fprintf(stderr,
                "first_call: %s: the weight has %" PRId64 " inputs, the activations %" PRId64
                "\n",
                dir, weight_k, k);
        status = -1;
    }
    if (status == 0) {
        status = allocate(p, m > 0 && m < rows ? m : rows, n, k);
    }
    if (status == 0) {
        for (int64_t i = 0; i < p->m * k; i++) {
            p->a[i] = to_bf16(a[i]);
        }
        if (mxg_quantize(n, k, MXG_TYPE_F32, weight, 0, p->b, p->b_scale) != MXG_OK) {
            status = complain("mxg_quantize");
        }
    }
    free(a);
    free(weight);
    return status;
}

/* Prepare one operand on the host and copy it; `bytes` is the shuffled size. */
static int upload(mxg_context *context, size_t bytes, const void *data, void **pointer)
{
    if (mxg_device_allocate(context, bytes, pointer) != MXG_OK) {
        return complain("mxg_device_allocate");
    }
    return data == NULL || mxg_copy_to_device(context, *pointer, data, bytes) == MXG_OK
               ? 0
               : complain("mxg_copy_to_device");
}

int problem_upload(struct problem *p, mxg_context *context)
{
    unsigned char *b = malloc(p->b_bytes), *scale = malloc(p->b_scale_bytes);
    int status = -1;
    if (b == NULL || scale == NULL) {
        fprintf(stderr, "first_call: no memory to shuffle %s\n", p->name);
    } else if (mxg_shuffle_b(p->n, p->k, p->b, b) != MXG_OK ||
               mxg_shuffle_scale(p->n, p->k, p->b_scale, scale) != MXG_OK) {
        status = complain("mxg_shuffle");
    } else {
        status = upload(context, (size_t)(p->m * p->k) * sizeof *p->a, p->a, &p->dev_a);
        if (status == 0) {
            status = upload(context, p->b_bytes, b, &p->dev_b);
        }
        if (status == 0) {
            status = upload(context, p->b_scale_bytes, scale, &p->dev_b_scale);
        }
        if (status == 0) {
            status = upload(context, (size_t)(p->m * p->n) * 2, NULL, &p->dev_c);
        }
    }
    free(b);
    free(scale);
    return status;
}

void problem_release_device(struct problem *p, mxg_context *context)
{
    void **device[] = { &p->dev_a, &p->dev_b, &p->dev_b_scale, &p->dev_c };
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++) {
        mxg_device_free(context, *device[i]);
        *device[i] = NULL;
    }
}

void problem_release(struct problem *p)
{
    free(p->a);
    free(p->b);
    free(p->b_scale);
    memset(p, 0, sizeof *p);
}

void problem_arguments(const struct problem *p, mxg_gemm_args *args)
{
    const mxg_gemm_args initial = MXG_GEMM_ARGS_INIT;
    *args = initial;
    args->m = p->m;
    args->n = p->n;
    args->k = p->k;
    args->a = p->dev_a;
    args->b = p->dev_b;
    args->b_scale = p->dev_b_scale;
    args->c = p->dev_c;
}
