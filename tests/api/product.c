/* SPDX-License-Identifier: MIT */
/*
 * A product on the device: data, poisoned padding, guard bytes, and the check
 * against the oracle.  Every device buffer is exactly as large as the header
 * says, so that the simulator reports a byte read beyond it.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "oracle.h"

static void *upload(struct product *p, int slot, const void *data, size_t bytes)
{
    void *pointer = NULL;
    ck_assert_msg(mxg_device_allocate(p->context, bytes, &pointer) == MXG_OK, "%s",
                  mxg_last_error());
    ck_assert_msg(mxg_copy_to_device(p->context, pointer, data, bytes) == MXG_OK, "%s",
                  mxg_last_error());
    p->device[slot] = pointer;
    return pointer;
}

static void *checked_alloc(size_t bytes, int fill)
{
    void *pointer = malloc(bytes > 0 ? bytes : 1);
    ck_assert_ptr_nonnull(pointer);
    memset(pointer, fill, bytes);
    return pointer;
}

/* Rows of `row` bytes copied into rows of `pitch`, the gap poisoned. */
static void *spread(const void *dense, int64_t rows, int64_t row, int64_t pitch, size_t *bytes)
{
    *bytes = (size_t)((rows - 1) * pitch + row);
    unsigned char *out = checked_alloc(*bytes, 0xFF);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(out + r * pitch, (const unsigned char *)dense + r * row, (size_t)row);
    }
    return out;
}

static void put_a(struct product *p, const struct product_form *form)
{
    size_t bytes;
    const int64_t lda = p->k + form->extra_lda;
    void *rows;
    if (form->a_type == MXG_TYPE_MXFP4) {
        p->a4 = checked_alloc((size_t)(p->m * p->k / 2), 0);
        p->a4_scale = checked_alloc((size_t)(p->m * p->k / 32), 0);
        oracle_quantize_bf16((size_t)p->m, (size_t)p->k, p->a, (size_t)p->k, p->a4,
                             p->a4_scale);
        p->args.a_scale = upload(p, 1, p->a4_scale, (size_t)(p->m * p->k / 32));
        rows = spread(p->a4, p->m, p->k / 2, lda / 2, &bytes);
    } else {
        rows = spread(p->a, p->m, p->k * 2, lda * 2, &bytes);
    }
    p->args.a = upload(p, 0, rows, bytes);
    p->args.lda = lda;
    free(rows);
}

static void put_b(struct product *p, const struct product_form *form)
{
    size_t bytes;
    if (form->b_layout == MXG_LAYOUT_ROW_MAJOR) {
        const int64_t ldb = p->k + form->extra_ldb;
        void *rows = spread(p->b, p->n, p->k / 2, ldb / 2, &bytes);
        p->args.b = upload(p, 2, rows, bytes);
        p->args.ldb = ldb;
        free(rows);
        return;
    }
    ck_assert_int_eq(mxg_b_size(p->n, p->k, MXG_LAYOUT_SHUFFLED, &bytes), MXG_OK);
    unsigned char *shuffled = checked_alloc(bytes, 0);
    ck_assert_int_eq(mxg_shuffle_b(p->n, p->k, p->b, shuffled), MXG_OK);
    for (int64_t n = p->n; n < (p->n + 15) / 16 * 16; n++) {
        for (int64_t kb = 0; kb < p->k / 32; kb++) {
            memset(shuffled + n / 16 * p->k * 8 + kb * 256 + n % 16 * 16, 0xFF, 16);
        }
    }
    p->args.b = upload(p, 2, shuffled, bytes);
    free(shuffled);
}

/* The header's formula for shuffled scales. */
static size_t shuffled_scale_index(int64_t r, int64_t c, int64_t columns)
{
    return (size_t)(r / 32 * (columns / 8) * 256 + c / 8 * 256 + c % 4 * 64 + r % 16 * 4 +
                    c / 4 % 2 * 2 + r / 16 % 2);
}

static void put_b_scale(struct product *p, const struct product_form *form)
{
    size_t bytes;
    ck_assert_int_eq(mxg_scale_size(p->n, p->k, form->b_scale_layout, &bytes), MXG_OK);
    if (form->b_scale_layout == MXG_LAYOUT_ROW_MAJOR) {
        p->args.b_scale = upload(p, 3, p->b_scale, bytes);
        return;
    }
    unsigned char *shuffled = checked_alloc(bytes, 0xFF);
    const int64_t columns = (p->k / 32 + 7) / 8 * 8;
    for (int64_t r = 0; r < p->n; r++) {
        for (int64_t c = 0; c < p->k / 32; c++) {
            shuffled[shuffled_scale_index(r, c, columns)] = p->b_scale[r * (p->k / 32) + c];
        }
    }
    p->args.b_scale = upload(p, 3, shuffled, bytes);
    free(shuffled);
}

void product_make(struct product *p, mxg_context *context, int64_t m, int64_t n, int64_t k,
                  const struct product_form *form, uint64_t seed)
{
    const mxg_gemm_args initial = MXG_GEMM_ARGS_INIT;
    memset(p, 0, sizeof *p);
    p->context = context;
    p->args = initial;
    p->m = p->args.m = m;
    p->n = p->args.n = n;
    p->k = p->args.k = k;
    p->args.a_type = form->a_type;
    p->args.c_type = form->c_type;
    p->args.b_layout = form->b_layout;
    p->args.b_scale_layout = form->b_scale_layout;
    p->args.variant = form->variant;
    p->a = checked_alloc((size_t)(m * k) * 2, 0);
    p->b = checked_alloc((size_t)(n * k / 2), 0);
    p->b_scale = checked_alloc((size_t)(n * k / 32), 0);
    oracle_fill_activations(p->a, (size_t)m, (size_t)k, (size_t)k, seed);
    oracle_fill_weights(p->b, p->b_scale, (size_t)n, (size_t)k, seed + 1);
    put_a(p, form);
    put_b(p, form);
    put_b_scale(p, form);
    const size_t element = form->c_type == MXG_TYPE_F32 ? 4 : 2;
    p->args.ldc = n + form->extra_ldc;
    p->c_bytes = (size_t)((m - 1) * p->args.ldc + n) * element;
    p->c = checked_alloc(p->c_bytes, 0xFF);
    p->args.c = upload(p, 4, p->c, p->c_bytes);
}

mxg_status product_run(struct product *p, void *stream)
{
    memset(p->c, 0xFF, p->c_bytes);
    mxg_status status = mxg_copy_to_device(p->context, p->args.c, p->c, p->c_bytes);
    ck_assert_msg(status == MXG_OK, "%s", mxg_last_error());
    status = mxg_gemm(p->context, &p->args, stream);
    if (status == MXG_OK) {
        status = mxg_stream_synchronize(p->context, stream);
    }
    if (status == MXG_OK) {
        status = mxg_copy_to_host(p->context, p->c, p->args.c, p->c_bytes);
    }
    return status;
}

static void check_gaps(const struct product *p)
{
    const size_t element = p->args.c_type == MXG_TYPE_F32 ? 4 : 2;
    const size_t pitch = (size_t)p->args.ldc * element, row = (size_t)p->n * element;
    for (size_t at = row; at < p->c_bytes; at++) {
        if (at % pitch >= row) {
            ck_assert_msg(p->c[at] == 0xFF, "byte %zu between C's rows was written", at);
        }
    }
}

void product_check(const struct product *p)
{
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    struct oracle_product reference;
    uint8_t *q = checked_alloc(m * k / 2, 0), *scale = checked_alloc(m * k / 32, 0);
    oracle_quantize_bf16(m, k, p->a, k, q, scale);
    ck_assert(oracle_multiply(&reference, m, n, k, q, scale, p->b, p->b_scale));
    const struct oracle_verdict v =
        oracle_check(&reference, p->c, (size_t)p->args.ldc, p->args.c_type);
    ck_assert_msg(v.bad == 0,
                  "%zu x %zu x %zu: %zu wrong, first (%zu, %zu): %g instead of %g +- %g", m, n,
                  k, v.bad, v.first_m, v.first_n, v.got, v.want, v.bound);
    oracle_product_free(&reference);
    free(q);
    free(scale);
    check_gaps(p);
}

void product_free(struct product *p)
{
    for (size_t i = 0; i < sizeof p->device / sizeof p->device[0]; i++) {
        mxg_device_free(p->context, p->device[i]);
    }
    free(p->a);
    free(p->b);
    free(p->b_scale);
    free(p->a4);
    free(p->a4_scale);
    free(p->c);
    memset(p, 0, sizeof *p);
}
