/* SPDX-License-Identifier: MIT */
/*
 * The long sweep: every combination of the sweep's M, N and K in every variant,
 * each right, twice with the same bits, without a finding.  `make check-long`
 * runs it; MXG_SWEEP_PART=i/n runs a part.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm_shapes.h"

/* All M of one N and K: a kernel serves every M of its class. */
static void make_cases(size_t n, size_t k, struct gemm_case *cases)
{
    for (size_t m = 0; m < SWEEP_MS; m++) {
        struct gemm_case base = { sweep_m(m), sweep_n[n], sweep_k[k], PRODUCT_FORM_INIT };
        sweep_form(m, n, k, &base.form);
        shapes_variants(&base, cases + m * VARIANT_FORMS);
    }
}

START_TEST(test_sweep)
{
    const size_t n = (size_t)_i / SWEEP_KS, k = (size_t)_i % SWEEP_KS;
    unsigned part = 1, parts = 1;
    const char *text = getenv("MXG_SWEEP_PART");
    if (text != NULL) {
        ck_assert_msg(sscanf(text, "%u/%u", &part, &parts) == 2 && part >= 1 && part <= parts,
                      "MXG_SWEEP_PART=%s is not like 1/4", text);
    }
    if ((unsigned)_i % parts != part - 1) {
        return;
    }
    static struct gemm_case cases[SWEEP_MS * VARIANT_FORMS];
    make_cases(n, k, cases);
    gemm_cases_warm(gemm_case_cache_dir(), cases, SWEEP_MS * VARIANT_FORMS);
    mxg_context *context = harness_context(gemm_case_cache_dir());
    for (size_t m = 0; m < SWEEP_MS; m++) {
        gemm_cases_check(context, cases + m * VARIANT_FORMS, VARIANT_FORMS, 77 + m);
    }
    mxg_context_destroy(context);
    harness_no_reports();
    printf("N %d, K %d: %d products right\n", (int)sweep_n[n], (int)sweep_k[k],
           SWEEP_MS * VARIANT_FORMS);
    fflush(stdout);
}
END_TEST

int main(void)
{
    harness_need_compiler();
    Suite *suite = suite_create("sweep");
    TCase *tcase = tcase_create("sweep");
    tcase_set_timeout(tcase, 3600);
    tcase_add_loop_test(tcase, test_sweep, 0, SWEEP_NS * SWEEP_KS);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
