/* SPDX-License-Identifier: MIT */
/*
 * The product, end to end, on the simulator: the contest's shapes in every
 * variant, every layout and type with gaps between rows, a sweep of ragged
 * shapes, and the same bits whoever runs the workgroups.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm_shapes.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct product_form usual = PRODUCT_FORM_INIT;

/* Compile, then check cases of one shape after the other. */
static void check_all(const struct gemm_case *cases, size_t count)
{
    const char *cache_dir = gemm_case_cache_dir();
    gemm_cases_warm(cache_dir, cases, count);
    mxg_context *context = harness_context(cache_dir);
    size_t first = 0;
    for (size_t i = 1; i <= count; i++) {
        if (i == count || cases[i].m != cases[first].m || cases[i].n != cases[first].n ||
            cases[i].k != cases[first].k) {
            gemm_cases_check(context, cases + first, i - first, 1000 + first);
            first = i;
        }
    }
    mxg_context_destroy(context);
    harness_no_reports();
}

START_TEST(test_gemm_contest_shapes_in_every_variant)
{
    const int64_t *shape = contest_shapes[_i];
    const struct gemm_case base = { shape[0], shape[1], shape[2], usual };
    struct gemm_case cases[VARIANT_FORMS];
    shapes_variants(&base, cases);
    check_all(cases, VARIANT_FORMS);
}
END_TEST

/*
 * Every layout of B and its scales, type of C and variant, with gaps between the rows of
 * A, B and C.
 */
START_TEST(test_gemm_layouts_and_types_with_gaps)
{
    static const mxg_type types[] = { MXG_TYPE_BF16, MXG_TYPE_F16, MXG_TYPE_F32 };
    static const int64_t shapes[][3] = { { 5, 33, 160 }, { 37, 100, 416 }, { 129, 47, 288 } };
    struct gemm_case cases[12 * VARIANT_FORMS];
    for (size_t i = 0; i < 12; i++) {
        const int64_t *shape = shapes[_i];
        struct gemm_case base = { shape[0], shape[1], shape[2], usual };
        base.form.c_type = types[i % 3];
        base.form.b_layout = i / 3 % 2 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
        base.form.b_scale_layout = i / 6 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
        base.form.extra_lda = 32 * (int64_t)(1 + i % 2);
        base.form.extra_ldb = i / 3 % 2 ? 64 : 0;
        base.form.extra_ldc = (int64_t)(1 + i % 7);
        shapes_variants(&base, cases + i * VARIANT_FORMS);
    }
    check_all(cases, COUNT(cases));
}
END_TEST

/* A pair of values that the sweep must contain, for each of the three pairs of dimensions. */
START_TEST(test_gemm_sweep_covers_every_pair_of_values)
{
    bool mn[SWEEP_MS][SWEEP_NS] = { { false } }, mk[SWEEP_MS][SWEEP_KS] = { { false } };
    bool nk[SWEEP_NS][SWEEP_KS] = { { false } };
    unsigned variants[4][SWEEP_MS] = { { 0 } };
    ck_assert_int_ge(SWEEP_CASES, 300);
    for (size_t i = 0; i < SWEEP_CASES; i++) {
        struct gemm_case test;
        size_t m = 0, n = 0, k = 0;
        sweep_case(i, &test);
        for (; m < SWEEP_MS && sweep_m(m) != test.m; m++) {
        }
        for (; n < SWEEP_NS && sweep_n[n] != test.n; n++) {
        }
        for (; k < SWEEP_KS && sweep_k[k] != test.k; k++) {
        }
        ck_assert(m < SWEEP_MS && n < SWEEP_NS && k < SWEEP_KS);
        mn[m][n] = mk[m][k] = nk[n][k] = true;
        variants[test.form.variant][m]++;
    }
    for (size_t m = 0; m < SWEEP_MS; m++) {
        for (size_t n = 0; n < SWEEP_NS; n++) {
            ck_assert_msg(mn[m][n], "M %d never meets N %d", (int)sweep_m(m), (int)sweep_n[n]);
        }
        for (size_t k = 0; k < SWEEP_KS; k++) {
            ck_assert_msg(mk[m][k], "M %d never meets K %d", (int)sweep_m(m), (int)sweep_k[k]);
        }
        for (size_t v = 0; v < 4; v++) {
            ck_assert_msg(variants[v][m] > 0, "M %d never meets variant %zu", (int)sweep_m(m),
                          v);
        }
    }
    for (size_t n = 0; n < SWEEP_NS; n++) {
        for (size_t k = 0; k < SWEEP_KS; k++) {
            ck_assert_msg(nk[n][k], "N %d never meets K %d", (int)sweep_n[n], (int)sweep_k[k]);
        }
    }
}
END_TEST

START_TEST(test_gemm_sweep)
{
    struct gemm_case cases[SWEEP_MS];
    for (size_t i = 0; i < SWEEP_MS; i++) {
        sweep_case(i * SWEEP_KS + (size_t)_i, &cases[i]);
    }
    check_all(cases, SWEEP_MS);
}
END_TEST

/*
 * Workgroups run in another order, and at the same time, with another number of host
 * threads.
 */
START_TEST(test_gemm_same_bits_on_one_thread_and_on_two)
{
    static const int64_t shapes[][3] = { { 4, 2880, 512 },
                                         { 16, 100, 7168 },
                                         { 33, 31, 1664 },
                                         { 129, 100, 416 },
                                         { 257, 17, 288 } };
    static const char *const threads[] = { "1", "2" };
    struct gemm_case cases[COUNT(shapes) * VARIANT_FORMS];
    uint64_t digests[2][COUNT(cases)];
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const struct gemm_case base = { shapes[i][0], shapes[i][1], shapes[i][2], usual };
        shapes_variants(&base, cases + i * VARIANT_FORMS);
    }
    gemm_cases_warm(gemm_case_cache_dir(), cases, COUNT(cases));
    for (size_t run = 0; run < 2; run++) {
        ck_assert_int_eq(setenv("MXGSIM_THREADS", threads[run], 1), 0);
        harness_sim()->shutdown(); /* the next HIP call reads the environment */
        mxg_context *context = harness_context(gemm_case_cache_dir());
        for (size_t i = 0; i < COUNT(cases); i++) {
            gemm_case_digest(context, &cases[i], i, &digests[run][i]);
        }
        mxg_context_destroy(context);
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[128];
        ck_assert_msg(digests[0][i] == digests[1][i], "%s: other bits on two threads",
                      gemm_case_text(&cases[i], name, sizeof name));
    }
}
END_TEST

int main(void)
{
    harness_need_compiler();
    Suite *suite = suite_create("gemm");
    TCase *tcase = tcase_create("gemm");
    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, test_gemm_contest_shapes_in_every_variant, 0, CONTEST_SHAPES);
    tcase_add_loop_test(tcase, test_gemm_layouts_and_types_with_gaps, 0, 3);
    tcase_add_test(tcase, test_gemm_sweep_covers_every_pair_of_values);
    tcase_add_loop_test(tcase, test_gemm_sweep, 0, SWEEP_KS);
    tcase_add_test(tcase, test_gemm_same_bits_on_one_thread_and_on_two);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
