/* SPDX-License-Identifier: MIT */
/*
 * Host preparation of weights: sizes, quantisation against the oracle, layouts, refused
 * input.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../oracle.h"
#include "mx_layout.h"
#include "mxgemm.h"

START_TEST(test_prepare_sizes_are_padded_as_documented)
{
    static const struct {
        int64_t rows, k;
        size_t b_row, b_shuffled, s_row, s_shuffled;
    } rows[] = {
        { 1, 32, 16, 256, 1, 256 * 8 },
        { 16, 64, 512, 512, 32, 256 * 8 },
        { 17, 288, 17 * 144, 32 * 144, 17 * 9, 256 * 16 },
        { 257, 256, 257 * 128, 272 * 128, 257 * 8, 512 * 8 },
        { 2880, 512, 2880 * 256, 2880 * 256, 2880 * 16, 3072 * 16 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t bytes;
        ck_assert_int_eq(mxg_b_size(rows[i].rows, rows[i].k, MXG_LAYOUT_ROW_MAJOR, &bytes),
                         MXG_OK);
        ck_assert_uint_eq(bytes, rows[i].b_row);
        ck_assert_int_eq(mxg_b_size(rows[i].rows, rows[i].k, MXG_LAYOUT_SHUFFLED, &bytes),
                         MXG_OK);
        ck_assert_uint_eq(bytes, rows[i].b_shuffled);
        ck_assert_int_eq(mxg_scale_size(rows[i].rows, rows[i].k, MXG_LAYOUT_ROW_MAJOR, &bytes),
                         MXG_OK);
        ck_assert_uint_eq(bytes, rows[i].s_row);
        ck_assert_int_eq(mxg_scale_size(rows[i].rows, rows[i].k, MXG_LAYOUT_SHUFFLED, &bytes),
                         MXG_OK);
        ck_assert_uint_eq(bytes, rows[i].s_shuffled);
    }
}
END_TEST

START_TEST(test_prepare_sizes_refuse_bad_shapes)
{
    size_t bytes = 7;
    ck_assert_int_eq(mxg_b_size(0, 32, MXG_LAYOUT_SHUFFLED, &bytes), MXG_E_SHAPE);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "n = 0"));
    ck_assert_int_eq(mxg_b_size(1, 33, MXG_LAYOUT_SHUFFLED, &bytes), MXG_E_SHAPE);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "k = 33"));
    ck_assert_int_eq(mxg_b_size(1, 32, (mxg_layout)9, &bytes), MXG_E_ENUM);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "layout = 9"));
    ck_assert_int_eq(mxg_b_size(1, 32, MXG_LAYOUT_SHUFFLED, NULL), MXG_E_NULL);
    ck_assert_int_eq(mxg_b_size(INT64_MAX, 32, MXG_LAYOUT_ROW_MAJOR, &bytes), MXG_E_OVERFLOW);
    ck_assert_int_eq(mxg_b_size(INT64_MAX, 32, MXG_LAYOUT_SHUFFLED, &bytes), MXG_E_OVERFLOW);
    ck_assert_int_eq(
        mxg_b_size(INT64_C(1) << 32, INT64_C(1) << 33, MXG_LAYOUT_SHUFFLED, &bytes),
        MXG_E_OVERFLOW);

    ck_assert_int_eq(mxg_scale_size(-3, 32, MXG_LAYOUT_SHUFFLED, &bytes), MXG_E_SHAPE);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "rows = -3"));
    ck_assert_int_eq(mxg_scale_size(1, 0, MXG_LAYOUT_SHUFFLED, &bytes), MXG_E_SHAPE);
    ck_assert_int_eq(mxg_scale_size(1, 32, (mxg_layout)0, &bytes), MXG_E_ENUM);
    ck_assert_int_eq(mxg_scale_size(1, 32, MXG_LAYOUT_SHUFFLED, NULL), MXG_E_NULL);
    ck_assert_int_eq(mxg_scale_size(INT64_MAX - 3, 32, MXG_LAYOUT_SHUFFLED, &bytes),
                     MXG_E_OVERFLOW);
    ck_assert_int_eq(
        mxg_scale_size(INT64_C(1) << 40, INT64_C(1) << 40, MXG_LAYOUT_ROW_MAJOR, &bytes),
        MXG_E_OVERFLOW);
    ck_assert_uint_eq(bytes, 0);
}
END_TEST

START_TEST(test_prepare_quantize_equals_the_oracle_on_edge_blocks)
{
    size_t count = oracle_edge_count();
    for (size_t i = 0; i < count; i++) {
        uint16_t x[ORACLE_BLOCK];
        float wide[ORACLE_BLOCK];
        uint8_t want[16], want_scale, got[16], got_scale;
        const char *name = oracle_edge_block(i, x);
        oracle_quantize_bf16(1, 32, x, 32, want, &want_scale);

        ck_assert_int_eq(mxg_quantize(1, 32, MXG_TYPE_BF16, x, 0, got, &got_scale), MXG_OK);
        ck_assert_msg(got_scale == want_scale && memcmp(got, want, 16) == 0,
                      "block %zu (%s) as bf16", i, name);
        for (size_t j = 0; j < ORACLE_BLOCK; j++) {
            wide[j] = (float)oracle_bf16(x[j]);
        }
        ck_assert_int_eq(mxg_quantize(1, 32, MXG_TYPE_F32, wide, 0, got, &got_scale), MXG_OK);
        ck_assert_msg(got_scale == want_scale && memcmp(got, want, 16) == 0,
                      "block %zu (%s) as f32", i, name);
    }
}
END_TEST

/* f32 must not go by way of bf16: these differ from the nearest bf16 in scale or in code. */
START_TEST(test_prepare_quantize_f32_uses_all_its_bits)
{
    uint64_t state = 11;
    for (int round = 0; round < 200; round++) {
        float x[ORACLE_BLOCK];
        double wide[ORACLE_BLOCK];
        uint8_t want[16], want_scale, got[16], got_scale;
        for (size_t i = 0; i < ORACLE_BLOCK; i++) {
            /* Ties and 1.75, a few fp32 ulps beside. */
            double centre = 0.25 * (double)(oracle_random(&state) % 28);
            x[i] = (float)(centre * (1.0 + 1e-7 * ((double)(oracle_random(&state) % 5) - 2.0)));
            wide[i] = x[i];
        }
        oracle_quantize_block(wide, want, &want_scale);
        ck_assert_int_eq(mxg_quantize(1, 32, MXG_TYPE_F32, x, 0, got, &got_scale), MXG_OK);
        ck_assert_uint_eq(got_scale, want_scale);
        ck_assert_mem_eq(got, want, 16);
    }
}
END_TEST

START_TEST(test_prepare_quantize_honours_the_leading_dimension)
{
    enum { ROWS = 3, K = 64, LD = 71 };
    uint16_t a[ROWS * LD];
    uint8_t got[ROWS * K / 2], got_scale[ROWS * 2], want[ROWS * K / 2], want_scale[ROWS * 2];
    memset(a, 0xff, sizeof(a));
    oracle_fill_activations(a, ROWS, K, LD, 5);
    oracle_quantize_bf16(ROWS, K, a, LD, want, want_scale);
    ck_assert_int_eq(mxg_quantize(ROWS, K, MXG_TYPE_BF16, a, LD, got, got_scale), MXG_OK);
    ck_assert_mem_eq(got, want, sizeof(want));
    ck_assert_mem_eq(got_scale, want_scale, sizeof(want_scale));
}
END_TEST

START_TEST(test_prepare_quantize_refuses_bad_input)
{
    uint16_t a[64] = { 0 };
    uint8_t q[32], s[2];
    ck_assert_int_eq(mxg_quantize(1, 32, MXG_TYPE_BF16, NULL, 0, q, s), MXG_E_NULL);
    ck_assert_int_eq(mxg_quantize(1, 32, MXG_TYPE_BF16, a, 0, NULL, s), MXG_E_NULL);
    ck_assert_int_eq(mxg_quantize(1, 32, MXG_TYPE_BF16, a, 0, q, NULL), MXG_E_NULL);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "dst_scale"));
    ck_assert_int_eq(mxg_quantize(0, 32, MXG_TYPE_BF16, a, 0, q, s), MXG_E_SHAPE);
    ck_assert_int_eq(mxg_quantize(1, 31, MXG_TYPE_BF16, a, 0, q, s), MXG_E_SHAPE);
    ck_assert_int_eq(mxg_quantize(1, 32, MXG_TYPE_F16, a, 0, q, s), MXG_E_ENUM);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "src_type = 3"));
    ck_assert_int_eq(mxg_quantize(1, 64, MXG_TYPE_BF16, a, 63, q, s), MXG_E_LEADING_DIMENSION);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "63"));
    ck_assert_int_eq(mxg_quantize(INT64_MAX, 32, MXG_TYPE_BF16, a, 0, q, s), MXG_E_OVERFLOW);
    ck_assert_int_eq(mxg_quantize(2, 32, MXG_TYPE_F32, a, INT64_MAX / 2, q, s), MXG_E_OVERFLOW);
}
END_TEST

/*
 * aiter's own description of its layout: view(N/16,16,Kb/32,2,16).permute(0,2,3,1,4) over
 * bytes.
 */
static size_t aiter_b(size_t n, size_t byte, size_t k)
{
    size_t kb = k / 2;
    size_t index[5] = { n / 16, byte / 32, byte / 16 % 2, n % 16, byte % 16 };
    size_t extent[5] = { 0, kb / 32, 2, 16, 16 };
    size_t at = index[0];
    for (int i = 1; i < 5; i++) {
        at = at * extent[i] + index[i];
    }
    return at;
}

/* view(sm/32,2,16,sn/8,2,4).permute(0,3,5,2,4,1) */
static size_t aiter_scale(size_t r, size_t c, size_t columns)
{
    size_t index[6] = { r / 32, c / 8, c % 4, r % 16, c / 4 % 2, r / 16 % 2 };
    size_t extent[6] = { 0, columns / 8, 4, 16, 2, 2 };
    size_t at = index[0];
    for (int i = 1; i < 6; i++) {
        at = at * extent[i] + index[i];
    }
    return at;
}

START_TEST(test_prepare_shuffled_layouts_are_aiters)
{
    enum { N = 48, K = 192, ROWS = 300, BLOCKS = 12 };
    for (size_t n = 0; n < N; n++) {
        for (size_t byte = 0; byte < K / 2; byte++) {
            ck_assert_uint_eq(mx_b_shuffled(n, byte / 16, byte % 16, K / 32),
                              aiter_b(n, byte, K));
        }
    }
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < BLOCKS; c++) {
            ck_assert_uint_eq(mx_scale_shuffled(r, c, BLOCKS), aiter_scale(r, c, 16));
        }
    }
}
END_TEST

/* Every source byte arrives once and all the rest of the buffer is 0. */
START_TEST(test_prepare_shuffles_move_every_byte_and_clear_padding)
{
    static const int64_t shapes[][2] = {
        { 1, 32 }, { 15, 96 }, { 16, 64 }, { 33, 160 }, { 257, 288 }
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        int64_t n = shapes[i][0], k = shapes[i][1];
        size_t size, blocks = (size_t)k / 32, live = 0;
        ck_assert_int_eq(mxg_b_size(n, k, MXG_LAYOUT_SHUFFLED, &size), MXG_OK);
        uint8_t *src = malloc((size_t)(n * k / 2)), *dst = malloc(size);
        uint64_t state = 3;
        for (size_t j = 0; j < (size_t)(n * k / 2); j++) {
            src[j] = (uint8_t)(oracle_random(&state) % 255 + 1);
        }
        memset(dst, 0xff, size);
        ck_assert_int_eq(mxg_shuffle_b(n, k, src, dst), MXG_OK);
        for (size_t r = 0; r < (size_t)n; r++) {
            for (size_t byte = 0; byte < (size_t)k / 2; byte++) {
                ck_assert_uint_eq(dst[mx_b_shuffled(r, byte / 16, byte % 16, blocks)],
                                  src[r * (size_t)k / 2 + byte]);
            }
        }
        for (size_t j = 0; j < size; j++) {
            live += dst[j] != 0;
        }
        ck_assert_uint_eq(live, (size_t)(n * k / 2));
        free(dst);

        ck_assert_int_eq(mxg_scale_size(n, k, MXG_LAYOUT_SHUFFLED, &size), MXG_OK);
        dst = malloc(size);
        memset(dst, 0xff, size);
        ck_assert_int_eq(mxg_shuffle_scale(n, k, src, dst), MXG_OK);
        live = 0;
        for (size_t j = 0; j < size; j++) {
            live += dst[j] != 0;
        }
        ck_assert_uint_eq(live, (size_t)n * blocks);
        for (size_t r = 0; r < (size_t)n; r++) {
            for (size_t c = 0; c < blocks; c++) {
                ck_assert_uint_eq(dst[mx_scale_shuffled(r, c, blocks)], src[r * blocks + c]);
            }
        }
        free(dst);
        free(src);
    }
}
END_TEST

START_TEST(test_prepare_shuffles_refuse_bad_input)
{
    uint8_t bytes[16] = { 0 };
    ck_assert_int_eq(mxg_shuffle_b(1, 32, NULL, bytes), MXG_E_NULL);
    ck_assert_int_eq(mxg_shuffle_b(1, 32, bytes, NULL), MXG_E_NULL);
    ck_assert_int_eq(mxg_shuffle_b(1, 48, bytes, bytes), MXG_E_SHAPE);
    ck_assert_int_eq(mxg_shuffle_b(INT64_MAX, 64, bytes, bytes), MXG_E_OVERFLOW);
    ck_assert_int_eq(mxg_shuffle_scale(1, 32, NULL, bytes), MXG_E_NULL);
    ck_assert_int_eq(mxg_shuffle_scale(1, 32, bytes, NULL), MXG_E_NULL);
    ck_assert_int_eq(mxg_shuffle_scale(0, 32, bytes, bytes), MXG_E_SHAPE);
    ck_assert_int_eq(mxg_shuffle_scale(INT64_MAX, 64, bytes, bytes), MXG_E_OVERFLOW);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("prepare");
    TCase *tcase = tcase_create("prepare");
    tcase_add_test(tcase, test_prepare_sizes_are_padded_as_documented);
    tcase_add_test(tcase, test_prepare_sizes_refuse_bad_shapes);
    tcase_add_test(tcase, test_prepare_quantize_equals_the_oracle_on_edge_blocks);
    tcase_add_test(tcase, test_prepare_quantize_f32_uses_all_its_bits);
    tcase_add_test(tcase, test_prepare_quantize_honours_the_leading_dimension);
    tcase_add_test(tcase, test_prepare_quantize_refuses_bad_input);
    tcase_add_test(tcase, test_prepare_shuffled_layouts_are_aiters);
    tcase_add_test(tcase, test_prepare_shuffles_move_every_byte_and_clear_padding);
    tcase_add_test(tcase, test_prepare_shuffles_refuse_bad_input);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
