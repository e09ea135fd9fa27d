/* SPDX-License-Identifier: MIT */
/*
 * Bad input and a bad world: each its own status, a sentence that names it, and the host
 * goes on.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

/* hipError_t values of HIP 7. */
enum { HIP_OUT_OF_MEMORY = 2, HIP_INVALID_IMAGE = 200, HIP_LAUNCH_FAILURE = 719 };

static void expect_text(const char *part)
{
    ck_assert_msg(strstr(mxg_last_error(), part) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), part);
}

static void expect_create(const mxg_context_options *options, mxg_status status,
                          const char *part)
{
    mxg_context *context = (mxg_context *)(void *)&context;
    const mxg_status got = mxg_context_create(options, &context);
    ck_assert_msg(got == status, "%s (%s) instead of %s", mxg_status_name(got),
                  mxg_last_error(), mxg_status_name(status));
    ck_assert_ptr_null(context);
    expect_text(part);
}

START_TEST(test_errors_no_hip_library)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    o.hip_library = "/nonexistent/libamdhip64.so";
    expect_create(&o, MXG_E_NO_HIP, "/nonexistent/libamdhip64.so");
    ck_assert_int_eq(mxg_context_create(&o, NULL), MXG_E_NULL);
}
END_TEST

START_TEST(test_errors_library_that_is_no_hip_names_every_missing_symbol)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    o.hip_library = "libm.so.6";
    expect_create(&o, MXG_E_HIP_SYMBOL, "hipInit");
    expect_text("hipModuleLaunchKernel");
    expect_text("hipGetErrorString");
}
END_TEST

START_TEST(test_errors_no_device)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    setenv("MXGSIM_DEVICES", "0", 1);
    expect_create(&o, MXG_E_NO_DEVICE, "no GPU");
}
END_TEST

START_TEST(test_errors_device_ordinal)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    o.device = 3;
    expect_create(&o, MXG_E_NO_DEVICE, "device is 3");
}
END_TEST

START_TEST(test_errors_wrong_arch)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    setenv("MXGSIM_ARCH", "gfx942:sramecc+:xnack-", 1);
    expect_create(&o, MXG_E_ARCH, "gfx942");
    expect_text("gfx950");
}
END_TEST

START_TEST(test_errors_arguments_reach_the_caller)
{
    mxg_context *context = harness_context(NULL);
    mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
    ck_assert_int_eq(mxg_gemm(NULL, &args, NULL), MXG_E_NULL);
    ck_assert_int_eq(mxg_gemm(context, NULL, NULL), MXG_E_NULL);
    args.m = args.n = 16;
    args.k = 100;
    ck_assert_int_eq(mxg_gemm(context, &args, NULL), MXG_E_SHAPE);
    expect_text("100");
    args.k = 128;
    ck_assert_int_eq(mxg_gemm(context, &args, NULL), MXG_E_NULL);
    args.variant = MXG_VARIANT_QUANTIZED;
    ck_assert_int_eq(mxg_prepare(context, &args), MXG_E_UNSUPPORTED);
    size_t bytes = 1;
    ck_assert_int_eq(mxg_workspace_size(context, NULL, &bytes), MXG_E_NULL);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_int_eq(mxg_workspace_size(context, &args, NULL), MXG_E_NULL);
    mxg_plan plan = MXG_PLAN_INIT;
    plan.struct_size = 3;
    ck_assert_int_eq(mxg_explain(context, &args, &plan), MXG_E_VERSION);
    mxg_stats stats = MXG_STATS_INIT;
    stats.struct_size = 3;
    ck_assert_int_eq(mxg_get_stats(context, &stats), MXG_E_VERSION);
    ck_assert_int_eq(mxg_get_stats(context, NULL), MXG_E_NULL);
    mxg_context_destroy(context);
    mxg_context_destroy(NULL);
}
END_TEST

static mxg_status prepare_with(const char *compiler, const char *prefix, const char *worker)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    mxg_context *context = NULL;
    mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
    o.cache_dir = "";
    o.compiler = compiler;
    o.rocm_prefix = prefix;
    o.rocm_path = "/nonexistent";
    o.worker_path = worker;
    args.m = 16, args.n = 16, args.k = 128;
    ck_assert_int_eq(mxg_context_create(&o, &context), MXG_OK);
    const mxg_status status = mxg_prepare(context, &args);
    /* Remembered: the second answer is the same, and at once. */
    ck_assert_int_eq(mxg_prepare(context, &args), status);
    mxg_context_destroy(context);
    return status;
}

START_TEST(test_errors_no_compiler)
{
    ck_assert_int_eq(prepare_with("worker", "/nonexistent/prefix", NULL), MXG_E_NO_COMPILER);
    expect_text("/nonexistent/prefix");
    ck_assert_int_eq(prepare_with("worker:comgr", NULL, "/nonexistent/mxgemm-cc"),
                     MXG_E_NO_COMPILER);
    expect_text("/nonexistent/mxgemm-cc");
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    o.compiler = "gcc";
    expect_create(&o, MXG_E_OPTION, "gcc");
}
END_TEST

START_TEST(test_errors_temporary_folder)
{
    mxg_context *context = harness_context(NULL);
    mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
    args.m = 16, args.n = 16, args.k = 128;
    setenv("TMPDIR", "/nonexistent", 1);
    const mxg_status status = mxg_prepare(context, &args);
    unsetenv("TMPDIR");
    ck_assert_int_eq(status, MXG_E_WORKER);
    expect_text("/nonexistent");
    expect_text("TMPDIR");
    ck_assert_int_eq(mxg_forget_failures(context), MXG_OK);
    ck_assert_int_eq(mxg_prepare(context, &args), MXG_OK);
    mxg_context_destroy(context);
}
END_TEST

START_TEST(test_errors_launch_failure_leaves_the_context_usable)
{
    mxg_context *context = harness_context(NULL);
    const struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    product_make(&p, context, 5, 33, 160, &form, 1);
    ck_assert_int_eq(mxg_prepare(context, &p.args), MXG_OK);
    ck_assert_int_eq(harness_sim()->inject("hipModuleLaunchKernel", 1, 0, HIP_LAUNCH_FAILURE),
                     0);
    ck_assert_int_eq(product_run(&p, NULL), MXG_E_LAUNCH);
    expect_text("hipModuleLaunchKernel");
    expect_text("719");
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    product_check(&p);
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

START_TEST(test_errors_kernel_fault_comes_back_at_synchronize)
{
    mxg_context *context = harness_context(NULL);
    const struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    product_make(&p, context, 5, 33, 160, &form, 1);
    ck_assert_int_eq(harness_sim()->inject("kernel", 1, 0, HIP_LAUNCH_FAILURE), 0);
    ck_assert_int_eq(product_run(&p, NULL), MXG_E_HIP);
    expect_text("719");
    ck_assert_int_eq(harness_sim()->reset_device(0), HIP_LAUNCH_FAILURE);
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    product_check(&p);
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

/* A module that this runtime refuses: the entry goes, one recompile, then the report. */
START_TEST(test_errors_module_load_failure_recompiles_once)
{
    char *folder = harness_make_folder();
    const struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    mxg_stats stats = MXG_STATS_INIT;
    mxg_context *context = harness_context(folder);
    product_make(&p, context, 5, 33, 160, &form, 1);
    ck_assert_int_eq(mxg_prepare(context, &p.args), MXG_OK);
    product_free(&p);
    mxg_context_destroy(context);

    context = harness_context(folder);
    product_make(&p, context, 5, 33, 160, &form, 1);
    ck_assert_int_eq(harness_sim()->inject("hipModuleLoadData", 1, 0, HIP_INVALID_IMAGE), 0);
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    product_check(&p);
    ck_assert_int_eq(mxg_get_stats(context, &stats), MXG_OK);
    ck_assert_uint_eq(stats.compiles, 1);
    product_free(&p);
    mxg_context_destroy(context);

    context = harness_context(folder);
    product_make(&p, context, 5, 33, 160, &form, 1);
    ck_assert_int_eq(harness_sim()->inject("hipModuleLoadData", 1, 1, HIP_INVALID_IMAGE), 0);
    ck_assert_int_eq(product_run(&p, NULL), MXG_E_LOAD);
    expect_text("hipModuleLoadData");
    harness_sim()->clear_faults();
    ck_assert_int_eq(product_run(&p, NULL), MXG_E_LOAD); /* remembered */
    ck_assert_int_eq(mxg_forget_failures(context), MXG_OK);
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    product_check(&p);
    product_free(&p);
    mxg_context_destroy(context);
    harness_remove_folder(folder);
}
END_TEST

START_TEST(test_errors_device_memory)
{
    mxg_context *context = harness_context(NULL);
    struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    form.variant = MXG_VARIANT_PREQUANT;
    product_make(&p, context, 64, 32, 256, &form, 1);
    ck_assert_int_eq(mxg_prepare(context, &p.args), MXG_OK);
    ck_assert_int_eq(harness_sim()->inject("hipMalloc", 1, 0, HIP_OUT_OF_MEMORY), 0);
    ck_assert_int_eq(product_run(&p, NULL), MXG_E_DEVICE_MEMORY);
    expect_text("workspace");
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    product_check(&p);
    void *pointer = context;
    ck_assert_int_eq(harness_sim()->inject("hipMalloc", 1, 0, HIP_OUT_OF_MEMORY), 0);
    ck_assert_int_eq(mxg_device_allocate(context, 4096, &pointer), MXG_E_DEVICE_MEMORY);
    ck_assert_ptr_null(pointer);
    expect_text("4096");
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

START_TEST(test_errors_workspace_of_the_caller)
{
    mxg_context *context = harness_context(NULL);
    struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    size_t bytes = 0;
    form.variant = MXG_VARIANT_PREQUANT;
    product_make(&p, context, 64, 32, 256, &form, 1);
    ck_assert_int_eq(mxg_workspace_size(context, &p.args, &bytes), MXG_OK);
    ck_assert_uint_ge(bytes, 64 * 256 / 2 + 64 * 256 / 32);
    ck_assert_int_eq(mxg_device_allocate(context, bytes, &p.args.workspace), MXG_OK);
    p.args.workspace_size = bytes - 1;
    ck_assert_int_eq(product_run(&p, NULL), MXG_E_WORKSPACE);
    char number[32];
    snprintf(number, sizeof number, "%zu", bytes);
    expect_text(number);
    p.args.workspace_size = bytes;
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    product_check(&p);
    harness_no_reports();
    ck_assert_int_eq(mxg_device_free(context, p.args.workspace), MXG_OK);
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

static atomic_bool is_over;

static void *forget_again_and_again(void *argument)
{
    mxg_context *context = argument;
    while (!atomic_load(&is_over)) {
        if (mxg_stream_forget(context, NULL) != MXG_OK) {
            return argument;
        }
    }
    return NULL;
}

/* The stream's workspace goes and comes while another thread enqueues on it. */
START_TEST(test_errors_forget_while_another_thread_calls)
{
    mxg_context *context = harness_context(NULL);
    struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    pthread_t thread;
    void *failed = NULL;
    form.variant = MXG_VARIANT_PREQUANT;
    product_make(&p, context, 20, 32, 256, &form, 1);
    atomic_store(&is_over, false);
    ck_assert_int_eq(pthread_create(&thread, NULL, forget_again_and_again, context), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_msg(product_run(&p, NULL) == MXG_OK, "%s", mxg_last_error());
        product_check(&p);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
    harness_no_reports();
    product_free(&p);
    mxg_context_destroy(context);
}
END_TEST

struct budget {
    long left, live;
};

static void *budget_allocate(size_t size, void *user)
{
    struct budget *b = user;
    if (b->left-- <= 0) {
        return NULL;
    }
    b->live++;
    return malloc(size);
}

static void budget_deallocate(void *pointer, void *user)
{
    ((struct budget *)user)->live--;
    free(pointer);
}

static mxg_status create_and_prepare(struct budget *b, const char *folder)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    mxg_context *context = NULL;
    mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
    o.cache_dir = folder;
    o.allocate = budget_allocate;
    o.deallocate = budget_deallocate;
    o.allocate_user = b;
    args.m = 16, args.n = 16, args.k = 128;
    mxg_status status = mxg_context_create(&o, &context);
    if (status == MXG_OK) {
        status = mxg_prepare(context, &args);
    }
    mxg_context_destroy(context);
    return status;
}

/* Every allocation fails in turn: the status says so, nothing leaks, and at last it works. */
START_TEST(test_errors_host_memory)
{
    char *folder = harness_make_folder();
    struct budget b = { 1000000, 0 };
    ck_assert_int_eq(create_and_prepare(&b, folder),
                     MXG_OK); /* so that the disk has the kernel */
    ck_assert_int_eq(b.live, 0);
    mxg_status status = MXG_E_HOST_MEMORY;
    for (long n = 0; status != MXG_OK; n++) {
        b.left = n;
        status = create_and_prepare(&b, folder);
        ck_assert_msg(status == MXG_OK || status == MXG_E_HOST_MEMORY, "n = %ld: %s (%s)", n,
                      mxg_status_name(status), mxg_last_error());
        ck_assert_msg(b.live == 0, "n = %ld: %ld blocks leaked", n, b.live);
        ck_assert_msg(n < 1000, "1000 allocations and no end");
    }
    harness_remove_folder(folder);
}
END_TEST

struct seen {
    int warnings;
    char text[512];
};

static void count_warnings(mxg_log_level level, const char *text, void *user)
{
    struct seen *seen = user;
    if (level == MXG_LOG_WARNING) {
        seen->warnings++;
        snprintf(seen->text, sizeof seen->text, "%s", text);
    }
}

static void expect_memory_only(const char *folder, mxg_status cache_status)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    struct seen seen = { 0, "" };
    mxg_context *context = NULL;
    mxg_stats stats = MXG_STATS_INIT;
    const struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    o.cache_dir = folder;
    o.log = count_warnings;
    o.log_user = &seen;
    ck_assert_int_eq(mxg_context_create(&o, &context), MXG_OK);
    product_make(&p, context, 5, 33, 160, &form, 1);
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    product_check(&p);
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    ck_assert_int_eq(mxg_get_stats(context, &stats), MXG_OK);
    ck_assert_msg(stats.cache_status == cache_status, "%s instead of %s",
                  mxg_status_name(stats.cache_status), mxg_status_name(cache_status));
    ck_assert_msg(seen.warnings == 1, "%d warnings, the last: %s", seen.warnings, seen.text);
    ck_assert_msg(strstr(seen.text, folder) != NULL, "\"%s\" lacks \"%s\"", seen.text, folder);
    product_free(&p);
    mxg_context_destroy(context);
}

START_TEST(test_errors_cache_folder_is_a_file)
{
    char *folder = harness_make_folder();
    char path[4096];
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    expect_memory_only(path, MXG_E_CACHE_UNWRITABLE);
    harness_remove_folder(folder);
}
END_TEST

START_TEST(test_errors_cache_folder_that_others_may_write)
{
    char *folder = harness_make_folder();
    ck_assert_int_eq(chmod(folder, 0777), 0);
    expect_memory_only(folder, MXG_E_CACHE_UNSAFE);
    harness_remove_folder(folder);
}
END_TEST

START_TEST(test_errors_forked_child)
{
    mxg_context *context = harness_context(NULL);
    mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
    args.m = 16, args.n = 16, args.k = 128;
    ck_assert_int_eq(mxg_prepare(context, &args), MXG_OK);
    const pid_t pid = fork();
    if (pid == 0) {
        const bool right = mxg_prepare(context, &args) == MXG_E_FORKED &&
                           mxg_gemm(context, &args, NULL) == MXG_E_FORKED &&
                           mxg_stream_synchronize(context, NULL) == MXG_E_FORKED &&
                           strstr(mxg_last_error(), "fork") != NULL;
        mxg_context_destroy(context);
        _exit(right ? 0 : 1);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(mxg_prepare(context, &args), MXG_OK);
    mxg_context_destroy(context);
}
END_TEST

int main(void)
{
    harness_need_compiler();
    Suite *suite = suite_create("errors");
    TCase *tc = tcase_create("errors");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, harness_fresh_sim, NULL);
    tcase_add_test(tc, test_errors_no_hip_library);
    tcase_add_test(tc, test_errors_library_that_is_no_hip_names_every_missing_symbol);
    tcase_add_test(tc, test_errors_no_device);
    tcase_add_test(tc, test_errors_device_ordinal);
    tcase_add_test(tc, test_errors_wrong_arch);
    tcase_add_test(tc, test_errors_arguments_reach_the_caller);
    tcase_add_test(tc, test_errors_no_compiler);
    tcase_add_test(tc, test_errors_launch_failure_leaves_the_context_usable);
    tcase_add_test(tc, test_errors_kernel_fault_comes_back_at_synchronize);
    tcase_add_test(tc, test_errors_module_load_failure_recompiles_once);
    tcase_add_test(tc, test_errors_device_memory);
    tcase_add_test(tc, test_errors_workspace_of_the_caller);
    tcase_add_test(tc, test_errors_forget_while_another_thread_calls);
    tcase_add_test(tc, test_errors_temporary_folder);
    tcase_add_test(tc, test_errors_host_memory);
    tcase_add_test(tc, test_errors_cache_folder_is_a_file);
    tcase_add_test(tc, test_errors_cache_folder_that_others_may_write);
    tcase_add_test(tc, test_errors_forked_child);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
