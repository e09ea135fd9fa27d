/* SPDX-License-Identifier: MIT */
/*
 * The code object reader: right figures from a good object, a clean error from
 * every damaged one.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobj.h"
#include "codeobj_sample.h"
#include "compiler_setup.h"

static uint8_t sample[SAMPLE_SIZE_MAX];

/* An exact heap copy, so that a sanitizer sees a read one byte past the end. */
static mxg_status read_exact(const uint8_t *bytes, size_t size, struct codeobj_kernel *kernel)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    const uint8_t *text;
    size_t text_size;
    memcpy(copy, bytes, size);
    mxg_status status = codeobj_read(size > 0 ? copy : NULL, size, kernel);
    mxg_status other = codeobj_text(copy, size, &text, &text_size);
    if (other == MXG_OK) {
        ck_assert_uint_le((size_t)(text - copy), size);
        ck_assert_uint_le(text_size, size - (size_t)(text - copy));
    }
    other = codeobj_check_arch(copy, size, "gfx950:sramecc+:xnack-");
    ck_assert(other == MXG_OK || other == MXG_E_CODE_OBJECT);
    ck_assert(status == MXG_OK || status == MXG_E_CODE_OBJECT);
    free(copy);
    return status;
}

START_TEST(test_codeobj_reads_every_figure)
{
    struct codeobj_kernel k;
    size_t size = sample_write(NULL, sample);
    ck_assert_int_eq(read_exact(sample, size, &k), MXG_OK);
    ck_assert_str_eq(k.symbol, "sample_kernel");
    ck_assert_uint_eq(k.vgprs, 104);
    ck_assert_uint_eq(k.agprs, 16);
    ck_assert_uint_eq(k.sgprs, 36);
    ck_assert_uint_eq(k.vgpr_spills, 2);
    ck_assert_uint_eq(k.sgpr_spills, 1);
    ck_assert_uint_eq(k.lds_bytes, 16384);
    ck_assert_uint_eq(k.scratch_bytes, 8);
    ck_assert_uint_eq(k.kernarg_bytes, 72);
    ck_assert_uint_eq(k.max_threads, 256);
    ck_assert_uint_eq(k.code_bytes, SAMPLE_TEXT_SIZE);
}
END_TEST

START_TEST(test_codeobj_text_is_the_section)
{
    const uint8_t *text;
    size_t text_size, size = sample_write(NULL, sample);
    ck_assert_int_eq(codeobj_text(sample, size, &text, &text_size), MXG_OK);
    ck_assert_uint_eq(text_size, SAMPLE_TEXT_SIZE);
    for (size_t i = 0; i < text_size; i++) {
        ck_assert_uint_eq(text[i], 0xc0 + i);
    }
}
END_TEST

START_TEST(test_codeobj_every_truncation_is_an_error)
{
    struct codeobj_kernel k;
    size_t size = sample_write(NULL, sample);
    for (size_t n = 0; n < size; n++) {
        ck_assert_int_eq(read_exact(sample, n, &k), MXG_E_CODE_OBJECT);
        ck_assert_str_eq(k.symbol, "");
    }
}
END_TEST

START_TEST(test_codeobj_every_flipped_byte_is_survived)
{
    static const uint8_t masks[] = { 0x01, 0x80, 0xff, 0x10 };
    struct codeobj_kernel k;
    size_t size = sample_write(NULL, sample), errors = 0;
    for (size_t i = 0; i < size; i++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            sample[i] ^= masks[m];
            errors += read_exact(sample, size, &k) != MXG_OK;
            sample[i] ^= masks[m];
        }
    }
    ck_assert_uint_gt(errors, 500); /* headers and keys are hundreds of bytes */
    ck_assert_int_eq(read_exact(sample, size, &k), MXG_OK);
}
END_TEST

/* Every 4- and 8-byte header field set to values that overflow sums and products. */
START_TEST(test_codeobj_extreme_header_fields_are_errors_or_read)
{
    static const uint64_t values[] = {
        0, 1, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 63, UINT64_C(1) << 63
    };
    struct codeobj_kernel k;
    uint8_t kept[8];
    size_t size = sample_write(NULL, sample), errors = 0;
    for (size_t at = 0; at + 8 <= size; at += at < 512 || at > size - 300 ? 2 : 64) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            memcpy(kept, sample + at, 8);
            memcpy(sample + at, &values[v], 8);
            errors += read_exact(sample, size, &k) != MXG_OK;
            memcpy(sample + at, kept, 8);
        }
    }
    ck_assert_uint_gt(errors, 100);
}
END_TEST

static void expect_error(const struct sample_change *change, const char *text)
{
    struct codeobj_kernel k;
    size_t size = sample_write(change, sample);
    ck_assert_int_eq(read_exact(sample, size, &k), MXG_E_CODE_OBJECT);
    codeobj_read(sample, size, &k);
    ck_assert_msg(strstr(mxg_last_error(), text) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), text);
}

START_TEST(test_codeobj_metadata_errors_name_the_key)
{
    static const char *const required[] = { ".vgpr_count",
                                            ".sgpr_count",
                                            ".group_segment_fixed_size",
                                            ".kernarg_segment_size",
                                            ".private_segment_fixed_size",
                                            ".max_flat_workgroup_size" };
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        expect_error(&(struct sample_change){ .drop_key = required[i] }, required[i]);
        expect_error(&(struct sample_change){ .text_key = required[i] }, required[i]);
    }
    expect_error(&(struct sample_change){ .text_key = ".agpr_count" }, ".agpr_count");
    expect_error(&(struct sample_change){ .drop_key = ".name" }, "kernel name");
    expect_error(&(struct sample_change){ .drop_key = "amdhsa.kernels" }, "lists 0 kernels");
    expect_error(&(struct sample_change){ .kernels = 1 }, "lists 0 kernels");
    expect_error(&(struct sample_change){ .kernels = 3 }, "lists 2 kernels");
    expect_error(&(struct sample_change){ .symbol = "" }, "kernel name");
    expect_error(&(struct sample_change){ .machine = 62 }, "machine 62");
    expect_error(&(struct sample_change){ .nesting = 40 }, "malformed");
}
END_TEST

START_TEST(test_codeobj_optional_figures_default_to_zero)
{
    struct codeobj_kernel k;
    size_t size = sample_write(&(struct sample_change){ .drop_key = ".agpr_count" }, sample);
    ck_assert_int_eq(read_exact(sample, size, &k), MXG_OK);
    ck_assert_uint_eq(k.agprs, 0);
    ck_assert_uint_eq(k.vgprs, 104);
}
END_TEST

START_TEST(test_codeobj_symbol_length_is_bounded)
{
    char name[140];
    struct codeobj_kernel k;
    memset(name, 'k', sizeof name);
    name[127] = '\0';
    size_t size = sample_write(&(struct sample_change){ .symbol = name }, sample);
    ck_assert_int_eq(read_exact(sample, size, &k), MXG_OK);
    ck_assert_str_eq(k.symbol, name);
    name[127] = 'k';
    name[128] = '\0';
    expect_error(&(struct sample_change){ .symbol = name }, "1 to 127 bytes");
}
END_TEST

START_TEST(test_codeobj_check_arch_compares_machine_and_features)
{
    static const struct { uint32_t flags; const char *arch; mxg_status status; } cases[] = {
        { 0xe4f, "gfx950:sramecc+:xnack-", MXG_OK },
        { 0xe4f, "gfx950", MXG_OK },
        { 0x54f, "gfx950:sramecc+:xnack-", MXG_OK },  /* any, any */
        { 0x54f, "gfx950:sramecc-:xnack+", MXG_OK },
        { 0xf4f, "gfx950:sramecc+:xnack-", MXG_E_CODE_OBJECT }, /* xnack on */
        { 0xe4f, "gfx950:sramecc+:xnack+", MXG_E_CODE_OBJECT }, /* xnack off */
        { 0xa4f, "gfx950:sramecc+:xnack-", MXG_E_CODE_OBJECT }, /* sramecc off */
        { 0xe4f, "gfx950:sramecc-:xnack-", MXG_E_CODE_OBJECT }, /* sramecc on */
        { 0xe4c, "gfx950:sramecc+:xnack-", MXG_E_CODE_OBJECT },
        { 0xe4f, "gfx942:sramecc+:xnack-", MXG_E_CODE_OBJECT },
        { 0xe4f, "gfx95", MXG_E_CODE_OBJECT },
        { 0xe4f, "gfx9500", MXG_E_CODE_OBJECT },
        { 0xe4f, "", MXG_E_CODE_OBJECT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = sample_write(&(struct sample_change){ .flags = cases[i].flags }, sample);
        ck_assert_msg(codeobj_check_arch(sample, size, cases[i].arch) == cases[i].status,
                      "case %zu: %s", i, mxg_last_error());
    }
}
END_TEST

/* The same on what the real compiler makes. */
START_TEST(test_codeobj_real_object_survives_damage)
{
    struct compile_result result;
    struct codeobj_kernel k;
    if (!setup_compile("worker:comgr", setup_kernel_small, "gfx950:sramecc+:xnack-", &result)) {
        return; /* no compiler on this machine; the synthetic object covers the reader */
    }
    uint8_t *code = result.code;
    ck_assert_int_eq(codeobj_read(code, result.code_size, &k), MXG_OK);
    ck_assert_str_eq(k.symbol, "scale");
    ck_assert_uint_eq(k.max_threads, 256);
    ck_assert_uint_eq(k.vgpr_spills + k.sgpr_spills + k.scratch_bytes, 0);
    ck_assert_uint_ge(k.vgprs, 1);
    ck_assert_uint_ge(k.kernarg_bytes, 12);
    ck_assert_int_eq(codeobj_check_arch(code, result.code_size, "gfx950:sramecc+:xnack-"),
                     MXG_OK);
    ck_assert_int_eq(codeobj_check_arch(code, result.code_size, "gfx950:sramecc+:xnack+"),
                     MXG_E_CODE_OBJECT);
    for (size_t n = 0; n < result.code_size; n++) {
        ck_assert_int_eq(read_exact(code, n, &k), MXG_E_CODE_OBJECT);
    }
    for (size_t i = 0; i < result.code_size; i++) {
        code[i] ^= 0xff;
        read_exact(code, result.code_size, &k);
        code[i] ^= 0xff;
    }
    compile_result_free(&mem_default, &result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codeobj");
    TCase *tc = tcase_create("codeobj");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_codeobj_reads_every_figure);
    tcase_add_test(tc, test_codeobj_text_is_the_section);
    tcase_add_test(tc, test_codeobj_every_truncation_is_an_error);
    tcase_add_test(tc, test_codeobj_every_flipped_byte_is_survived);
    tcase_add_test(tc, test_codeobj_extreme_header_fields_are_errors_or_read);
    tcase_add_test(tc, test_codeobj_metadata_errors_name_the_key);
    tcase_add_test(tc, test_codeobj_optional_figures_default_to_zero);
    tcase_add_test(tc, test_codeobj_symbol_length_is_bounded);
    tcase_add_test(tc, test_codeobj_check_arch_compares_machine_and_features);
    tcase_add_test(tc, test_codeobj_real_object_survives_damage);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
