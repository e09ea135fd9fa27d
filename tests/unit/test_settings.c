/* SPDX-License-Identifier: MIT */
/* Options and variables: which wins, what is refused, and that refusals name the value. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

static void clear_environment(void)
{
    static const char *const names[] = {
        "MXG_HIP_LIBRARY",
        "MXG_COMPILER",
        "ROCM_PATH",
        "MXG_ROCM_PREFIX",
        "MXG_WORKER",
        "MXG_CACHE_DIR",
        "MXG_CACHE_READ_DIRS",
        "MXG_CACHE_MAX_BYTES",
        "MXG_CACHE_MAX_ENTRIES",
        "MXG_COMPILE_TIMEOUT_MS",
        "MXG_LOG",
        "XDG_CACHE_HOME",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsetenv(names[i]);
    }
    setenv("HOME", "/home/someone", 1);
}

START_TEST(test_settings_defaults)
{
    struct settings s;
    ck_assert_int_eq(settings_read(NULL, &s), MXG_OK);
    ck_assert_str_eq(s.cache_dir, "/home/someone/.cache/mxgemm/kernels");
    ck_assert(s.cache_dir_is_from_env);
    ck_assert_uint_eq(s.cache_max_bytes, UINT64_C(1) << 30);
    ck_assert_uint_eq(s.cache_max_entries, 16384);
    ck_assert_uint_eq(s.compile_timeout_ms, 120000);
    ck_assert_int_eq(s.log.level, MXG_LOG_WARNING);
    ck_assert_ptr_null(s.compiler);
    settings_clear(&s);
    setenv("XDG_CACHE_HOME", "relative/is/invalid", 1);
    ck_assert_int_eq(settings_read(NULL, &s), MXG_OK);
    ck_assert_str_eq(s.cache_dir, "/home/someone/.cache/mxgemm/kernels");
    settings_clear(&s);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    ck_assert_int_eq(settings_read(NULL, &s), MXG_OK);
    ck_assert_str_eq(s.cache_dir, "/xdg/mxgemm/kernels");
    settings_clear(&s);
}
END_TEST

START_TEST(test_settings_option_beats_variable)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    struct settings s;
    setenv("MXG_COMPILER", "hiprtc", 1);
    setenv("MXG_CACHE_DIR", "/from/env", 1);
    setenv("MXG_CACHE_MAX_BYTES", "1000", 1);
    setenv("MXG_LOG", "debug", 1);
    ck_assert_int_eq(settings_read(&o, &s), MXG_OK);
    ck_assert_str_eq(s.compiler, "hiprtc");
    ck_assert_str_eq(s.cache_dir, "/from/env");
    ck_assert(s.cache_dir_is_from_env);
    ck_assert_uint_eq(s.cache_max_bytes, 1000);
    ck_assert_int_eq(s.log.level, MXG_LOG_DEBUG);
    settings_clear(&s);
    o.compiler = "comgr";
    o.cache_dir = "";
    o.cache_max_bytes = 5;
    o.log_level = MXG_LOG_ERROR;
    ck_assert_int_eq(settings_read(&o, &s), MXG_OK);
    ck_assert_str_eq(s.compiler, "comgr");
    ck_assert_str_eq(s.cache_dir, "");
    ck_assert(!s.cache_dir_is_from_env);
    ck_assert_uint_eq(s.cache_max_bytes, 5);
    ck_assert_int_eq(s.log.level, MXG_LOG_ERROR);
    settings_clear(&s);
}
END_TEST

static void *no_memory(size_t size, void *user)
{
    (void)size;
    (void)user;
    return NULL;
}

static void no_free(void *pointer, void *user)
{
    (void)pointer;
    (void)user;
}

static void refuse(const mxg_context_options *o, mxg_status status, const char *value)
{
    struct settings s;
    ck_assert_int_eq(settings_read(o, &s), status);
    ck_assert_msg(strstr(mxg_last_error(), value) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), value);
}

START_TEST(test_settings_refusals_name_the_value)
{
    static const char *const numbers[] = { "MXG_CACHE_MAX_BYTES", "MXG_CACHE_MAX_ENTRIES",
                                           "MXG_COMPILE_TIMEOUT_MS" };
    static const char *const bad[] = { "0",     "-1", "12x", "99999999999999999999999",
                                       "1 GiB", " 5", "+7" };
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++) {
            setenv(numbers[i], bad[j], 1);
            refuse(NULL, MXG_E_OPTION, bad[j]);
        }
        unsetenv(numbers[i]);
    }
    setenv("MXG_LOG", "loud", 1);
    refuse(NULL, MXG_E_OPTION, "\"loud\"");
    unsetenv("MXG_LOG");
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    o.log_level = 9;
    refuse(&o, MXG_E_OPTION, "9");
    o = (mxg_context_options)MXG_CONTEXT_OPTIONS_INIT;
    o.device = -2;
    refuse(&o, MXG_E_NO_DEVICE, "-2");
    o = (mxg_context_options)MXG_CONTEXT_OPTIONS_INIT;
    o.deallocate = no_free;
    refuse(&o, MXG_E_OPTION, "allocate is NULL");
    o = (mxg_context_options)MXG_CONTEXT_OPTIONS_INIT;
    o.struct_size = 8;
    refuse(&o, MXG_E_VERSION, "struct_size is 8");
}
END_TEST

START_TEST(test_settings_without_memory)
{
    mxg_context_options o = MXG_CONTEXT_OPTIONS_INIT;
    o.allocate = no_memory;
    o.deallocate = no_free;
    refuse(&o, MXG_E_HOST_MEMORY, "memory");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("settings");
    TCase *tc = tcase_create("settings");
    tcase_add_checked_fixture(tc, clear_environment, NULL);
    tcase_add_test(tc, test_settings_defaults);
    tcase_add_test(tc, test_settings_option_beats_variable);
    tcase_add_test(tc, test_settings_refusals_name_the_value);
    tcase_add_test(tc, test_settings_without_memory);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
