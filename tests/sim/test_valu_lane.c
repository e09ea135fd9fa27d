/* SPDX-License-Identifier: MIT */
/*
 * Vector ALU: traffic between lanes, DPP, SDWA, VGPR indexing, EXEC, and what
 * must be reported because no document defines it.
 */
#include "isa_vec.h"

static struct sim_inst inst;

/* Decodes and runs one instruction on the wave as it stands. */
static void run(struct sim_wave *w, const char *text, uint32_t w0, uint32_t w1)
{
    const uint32_t words[2] = { w0, w1 };
    isa_decode(text, words, 2, &inst);
    isa_exec(w, &inst);
}

static void set_exec(struct sim_wave *w, uint64_t exec)
{
    w->sgpr[SIM_SGPR_EXEC] = (uint32_t)exec;
    w->sgpr[SIM_SGPR_EXEC + 1] = (uint32_t)(exec >> 32);
}

/* A wave whose v10 holds 1000 + lane, v40 2000 + lane, all lanes active. */
static struct sim_wave *lanes_wave(void)
{
    struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
    set_exec(w, UINT64_MAX);
    for (unsigned l = 0; l < SIM_LANES; l++) {
        w->vgpr[10][l] = 1000 + l;
        w->vgpr[40][l] = 2000 + l;
        w->vgpr[256 + 10][l] = 3000 + l;
    }
    return w;
}

START_TEST(test_valu_lane_reads_and_writes)
{
    struct sim_wave *w = lanes_wave();
    set_exec(w, 0xf0);
    run(w, "v_readfirstlane_b32 s4, v10", 0x7e08050a, 0);
    ck_assert_uint_eq(w->sgpr[4], 1004);
    set_exec(w, 0); /* lane 0 when none is active */
    run(w, "v_readfirstlane_b32 s4, v10", 0x7e08050a, 0);
    ck_assert_uint_eq(w->sgpr[4], 1000);
    w->sgpr[8] = 64 + 37; /* six bits count */
    run(w, "v_readlane_b32 s4, v10, s8", 0xd2890004, 0x0000110a);
    ck_assert_uint_eq(w->sgpr[4], 1037);
    w->sgpr[6] = 77;
    run(w, "v_writelane_b32 v40, s6, 63", 0xd28a0028, 0x00017e06);
    ck_assert_uint_eq(w->vgpr[40][63], 77);
    ck_assert_uint_eq(w->vgpr[40][62], 2062);
    run(w, "v_writelane_b32 v40, -1, s8", 0xd28a0028, 0x000010c1);
    ck_assert_uint_eq(w->vgpr[40][37], UINT32_MAX);
    ck_assert_uint_eq(isa_findings, 0);
}
END_TEST

START_TEST(test_valu_lane_swaps)
{
    struct sim_wave *w = lanes_wave();
    run(w, "v_permlane16_swap_b32_e32 v40, v10", 0x7e50b30a, 0);
    /* Odd rows of v40 change places with the even rows of v10. */
    const uint32_t d[] = { 2000, 1000, 2032, 1032 };
    const uint32_t s[] = { 2016, 1016, 2048, 1048 };
    for (unsigned l = 0; l < SIM_LANES; l++) {
        ck_assert_uint_eq(w->vgpr[40][l], d[l / 16] + l % 16);
        ck_assert_uint_eq(w->vgpr[10][l], s[l / 16] + l % 16);
    }
    w = lanes_wave();
    run(w, "v_permlane32_swap_b32_e32 v40, v10", 0x7e50b50a, 0);
    for (unsigned l = 0; l < 32; l++) {
        ck_assert_uint_eq(w->vgpr[40][l], 2000 + l);
        ck_assert_uint_eq(w->vgpr[40][32 + l], 1000 + l);
        ck_assert_uint_eq(w->vgpr[10][l], 2032 + l);
        ck_assert_uint_eq(w->vgpr[10][32 + l], 1032 + l);
    }
    ck_assert_uint_eq(isa_findings, 0);
    w = lanes_wave();
    set_exec(w, 5);
    run(w, "v_swap_b32 v40, v10", 0x7e50a30a, 0);
    ck_assert_uint_eq(w->vgpr[40][0], 1000);
    ck_assert_uint_eq(w->vgpr[10][2], 2002);
    ck_assert_uint_eq(w->vgpr[10][1], 1001);
}
END_TEST

START_TEST(test_valu_lane_register_files)
{
    struct sim_wave *w = lanes_wave();
    set_exec(w, UINT64_MAX >> 1);
    run(w, "v_accvgpr_read_b32 v40, a10", 0xd3d84028, 0x1800010a);
    ck_assert_uint_eq(w->vgpr[40][5], 3005);
    ck_assert_uint_eq(w->vgpr[40][63], 2063);
    run(w, "v_accvgpr_write_b32 a40, v10", 0xd3d94028, 0x1800010a);
    ck_assert_uint_eq(w->vgpr[256 + 40][5], 1005);
    run(w, "v_accvgpr_write_b32 a40, 1.0", 0xd3d94028, 0x180000f2);
    ck_assert_uint_eq(w->vgpr[256 + 40][5], 0x3f800000);
    run(w, "v_accvgpr_mov_b32 a40, a10", 0x7e50a50a, 0);
    ck_assert_uint_eq(w->vgpr[256 + 40][9], 3009);
}
END_TEST

START_TEST(test_valu_lane_counts_lower_lanes)
{
    struct sim_wave *w = lanes_wave();
    run(w, "v_mbcnt_lo_u32_b32 v40, -1, 0", 0xd28c0028, 0x000100c1);
    ck_assert_uint_eq(w->vgpr[40][0], 0);
    ck_assert_uint_eq(w->vgpr[40][31], 31);
    ck_assert_uint_eq(w->vgpr[40][32], 32);
    ck_assert_uint_eq(w->vgpr[40][63], 32);
    run(w, "v_mbcnt_hi_u32_b32 v40, -1, v10", 0xd28d0028, 0x000214c1);
    ck_assert_uint_eq(w->vgpr[40][31], 1031);
    ck_assert_uint_eq(w->vgpr[40][63], 1063 + 31);
}
END_TEST

/* A DPP control and, for some lanes, the lane it reads from; -1 = out of range. */
struct dpp_case {
    const char *ctrl;
    uint32_t word;
    struct {
        int8_t lane, source;
    } at[8];
};

#define DPP_MOV 0x7e5002fau

static const struct dpp_case dpp_cases[] = {
    { "quad_perm:[3,2,1,0]",
      0x1b,
      { { 0, 3 },
        { 1, 2 },
        { 2, 1 },
        { 3, 0 },
        { 37, 38 },
        { 60, 63 },
        { 63, 60 },
        { 5, 6 } } },
    { "row_shl:3",
      0x103,
      { { 0, 3 },
        { 12, 15 },
        { 13, -1 },
        { 15, -1 },
        { 16, 19 },
        { 60, 63 },
        { 61, -1 },
        { 31, -1 } } },
    { "row_shr:1",
      0x111,
      { { 0, -1 },
        { 1, 0 },
        { 15, 14 },
        { 16, -1 },
        { 17, 16 },
        { 48, -1 },
        { 63, 62 },
        { 32, -1 } } },
    { "row_ror:4",
      0x124,
      { { 0, 12 },
        { 3, 15 },
        { 4, 0 },
        { 15, 11 },
        { 16, 28 },
        { 63, 59 },
        { 48, 60 },
        { 20, 16 } } },
    { "wave_shl:1",
      0x130,
      { { 0, 1 },
        { 15, 16 },
        { 62, 63 },
        { 63, -1 },
        { 31, 32 },
        { 47, 48 },
        { 1, 2 },
        { 2, 3 } } },
    { "wave_rol:1",
      0x134,
      { { 0, 1 },
        { 15, 16 },
        { 62, 63 },
        { 63, 0 },
        { 31, 32 },
        { 47, 48 },
        { 1, 2 },
        { 2, 3 } } },
    { "wave_shr:1",
      0x138,
      { { 0, -1 },
        { 16, 15 },
        { 63, 62 },
        { 1, 0 },
        { 32, 31 },
        { 48, 47 },
        { 2, 1 },
        { 3, 2 } } },
    { "wave_ror:1",
      0x13c,
      { { 0, 63 },
        { 16, 15 },
        { 63, 62 },
        { 1, 0 },
        { 32, 31 },
        { 48, 47 },
        { 2, 1 },
        { 3, 2 } } },
    { "row_mirror",
      0x140,
      { { 0, 15 },
        { 15, 0 },
        { 16, 31 },
        { 20, 27 },
        { 63, 48 },
        { 33, 46 },
        { 7, 8 },
        { 8, 7 } } },
    { "row_half_mirror",
      0x141,
      { { 0, 7 },
        { 7, 0 },
        { 8, 15 },
        { 15, 8 },
        { 16, 23 },
        { 63, 56 },
        { 3, 4 },
        { 44, 43 } } },
    { "row_bcast:15",
      0x142,
      { { 0, -1 },
        { 15, -1 },
        { 16, 15 },
        { 31, 15 },
        { 32, 31 },
        { 47, 31 },
        { 48, 47 },
        { 63, 47 } } },
    { "row_bcast:31",
      0x143,
      { { 0, -1 },
        { 31, -1 },
        { 32, 31 },
        { 47, 31 },
        { 48, 31 },
        { 63, 31 },
        { 16, -1 },
        { 15, -1 } } },
    { "row_newbcast:5",
      0x155,
      { { 0, 5 },
        { 15, 5 },
        { 16, 21 },
        { 31, 21 },
        { 47, 37 },
        { 48, 53 },
        { 63, 53 },
        { 5, 5 } } },
};

START_TEST(test_valu_lane_dpp_controls)
{
    for (size_t i = 0; i < sizeof(dpp_cases) / sizeof(dpp_cases[0]); i++) {
        const struct dpp_case *c = &dpp_cases[i];
        for (unsigned bound = 0; bound < 2; bound++) {
            char text[128];
            snprintf(text, sizeof(text),
                     "v_mov_b32_dpp v40, v10 %s row_mask:0xf bank_mask:0xf%s", c->ctrl,
                     bound != 0 ? " bound_ctrl:1" : "");
            struct sim_wave *w = lanes_wave();
            run(w, text, DPP_MOV, 0xff00000a | c->word << 8 | bound << 19);
            for (unsigned k = 0; k < 8; k++) {
                const unsigned l = (unsigned)c->at[k].lane;
                const uint32_t want = c->at[k].source >= 0 ? 1000 + (uint32_t)c->at[k].source
                                      : bound != 0         ? 0
                                                           : 2000 + l;
                ck_assert_msg(w->vgpr[40][l] == want, "%s lane %u: %u, want %u", text, l,
                              w->vgpr[40][l], want);
            }
        }
    }
}
END_TEST

START_TEST(test_valu_lane_dpp_masks)
{
    struct sim_wave *w = lanes_wave();
    run(w, "v_mov_b32_dpp v40, v10 row_shr:1 row_mask:0x5 bank_mask:0x9", DPP_MOV, 0x5901110a);
    for (unsigned l = 0; l < SIM_LANES; l++) {
        const bool row = l / 16 == 0 || l / 16 == 2;
        const bool bank = l % 16 / 4 == 0 || l % 16 / 4 == 3;
        const bool written = row && bank && l % 16 != 0;
        ck_assert_uint_eq(w->vgpr[40][l], written ? 1000 + l - 1 : 2000 + l);
    }
    /* A source lane outside EXEC is out of range: the destination keeps its value. */
    w = lanes_wave();
    set_exec(w, 0x6);
    run(w, "v_mov_b32_dpp v40, v10 row_shr:1 row_mask:0xf bank_mask:0xf", DPP_MOV, 0xff01110a);
    ck_assert_uint_eq(w->vgpr[40][1], 2001);
    ck_assert_uint_eq(w->vgpr[40][2], 1001);
    ck_assert_uint_eq(w->vgpr[40][3], 2003);
}
END_TEST

START_TEST(test_valu_lane_dpp_modifiers)
{
    struct sim_wave *w = lanes_wave();
    for (unsigned l = 0; l < SIM_LANES; l++) {
        w->vgpr[10][l] = l % 16 == 1 ? 0x3f800000 : 0x7fc00000; /* 1.0 where it is read */
        w->vgpr[11][l] = l;
        w->vgpr[20][l] = 0xc0000000; /* -2.0 */
    }
    run(w, "v_add_f32_dpp v40, -v10, |v20| row_newbcast:1 row_mask:0xf bank_mask:0xf",
        0x025028fa, 0xff91510a);
    ck_assert_uint_eq(w->vgpr[40][0], 0x3f800000);
    ck_assert_uint_eq(w->vgpr[40][50], 0x3f800000);
    run(w, "v_mov_b64_dpp v[40:41], v[10:11] row_newbcast:2 row_mask:0xf bank_mask:0xf",
        0x7e5070fa, 0xff01520a);
    ck_assert_uint_eq(w->vgpr[40][20], 0x7fc00000);
    ck_assert_uint_eq(w->vgpr[41][20], 18);
}
END_TEST

/* SDWA: v10 = a, v20 = b, v40 = old in all lanes; result in lane 3. */
struct sdwa_case {
    const char *text;
    uint32_t words[2], a, b, old, want;
};

static const struct sdwa_case sdwa_cases[] = {
    { "v_add_u32_sdwa v40, v10, v20 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
      "src1_sel:WORD_1",
      { 0x685028f9, 0x0501060a },
      0x1122f344,
      0x8001ffff,
      0,
      0x80f4 },
    { "v_add_u32_sdwa v40, sext(v10), sext(v20) dst_sel:DWORD dst_unused:UNUSED_PAD "
      "src0_sel:BYTE_3 src1_sel:WORD_0",
      { 0x685028f9, 0x0c0b060a },
      0x80000000,
      0x12348000,
      0,
      0xffff7f80 },
    { "v_lshlrev_b32_sdwa v40, v10, v20 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
      "src0_sel:BYTE_0 src1_sel:DWORD",
      { 0x245028f9, 0x0600150a },
      0xffffff04,
      0x00000123,
      0x11223344,
      0x12303344 },
    { "v_or_b32_sdwa v40, v10, v20 dst_sel:BYTE_2 dst_unused:UNUSED_SEXT src0_sel:DWORD "
      "src1_sel:DWORD",
      { 0x285028f9, 0x06060a0a },
      0x80,
      0x1,
      0x11223344,
      0xff810000 },
    { "v_or_b32_sdwa v40, v10, v20 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:DWORD "
      "src1_sel:DWORD",
      { 0x285028f9, 0x0606010a },
      0x1280,
      0x1,
      0x11223344,
      0x8100 },
    { "v_add_f16_sdwa v40, v10, -v20 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 "
      "src1_sel:WORD_0",
      { 0x3e5028f9, 0x1405150a },
      0x40001234,
      0x12343c00,
      0x11223344,
      0x3c003344 },
};

START_TEST(test_valu_lane_sdwa)
{
    for (size_t i = 0; i < sizeof(sdwa_cases) / sizeof(sdwa_cases[0]); i++) {
        const struct sdwa_case *c = &sdwa_cases[i];
        struct sim_wave *w = lanes_wave();
        for (unsigned l = 0; l < SIM_LANES; l++) {
            w->vgpr[10][l] = c->a;
            w->vgpr[20][l] = c->b;
            w->vgpr[40][l] = c->old;
        }
        run(w, c->text, c->words[0], c->words[1]);
        ck_assert_msg(w->vgpr[40][3] == c->want, "%s: %#x, want %#x", c->text, w->vgpr[40][3],
                      c->want);
    }
    struct sim_wave *w = lanes_wave();
    w->vgpr[10][2] = 0x11223344;
    w->vgpr[20][2] = 0x55664499;
    run(w, "v_cmp_eq_u32_sdwa s[4:5], v10, v20 src0_sel:BYTE_0 src1_sel:BYTE_1", 0x7d9428f9,
        0x0100840a);
    ck_assert_uint_eq(w->sgpr[4] >> 2 & 1, 1);
}
END_TEST

START_TEST(test_valu_lane_compare_and_exec)
{
    struct sim_wave *w = lanes_wave();
    for (unsigned l = 0; l < SIM_LANES; l++) {
        w->vgpr[20][l] = 1010;
    }
    set_exec(w, 0xffff00000000ff00);
    run(w, "v_cmp_gt_u32_e32 vcc, v10, v20", 0x7d98290a, 0);
    ck_assert(sim_vcc(w) == 0xffff00000000f800); /* inactive lanes read as 0 */
    ck_assert(sim_exec_mask(w) == 0xffff00000000ff00);
    run(w, "v_cmpx_gt_u32_e32 vcc, v10, v20", 0x7db8290a, 0);
    ck_assert(sim_vcc(w) == 0xffff00000000f800);
    ck_assert(sim_exec_mask(w) == 0xffff00000000f800);
    run(w, "v_add_u32_e32 v40, v10, v20", 0x6850290a, 0);
    ck_assert_uint_eq(w->vgpr[40][11], 2021);
    ck_assert_uint_eq(w->vgpr[40][10], 2010);
    set_exec(w, 0);
    run(w, "v_add_u32_e32 v40, v10, v20", 0x6850290a, 0);
    ck_assert_uint_eq(w->vgpr[40][12], 2022);
}
END_TEST

START_TEST(test_valu_lane_vgpr_indexing)
{
    struct sim_wave *w = lanes_wave();
    w->sgpr[8] = 0x105; /* eight bits count */
    w->sgpr[SIM_SGPR_M0] = 0xabcd0f00;
    w->vgpr[15][4] = 1234;
    run(w, "s_set_gpr_idx_on s8, gpr_idx(SRC0,DST)", 0xbf110908, 0);
    ck_assert_uint_eq(w->sgpr[SIM_SGPR_M0], 0xabcd9f05);
    run(w, "v_mov_b32_e32 v40, v10", 0x7e50030a, 0);
    ck_assert_uint_eq(w->vgpr[45][4], 1234);
    ck_assert_uint_eq(w->vgpr[40][4], 2004);
    w->sgpr[9] = 2;
    run(w, "s_set_gpr_idx_idx s9", 0xbe803209, 0);
    ck_assert_uint_eq(w->sgpr[SIM_SGPR_M0], 0xabcd9f02);
    run(w, "s_set_gpr_idx_mode gpr_idx(SRC1)", 0xbf9d0002, 0);
    ck_assert_uint_eq(w->sgpr[SIM_SGPR_M0], 0xabcd2f02);
    w->vgpr[22][1] = 7;
    w->vgpr[20][1] = 100;
    run(w, "v_add_u32_e32 v40, v10, v20", 0x6850290a, 0);
    ck_assert_uint_eq(w->vgpr[40][1], 1008);
    ck_assert_uint_eq(isa_findings, 0);
    w->sgpr[9] = 250;
    run(w, "s_set_gpr_idx_idx s9", 0xbe803209, 0);
    run(w, "v_add_u32_e32 v40, v10, v20", 0x6850290a, 0);
    ck_assert_uint_eq(isa_findings, 1); /* v270 does not exist */
    run(w, "s_set_gpr_idx_off", 0xbf9c0000, 0);
    run(w, "v_mov_b32_e32 v40, v10", 0x7e50030a, 0);
    ck_assert_uint_eq(w->vgpr[40][1], 1001);
}
END_TEST

START_TEST(test_valu_lane_reports_what_is_undefined)
{
    struct sim_wave *w = lanes_wave();
    set_exec(w, UINT64_MAX >> 1);
    run(w, "v_permlane16_swap_b32_e32 v40, v10", 0x7e50b30a, 0);
    ck_assert_uint_eq(isa_findings, 1);
    ck_assert_int_eq(isa_last_finding, SIM_FIND_UNPREDICTABLE);
    w = lanes_wave();
    for (unsigned l = 0; l < SIM_LANES; l++) {
        w->vgpr[20][l] = 5; /* shift counts above 4 are not supported */
    }
    run(w, "v_lshl_add_u64 v[40:41], v[10:11], v20, v[30:31]", 0xd2080028, 0x047a290a);
    ck_assert_uint_eq(isa_findings, 1);
    w = lanes_wave();
    run(w, "v_pk_mul_f32 v[40:41], v[10:11], 2.0", 0xd3b14028, 0x1801e90a);
    ck_assert_uint_eq(isa_findings, 1); /* the upper half of a constant */
}
END_TEST

/* A stochastic conversion adds the random bits below the kept ones. */
START_TEST(test_valu_lane_stochastic_rounding)
{
    struct sim_wave *w = lanes_wave();
    for (unsigned l = 0; l < SIM_LANES; l++) {
        w->vgpr[10][l] = 0x3f808000; /* halfway between two bf16 */
        w->vgpr[20][l] = l % 2 == 0 ? 0 : UINT32_MAX;
        w->vgpr[40][l] = 0x11223344;
    }
    run(w, "v_cvt_sr_bf16_f32 v40, v10, v20", 0xd2a70028, 0x0002290a);
    ck_assert_uint_eq(w->vgpr[40][0], 0x11223f80);
    ck_assert_uint_eq(w->vgpr[40][1], 0x11223f81);
    for (unsigned l = 0; l < SIM_LANES; l++) {
        w->vgpr[10][l] = 0x3f801000;
    }
    run(w, "v_cvt_sr_f16_f32 v40, v10, v20 op_sel:[0,0,1]", 0xd2a64028, 0x0002290a);
    ck_assert_uint_eq(w->vgpr[40][0], 0x3c003f80);
    ck_assert_uint_eq(w->vgpr[40][1], 0x3c013f81);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        test_valu_lane_reads_and_writes,
        test_valu_lane_swaps,
        test_valu_lane_register_files,
        test_valu_lane_counts_lower_lanes,
        test_valu_lane_dpp_controls,
        test_valu_lane_dpp_masks,
        test_valu_lane_dpp_modifiers,
        test_valu_lane_sdwa,
        test_valu_lane_compare_and_exec,
        test_valu_lane_vgpr_indexing,
        test_valu_lane_reports_what_is_undefined,
        test_valu_lane_stochastic_rounding,
        NULL,
    };
    return isa_main("valu_lane", tests);
}
