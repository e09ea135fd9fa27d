/* SPDX-License-Identifier: MIT */
/* What API tests share: compilers, folders, contexts and the simulator's controls. */
#include "harness.h"

#include <check.h>
#include <dirent.h>
#include <dlfcn.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void harness_need_compiler(void)
{
    mxg_context *context = NULL;
    mxg_context_options options = MXG_CONTEXT_OPTIONS_INIT;
    mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
    options.cache_dir = "";
    args.m = 1, args.n = 16, args.k = 32;
    mxg_status status = mxg_context_create(&options, &context);
    if (status == MXG_OK) {
        status = mxg_prepare(context, &args);
    }
    mxg_context_destroy(context);
    if (status == MXG_E_NO_COMPILER) {
        printf("skipped: %s\n", mxg_last_error());
        exit(77);
    }
    if (status != MXG_OK) {
        printf("no kernel can be made: %s: %s\n", mxg_status_name(status), mxg_last_error());
        exit(99);
    }
}

char *harness_make_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *path = malloc(4096);
    ck_assert_ptr_nonnull(path);
    snprintf(path, 4096, "%s/mxgemm-test.XXXXXX", base != NULL ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(path));
    return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void harness_remove_folder(char *folder)
{
    ck_assert_int_eq(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(folder);
}

static const char *wanted_part;
static int counted;

static int count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type == FTW_F && (wanted_part == NULL || strstr(path + ftw->base, wanted_part) != NULL)) {
        counted++;
    }
    return 0;
}

int harness_count_files(const char *folder, const char *part)
{
    wanted_part = part;
    counted = 0;
    ck_assert_int_eq(nftw(folder, count_one, 16, FTW_PHYS), 0);
    return counted;
}

mxg_context *harness_context(const char *cache_dir)
{
    mxg_context_options options = MXG_CONTEXT_OPTIONS_INIT;
    mxg_context *context = NULL;
    options.cache_dir = cache_dir != NULL ? cache_dir : "";
    const mxg_status status = mxg_context_create(&options, &context);
    ck_assert_msg(status == MXG_OK, "%s: %s", mxg_status_name(status), mxg_last_error());
    return context;
}

static struct sim_controls controls;

const struct sim_controls *harness_sim(void)
{
    const struct {
        const char *name;
        void *pointer; /* to the member; dlsym gives object pointers */
    } table[] = {
        { "mxgsim_fail", &controls.inject },
        { "mxgsim_delay", &controls.delay },
        { "mxgsim_call_count", &controls.call_count },
        { "mxgsim_clear_faults", &controls.clear_faults },
        { "mxgsim_reset_device", &controls.reset_device },
        { "mxgsim_reports_count", &controls.reports_count },
        { "mxgsim_report_text", &controls.report_text },
        { "mxgsim_report_kind", &controls.report_kind },
        { "mxgsim_reports_reset", &controls.reports_reset },
        { "mxgsim_counters", &controls.counters },
        { "mxgsim_shutdown", &controls.shutdown },
    };
    if (controls.inject != NULL) {
        return &controls;
    }
    /*
     * The library is loaded already: this is another handle on it, kept until the process
     * ends.
     */
    void *handle = dlopen(getenv("MXG_HIP_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(handle != NULL, "%s", dlerror());
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        void *symbol = dlsym(handle, table[i].name);
        ck_assert_msg(symbol != NULL, "%s is missing", table[i].name);
        memcpy(table[i].pointer, &symbol, sizeof symbol);
    }
    return &controls;
}

void harness_fresh_sim(void)
{
    unsetenv("MXGSIM_DEVICES");
    unsetenv("MXGSIM_ARCH");
    if (controls.shutdown != NULL) {
        controls.shutdown();
    }
}

void harness_no_reports(void)
{
    char text[2048];
    if (harness_sim()->reports_count() > 0) {
        harness_sim()->report_text(0, text, sizeof text);
        ck_abort_msg("%zu simulator reports, the first: %s", harness_sim()->reports_count(), text);
    }
}
