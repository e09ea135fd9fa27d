/* SPDX-License-Identifier: MIT */
/* Every rule of mxg_gemm_args: its own status, and a sentence that names the value. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

static mxg_gemm_args good(void)
{
    mxg_gemm_args a = MXG_GEMM_ARGS_INIT;
    a.m = 16;
    a.n = 48;
    a.k = 256;
    a.a = (void *)0x10000;
    a.b = (void *)0x20000;
    a.b_scale = (void *)0x30000;
    a.c = (void *)0x40000;
    return a;
}

static void expect(const mxg_gemm_args *args, mxg_status status, const char *value)
{
    struct gemm_call call;
    const mxg_status got = arguments_check(args, &call);
    ck_assert_msg(got == status, "%s (%s) instead of %s", mxg_status_name(got),
                  mxg_last_error(), mxg_status_name(status));
    ck_assert_msg(strstr(mxg_last_error(), value) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), value);
}

START_TEST(test_arguments_good_is_ok_and_fills_leading_dimensions)
{
    mxg_gemm_args a = good();
    struct gemm_call call;
    ck_assert_int_eq(arguments_check(&a, &call), MXG_OK);
    ck_assert_int_eq(call.lda, 256);
    ck_assert_int_eq(call.ldb, 256);
    ck_assert_int_eq(call.ldc, 48);
    ck_assert_ptr_null(call.a_scale);
    a.lda = 264;
    a.ldc = 49;
    ck_assert_int_eq(arguments_check(&a, &call), MXG_OK);
    ck_assert_int_eq(call.lda, 264);
    ck_assert_int_eq(call.ldc, 49);
}
END_TEST

START_TEST(test_arguments_null)
{
    struct gemm_call call;
    ck_assert_int_eq(arguments_check(NULL, &call), MXG_E_NULL);
    mxg_gemm_args a = good();
    a.a = NULL;
    expect(&a, MXG_E_NULL, "a is NULL");
    a = good();
    a.b = NULL;
    expect(&a, MXG_E_NULL, "b is NULL");
    a = good();
    a.b_scale = NULL;
    expect(&a, MXG_E_NULL, "b_scale is NULL");
    a = good();
    a.c = NULL;
    expect(&a, MXG_E_NULL, "c is NULL");
    a = good();
    a.a_type = MXG_TYPE_MXFP4;
    expect(&a, MXG_E_NULL, "a_scale is NULL");
}
END_TEST

START_TEST(test_arguments_alignment)
{
    mxg_gemm_args a = good();
    a.a = (void *)0x10008;
    expect(&a, MXG_E_ALIGNMENT, "0x10008");
    a = good();
    a.b = (void *)0x20001;
    expect(&a, MXG_E_ALIGNMENT, "16 bytes");
    a = good();
    a.b_scale = (void *)0x30002;
    expect(&a, MXG_E_ALIGNMENT, "4 bytes");
    a.b_scale_layout = MXG_LAYOUT_ROW_MAJOR;
    struct gemm_call call;
    ck_assert_int_eq(arguments_check(&a, &call), MXG_OK);
    a = good();
    a.c = (void *)0x40001;
    expect(&a, MXG_E_ALIGNMENT, "2 bytes");
    a = good();
    a.c = (void *)0x40002;
    a.c_type = MXG_TYPE_F32;
    expect(&a, MXG_E_ALIGNMENT, "4 bytes");
    a = good();
    a.workspace = (void *)0x50010;
    expect(&a, MXG_E_ALIGNMENT, "256 bytes");
    a = good();
    a.lda = 257;
    expect(&a, MXG_E_ALIGNMENT, "lda is 257");
    a = good();
    a.b_layout = MXG_LAYOUT_ROW_MAJOR;
    a.ldb = 272;
    expect(&a, MXG_E_ALIGNMENT, "ldb is 272");
}
END_TEST

START_TEST(test_arguments_shape)
{
    static const int64_t bad[] = { 0, -1, INT64_MIN };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mxg_gemm_args a = good();
        a.m = bad[i];
        expect(&a, MXG_E_SHAPE, "1 or more");
        a = good();
        a.n = bad[i];
        expect(&a, MXG_E_SHAPE, "1 or more");
        a = good();
        a.k = bad[i];
        expect(&a, MXG_E_SHAPE, "1 or more");
    }
    for (int64_t k = 1; k < 32; k++) {
        mxg_gemm_args a = good();
        a.k = k;
        expect(&a, MXG_E_SHAPE, "multiple of 32");
        a.k = 256 + k;
        expect(&a, MXG_E_SHAPE, "multiple of 32");
    }
}
END_TEST

START_TEST(test_arguments_overflow)
{
    mxg_gemm_args a = good();
    a.m = INT64_MAX;
    expect(&a, MXG_E_OVERFLOW, "A:");
    a = good();
    a.n = INT64_MAX;
    expect(&a, MXG_E_OVERFLOW, "padded to 256");
    a.n = INT64_MAX - 255;
    expect(&a, MXG_E_OVERFLOW, "B:");
    a = good();
    a.k = INT64_MAX - 31;
    a.m = 1;
    expect(&a, MXG_E_OVERFLOW, "A:");
    a = good();
    a.ldc = INT64_MAX;
    expect(&a, MXG_E_OVERFLOW, "C:");
}
END_TEST

START_TEST(test_arguments_leading_dimension)
{
    mxg_gemm_args a = good();
    a.lda = 248;
    expect(&a, MXG_E_LEADING_DIMENSION, "lda is 248");
    a = good();
    a.ldb = 512;
    expect(&a, MXG_E_LEADING_DIMENSION, "ldb is 512");
    a = good();
    a.b_layout = MXG_LAYOUT_ROW_MAJOR;
    a.ldb = 224;
    expect(&a, MXG_E_LEADING_DIMENSION, "ldb is 224");
    a = good();
    a.ldc = 47;
    expect(&a, MXG_E_LEADING_DIMENSION, "ldc is 47");
    a = good();
    a.ldc = -48;
    expect(&a, MXG_E_LEADING_DIMENSION, "ldc is -48");
}
END_TEST

START_TEST(test_arguments_enum)
{
    static const int bad[] = { -1, 0, 5, 99, INT32_MAX };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mxg_gemm_args a = good();
        memcpy(&a.a_type, &bad[i], sizeof bad[i]);
        expect(&a, MXG_E_ENUM, "a_type");
        a = good();
        memcpy(&a.c_type, &bad[i], sizeof bad[i]);
        expect(&a, MXG_E_ENUM, "c_type");
        a = good();
        memcpy(&a.b_layout, &bad[i], sizeof bad[i]);
        expect(&a, MXG_E_ENUM, "b_layout");
        a = good();
        memcpy(&a.b_scale_layout, &bad[i], sizeof bad[i]);
        expect(&a, MXG_E_ENUM, "b_scale_layout");
    }
    mxg_gemm_args a = good();
    a.a_type = MXG_TYPE_F32;
    expect(&a, MXG_E_ENUM, "a_type is 4");
    a = good();
    a.c_type = MXG_TYPE_MXFP4;
    expect(&a, MXG_E_ENUM, "c_type is 2");
    a = good();
    const int variant = 4;
    memcpy(&a.variant, &variant, sizeof variant);
    expect(&a, MXG_E_ENUM, "variant is 4");
}
END_TEST

START_TEST(test_arguments_version)
{
    mxg_gemm_args a = good();
    a.struct_size = 0;
    expect(&a, MXG_E_VERSION, "struct_size is 0");
    a.struct_size = sizeof a - 1;
    expect(&a, MXG_E_VERSION, "_INIT");
    a = good();
    a.reserved = 7;
    expect(&a, MXG_E_VERSION, "reserved is 7");

    /* A newer header's longer structure is fine until a new member is used. */
    struct {
        mxg_gemm_args args;
        uint64_t newer;
    } longer = { good(), 0 };
    struct gemm_call call;
    longer.args.struct_size = sizeof longer;
    ck_assert_int_eq(arguments_check(&longer.args, &call), MXG_OK);
    longer.newer = 1;
    expect(&longer.args, MXG_E_VERSION, "newer header");
    longer.args.struct_size = SIZE_MAX;
    expect(&longer.args, MXG_E_VERSION, "at most");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arguments");
    TCase *tc = tcase_create("rules");
    tcase_add_test(tc, test_arguments_good_is_ok_and_fills_leading_dimensions);
    tcase_add_test(tc, test_arguments_null);
    tcase_add_test(tc, test_arguments_alignment);
    tcase_add_test(tc, test_arguments_shape);
    tcase_add_test(tc, test_arguments_overflow);
    tcase_add_test(tc, test_arguments_leading_dimension);
    tcase_add_test(tc, test_arguments_enum);
    tcase_add_test(tc, test_arguments_version);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
