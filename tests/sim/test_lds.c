/* SPDX-License-Identifier: MIT */
/* DS instructions: widths, two-address forms, atomics, moves between lanes, bank conflicts. */
#include "core_harness.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct core_result r;

static void run_clean(const char *kernel, uint32_t lds)
{
    struct core_run run = { .kernel = kernel, .lds = lds };
    core_launch(&run, &r);
    ck_assert_msg(r.result == SIM_OK, "%s: %s", kernel, r.text);
    ck_assert_msg(core_findings_all() == 0, "%s: %zu findings", kernel, core_findings_all());
}

START_TEST(test_lds_reads_of_all_widths)
{
    run_clean("k_ds_widths", 1024);
    for (uint32_t lane = 0; lane < 64; lane++) {
        const uint32_t *w = (const uint32_t *)(const void *)(r.in + 16 * lane);
        uint32_t at = 64 * lane, byte = w[0] >> 8 & 255, high = w[0] >> 16;
        ck_assert_uint_eq(core_out(&r, at), w[2]);
        ck_assert_uint_eq(core_out(&r, at + 4), w[3]);
        ck_assert_uint_eq(core_out(&r, at + 8), w[0]);
        ck_assert_uint_eq(core_out(&r, at + 12), w[2]);
        ck_assert_uint_eq(core_out(&r, at + 16), byte);
        ck_assert_uint_eq(core_out(&r, at + 20), (uint32_t)(int32_t)(int8_t)byte);
        ck_assert_uint_eq(core_out(&r, at + 24), high);
        ck_assert_uint_eq(core_out(&r, at + 28), (uint32_t)(int32_t)(int16_t)high);
        ck_assert_uint_eq(core_out(&r, at + 32), w[1]);
        ck_assert_uint_eq(core_out(&r, at + 36), w[3]);
        ck_assert_mem_eq(r.out + at + 48, w, 16);
    }
}
END_TEST

START_TEST(test_lds_writes_of_all_widths)
{
    run_clean("k_ds_writes", 2048);
    for (uint32_t lane = 0; lane < 64; lane++) {
        const uint32_t *w = (const uint32_t *)(const void *)(r.in + 16 * lane);
        uint32_t at = 32 * lane;
        ck_assert_uint_eq(core_out(&r, at), (w[0] & 255) | (w[1] & 255) << 8 | w[2] << 16);
        ck_assert_uint_eq(core_out(&r, at + 4), w[3]);
        ck_assert_uint_eq(core_out(&r, at + 8), w[0]);
        ck_assert_uint_eq(core_out(&r, at + 12), w[1]);
        ck_assert_uint_eq(core_out(&r, at + 16), w[2]);
        ck_assert_uint_eq(core_out(&r, at + 20), w[3]);
        ck_assert_uint_eq(core_out(&r, at + 24),
                          w[1] >> 16 | (w[1] >> 16 & 255) << 16 | w[1] << 24);
    }
}
END_TEST

START_TEST(test_lds_atomics_in_lane_order)
{
    run_clean("k_ds_atomics", 64);
    for (uint32_t lane = 0; lane < 64; lane++) {
        uint32_t at = 32 * lane;
        ck_assert_uint_eq(core_out(&r, at), 100 + lane);
        ck_assert_uint_eq(core_out(&r, at + 4), lane); /* ds_inc, below its bound */
        ck_assert_uint_eq(core_out(&r, at + 8), 164);
        ck_assert_uint_eq(core_out(&r, at + 12), 0);   /* min(0, lane) */
        ck_assert_uint_eq(core_out(&r, at + 16), 164); /* ds_add_u64 */
        ck_assert_uint_eq(core_out(&r, at + 20), 0);
        ck_assert_uint_eq(core_out(&r, at + 24), 100); /* cmpst: 1 was found once */
        ck_assert_uint_eq(core_out(&r, at + 28), 64);
    }
}
END_TEST

START_TEST(test_lds_lane_moves)
{
    run_clean("k_ds_lanes", 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        uint32_t at = 16 * lane;
        ck_assert_uint_eq(core_out(&r, at), 1063 - lane);
        /* Lane i sends to (252 - 4i + 4) / 4 % 64. */
        ck_assert_uint_eq(core_out(&r, at + 4), 1000 + (64 - lane) % 64);
        ck_assert_uint_eq(core_out(&r, at + 8), 1000 + (lane ^ 16));
        ck_assert_uint_eq(core_out(&r, at + 12), 1000 + (lane ^ 3));
    }
}
END_TEST

START_TEST(test_lds_counts_bank_conflicts)
{
    struct mxgsim_counters c;
    mxgsim_counters_reset();
    run_clean("k_ds_conflicts", 64 * 256);
    mxgsim_counters(&c);
    /* 64 lanes, 256 bytes apart, want one bank; consecutive dwords and one shared do not. */
    ck_assert_uint_eq(c.lds_bank_conflicts, 63);
    ck_assert_uint_eq(c.lds_bytes_written, 512);
    ck_assert_uint_eq(c.lds_bytes_read, 256);
    ck_assert_uint_eq(c.ds, 3);
}
END_TEST

START_TEST(test_lds_takes_all_of_a_compute_unit)
{
    struct core_run run = { .kernel = "k_ds_conflicts", .lds = 163840 };
    core_launch(&run, &r);
    ck_assert_int_eq(r.result, SIM_OK);
    run.lds = 163841;
    core_launch(&run, &r);
    ck_assert_int_eq(r.result, SIM_E_RESOURCES);
    ck_assert_ptr_nonnull(strstr(r.text, "163841"));
}
END_TEST

int main(void)
{
    setenv("MXGSIM_REPORT", "off", 0);
    Suite *suite = suite_create("lds");
    TCase *tc = tcase_create("lds");
    tcase_add_test(tc, test_lds_reads_of_all_widths);
    tcase_add_test(tc, test_lds_writes_of_all_widths);
    tcase_add_test(tc, test_lds_atomics_in_lane_order);
    tcase_add_test(tc, test_lds_lane_moves);
    tcase_add_test(tc, test_lds_counts_bank_conflicts);
    tcase_add_test(tc, test_lds_takes_all_of_a_compute_unit);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
