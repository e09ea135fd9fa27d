/* SPDX-License-Identifier: MIT */
/*
 * The disk cache as processes see it: a second process compiles nothing; a
 * damaged entry of any kind is a miss, rewritten, and the result right; many
 * processes and threads compile each kernel once machine-wide, also when one
 * is killed in the middle of a compile.
 */
#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

extern char **environ;

struct child {
    pid_t pid;
    FILE *out;
    unsigned long compiles, disk_hits, bad_entries;
    int failures;
};

static void child_start(struct child *c, const char *folder, int threads, int shapes)
{
    char program[4096], t[16], s[16];
    int ends[2];
    snprintf(program, sizeof program, "%s/tests/api/cache_child", getenv("abs_top_builddir"));
    snprintf(t, sizeof t, "%d", threads);
    snprintf(s, sizeof s, "%d", shapes);
    char *const argv[] = { program, (char *)folder, t, s, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ck_assert_int_eq(posix_spawn(&c->pid, program, &actions, &attributes, argv, environ), 0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    c->out = fdopen(ends[0], "r");
    ck_assert_ptr_nonnull(c->out);
}

static void child_finish(struct child *c)
{
    int status = -1;
    const int fields = fscanf(c->out, "%lu %lu %lu %d", &c->compiles, &c->disk_hits,
                              &c->bad_entries, &c->failures);
    fclose(c->out);
    ck_assert_int_eq(waitpid(c->pid, &status, 0), c->pid);
    ck_assert_msg(fields == 4 && status == 0 && c->failures == 0,
                  "child: %d fields, wait status %d, %d wrong results", fields, status,
                  c->failures);
}

static struct child run_child(const char *folder, int threads, int shapes)
{
    struct child c = { 0 };
    child_start(&c, folder, threads, shapes);
    child_finish(&c);
    return c;
}

START_TEST(test_cache_second_process_compiles_nothing)
{
    char *folder = harness_make_folder();
    const struct child first = run_child(folder, 1, 8);
    ck_assert_uint_gt(first.compiles, 0);
    ck_assert_uint_eq(first.disk_hits, 0);
    ck_assert_int_eq(harness_count_files(folder, ".mxc"), (int)first.compiles);
    const struct child second = run_child(folder, 1, 8);
    ck_assert_uint_eq(second.compiles, 0);
    ck_assert_uint_eq(second.disk_hits, first.compiles);
    harness_remove_folder(folder);
}
END_TEST

static char entry_path[4096];

static int take_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type == FTW_F && strstr(path + ftw->base, ".mxc") != NULL) {
        snprintf(entry_path, sizeof entry_path, "%s", path);
    }
    return 0;
}

struct file {
    unsigned char *bytes;
    size_t size;
};

static struct file read_entry(const char *folder)
{
    struct file f = { NULL, 0 };
    struct stat st;
    entry_path[0] = '\0';
    ck_assert_int_eq(nftw(folder, take_entry, 16, FTW_PHYS), 0);
    ck_assert_int_eq(stat(entry_path, &st), 0);
    f.size = (size_t)st.st_size;
    f.bytes = malloc(f.size);
    FILE *in = fopen(entry_path, "rb");
    ck_assert_ptr_nonnull(in);
    ck_assert_uint_eq(fread(f.bytes, 1, f.size, in), f.size);
    fclose(in);
    return f;
}

static void write_entry(const void *bytes, size_t size)
{
    FILE *out = fopen(entry_path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
    ck_assert_int_eq(fclose(out), 0);
}

/* One product in a context of its own; the file must be whole again afterwards. */
static void expect_recovery(const char *folder, const struct file *good, const char *what)
{
    const struct product_form form = PRODUCT_FORM_INIT;
    mxg_context_options options = MXG_CONTEXT_OPTIONS_INIT;
    mxg_context *context = NULL;
    mxg_stats stats = MXG_STATS_INIT;
    struct product p;
    options.cache_dir = folder;
    options.log_level = MXG_LOG_ERROR;
    ck_assert_int_eq(mxg_context_create(&options, &context), MXG_OK);
    product_make(&p, context, 3, 16, 32, &form, 9);
    ck_assert_int_eq(product_run(&p, NULL), MXG_OK);
    product_check(&p);
    ck_assert_int_eq(mxg_get_stats(context, &stats), MXG_OK);
    ck_assert_msg(stats.compiles == 1 && stats.disk_hits == 0 && stats.disk_bad_entries == 1,
                  "%s: %lu compiles, %lu hits, %lu bad entries", what,
                  (unsigned long)stats.compiles, (unsigned long)stats.disk_hits,
                  (unsigned long)stats.disk_bad_entries);
    product_free(&p);
    mxg_context_destroy(context);
    const struct file again = read_entry(folder);
    ck_assert_uint_eq(again.size, good->size);
    free(again.bytes);
}

/* Every byte and every length are tested on the format itself (test_dcache); here the whole way
 * through the library, for places spread over the entry. */
START_TEST(test_cache_damaged_entries_are_rewritten_and_results_right)
{
    char *folder = harness_make_folder();
    char what[64];
    const struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    mxg_context *context = harness_context(folder);
    product_make(&p, context, 3, 16, 32, &form, 9);
    p.args.variant = MXG_VARIANT_FUSED;
    ck_assert_int_eq(mxg_prepare(context, &p.args), MXG_OK);
    product_free(&p);
    mxg_context_destroy(context);
    ck_assert_int_eq(harness_count_files(folder, ".mxc"), 1);
    const struct file good = read_entry(folder);
    for (int i = 0; i < 24; i++) {
        const size_t at = i < 12 ? (size_t)i * 8 : (good.size - 1) * (size_t)(i - 12) / 11;
        good.bytes[at] ^= 0x20;
        write_entry(good.bytes, good.size);
        good.bytes[at] ^= 0x20;
        snprintf(what, sizeof what, "byte %zu flipped", at);
        expect_recovery(folder, &good, what);
    }
    for (int i = 0; i < 12; i++) {
        const size_t size = (good.size - 1) * (size_t)i / 11;
        write_entry(good.bytes, size);
        snprintf(what, sizeof what, "cut to %zu bytes", size);
        expect_recovery(folder, &good, what);
    }
    free(good.bytes);
    harness_remove_folder(folder);
}
END_TEST

START_TEST(test_cache_entry_of_another_key_is_a_miss)
{
    char *folder = harness_make_folder(), *other = harness_make_folder();
    const struct product_form form = PRODUCT_FORM_INIT;
    struct product p;
    char *const folders[] = { folder, other };
    for (int i = 0; i < 2; i++) {
        mxg_context *context = harness_context(folders[i]);
        product_make(&p, context, 3, 16, i == 0 ? 32 : 64, &form, 9);
        ck_assert_int_eq(mxg_prepare(context, &p.args), MXG_OK);
        product_free(&p);
        mxg_context_destroy(context);
    }
    const struct file theirs = read_entry(other);
    const struct file ours = read_entry(folder); /* leaves entry_path at ours */
    write_entry(theirs.bytes, theirs.size);
    expect_recovery(folder, &ours, "another key's entry");
    free(theirs.bytes);
    free(ours.bytes);
    harness_remove_folder(folder);
    harness_remove_folder(other);
}
END_TEST

START_TEST(test_cache_read_only_layer_serves)
{
    char *shipped = harness_make_folder(), *own = harness_make_folder();
    const struct child first = run_child(shipped, 1, 4);
    setenv("MXG_CACHE_READ_DIRS", shipped, 1);
    const struct child second = run_child(own, 1, 4);
    unsetenv("MXG_CACHE_READ_DIRS");
    ck_assert_uint_eq(second.compiles, 0);
    ck_assert_uint_eq(second.disk_hits, first.compiles);
    ck_assert_int_eq(harness_count_files(own, ".mxc"), 0);
    harness_remove_folder(shipped);
    harness_remove_folder(own);
}
END_TEST

enum { PROCESSES = 8, THREADS = 8, SHAPES = 20 };

static void run_many(bool is_one_killed)
{
    char *folder = harness_make_folder(), *reference = harness_make_folder();
    struct child children[PROCESSES], victim = { 0 };
    unsigned long compiles = 0;
    const struct child alone = run_child(reference, 1, SHAPES); /* how many kernels there are */
    if (is_one_killed) {
        child_start(&victim, folder, THREADS, SHAPES);
        const struct timespec into_a_compile = { 0, 250 * 1000 * 1000 };
        nanosleep(&into_a_compile, NULL);
    }
    for (int i = 0; i < PROCESSES; i++) {
        memset(&children[i], 0, sizeof children[i]);
        child_start(&children[i], folder, THREADS, SHAPES);
    }
    int stored_by_victim = 0;
    if (is_one_killed) {
        int status;
        ck_assert_int_eq(kill(victim.pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(victim.pid, &status, 0), victim.pid);
        fclose(victim.out);
    }
    for (int i = 0; i < PROCESSES; i++) {
        child_finish(&children[i]);
        compiles += children[i].compiles;
    }
    const int entries = harness_count_files(folder, ".mxc");
    ck_assert_int_eq(entries, (int)alone.compiles);
    if (is_one_killed) {
        /* What the victim stored before it died was not compiled again. */
        stored_by_victim = entries - (int)compiles;
        ck_assert_int_ge(stored_by_victim, 0);
    } else {
        ck_assert_uint_eq(compiles, alone.compiles);
    }
    /* Nothing but entries, locks of no one, and the folder's own files stays: no temp file. */
    const struct child after = run_child(folder, 1, SHAPES);
    ck_assert_uint_eq(after.compiles, 0);
    ck_assert_uint_eq(after.bad_entries, 0);
    ck_assert_int_eq(harness_count_files(folder, "tmp"), 0);
    harness_remove_folder(folder);
    harness_remove_folder(reference);
}

START_TEST(test_cache_each_kernel_is_compiled_once_machine_wide)
{
    run_many(false);
}
END_TEST

START_TEST(test_cache_a_process_killed_in_mid_compile_costs_nothing)
{
    run_many(true);
}
END_TEST

int main(void)
{
    harness_need_compiler();
    Suite *suite = suite_create("cache");
    TCase *tc = tcase_create("cache");
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_cache_second_process_compiles_nothing);
    tcase_add_test(tc, test_cache_damaged_entries_are_rewritten_and_results_right);
    tcase_add_test(tc, test_cache_entry_of_another_key_is_a_miss);
    tcase_add_test(tc, test_cache_read_only_layer_serves);
    tcase_add_test(tc, test_cache_each_kernel_is_compiled_once_machine_wide);
    tcase_add_test(tc, test_cache_a_process_killed_in_mid_compile_costs_nothing);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
