/* SPDX-License-Identifier: MIT */
/* Statuses: names, texts, the thread's detail text and its limits. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

START_TEST(test_status_every_value_has_a_name_and_its_own_text)
{
    static const struct {
        mxg_status status;
        const char *name, *text;
    } all[] = {
#define ROW(name, value, text) { (mxg_status)(value), "MXG_" #name, text },
        MXG_STATUS_MAP(ROW)
#undef ROW
    };
    const size_t count = sizeof all / sizeof all[0];
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(mxg_status_name(all[i].status), all[i].name);
        ck_assert_str_eq(mxg_status_string(all[i].status), all[i].text);
        for (size_t j = 0; j < i; j++) {
            ck_assert_int_ne(all[i].status, all[j].status);
            ck_assert_str_ne(all[i].text, all[j].text);
        }
    }
    const int unknown = -1000;
    mxg_status odd;
    memcpy(&odd, &unknown, sizeof odd);
    ck_assert_str_eq(mxg_status_name(odd), "MXG_UNKNOWN");
    ck_assert_str_eq(mxg_status_string(odd), "unknown status");
}
END_TEST

static void *other_thread(void *argument)
{
    (void)argument;
    ck_assert_str_eq(mxg_last_error(), "");
    status_set(MXG_E_SHAPE, "theirs");
    return NULL;
}

START_TEST(test_status_detail_belongs_to_the_thread)
{
    pthread_t thread;
    ck_assert_int_eq(status_set(MXG_E_NULL, "mine %d", 7), MXG_E_NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_str_eq(mxg_last_error(), "mine 7");
    status_prefix(MXG_E_NULL, "here: ");
    ck_assert_str_eq(mxg_last_error(), "here: mine 7");
}
END_TEST

START_TEST(test_status_long_texts_are_cut_not_overrun)
{
    char *text = malloc(3 * STATUS_DETAIL_SIZE);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', 3 * STATUS_DETAIL_SIZE - 1);
    text[3 * STATUS_DETAIL_SIZE - 1] = '\0';
    status_set(MXG_E_COMPILE, "%s", text);
    ck_assert_uint_eq(strlen(mxg_last_error()), STATUS_DETAIL_SIZE - 1);
    status_prefix(MXG_E_COMPILE, "kernel: ");
    ck_assert_uint_eq(strlen(mxg_last_error()), STATUS_DETAIL_SIZE - 1);
    ck_assert_int_eq(strncmp(mxg_last_error(), "kernel: xxx", 11), 0);
    status_prefix(MXG_E_COMPILE, "%s", text);
    ck_assert_uint_eq(strlen(mxg_last_error()), STATUS_DETAIL_SIZE - 1);
    free(text);
}
END_TEST

START_TEST(test_status_version_is_the_header)
{
    ck_assert_int_eq(mxg_version(), MXG_VERSION);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("status");
    TCase *tc = tcase_create("status");
    tcase_add_test(tc, test_status_every_value_has_a_name_and_its_own_text);
    tcase_add_test(tc, test_status_detail_belongs_to_the_thread);
    tcase_add_test(tc, test_status_long_texts_are_cut_not_overrun);
    tcase_add_test(tc, test_status_version_is_the_header);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
