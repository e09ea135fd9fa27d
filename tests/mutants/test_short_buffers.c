/* SPDX-License-Identifier: MIT */
/*
 * A caller whose buffer ends a row too early: the simulator stops the kernel and names the
 * instruction and the address, the stream returns the error that the hardware's memory fault
 * would, and the context goes on once the device is usable again.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum buffer { A, A_SCALE, B, B_SCALE, C, WORKSPACE };

static const struct {
    mxg_variant variant;
    enum buffer buffer;
    const char *access; /* what the named instruction does */
} cases[] = {
    { MXG_VARIANT_FUSED, A, "global_load" },
    { MXG_VARIANT_FUSED, B, "global_load" },
    { MXG_VARIANT_FUSED, B_SCALE, "global_load" },
    { MXG_VARIANT_FUSED, C, "global_store" },
    { MXG_VARIANT_PREQUANT, A, "global_load" },
    { MXG_VARIANT_PREQUANT, B, "global_load" },
    { MXG_VARIANT_PREQUANT, B_SCALE, "global_load" },
    { MXG_VARIANT_PREQUANT, C, "global_store" },
    { MXG_VARIANT_PREQUANT, WORKSPACE, "global_store" },
    { MXG_VARIANT_QUANTIZED, A, "global_load" },
    { MXG_VARIANT_QUANTIZED, A_SCALE, "global_load" },
    { MXG_VARIANT_QUANTIZED, B, "global_load" },
    { MXG_VARIANT_QUANTIZED, B_SCALE, "global_load" },
    { MXG_VARIANT_QUANTIZED, C, "global_store" },
};
#define CASES (sizeof cases / sizeof cases[0])

/* Bytes of a buffer of a dense product with row-major B and scales, and of its last row. */
static size_t buffer_bytes(const struct product *p, enum buffer buffer, size_t *row)
{
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    const size_t a_row = p->args.a_type == MXG_TYPE_MXFP4 ? k / 2 : k * 2;
    const struct {
        size_t rows, row;
    } shapes[] = { [A] = { m, a_row },
                   [A_SCALE] = { m, k / 32 },
                   [B] = { n, k / 2 },
                   [B_SCALE] = { n, k / 32 },
                   [C] = { m, n * 2 } };
    if (buffer != WORKSPACE) {
        *row = shapes[buffer].row;
        return shapes[buffer].rows * *row;
    }
    /* Scales, in groups of 32 rows, stand last; M is a multiple of 32 here. */
    size_t bytes;
    *row = (k / 32 + 7) / 8 * 8;
    ck_assert_int_eq(mxg_workspace_size(p->context, &p->args, &bytes), MXG_OK);
    return bytes;
}

static const void *get_buffer(const struct product *p, enum buffer buffer)
{
    const mxg_gemm_args *a = &p->args;
    const void *const all[] = { a->a, a->a_scale, a->b, a->b_scale, a->c, a->workspace };
    return all[buffer];
}

static void set_buffer(struct product *p, enum buffer buffer, void *pointer)
{
    mxg_gemm_args *a = &p->args;
    switch (buffer) {
    case A:
        a->a = pointer;
        break;
    case A_SCALE:
        a->a_scale = pointer;
        break;
    case B:
        a->b = pointer;
        break;
    case B_SCALE:
        a->b_scale = pointer;
        break;
    case C:
        a->c = pointer;
        break;
    case WORKSPACE:
        a->workspace = pointer;
        break;
    }
}

/* A copy that lacks the last row, to be freed. */
static void *shorter_copy(struct product *p, enum buffer buffer)
{
    size_t row;
    const size_t bytes = buffer_bytes(p, buffer, &row);
    void *copy = malloc(bytes), *pointer = NULL;
    ck_assert_ptr_nonnull(copy);
    memset(copy, 0xFF, bytes);
    if (buffer == WORKSPACE) {
        p->args.workspace_size = bytes; /* what the caller claims */
    } else {
        ck_assert_int_eq(mxg_copy_to_host(p->context, copy, get_buffer(p, buffer), bytes),
                         MXG_OK);
    }
    ck_assert_int_eq(mxg_device_allocate(p->context, bytes - row, &pointer), MXG_OK);
    ck_assert_int_eq(mxg_copy_to_device(p->context, pointer, copy, bytes - row), MXG_OK);
    free(copy);
    return pointer;
}

static void check_finding(const char *access)
{
    char text[2048];
    ck_assert_uint_ge(harness_sim()->reports_count(), 1);
    harness_sim()->report_text(0, text, sizeof text);
    ck_assert_msg(strcmp(harness_sim()->report_kind(0), "mem-bounds") == 0, "%s", text);
    ck_assert_msg(strstr(text, access) != NULL && strstr(text, " pc 0x") != NULL &&
                      strstr(text, " lane ") != NULL && strstr(text, "past the end") != NULL,
                  "%s", text);
    harness_sim()->reports_reset();
}

START_TEST(test_short_buffers_fault_by_name)
{
    mxg_context *context = harness_context(getenv("MXG_CACHE_DIR"));
    struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    form.variant = cases[_i].variant;
    form.a_type = form.variant == MXG_VARIANT_QUANTIZED ? MXG_TYPE_MXFP4 : MXG_TYPE_BF16;
    form.b_layout = form.b_scale_layout = MXG_LAYOUT_ROW_MAJOR;
    product_make(&p, context, 32, 47, 416, &form, 9);
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    harness_no_reports();

    void *full = (void *)get_buffer(&p, cases[_i].buffer);
    void *shorter = shorter_copy(&p, cases[_i].buffer);
    set_buffer(&p, cases[_i].buffer, shorter);
    /* PREQUANT's first kernel must not fault before its second is enqueued. */
    ck_assert_int_eq(harness_sim()->delay("kernel", 200000), 0);
    ck_assert_int_eq(mxg_gemm(context, &p.args, NULL), MXG_OK);
    ck_assert_int_eq(mxg_stream_synchronize(context, NULL), MXG_E_HIP);
    ck_assert_int_eq(harness_sim()->delay("kernel", 0), 0);
    ck_assert_msg(strstr(mxg_last_error(), "hipStreamSynchronize") != NULL, "%s",
                  mxg_last_error());
    check_finding(cases[_i].access);

    /* What hardware needs a new process for, the simulator offers a call for. */
    ck_assert_int_ne(harness_sim()->reset_device(0), 0);
    set_buffer(&p, cases[_i].buffer, full);
    p.args.workspace_size = 0;
    ck_assert_int_eq(mxg_device_free(context, shorter), MXG_OK);
    ck_assert_msg(product_run(&p, NULL) == MXG_OK, "%s", mxg_last_error());
    product_check(&p);
    harness_no_reports();
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

int main(void)
{
    harness_need_compiler();
    setenv("MXGSIM_REPORT", "off", 0);
    setenv("MXGSIM_QUIET", "1", 0);
    Suite *suite = suite_create("short_buffers");
    TCase *tcase = tcase_create("short_buffers");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_short_buffers_fault_by_name, 0, CASES);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
