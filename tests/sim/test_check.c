/* SPDX-License-Identifier: MIT */
/*
 * The sanitizer: for each kind of finding a kernel that must be reported, at the right
 * instruction, and a twin that must not.
 */
#include "core_harness.h"
#include "devmem.h"
#include "report.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct core_result r;

struct expected {
    const char *kernel;
    enum sim_finding kind;
    const char *inst;   /* start of the reported instruction's text */
    const char *detail; /* a part of the finding's text */
    uint32_t block, lds;
    size_t in_bytes, out_bytes;
};

static const struct expected bad[] = {
    { "k_wait_vm_bad", SIM_FIND_WAITCNT, "v_add_u32", "v4 is read", 64, 0, 0, 0 },
    { "k_wait_order_bad", SIM_FIND_WAITCNT, "v_add_u32", "s_waitcnt vmcnt(0)", 64, 0, 0, 0 },
    { "k_wait_overwrite_bad", SIM_FIND_WAITCNT, "v_mov_b32", "v4 is overwritten", 64, 0, 0, 0 },
    { "k_wait_store_bad", SIM_FIND_WAITCNT, "global_store_dword", "v4 is read", 64, 0, 0, 0 },
    { "k_wait_smem_bad", SIM_FIND_WAITCNT, "s_add_u32", "s8 is read", 64, 0, 0, 0 },
    { "k_wait_ds_bad", SIM_FIND_WAITCNT, "v_add_u32", "lgkmcnt(0)", 64, 256, 0, 0 },
    { "k_wait_flat_bad", SIM_FIND_WAITCNT, "v_add_u32", "vmcnt(0) and lgkmcnt(0)", 64, 0, 0,
      0 },
    { "k_wait_ldsdirect_bad", SIM_FIND_WAITCNT, "ds_read_b32", "load to LDS", 64, 256, 0, 0 },
    { "k_wait_published_bad", SIM_FIND_WAITCNT, "ds_read_b32", "vmcnt", 128, 512, 0, 0 },
    { "k_wait_dswrite_bad", SIM_FIND_WAITCNT, "ds_read_b32", "lgkmcnt", 128, 512, 0, 0 },
    { "k_race_bad", SIM_FIND_LDS_RACE, "ds_read_b32", "no barrier", 128, 512, 0, 0 },
    { "k_race_read_bad", SIM_FIND_LDS_RACE, "ds_write_b32", "read it", 128, 512, 0, 0 },
    { "k_hazard_mfma_bad", SIM_FIND_HAZARD, "v_add_u32", "7 wait states", 64, 0, 0, 0 },
    { "k_hazard_fp8_bad", SIM_FIND_HAZARD, "global_store_dword", "12 are needed", 64, 0, 0, 0 },
    { "k_hazard_srcc_bad", SIM_FIND_HAZARD, "v_mfma", "6 are needed", 64, 0, 0, 0 },
    { "k_hazard_srca_bad", SIM_FIND_HAZARD, "v_mfma", "2 are needed", 64, 0, 0, 0 },
    { "k_hazard_war_bad", SIM_FIND_HAZARD, "v_mov_b32", "SrcC still reads", 64, 0, 0, 0 },
    { "k_hazard_trans_bad", SIM_FIND_HAZARD, "v_add_f32", "1 are needed", 64, 0, 0, 0 },
    { "k_hazard_sgpr_bad", SIM_FIND_HAZARD, "v_mov_b32", "s16 is read 1", 64, 0, 0, 0 },
    { "k_hazard_vmem_bad", SIM_FIND_HAZARD, "buffer_load_dword", "s16 is read 4", 64, 0, 0, 0 },
    { "k_hazard_lane_bad", SIM_FIND_HAZARD, "v_readlane_b32", "4 are needed", 64, 0, 0, 0 },
    { "k_hazard_readlane_bad", SIM_FIND_HAZARD, "v_readlane_b32", "1 are needed", 64, 0, 0, 0 },
    { "k_hazard_permlane_bad", SIM_FIND_HAZARD, "v_permlane32_swap", "2 are needed", 64, 0, 0,
      0 },
    { "k_hazard_dpp_bad", SIM_FIND_HAZARD, "v_mov_b32_dpp", "2 are needed", 64, 0, 0, 0 },
    { "k_hazard_m0_bad", SIM_FIND_HAZARD, "global_load_lds_dword", "m0", 64, 256, 0, 0 },
    { "k_hazard_wide_bad", SIM_FIND_HAZARD, "v_mov_b32", "store of 3 or 4", 64, 0, 0, 0 },
    { "k_hazard_cmpx_bad", SIM_FIND_HAZARD, "v_mfma", "EXEC", 64, 0, 0, 0 },
    { "k_hazard_cvt_bad", SIM_FIND_HAZARD, "v_cvt_scalef32", "other bits", 64, 0, 0, 0 },
    { "k_hazard_setreg_bad", SIM_FIND_HAZARD, "s_getreg_b32", "2 are needed", 64, 0, 0, 0 },
    { "k_uninit_reg_bad", SIM_FIND_UNINIT_REG, "v_add_u32", "v5 is read in 64 lanes", 64, 0, 0,
      0 },
    { "k_uninit_lane_bad", SIM_FIND_UNINIT_REG, "v_add_u32", "first lane 16", 64, 0, 0, 0 },
    { "k_uninit_sgpr_bad", SIM_FIND_UNINIT_REG, "s_add_u32", "s21", 64, 0, 0, 0 },
    { "k_uninit_bytes_bad", SIM_FIND_UNINIT_REG, "global_store_dword", "v6", 64, 0, 0, 0 },
    { "k_uninit_spill_bad", SIM_FIND_UNINIT_REG, "v_add_u32", "v10", 64, 0, 0, 0 },
    { "k_uninit_pair_bad", SIM_FIND_UNINIT_REG, "v_add_f32", "v17", 64, 0, 0, 0 },
    { "k_uninit_high_bad", SIM_FIND_UNINIT_REG, "v_add_u32", "v11", 64, 0, 0, 0 },
    { "k_uninit_readlane_bad", SIM_FIND_UNINIT_REG, "s_add_u32", "s31", 64, 0, 0, 0 },
    { "k_indexed_bad", SIM_FIND_UNINIT_REG, "v_add_u32", "v7", 64, 0, 0, 0 },
    { "k_uninit_lds_bad", SIM_FIND_UNINIT_LDS, "ds_read_b32", "LDS byte 0", 64, 256, 0, 0 },
    { "k_uninit_lds_bytes_bad", SIM_FIND_UNINIT_LDS, "ds_read_u16", "LDS byte", 64, 256, 0, 0 },
    { "k_bounds_lds_bad", SIM_FIND_LDS_BOUNDS, "ds_write_b32", "the workgroup has 256", 64, 256,
      0, 0 },
    { "k_align_bad", SIM_FIND_MEM_ALIGN, "global_load_dword", "multiple of 4", 64, 0, 0, 0 },
    { "k_align_lds_bad", SIM_FIND_MEM_ALIGN, "ds_write_b64", "multiple of 8", 64, 512, 0, 0 },
    { "k_registers_bad", SIM_FIND_UNPREDICTABLE, "v_mov_b32", "allocates 32", 64, 0, 0, 0 },
    { "k_barrier_bad", SIM_FIND_BARRIER, "s_endpgm", "wait at a barrier", 128, 0, 0, 0 },
};

START_TEST(test_check_reports_what_hardware_would_not)
{
    const struct expected *e = &bad[_i];
    char text[1024];
    struct core_run run = { .kernel = e->kernel, .block = { e->block, 1, 1 }, .lds = e->lds };
    core_launch(&run, &r);
    ck_assert_msg(r.result == SIM_OK, "%s: %s", e->kernel, r.text);
    size_t found = core_findings(e->kind), n = core_findings_all();
    ck_assert(sim_report_text(0, text, sizeof text) == (n > 0));
    ck_assert_msg(found >= 1 && found == n, "%s: %zu of the kind, %zu in all; first: %s",
                  e->kernel, found, n, text);
    bool has_match = false;
    for (size_t i = 0; i < n && !has_match; i++) {
        sim_report_text(i, text, sizeof text);
        has_match = strstr(text, e->kernel) && strstr(text, e->inst) && strstr(text, e->detail);
    }
    ck_assert_msg(has_match, "%s", text);
}
END_TEST

static const struct expected faults[] = {
    { "k_bounds_read_bad", SIM_FIND_MEM_BOUNDS, "global_load_dword", "past the end", 64, 0, 256,
      0 },
    { "k_bounds_write_bad", SIM_FIND_MEM_BOUNDS, "global_store_dwordx2", "past the end", 64, 0,
      0, 256 },
    { "k_bounds_smem_bad", SIM_FIND_MEM_BOUNDS, "s_load_dwordx16", "past the end", 64, 0, 256,
      0 },
    { "k_bounds_scratch_bad", SIM_FIND_MEM_BOUNDS, "scratch_store_dword", "64 bytes a lane", 64,
      0, 0, 0 },
    { "k_align_atomic_bad", SIM_FIND_MEM_ALIGN, "global_atomic_add", "multiple of 4", 64, 0, 0,
      0 },
    { "k_trap_bad", SIM_FIND_TRAP, "s_trap", "stopped itself", 64, 0, 0, 0 },
    { "k_pc_bad", SIM_FIND_TRAP, "", "outside the code", 64, 0, 0, 0 },
    { "k_unknown_bad", SIM_FIND_UNKNOWN_INST, "", "not an instruction", 64, 0, 0, 0 },
    { "k_endless_bad", SIM_FIND_TRAP, "s_branch", "MXGSIM_MAX_INSTS", 64, 0, 0, 0 },
};

START_TEST(test_check_stops_where_hardware_would)
{
    const struct expected *e = &faults[_i];
    char text[1024];
    enum sim_result want = e->kind == SIM_FIND_TRAP           ? SIM_E_ABORTED
                           : e->kind == SIM_FIND_UNKNOWN_INST ? SIM_E_ILLEGAL_INST
                                                              : SIM_E_MEMORY_FAULT;
    struct core_run run = { .kernel = e->kernel,
                            .block = { e->block, 1, 1 },
                            .lds = e->lds,
                            .in_bytes = e->in_bytes,
                            .out_bytes = e->out_bytes };
    setenv("MXGSIM_MAX_INSTS", "100000", 1);
    core_launch(&run, &r);
    unsetenv("MXGSIM_MAX_INSTS");
    ck_assert_msg(r.result == want, "%s: result %d, %s", e->kernel, r.result, r.text);
    ck_assert_uint_eq(core_findings(e->kind), 1);
    ck_assert(sim_report_text(0, text, sizeof text));
    ck_assert_msg(strstr(text, e->inst) && strstr(text, e->detail), "%s", text);
    ck_assert_msg(strstr(r.text, e->kernel) != NULL, "%s", r.text);
}
END_TEST

static const struct {
    const char *kernel;
    uint32_t block, lds;
} good[] = {
    { "k_wait_vm_good", 64, 0 },
    { "k_wait_order_good", 64, 0 },
    { "k_wait_overwrite_good", 64, 0 },
    { "k_wait_store_good", 64, 0 },
    { "k_wait_smem_good", 64, 0 },
    { "k_wait_ds_good", 64, 256 },
    { "k_wait_flat_good", 64, 0 },
    { "k_wait_ldsdirect_good", 64, 256 },
    { "k_wait_published_good", 128, 512 },
    { "k_wait_dswrite_good", 128, 512 },
    { "k_race_good", 128, 512 },
    { "k_race_bytes_good", 128, 512 },
    { "k_hazard_mfma_good", 64, 0 },
    { "k_hazard_fp8_good", 64, 0 },
    { "k_hazard_srcc_good", 64, 0 },
    { "k_hazard_war_good", 64, 0 },
    { "k_hazard_trans_good", 64, 0 },
    { "k_hazard_sgpr_good", 64, 0 },
    { "k_hazard_lane_good", 64, 0 },
    { "k_hazard_vmem_good", 64, 0 },
    { "k_hazard_permlane_good", 64, 0 },
    { "k_hazard_wide_good", 64, 0 },
    { "k_hazard_cvt_good", 64, 0 },
    { "k_uninit_lane_good", 64, 0 },
    { "k_uninit_bytes_good", 64, 0 },
    { "k_uninit_spill_good", 64, 0 },
    { "k_uninit_lds_bytes_good", 64, 256 },
    { "k_hazard_setreg_good", 64, 0 },
    { "k_uninit_idioms_good", 64, 0 },
    { "k_indexed_good", 64, 0 },
    { "k_uninit_mem", 64, 0 },
};

START_TEST(test_check_is_silent_about_correct_kernels)
{
    char text[1024] = "";
    struct core_run run = { .kernel = good[_i].kernel,
                            .block = { good[_i].block, 1, 1 },
                            .lds = good[_i].lds };
    core_launch(&run, &r);
    ck_assert_msg(r.result == SIM_OK, "%s: %s", good[_i].kernel, r.text);
    sim_report_text(0, text, sizeof text);
    ck_assert_msg(core_findings_all() == 0, "%s", text);
}
END_TEST

START_TEST(test_check_tracks_memory_where_asked)
{
    struct core_run run = { .kernel = "k_uninit_mem", .in_flags = SIM_ALLOC_TRACK };
    core_launch(&run, &r);
    ck_assert_int_eq(r.result, SIM_OK);
    ck_assert_uint_eq(core_findings(SIM_FIND_UNINIT_MEM), 1);
    ck_assert_uint_eq(core_findings_all(), 1);
}
END_TEST

START_TEST(test_check_counts_repeats_once)
{
    char text[1024];
    struct core_run run = { .kernel = "k_wait_vm_bad", .grid = { 50, 1, 1 } };
    core_launch(&run, &r);
    ck_assert_uint_eq(sim_report_count(), 1);
    ck_assert_uint_eq(sim_report_hits(0), 50);
    ck_assert(sim_report_text(0, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "seen 50 times"));
    ck_assert(!sim_report_text(1, text, sizeof text));
    ck_assert_str_eq(mxgsim_report_kind(0), "waitcnt");
    ck_assert_ptr_null(mxgsim_report_kind(1));
    ck_assert_uint_eq(mxgsim_report_text(1, text, sizeof text), 0);
    mxgsim_reports_reset();
    ck_assert_uint_eq(mxgsim_reports_count(), 0);
}
END_TEST

START_TEST(test_check_gives_json)
{
    struct core_run run = { .kernel = "k_uninit_reg_bad" };
    core_launch(&run, &r);
    char *json = mxgsim_reports_json();
    ck_assert_ptr_nonnull(json);
    ck_assert_ptr_nonnull(strstr(json, "\"kind\": \"uninit-reg\""));
    ck_assert_ptr_nonnull(strstr(json, "\"kernel\": \"k_uninit_reg_bad\""));
    ck_assert_ptr_nonnull(strstr(json, "\"count\": 1}"));
    free(json);
    mxgsim_reports_reset();
    json = mxgsim_reports_json();
    ck_assert_str_eq(json, "[]\n");
    free(json);
}
END_TEST

int main(void)
{
    setenv("MXGSIM_REPORT", "off", 0);
    Suite *suite = suite_create("check");
    TCase *tc = tcase_create("check");
    tcase_add_loop_test(tc, test_check_reports_what_hardware_would_not, 0,
                        sizeof bad / sizeof bad[0]);
    tcase_add_loop_test(tc, test_check_stops_where_hardware_would, 0,
                        sizeof faults / sizeof faults[0]);
    tcase_add_loop_test(tc, test_check_is_silent_about_correct_kernels, 0,
                        sizeof good / sizeof good[0]);
    tcase_add_test(tc, test_check_tracks_memory_where_asked);
    tcase_add_test(tc, test_check_counts_repeats_once);
    tcase_add_test(tc, test_check_gives_json);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
