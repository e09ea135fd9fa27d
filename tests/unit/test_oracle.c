/* SPDX-License-Identifier: MIT */
/* The oracle itself, against values written down by hand from OCP MX v1.0 and IEEE 754. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../oracle.h"

START_TEST(test_oracle_e2m1_values_are_those_of_the_standard)
{
    static const double magnitudes[] = { 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0 };
    for (unsigned code = 0; code < 8; code++) {
        ck_assert_double_eq(oracle_e2m1(code), magnitudes[code]);
        ck_assert_double_eq(oracle_e2m1(code | 8), -magnitudes[code]);
        ck_assert(signbit(oracle_e2m1(code | 8)));
    }
}
END_TEST

START_TEST(test_oracle_scales_and_16_bit_formats)
{
    ck_assert_double_eq(oracle_e8m0(0), ldexp(1.0, -127));
    ck_assert_double_eq(oracle_e8m0(127), 1.0);
    ck_assert_double_eq(oracle_e8m0(254), ldexp(1.0, 127));
    ck_assert(isnan(oracle_e8m0(255)));

    ck_assert_double_eq(oracle_bf16(0x3f80), 1.0);
    ck_assert_double_eq(oracle_bf16(0xc049), -3.140625);
    ck_assert_double_eq(oracle_bf16(0x0001), ldexp(1.0, -133));
    ck_assert_double_eq(oracle_bf16(0x7f7f), ldexp(255.0, 120));
    ck_assert(isinf(oracle_bf16(0xff80)) && isnan(oracle_bf16(0x7f81)));
    ck_assert_double_eq(oracle_f16(0x3c00), 1.0);
    ck_assert_double_eq(oracle_f16(0x7bff), 65504.0);
    ck_assert_double_eq(oracle_f16(0x0001), ldexp(1.0, -24));
}
END_TEST

START_TEST(test_oracle_every_bf16_survives_a_round_trip)
{
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        double value = oracle_bf16((uint16_t)bits);
        if (!isnan(value)) {
            ck_assert_uint_eq(oracle_to_bf16(value), bits);
        }
    }
    ck_assert_uint_eq(oracle_to_bf16(1.0 + ldexp(1.0, -8)), 0x3f80); /* tie to even, down */
    ck_assert_uint_eq(oracle_to_bf16(1.0 + 3.0 * ldexp(1.0, -8)), 0x3f82); /* tie to even, up */
    ck_assert_uint_eq(oracle_to_bf16(ldexp(511.0, 119)), 0x7f80); /* halfway to 2^128 */
    ck_assert_uint_eq(oracle_to_bf16(ldexp(1.0, -134)), 0);       /* half of the smallest */
    ck_assert_uint_eq(oracle_to_bf16(ldexp(1.5, -134)), 1);
}
END_TEST

START_TEST(test_oracle_quantises_worked_examples)
{
    double x[ORACLE_BLOCK] = { 0 };
    uint8_t q[16], scale;

    oracle_quantize_block(x, q, &scale);
    ck_assert_uint_eq(scale, 0);
    ck_assert_uint_eq(q[0], 0);

    /* amax 6: floor(log2) - 2 = 0, mantissa 1.5: scale 1, code 7. */
    x[0] = -6.0;
    x[1] = 0.75; /* tie between .5 and 1: to 1 */
    x[2] = -0.0;
    oracle_quantize_block(x, q, &scale);
    ck_assert_uint_eq(scale, 127);
    ck_assert_uint_eq(q[0], 0x2f);
    ck_assert_uint_eq(q[1], 0x08);

    /* amax 7: mantissa 1.75 rounds up, scale 2: 7/2 = 3.5 ties to 4. */
    x[0] = 7.0;
    oracle_quantize_block(x, q, &scale);
    ck_assert_uint_eq(scale, 128);
    ck_assert_uint_eq(q[0] & 15, 6);

    /* Just below 1.75: saturates. */
    x[0] = 6.96875;
    oracle_quantize_block(x, q, &scale);
    ck_assert_uint_eq(scale, 127);
    ck_assert_uint_eq(q[0] & 15, 7);

    x[31] = NAN;
    oracle_quantize_block(x, q, &scale);
    ck_assert_uint_eq(scale, 255);
    ck_assert_uint_eq(q[0] | q[15], 0);
}
END_TEST

START_TEST(test_oracle_product_and_half_ulp)
{
    /* One row of A: ones under scale 2; two rows of B: ones, and NaN in the second block. */
    uint8_t a[32], b[64], a_scale[2] = { 128, 128 }, b_scale[4] = { 127, 127, 127, 255 };
    struct oracle_product p;
    memset(a, 0x22, sizeof(a));
    memset(b, 0xaa, sizeof(b));
    ck_assert(oracle_multiply(&p, 1, 2, 64, a, a_scale, b, b_scale));
    ck_assert_double_eq(p.sum[0], -128.0);
    ck_assert_double_eq(p.magnitude[0], 128.0);
    ck_assert(isnan(p.sum[1]));
    oracle_product_free(&p);

    ck_assert_double_eq(oracle_half_ulp(1.0, MXG_TYPE_BF16), ldexp(1.0, -8));
    ck_assert_double_eq(oracle_half_ulp(-1.99, MXG_TYPE_F16), ldexp(1.0, -11));
    ck_assert_double_eq(oracle_half_ulp(0.0, MXG_TYPE_F32), ldexp(1.0, -150));
}
END_TEST

START_TEST(test_oracle_check_tells_right_from_wrong)
{
    double sum[4] = { 1.0, -2.0, NAN, 3.0e38 }, magnitude[4] = { 1.0, 2.0, 0.0, 3.0e38 };
    struct oracle_product p = { 1, 4, 32, sum, magnitude };
    uint16_t c[4] = { 0x3f80, 0xc000, 0x7fc0, 0x7f62 };

    ck_assert_uint_eq(oracle_check(&p, c, 4, MXG_TYPE_BF16).bad, 0);
    c[1] = 0xc002; /* two ulp off: half an ulp and 32 * 2^-24 * 2 do not cover it */
    struct oracle_verdict v = oracle_check(&p, c, 4, MXG_TYPE_BF16);
    ck_assert_uint_eq(v.bad, 1);
    ck_assert_uint_eq(v.first_n, 1);
    ck_assert(v.worst > 1.0 && v.mean_ratio > 0.0);
    c[1] = 0xc000;
    c[2] = 0x3f80; /* a number where NaN is due */
    ck_assert_uint_eq(oracle_check(&p, c, 4, MXG_TYPE_BF16).bad, 1);
    c[2] = 0x7fc0;
    c[0] = 0x7f80; /* Inf where 1 is due */
    ck_assert_uint_eq(oracle_check(&p, c, 4, MXG_TYPE_BF16).bad, 1);
}
END_TEST

START_TEST(test_oracle_edge_blocks_are_what_they_say)
{
    size_t ties = 0, specials = 0, below = 0, at_or_above = 0;
    for (size_t i = 0; i < oracle_edge_count(); i++) {
        uint16_t bits[ORACLE_BLOCK];
        double x[ORACLE_BLOCK];
        uint8_t q[16], scale;
        const char *name = oracle_edge_block(i, bits);
        for (size_t j = 0; j < ORACLE_BLOCK; j++) {
            x[j] = oracle_bf16(bits[j]);
        }
        oracle_quantize_block(x, q, &scale);
        specials += scale == 255;
        if (strcmp(name, "ties") == 0) {
            ties++;
            /* 6 * 2^p is in the block: code 7 under scale 2^p. */
            ck_assert_uint_eq(q[14] & 15, 7);
        }
        if (strncmp(name, "amax", 4) == 0) {
            below += (bits[0] & 0x7f) < 0x60;
            at_or_above += (bits[0] & 0x7f) >= 0x60;
        }
    }
    ck_assert_uint_eq(specials, 32 * 4);
    ck_assert_uint_eq(ties, 9);
    ck_assert_uint_eq(below, 255);
    ck_assert_uint_eq(at_or_above, 510);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("oracle");
    TCase *tcase = tcase_create("oracle");
    tcase_add_test(tcase, test_oracle_e2m1_values_are_those_of_the_standard);
    tcase_add_test(tcase, test_oracle_scales_and_16_bit_formats);
    tcase_add_test(tcase, test_oracle_every_bf16_survives_a_round_trip);
    tcase_add_test(tcase, test_oracle_quantises_worked_examples);
    tcase_add_test(tcase, test_oracle_product_and_half_ulp);
    tcase_add_test(tcase, test_oracle_check_tells_right_from_wrong);
    tcase_add_test(tcase, test_oracle_edge_blocks_are_what_they_say);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
