/* SPDX-License-Identifier: MIT */
/* Memory instructions: what each width, form and space moves, and buffer range checks. */
#include "core_harness.h"
#include "devmem.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct core_result r;

/* Run one wave of a kernel that must end well and without findings. */
static void run_clean(const char *kernel, uint32_t lds)
{
    struct core_run run = { .kernel = kernel, .lds = lds };
    core_launch(&run, &r);
    ck_assert_msg(r.result == SIM_OK, "%s: %s", kernel, r.text);
    ck_assert_msg(core_findings_all() == 0, "%s: %zu findings", kernel, core_findings_all());
}

static uint32_t half(uint32_t word, unsigned hi)
{
    return word >> 16 * hi & 0xffff;
}

START_TEST(test_mem_global_x4_copies)
{
    run_clean("k_copy_x4", 0);
    ck_assert_mem_eq(r.in, r.out, 1024);
    ck_assert_uint_eq(core_out(&r, 1024), 0);
}
END_TEST

START_TEST(test_mem_load_widths_extend)
{
    run_clean("k_load_kinds", 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        const uint32_t *w = (const uint32_t *)(const void *)(r.in + 16 * lane);
        uint32_t byte = w[0] >> 8 & 255, at = 64 * lane;
        uint32_t sbyte = (uint32_t)(int32_t)(int8_t)byte;
        ck_assert_uint_eq(core_out(&r, at), byte);
        ck_assert_uint_eq(core_out(&r, at + 4), sbyte);
        ck_assert_uint_eq(core_out(&r, at + 8), half(w[0], 1));
        ck_assert_uint_eq(core_out(&r, at + 12), (uint32_t)(int32_t)(int16_t)half(w[0], 1));
        ck_assert_uint_eq(core_out(&r, at + 16), half(w[0], 1));
        ck_assert_uint_eq(core_out(&r, at + 20), half(w[0], 1) << 16);
        ck_assert_uint_eq(core_out(&r, at + 24), byte << 16);
        ck_assert_uint_eq(core_out(&r, at + 28), sbyte & 0xffff);
        ck_assert_uint_eq(core_out(&r, at + 32), w[1]);
        ck_assert_uint_eq(core_out(&r, at + 40), w[3]);
        ck_assert_uint_eq(core_out(&r, at + 44), core_input(2));
    }
}
END_TEST

START_TEST(test_mem_store_widths_touch_only_their_bytes)
{
    run_clean("k_store_kinds", 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        const uint32_t *w = (const uint32_t *)(const void *)(r.in + 16 * lane);
        uint32_t at = 32 * lane;
        ck_assert_uint_eq(core_out(&r, at), (w[0] & 255) << 8 | w[0] << 16);
        ck_assert_uint_eq(core_out(&r, at + 4), (w[1] >> 16 & 255) << 8 | half(w[1], 1) << 16);
        ck_assert_uint_eq(core_out(&r, at + 8), w[2]);
        ck_assert_uint_eq(core_out(&r, at + 12), w[3]);
        ck_assert_uint_eq(core_out(&r, at + 16), w[0]);
        ck_assert_uint_eq(core_out(&r, at + 24), w[2]);
        ck_assert_uint_eq(core_out(&r, at + 28), 0);
    }
}
END_TEST

START_TEST(test_mem_buffer_loads_zero_out_of_range_components)
{
    run_clean("k_buffer_load", 0);
    for (uint32_t i = 0; i < 256; i++) {
        ck_assert_uint_eq(core_out(&r, 4 * i), 4 * i < 200 ? core_input(i) : 0);
    }
}
END_TEST

START_TEST(test_mem_buffer_stores_drop_out_of_range_components)
{
    run_clean("k_buffer_store", 0);
    for (uint32_t i = 0; i < 512; i++) {
        ck_assert_uint_eq(core_out(&r, 4 * i), 4 * i < 200 ? core_input(i) : 0);
    }
}
END_TEST

START_TEST(test_mem_buffer_structured_checks_the_index)
{
    run_clean("k_buffer_struct", 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        ck_assert_uint_eq(core_out(&r, 4 * lane), lane < 20 ? core_input(4 * lane + 1) : 0);
    }
}
END_TEST

START_TEST(test_mem_buffer_scalar_offset_is_not_range_checked)
{
    run_clean("k_buffer_soffset", 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        ck_assert_uint_eq(core_out(&r, 4 * lane), lane < 16 ? core_input(128 + lane) : 0);
    }
}
END_TEST

START_TEST(test_mem_buffer_zero_descriptor_reads_zero)
{
    run_clean("k_buffer_unbound", 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        ck_assert_uint_eq(core_out(&r, 4 * lane), 0);
    }
}
END_TEST

START_TEST(test_mem_buffer_atomic_returns_and_drops)
{
    run_clean("k_buffer_atomic", 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        ck_assert_uint_eq(core_out(&r, 4 * lane), lane < 16 ? 5 : 0);
        ck_assert_uint_eq(core_out(&r, 1024 + 4 * lane), 0);
    }
}
END_TEST

START_TEST(test_mem_buffer_to_lds)
{
    run_clean("k_buffer_lds", 2048);
    for (uint32_t i = 0; i < 256; i++) {
        ck_assert_uint_eq(core_out(&r, 4 * i), 4 * i < 200 ? core_input(i) : 0);
    }
    for (uint32_t lane = 0; lane < 64; lane++) {
        ck_assert_uint_eq(core_out(&r, 1024 + 4 * lane), 4 * lane < 200 ? core_input(lane) : 0);
    }
}
END_TEST

START_TEST(test_mem_global_to_lds)
{
    run_clean("k_global_lds", 2048);
    ck_assert_mem_eq(r.out, r.in, 1024);
    /* The instruction's offset counts on the LDS side as well. */
    ck_assert_mem_eq(r.out + 1024, r.in + 16, 256);
    for (uint32_t lane = 0; lane < 64; lane++) {
        ck_assert_uint_eq(core_out(&r, 1280 + 4 * lane), core_input(lane) & 255);
    }
}
END_TEST

START_TEST(test_mem_scratch_is_private_to_a_lane)
{
    run_clean("k_scratch", 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        uint32_t at = 16 * lane;
        ck_assert_uint_eq(core_out(&r, at), lane + 7);
        ck_assert_uint_eq(core_out(&r, at + 4), (lane + 9) * 0x101 | (lane + 7) << 16);
        ck_assert_uint_eq(core_out(&r, at + 8), lane + 7);
        ck_assert_uint_eq(core_out(&r, at + 12), lane + 9);
    }
}
END_TEST

START_TEST(test_mem_flat_reaches_lds_and_scratch)
{
    run_clean("k_flat_apertures", 256);
    for (uint32_t lane = 0; lane < 64; lane++) {
        ck_assert_uint_eq(core_out(&r, 16 * lane), lane + 3);
        ck_assert_uint_eq(core_out(&r, 16 * lane + 4), lane + 4);
        ck_assert_uint_eq(core_out(&r, 16 * lane + 8), lane + 4);
        ck_assert_uint_eq(core_out(&r, 16 * lane + 12), lane + 3);
    }
}
END_TEST

START_TEST(test_mem_atomics)
{
    float sum;
    run_clean("k_atomics", 0);
    uint32_t bits = core_out(&r, 24);
    memcpy(&sum, &bits, sizeof sum);
    ck_assert_uint_eq(core_out(&r, 0), 64);
    ck_assert_uint_eq(core_out(&r, 4), 63);
    ck_assert_uint_eq(core_out(&r, 8), 63);
    ck_assert_uint_eq(core_out(&r, 16), 64);
    ck_assert_uint_eq(core_out(&r, 20), 0);
    ck_assert_float_eq(sum, 64.0f);
    ck_assert_uint_eq(core_out(&r, 28), 0x42804280); /* 64 in bf16, twice */
    ck_assert_uint_eq(core_out(&r, 32), 0);          /* compared with 5, found 0 */
    for (uint32_t lane = 0; lane < 64; lane++) {
        ck_assert_uint_eq(core_out(&r, 256 + 4 * lane), lane);
    }
}
END_TEST

START_TEST(test_mem_scalar_loads)
{
    run_clean("k_smem", 0);
    static const uint32_t word[] = { 0, 15, 23, 24, 26, 27, 1 };
    for (uint32_t i = 0; i < 7; i++) {
        ck_assert_uint_eq(core_out(&r, 4 * i), core_input(word[i]));
    }
    /* The buffer has 8 bytes. */
    ck_assert_uint_eq(core_out(&r, 28), 0);
}
END_TEST

START_TEST(test_mem_counts_lines_and_bytes)
{
    struct mxgsim_counters c;
    mxgsim_counters_reset();
    run_clean("k_copy_x4", 0);
    mxgsim_counters(&c);
    ck_assert_uint_eq(c.launches, 1);
    ck_assert_uint_eq(c.waves, 1);
    ck_assert_uint_eq(c.bytes_loaded, 1024);
    ck_assert_uint_eq(c.bytes_stored, 1024);
    ck_assert_uint_eq(c.bytes_scalar, 16);
    ck_assert_uint_ge(c.lines, 16);
    ck_assert_uint_le(c.lines, 18); /* an allocation starts at 256 bytes, not at a line pair */
    ck_assert_uint_eq(c.vmem, 2);
    ck_assert_uint_eq(c.waits, 2);
    ck_assert_uint_eq(c.instructions, 9);
}
END_TEST

START_TEST(test_mem_counts_matrix_passes)
{
    struct mxgsim_counters c;
    mxgsim_counters_reset();
    run_clean("k_hazard_srcc_good", 0);
    run_clean("k_hazard_fp8_good", 0);
    mxgsim_counters(&c);
    /* Three of 16x16x128 on FP4, 4 passes each, and one on FP8 with 8. */
    ck_assert_uint_eq(c.mfma, 4);
    ck_assert_uint_eq(c.mfma_passes, 20);
}
END_TEST

START_TEST(test_mem_heap_tells_states_apart)
{
    struct sim_mem_info info;
    char text[160];
    uint8_t *a = sim_mem_alloc(0, 1000, 0, 0xee), *b = sim_mem_alloc(0, 1000, 0, -1);
    uint64_t at = (uint64_t)(uintptr_t)a;
    ck_assert_uint_eq(at % SIM_MEM_ALIGN, 0);
    ck_assert_uint_eq(a[999], 0xee);
    ck_assert_uint_eq(b[999], 0);
    ck_assert_int_eq(sim_mem_lookup(at + 999, &info), SIM_MEM_LIVE);
    ck_assert_uint_eq(info.base, at);
    ck_assert_uint_eq(info.size, 1000);
    ck_assert_int_eq(sim_mem_lookup(at + 1000, NULL), SIM_MEM_GAP);
    ck_assert_int_eq(sim_mem_lookup(at - 1, NULL), SIM_MEM_GAP);
    ck_assert_int_eq(sim_mem_lookup((uint64_t)(uintptr_t)&info, NULL), SIM_MEM_FOREIGN);
    ck_assert(sim_mem_valid(at, 1000));
    ck_assert(!sim_mem_valid(at + 1, 1000));
    ck_assert_ptr_nonnull(
        strstr(sim_mem_describe(at + 1004, 4, text, sizeof text), "4 bytes past the end"));
    ck_assert(!sim_mem_free(a + 1));
    ck_assert(sim_mem_free(a));
    ck_assert(!sim_mem_free(a));
    ck_assert_int_eq(sim_mem_lookup(at, NULL), SIM_MEM_FREED);
    ck_assert_ptr_nonnull(strstr(sim_mem_describe(at, 4, text, sizeof text), "freed"));
    ck_assert_ptr_nonnull(strstr(sim_mem_describe(0, 4, text, sizeof text), "null"));
    ck_assert(sim_mem_free(b));
}
END_TEST

START_TEST(test_mem_heap_adopts_and_limits)
{
    static uint8_t host[4096];
    uint64_t bytes, count, before = sim_mem_limit();
    ck_assert(sim_mem_adopt(0, host + 16, 1024, 0));
    ck_assert(!sim_mem_adopt(0, host, 32, 0));
    ck_assert(!sim_mem_adopt(0, host + 1000, 400, 0));
    ck_assert(sim_mem_valid((uint64_t)(uintptr_t)host + 16, 1024));
    ck_assert(!sim_mem_valid((uint64_t)(uintptr_t)host + 15, 2));
    ck_assert(sim_mem_free(host + 16));
    ck_assert(!sim_mem_valid((uint64_t)(uintptr_t)host + 16, 1));
    sim_mem_set_limit(4096);
    void *p = sim_mem_alloc(1, 4000, 0, -1);
    ck_assert_ptr_nonnull(p);
    ck_assert_ptr_null(sim_mem_alloc(1, 200, 0, -1));
    sim_mem_usage(1, &bytes, &count);
    ck_assert_uint_eq(bytes, 4000);
    ck_assert_uint_eq(count, 1);
    ck_assert(sim_mem_free(p));
    sim_mem_set_limit(before);
    ck_assert_ptr_null(sim_mem_alloc(0, SIZE_MAX, 0, -1));
    ck_assert_ptr_null(sim_mem_alloc(0, SIZE_MAX - 100000, SIM_ALLOC_INTERNAL, -1));
}
END_TEST

int main(void)
{
    setenv("MXGSIM_REPORT", "off", 0);
    Suite *suite = suite_create("mem");
    TCase *tc = tcase_create("mem");
    tcase_add_test(tc, test_mem_global_x4_copies);
    tcase_add_test(tc, test_mem_load_widths_extend);
    tcase_add_test(tc, test_mem_store_widths_touch_only_their_bytes);
    tcase_add_test(tc, test_mem_buffer_loads_zero_out_of_range_components);
    tcase_add_test(tc, test_mem_buffer_stores_drop_out_of_range_components);
    tcase_add_test(tc, test_mem_buffer_structured_checks_the_index);
    tcase_add_test(tc, test_mem_buffer_scalar_offset_is_not_range_checked);
    tcase_add_test(tc, test_mem_buffer_zero_descriptor_reads_zero);
    tcase_add_test(tc, test_mem_buffer_atomic_returns_and_drops);
    tcase_add_test(tc, test_mem_buffer_to_lds);
    tcase_add_test(tc, test_mem_global_to_lds);
    tcase_add_test(tc, test_mem_scratch_is_private_to_a_lane);
    tcase_add_test(tc, test_mem_flat_reaches_lds_and_scratch);
    tcase_add_test(tc, test_mem_atomics);
    tcase_add_test(tc, test_mem_scalar_loads);
    tcase_add_test(tc, test_mem_counts_lines_and_bytes);
    tcase_add_test(tc, test_mem_counts_matrix_passes);
    tcase_add_test(tc, test_mem_heap_tells_states_apart);
    tcase_add_test(tc, test_mem_heap_adopts_and_limits);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
