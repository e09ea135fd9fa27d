/* SPDX-License-Identifier: MIT */
/*
 * Whoever compiles, the product is right and its bits are the same: comgr and
 * hiprtc, each in a helper process, and what `auto` takes.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm_shapes.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const providers[] = { "worker:comgr", "worker:hiprtc", "auto" };

static const struct product_form usual = PRODUCT_FORM_INIT;

/* Shapes of every family, with a K tail, ragged M and N, and every type of C. */
static size_t make_cases(struct gemm_case cases[3 * VARIANT_FORMS])
{
    static const int64_t shapes[][3] = { { 5, 33, 160 }, { 64, 100, 416 }, { 129, 32, 1664 } };
    static const mxg_type types[] = { MXG_TYPE_BF16, MXG_TYPE_F16, MXG_TYPE_F32 };
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct gemm_case base = { shapes[i][0], shapes[i][1], shapes[i][2], usual };
        base.form.c_type = types[i];
        shapes_variants(&base, cases + i * VARIANT_FORMS);
    }
    return COUNT(shapes) * VARIANT_FORMS;
}

static void run_with(const char *provider, const struct gemm_case *cases, size_t count,
                     uint64_t *digests)
{
    mxg_stats stats = MXG_STATS_INIT;
    ck_assert_int_eq(setenv("MXG_COMPILER", provider, 1), 0);
    mxg_context *context = harness_context(NULL); /* no disk cache: everything is compiled */
    for (size_t i = 0; i < count; i++) {
        gemm_case_digest(context, &cases[i], i, &digests[i]);
    }
    ck_assert_int_eq(mxg_get_stats(context, &stats), MXG_OK);
    ck_assert_uint_ge(stats.compiles, count);
    ck_assert_uint_eq(stats.compile_failures, 0);
    ck_assert_uint_eq(stats.disk_hits, 0);
    if (strcmp(provider, "auto") != 0) {
        ck_assert_msg(strstr(stats.compiler, strchr(provider, ':') + 1) != NULL,
                      "asked for %s, \"%s\" compiled", provider, stats.compiler);
    }
    mxg_context_destroy(context);
}

START_TEST(test_gemm_providers_give_the_same_right_bits)
{
    struct gemm_case cases[3 * VARIANT_FORMS];
    uint64_t digests[COUNT(providers)][COUNT(cases)];
    const size_t count = make_cases(cases);
    for (size_t p = 0; p < COUNT(providers); p++) {
        run_with(providers[p], cases, count, digests[p]);
        for (size_t i = 0; i < count; i++) {
            char name[128];
            ck_assert_msg(digests[p][i] == digests[0][i], "%s: %s gives other bits than %s",
                          gemm_case_text(&cases[i], name, sizeof name), providers[p],
                          providers[0]);
        }
    }
}
END_TEST

int main(void)
{
    harness_need_compiler();
    Suite *suite = suite_create("gemm_providers");
    TCase *tcase = tcase_create("gemm_providers");
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, test_gemm_providers_give_the_same_right_bits);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
