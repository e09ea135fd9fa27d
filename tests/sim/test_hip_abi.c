/* SPDX-License-Identifier: MIT */
/*
 * AMD's side of the ABI comparison, and the comparison: every value, size and offset that the
 * simulator declares is the one in AMD's headers.  Built with --with-hip-headers.
 */
#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <hip/hip_runtime_api.h>

#include <hip/hip_deprecated.h>

#include "hip_abi_table.h"

const struct abi_row abi_rows_amd[] = {
#include "hip_abi_rows.def"
#include "hip_attrs.def"
#include "hip_errors.def"
};
const unsigned abi_count_amd = sizeof(abi_rows_amd) / sizeof(abi_rows_amd[0]);

START_TEST(test_hip_abi_equals_headers)
{
    ck_assert_uint_eq(abi_count_sim, abi_count_amd);
    ck_assert_uint_gt(abi_count_sim, 400);
    for (unsigned i = 0; i < abi_count_sim; i++) {
        ck_assert_str_eq(abi_rows_sim[i].name, abi_rows_amd[i].name);
        ck_assert_msg(abi_rows_sim[i].value == abi_rows_amd[i].value,
                      "%s is %llu, AMD has %llu", abi_rows_sim[i].name, abi_rows_sim[i].value,
                      abi_rows_amd[i].value);
    }
}
END_TEST

/* The architecture bits that sim/hip_device.c sets by position. */
START_TEST(test_hip_abi_arch_bits)
{
    union {
        hipDeviceArch_t arch;
        unsigned bits;
    } a = { .bits = 0 };
    a.arch.hasGlobalInt32Atomics = a.arch.hasGlobalFloatAtomicExch = 1;
    a.arch.hasSharedInt32Atomics = a.arch.hasSharedFloatAtomicExch = 1;
    a.arch.hasFloatAtomicAdd = a.arch.hasGlobalInt64Atomics = 1;
    a.arch.hasSharedInt64Atomics = a.arch.hasDoubles = 1;
    a.arch.hasWarpVote = a.arch.hasWarpBallot = a.arch.hasWarpShuffle = 1;
    a.arch.hasThreadFenceSystem = a.arch.has3dGrid = 1;
    ck_assert_uint_eq(a.bits, 0x7ffu | 1u << 12 | 1u << 15);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hip_abi");
    TCase *c = tcase_create("abi");
    suite_add_tcase(s, c);
    tcase_add_test(c, test_hip_abi_equals_headers);
    tcase_add_test(c, test_hip_abi_arch_bits);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
