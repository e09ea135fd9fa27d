/* SPDX-License-Identifier: MIT */
/* What the tests of the simulated HIP runtime share: checks, start and end of a test. */
#ifndef TESTS_SIM_HIP_TEST_H
#define TESTS_SIM_HIP_TEST_H

#include <check.h>
#include <stdlib.h>

#include "hip_api.h"
#include "hip_kernels.h"
#include "mxgsim.h"

/* Assert the status of a call, by name. */
#define ck_hip_is(call, expected)                                                              \
    do {                                                                                       \
        const hipError_t got_ = (call);                                                        \
        ck_assert_msg(got_ == (expected), "%s: %s, not %s", #call, hipGetErrorName(got_),      \
                      #expected);                                                              \
    } while (0)

#define ck_hip(call) ck_hip_is(call, hipSuccess)

/* Every test starts a fresh runtime; with_env sets a variable first. */
static inline void hip_test_setup(void)
{
    static const char *const variables[] = { "MXGSIM_DEVICES", "MXGSIM_ARCH", "MXGSIM_MEMORY",
                                             "MXGSIM_POISON",  "MXGSIM_FAIL", "MXGSIM_DELAY",
                                             "MXGSIM_TRACK" };
    mxgsim_shutdown();
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        unsetenv(variables[i]);
    }
    setenv("MXGSIM_QUIET", "1", 1);
    setenv("MXGSIM_REPORT", "off", 1);
    (void)hipGetLastError();
}

static inline void hip_test_teardown(void)
{
    mxgsim_shutdown();
}

static inline void with_env(const char *name, const char *value)
{
    mxgsim_shutdown();
    setenv(name, value, 1);
}

static inline int hip_test_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static inline TCase *hip_test_case(Suite *suite, const char *name)
{
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, hip_test_setup, hip_test_teardown);
    tcase_set_timeout(c, 60);
    suite_add_tcase(suite, c);
    return c;
}

#endif
