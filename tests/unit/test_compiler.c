/* SPDX-License-Identifier: MIT */
/*
 * Choosing a provider, the prefix's description, identities.  Needs no ROCm:
 * test_providers does.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "compiler_setup.h"
#include "rocm_prefix.h"

static char folder[] = "/tmp/mxg-test-compiler-XXXXXX";
static char conf_path[128];

static void setup(void)
{
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(conf_path, sizeof conf_path, "%s/mxgemm-rocm.conf", folder);
    setenv("MXG_FAKE_MODE", "good", 1);
    unsetenv("MXG_FAKE_COUNTER");
}

static void teardown(void)
{
    unlink(conf_path);
    rmdir(folder);
}

static void write_conf(const char *text)
{
    FILE *file = fopen(conf_path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* Nothing of ROCm can be found with these; the helper is the fake one. */
static struct compiler_config bare_config(const char *choice)
{
    struct compiler_config config = setup_config(choice);
    config.rocm_path = "/nowhere";
    config.rocm_prefix = NULL;
    config.worker_path = setup_fake_worker();
    return config;
}

static void expect_open_error(const struct compiler_config *config, mxg_status expected,
                              const char *text)
{
    struct compiler *compiler = (struct compiler *)folder;
    mxg_status status = compiler_open(config, &compiler);
    ck_assert_msg(status == expected, "%s: %s", mxg_status_name(status), mxg_last_error());
    ck_assert_ptr_null(compiler);
    ck_assert_msg(strstr(mxg_last_error(), text) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), text);
}

static struct compiler *open_good(const struct compiler_config *config)
{
    struct compiler *compiler;
    mxg_status status = compiler_open(config, &compiler);
    ck_assert_msg(status == MXG_OK, "%s", mxg_last_error());
    return compiler;
}

/* ------------------------------------------------------------------ choice */

START_TEST(test_compiler_unknown_choice_is_named)
{
    static const char *const wrong[] = { "gcc", "Comgr", "worker:", "worker:clang", "comgr ",
                                         "auto,comgr" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct compiler_config config = bare_config(wrong[i]);
        expect_open_error(&config, MXG_E_OPTION, wrong[i]);
        expect_open_error(&config, MXG_E_OPTION, "worker:hiprtc");
    }
}
END_TEST

START_TEST(test_compiler_worker_rows_have_full_names)
{
    static const char *const names[][2] = { { "worker", "worker:comgr" },
                                            { "worker:comgr", "worker:comgr" },
                                            { "worker:hiprtc", "worker:hiprtc" } };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct compiler_config config = bare_config(names[i][0]);
        struct compiler *c = open_good(&config);
        ck_assert_str_eq(compiler_name(c), names[i][1]);
        ck_assert_uint_eq(compiler_restarts(c), 0);
        ck_assert(strncmp(compiler_identity(c), names[i][1], strlen(names[i][1])) == 0);
        compiler_close(c);
    }
    compiler_close(NULL);
}
END_TEST

/*
 * On a machine whose system folders hold ROCm, auto takes comgr: the log must
 * say what and why either way.
 */
START_TEST(test_compiler_auto_logs_what_it_took)
{
    static const char *const choices[] = { "auto", "", NULL };
    for (size_t i = 0; i < 3; i++) {
        char expected[64];
        struct compiler_config config = bare_config(choices[i]);
        setup_log_text();
        struct compiler *c = open_good(&config);
        const char *log = setup_log_text();
        snprintf(expected, sizeof expected, "compiler: %s, the first of", compiler_name(c));
        ck_assert_msg(strstr(log, expected) != NULL, "log: %s", log);
        if (strcmp(compiler_name(c), "comgr") != 0) {
            ck_assert_ptr_nonnull(strstr(log, "passed over: comgr: "));
        }
        compiler_close(c);
    }
}
END_TEST

START_TEST(test_compiler_auto_without_any_names_all_three)
{
    struct compiler_config config = bare_config("auto");
    config.worker_path = "/nowhere/mxgemm-cc";
    struct compiler *c;
    if (compiler_open(&config, &c) == MXG_OK) {
        compiler_close(c); /* the system's own folders hold ROCm */
        return;
    }
    expect_open_error(&config, MXG_E_NO_COMPILER, "libamd_comgr.so.3");
    expect_open_error(&config, MXG_E_NO_COMPILER, "libhiprtc.so.7");
    expect_open_error(&config, MXG_E_NO_COMPILER, "/nowhere/mxgemm-cc");
}
END_TEST

START_TEST(test_compiler_arch_with_other_characters_is_refused)
{
    static const char *const wrong[] = { "", "gfx950 -o /tmp/x", "gfx950;rm", "gfx950\n",
                                         "GFX950" };
    struct compiler_config config = bare_config("worker");
    struct compiler *c = open_good(&config);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct compile_request request = setup_request("source", wrong[i]);
        struct compile_result result;
        ck_assert_int_eq(compiler_compile(c, &request, &result), MXG_E_ARCH);
        ck_assert_ptr_null(result.code);
    }
    compiler_close(c);
}
END_TEST

/* --------------------------------------------------------------- identity */

static void expect_identity(bool same, const char *base)
{
    struct compiler_config config = bare_config("worker");
    struct compiler *c = open_good(&config);
    ck_assert_msg((strcmp(compiler_identity(c), base) == 0) == same, "\"%s\" and \"%s\"",
                  compiler_identity(c), base);
    compiler_close(c);
}

START_TEST(test_compiler_identity_covers_variables_that_change_code)
{
    static const char *const covered[] = { "AMD_COMGR_SOMETHING_NEW",
                                           "HIPRTC_COMPILE_OPTIONS_APPEND", "LLVM_PATH",
                                           "AMD_COMGR_DRIVER_OPTIONS_APPEND" };
    static const char *const harmless[] = { "AMD_COMGR_CACHE", "AMD_COMGR_CACHE_DIR",
                                            "AMD_COMGR_EMIT_VERBOSE_LOGS", "UNRELATED",
                                            "XAMD_COMGR_SOMETHING" };
    struct compiler_config config = bare_config("worker");
    struct compiler *c = open_good(&config);
    char *base = strdup(compiler_identity(c));
    compiler_close(c);
    for (size_t i = 0; i < sizeof covered / sizeof covered[0]; i++) {
        setenv(covered[i], "1", 1);
        expect_identity(false, base);
        unsetenv(covered[i]);
        expect_identity(true, base);
    }
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        const char *was = getenv(harmless[i]);
        char *kept = was != NULL ? strdup(was) : NULL;
        setenv(harmless[i], "other", 1);
        expect_identity(true, base);
        kept != NULL ? setenv(harmless[i], kept, 1) : unsetenv(harmless[i]);
        free(kept);
    }
    free(base);
}
END_TEST

START_TEST(test_compiler_identity_ignores_the_order_of_variables)
{
    struct compiler_config config = bare_config("worker");
    setenv("AMD_COMGR_ZZ", "1", 1);
    setenv("HIPRTC_AA", "2", 1);
    struct compiler *c = open_good(&config);
    char *base = strdup(compiler_identity(c));
    compiler_close(c);
    unsetenv("AMD_COMGR_ZZ");
    setenv("AMD_COMGR_ZZ", "1", 1);
    expect_identity(true, base);
    setenv("HIPRTC_AA", "3", 1);
    expect_identity(false, base);
    unsetenv("AMD_COMGR_ZZ");
    unsetenv("HIPRTC_AA");
    free(base);
}
END_TEST

/* ------------------------------------------------------------------ prefix */

START_TEST(test_prefix_paths_are_made_absolute)
{
    struct rocm_prefix p;
    char expected[256];
    write_conf(
        "# a "
        "comment\nversion=7.2.4\r\nloader=usr/lib/ld.so\nlibrary_path=usr/lib:/abs/lib:lib2\n"
        "comgr=usr/lib/libamd_comgr.so.3\nfuture_key=whatever\nno equals sign here\n"
        "amdhip=/elsewhere/libamdhip64.so.7");
    ck_assert_msg(rocm_prefix_read(folder, &p) == MXG_OK, "%s", mxg_last_error());
    ck_assert_str_eq(p.version, "7.2.4");
    snprintf(expected, sizeof expected, "%s/usr/lib/ld.so", folder);
    ck_assert_str_eq(p.loader, expected);
    snprintf(expected, sizeof expected, "%s/usr/lib:/abs/lib:%s/lib2", folder, folder);
    ck_assert_str_eq(p.library_path, expected);
    snprintf(expected, sizeof expected, "%s/usr/lib/libamd_comgr.so.3", folder);
    ck_assert_str_eq(p.comgr, expected);
    ck_assert_str_eq(p.amdhip, "/elsewhere/libamdhip64.so.7");
    ck_assert_str_eq(p.hiprtc, "");
}
END_TEST

static void expect_prefix_error(const char *dir, const char *text)
{
    struct rocm_prefix p;
    ck_assert_int_eq(rocm_prefix_read(dir, &p), MXG_E_NO_COMPILER);
    ck_assert_msg(strstr(mxg_last_error(), text) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), text);
}

START_TEST(test_prefix_errors_name_file_and_key)
{
    static char text[12000];
    expect_prefix_error(folder, "mxgemm-rocm.conf: No such file");
    expect_prefix_error("relative/dir", "not an absolute path");
    write_conf("version=1\nlibrary_path=x\n");
    expect_prefix_error(folder, "\"loader\" is missing");
    write_conf("loader=l\nlibrary_path=x\n");
    expect_prefix_error(folder, "\"version\" is missing");
    write_conf("loader=l\nversion=1\nlibrary_path=\n");
    expect_prefix_error(folder, "\"library_path\" is missing");
    memset(text, 'a', sizeof text - 1);
    memcpy(text, "loader=", 7);
    write_conf(text);
    expect_prefix_error(folder, "too long");
    text[3000] = '\n';
    text[3001] = '\0';
    write_conf(text);
    expect_prefix_error(folder, "too long");
    memset(text, 'd', 4000);
    text[0] = '/';
    text[4000] = '\0';
    expect_prefix_error(text, "too long");
    write_conf("");
    expect_prefix_error(folder, "is missing");
}
END_TEST

START_TEST(test_prefix_that_lacks_files_is_no_compiler)
{
    struct compiler_config config = bare_config("worker");
    config.rocm_prefix = folder;
    expect_open_error(&config, MXG_E_NO_COMPILER, "mxgemm-rocm.conf");
    write_conf("version=1\nloader=ld.so\nlibrary_path=lib\ncomgr=lib/libamd_comgr.so.3\n");
    expect_open_error(&config, MXG_E_NO_COMPILER, "ld.so\" is missing");
    write_conf("version=1\nloader=/bin/sh\nlibrary_path=lib\ncomgr=lib/libamd_comgr.so.3\n");
    expect_open_error(&config, MXG_E_NO_COMPILER, "has no comgr");
    config.choice = "worker:hiprtc";
    expect_open_error(&config, MXG_E_NO_COMPILER, "has no hiprtc");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compiler");
    TCase *tc = tcase_create("compiler");
    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_compiler_unknown_choice_is_named);
    tcase_add_test(tc, test_compiler_worker_rows_have_full_names);
    tcase_add_test(tc, test_compiler_auto_logs_what_it_took);
    tcase_add_test(tc, test_compiler_auto_without_any_names_all_three);
    tcase_add_test(tc, test_compiler_arch_with_other_characters_is_refused);
    tcase_add_test(tc, test_compiler_identity_covers_variables_that_change_code);
    tcase_add_test(tc, test_compiler_identity_ignores_the_order_of_variables);
    tcase_add_test(tc, test_prefix_paths_are_made_absolute);
    tcase_add_test(tc, test_prefix_errors_name_file_and_key);
    tcase_add_test(tc, test_prefix_that_lacks_files_is_no_compiler);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
