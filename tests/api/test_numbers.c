/* SPDX-License-Identifier: MIT */
/*
 * Numbers at the edges: quantised A bit for bit against the rule, read back from
 * the caller's workspace; NaN and Inf in every position; edge blocks through
 * every variant.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm_case.h"
#include "oracle.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct product_form usual = PRODUCT_FORM_INIT;

/* A call's outcome is right only if the simulator saw nothing wrong. */
static void run(struct product *p)
{
    const mxg_status status = product_run(p, NULL);
    harness_no_reports();
    ck_assert_msg(status == MXG_OK, "%s: %s", mxg_status_name(status), mxg_last_error());
}

/* Replace the dense A of a product, on the host and on the device. */
static void set_a(struct product *p, const uint16_t *a)
{
    const size_t m = (size_t)p->m, k = (size_t)p->k;
    memcpy(p->a, a, m * k * 2);
    if (p->args.a_type == MXG_TYPE_BF16) {
        ck_assert_int_eq(mxg_copy_to_device(p->context, p->device[0], a, m * k * 2), MXG_OK);
        return;
    }
    oracle_quantize_bf16(m, k, a, k, p->a4, p->a4_scale);
    ck_assert_int_eq(mxg_copy_to_device(p->context, p->device[0], p->a4, m * k / 2), MXG_OK);
    ck_assert_int_eq(mxg_copy_to_device(p->context, p->device[1], p->a4_scale, m * k / 32),
                     MXG_OK);
}

/* Rows that hold all edge blocks, one after the other. */
static uint16_t *edge_rows(size_t k, size_t *rows)
{
    *rows = (oracle_edge_count() * ORACLE_BLOCK + k - 1) / k;
    uint16_t *a = malloc(*rows * k * 2);
    ck_assert_ptr_nonnull(a);
    for (size_t i = 0; i < *rows * k / ORACLE_BLOCK; i++) {
        oracle_edge_block(i % oracle_edge_count(), a + i * ORACLE_BLOCK);
    }
    return a;
}

/* ------------------------------------------------- quantised A, bit for bit */

/* The header's formula for shuffled scales; sn padded columns. */
static size_t shuffled_index(size_t r, size_t c, size_t sn)
{
    return r / 32 * (sn / 8) * 256 + c / 8 * 256 + c % 4 * 64 + r % 16 * 4 + c / 4 % 2 * 2 +
           r / 16 % 2;
}

/*
 * A workspace: elements [m, k/2]; from the next multiple of 256 bytes on scales, shuffled, with
 * rows padded to 32.
 */
static void check_workspace(const struct product *p, const uint8_t *workspace, size_t size)
{
    const size_t m = (size_t)p->m, k = (size_t)p->k, blocks = k / ORACLE_BLOCK;
    const size_t sn = (blocks + 7) / 8 * 8, rows = (m + 31) / 32 * 32;
    const size_t scale_offset = (m * k / 2 + 255) / 256 * 256;
    uint8_t *q = malloc(m * k / 2), *scale = malloc(m * blocks);
    ck_assert(q != NULL && scale != NULL);
    ck_assert_uint_eq(size, scale_offset + rows * sn);
    oracle_quantize_bf16(m, k, p->a, k, q, scale);
    for (size_t r = 0; r < m; r++) {
        for (size_t c = 0; c < blocks; c++) {
            uint16_t x[ORACLE_BLOCK];
            const size_t i = r * blocks + c;
            const char *name = oracle_edge_block(i % oracle_edge_count(), x);
            const uint8_t got = workspace[scale_offset + shuffled_index(r, c, sn)];
            if (got != scale[i]) {
                ck_abort_msg("K %zu, row %zu, block %zu (%s): scale %d, not %d", k, r, c, name,
                             got, scale[i]);
            }
            /* A passed assertion is a write to Check's pipe: none for every byte. */
            for (size_t j = i * 16; j < i * 16 + 16; j++) {
                if (workspace[j] != q[j]) {
                    ck_abort_msg("K %zu, row %zu, block %zu (%s): byte %zu is %02x, not %02x",
                                 k, r, c, name, j % 16, workspace[j], q[j]);
                }
            }
        }
    }
    free(q);
    free(scale);
}

START_TEST(test_numbers_quantised_a_is_bit_identical_with_the_rule)
{
    static const int64_t ks[] = { 32, 96, 256, 416, 7168 };
    mxg_context *context = harness_context(gemm_case_cache_dir());
    size_t rows, size = 0;
    uint16_t *a = edge_rows((size_t)ks[_i], &rows);
    struct product_form form = usual;
    struct product p;
    form.variant = MXG_VARIANT_PREQUANT;
    product_make(&p, context, (int64_t)rows, 16, ks[_i], &form, 1);
    set_a(&p, a);
    ck_assert_int_eq(mxg_workspace_size(context, &p.args, &size), MXG_OK);
    uint8_t *bytes = malloc(size + 64);
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 0xFF, size + 64);
    ck_assert_int_eq(mxg_device_allocate(context, size + 64, &p.args.workspace), MXG_OK);
    ck_assert_int_eq(mxg_copy_to_device(context, p.args.workspace, bytes, size + 64), MXG_OK);
    p.args.workspace_size = size;
    run(&p);
    product_check(&p);
    ck_assert_int_eq(mxg_copy_to_host(context, bytes, p.args.workspace, size + 64), MXG_OK);
    check_workspace(&p, bytes, size);
    for (size_t i = 0; i < 64; i++) {
        ck_assert_msg(bytes[size + i] == 0xFF, "byte %zu behind the workspace was written", i);
    }
    ck_assert_int_eq(mxg_device_free(context, p.args.workspace), MXG_OK);
    free(bytes);
    free(a);
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

/* --------------------------------------------- edge blocks through the product */

START_TEST(test_numbers_edge_blocks_in_every_variant)
{
    static const mxg_type types[] = { MXG_TYPE_F32, MXG_TYPE_BF16, MXG_TYPE_F16 };
    static const int64_t ks[] = { 32, 160, 544 };
    mxg_context *context = harness_context(gemm_case_cache_dir());
    for (size_t i = 0; i < COUNT(ks); i++) {
        size_t rows;
        uint16_t *a = edge_rows((size_t)ks[i], &rows);
        for (int variant = MXG_VARIANT_FUSED; variant <= MXG_VARIANT_QUANTIZED; variant++) {
            struct product_form form = usual;
            struct product p;
            form.variant = (mxg_variant)variant;
            form.a_type = variant == MXG_VARIANT_QUANTIZED ? MXG_TYPE_MXFP4 : MXG_TYPE_BF16;
            form.c_type = types[_i];
            product_make(&p, context, (int64_t)rows, 48, ks[i], &form, 2);
            set_a(&p, a);
            run(&p);
            product_check(&p);
            product_free(&p);
        }
        free(a);
    }
    mxg_context_destroy(context);
}
END_TEST

/*
 * B's row n picks element n of a block, so that C is the dequantised A itself:
 * no sum hides a wrong element.  K = 32.
 */
START_TEST(test_numbers_one_hot_weights_show_every_element)
{
    mxg_context *context = harness_context(gemm_case_cache_dir());
    size_t rows;
    uint16_t *a = edge_rows(32, &rows);
    for (int variant = MXG_VARIANT_FUSED; variant <= MXG_VARIANT_QUANTIZED; variant++) {
        struct product_form form = usual;
        struct product p;
        form.variant = (mxg_variant)variant;
        form.a_type = variant == MXG_VARIANT_QUANTIZED ? MXG_TYPE_MXFP4 : MXG_TYPE_BF16;
        form.c_type = MXG_TYPE_F32;
        form.b_layout = form.b_scale_layout = MXG_LAYOUT_ROW_MAJOR;
        product_make(&p, context, (int64_t)rows, 32, 32, &form, 3);
        memset(p.b, 0, 32 * 16);
        memset(p.b_scale, 127, 32);
        for (size_t n = 0; n < 32; n++) {
            p.b[n * 16 + n / 2] = n % 2 ? 0x20 : 0x02; /* 1.0 */
        }
        ck_assert_int_eq(mxg_copy_to_device(context, p.device[2], p.b, 32 * 16), MXG_OK);
        ck_assert_int_eq(mxg_copy_to_device(context, p.device[3], p.b_scale, 32), MXG_OK);
        set_a(&p, a);
        run(&p);
        product_check(&p);
        product_free(&p);
    }
    free(a);
    mxg_context_destroy(context);
}
END_TEST

/* ------------------------------------------------------ NaN and Inf in A */

static bool is_nan(const unsigned char *c, size_t index)
{
    uint32_t bits;
    memcpy(&bits, c + index * 4, 4);
    return (bits & 0x7FFFFFFF) > 0x7F800000;
}

/* The row with a special value at `position` becomes NaN; every other one keeps its bits. */
static void check_rows(const struct product *p, const unsigned char *clean, int64_t special,
                       int64_t position)
{
    const size_t row = (size_t)p->n * 4;
    for (int64_t r = 0; r < p->m; r++) {
        if (r != special) {
            ck_assert_msg(memcmp(p->c + (size_t)r * row, clean + (size_t)r * row, row) == 0,
                          "a special value in row %d at %d changed row %d", (int)special,
                          (int)position, (int)r);
            continue;
        }
        for (int64_t n = 0; n < p->n; n++) {
            ck_assert_msg(is_nan(p->c, (size_t)(r * p->n + n)),
                          "a special value in row %d at %d: column %d is no NaN", (int)special,
                          (int)position, (int)n);
        }
    }
}

/* Every position of K, each of the special values in turn, one row of M after the other. */
START_TEST(test_numbers_special_values_spoil_their_row_only)
{
    static const uint16_t specials[] = { 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F81, 0xFFFF };
    static const struct {
        int64_t m, n, k;
        mxg_variant variant;
    } shapes[] = {
        { 16, 33, 160, MXG_VARIANT_FUSED },
        { 16, 33, 160, MXG_VARIANT_PREQUANT },
        { 35, 16, 288, MXG_VARIANT_FUSED },
        { 35, 16, 288, MXG_VARIANT_PREQUANT },
    };
    mxg_context *context = harness_context(gemm_case_cache_dir());
    struct product_form form = usual;
    struct product p;
    form.variant = shapes[_i].variant;
    form.c_type = MXG_TYPE_F32;
    product_make(&p, context, shapes[_i].m, shapes[_i].n, shapes[_i].k, &form, 4);
    run(&p);
    product_check(&p);
    unsigned char *clean = malloc(p.c_bytes);
    uint16_t *a = malloc((size_t)(p.m * p.k) * 2);
    ck_assert(clean != NULL && a != NULL);
    memcpy(clean, p.c, p.c_bytes);
    memcpy(a, p.a, (size_t)(p.m * p.k) * 2);
    for (int64_t position = 0; position < p.k; position++) {
        for (size_t s = 0; s < COUNT(specials); s++) {
            if (position >= 64 && s != (size_t)position % COUNT(specials)) {
                continue; /* all of them in the first two blocks, then one each */
            }
            const int64_t row = (position * 7 + (int64_t)s) % p.m;
            uint16_t *at = a + row * p.k + position, saved = *at;
            *at = specials[s];
            set_a(&p, a);
            run(&p);
            check_rows(&p, clean, row, position);
            *at = saved;
        }
    }
    free(clean);
    free(a);
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

/* A NaN scale in the caller's own MXFP4 A, or in B, spoils that row or column only. */
START_TEST(test_numbers_nan_scales_spoil_their_row_or_column_only)
{
    mxg_context *context = harness_context(gemm_case_cache_dir());
    struct product_form form = usual;
    struct product p;
    form.variant = MXG_VARIANT_QUANTIZED;
    form.a_type = MXG_TYPE_MXFP4;
    form.c_type = MXG_TYPE_F32;
    form.b_scale_layout = MXG_LAYOUT_ROW_MAJOR;
    product_make(&p, context, 20, 37, 352, &form, 5);
    run(&p);
    unsigned char *clean = malloc(p.c_bytes);
    ck_assert_ptr_nonnull(clean);
    memcpy(clean, p.c, p.c_bytes);
    const int64_t blocks = p.k / ORACLE_BLOCK;
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t row = block * 3 % p.m, column = block * 7 % p.n;
        uint8_t *scale = &p.a4_scale[row * blocks + block], saved = *scale;
        *scale = 0xFF;
        ck_assert_int_eq(
            mxg_copy_to_device(context, p.device[1], p.a4_scale, (size_t)(p.m * blocks)),
            MXG_OK);
        run(&p);
        check_rows(&p, clean, row, block * ORACLE_BLOCK);
        *scale = saved;
        ck_assert_int_eq(
            mxg_copy_to_device(context, p.device[1], p.a4_scale, (size_t)(p.m * blocks)),
            MXG_OK);
        scale = &p.b_scale[column * blocks + block], saved = *scale;
        *scale = 0xFF;
        ck_assert_int_eq(
            mxg_copy_to_device(context, p.device[3], p.b_scale, (size_t)(p.n * blocks)),
            MXG_OK);
        run(&p);
        for (int64_t i = 0; i < p.m * p.n; i++) {
            const bool is_spoilt = i % p.n == column;
            ck_assert_msg(is_spoilt ? is_nan(p.c, (size_t)i)
                                    : memcmp(p.c + i * 4, clean + i * 4, 4) == 0,
                          "NaN scale of column %d, block %d: element (%d, %d)", (int)column,
                          (int)block, (int)(i / p.n), (int)(i % p.n));
        }
        *scale = saved;
        ck_assert_int_eq(
            mxg_copy_to_device(context, p.device[3], p.b_scale, (size_t)(p.n * blocks)),
            MXG_OK);
    }
    free(clean);
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

int main(void)
{
    harness_need_compiler();
    Suite *suite = suite_create("numbers");
    TCase *tcase = tcase_create("numbers");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, test_numbers_quantised_a_is_bit_identical_with_the_rule, 0, 5);
    tcase_add_loop_test(tcase, test_numbers_edge_blocks_in_every_variant, 0, 3);
    tcase_add_test(tcase, test_numbers_one_hot_weights_show_every_element);
    tcase_add_loop_test(tcase, test_numbers_special_values_spoil_their_row_only, 0, 4);
    tcase_add_test(tcase, test_numbers_nan_scales_spoil_their_row_or_column_only);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
