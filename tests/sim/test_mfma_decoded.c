/* SPDX-License-Identifier: MIT */
/*
 * Matrix and conversion instructions from their encoding to their result: that
 * decoder, instruction rows and semantics agree on operands and modifiers.  The
 * words are those that LLVM's assembler makes of the texts beside them.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fp_lowp.h"
#include "wave.h"

static struct sim_wave *w;

static void setup(void)
{
    w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    memset(w, 0, sizeof *w);
    w->mode = 0xF0;
    w->sgpr[SIM_SGPR_EXEC] = w->sgpr[SIM_SGPR_EXEC + 1] = 0xFFFFFFFF;
}

static void teardown(void)
{
    free(w);
}

static void run(const uint8_t *code, size_t size)
{
    struct sim_inst inst;
    ck_assert_uint_eq(sim_decode(code, size, 0, &inst), size);
    ck_assert_ptr_nonnull(inst.op->exec);
    w->inst = &inst;
    inst.op->exec(w, &inst);
    w->inst = NULL;
}

#define RUN(...)                                                                               \
    do {                                                                                       \
        static const uint8_t code_[] = __VA_ARGS__;                                            \
        run(code_, sizeof code_);                                                              \
    } while (0)

static void fill(unsigned reg, unsigned count, uint32_t value)
{
    for (unsigned r = reg; r < reg + count; r++) {
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            w->vgpr[r][lane] = value;
        }
    }
}

static uint32_t bits(float x)
{
    return sim_f32_bits(x);
}

static float val(unsigned reg, unsigned lane)
{
    return sim_f32_from_bits(w->vgpr[reg][lane]);
}

/* v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v12, v13 op_sel:[1,0,0]
 * op_sel_hi:[0,1,0] cbsz:4 blgp:4 */
START_TEST(test_mfma_decoded_scaled)
{
    fill(0, 4, bits(1.0f));
    fill(4, 8, 0x22222222);               /* all 1.0 */
    fill(12, 1, 0x0000807F | 0x10 << 16); /* byte 1: 2^1 */
    fill(13, 1, 0x00820000);              /* byte 2: 2^3 */
    RUN({ 0x00, 0x08, 0xac, 0xd3, 0x0c, 0x1b, 0x02, 0x10, 0x00, 0x0c, 0xad, 0xd3, 0x04, 0x11,
          0x02, 0x84 });
    ck_assert(val(0, 0) == 1 + 128 * 16);
    ck_assert(val(3, 63) == 1 + 128 * 16);
}
END_TEST

/* v_mfma_scale_f32_32x32x64_f8f6f4 a[0:15], v[4:11], a[20:25], 1.0, v12, v13 op_sel:[0,1,0]
 * op_sel_hi:[1,0,0] cbsz:1 blgp:2: BF8 by FP6, A in VGPRs, B and D in AGPRs */
START_TEST(test_mfma_decoded_mixed_formats)
{
    fill(4, 8, 0x40404040); /* BF8 2.0 */
    fill(256 + 20, 6, 0);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) { /* FP6 1.0 = 0x08, 32 of them */
        for (unsigned bit = 3; bit < 192; bit += 6) {
            w->vgpr[256 + 20 + bit / 32][lane] |= 1u << bit % 32;
        }
    }
    fill(12, 1, 0x00810000); /* byte 2: 2^2 */
    fill(13, 1, 0x00008000); /* byte 1: 2^1 */
    RUN({ 0x00, 0x10, 0xac, 0xd3, 0x0c, 0x1b, 0x02, 0x08, 0x00, 0x89, 0xae, 0xd3, 0x04, 0x29,
          0xca, 0x53 });
    ck_assert(val(256, 0) == 1 + 64 * 2 * 8);
    ck_assert(val(256 + 15, 63) == 1 + 64 * 2 * 8);
}
END_TEST

/* v_mfma_f32_32x32x64_f8f6f4 a[0:15], v[4:7], v[8:11], 0 cbsz:4 blgp:4 */
START_TEST(test_mfma_decoded_unscaled)
{
    fill(4, 4, 0x77777777); /* 6.0 */
    fill(8, 4, 0x11111111); /* 0.5 */
    RUN({ 0x00, 0x84, 0xae, 0xd3, 0x04, 0x11, 0x02, 0x82 });
    ck_assert(val(256 + 7, 40) == 64 * 3);
}
END_TEST

START_TEST(test_mfma_decoded_fp4_conversions)
{
    /* v_cvt_scalef32_pk_fp4_f32 v0, -v1, |v2|, v3 op_sel:[0,0,1,1] */
    fill(0, 1, 0x11223344);
    fill(1, 1, bits(4.0f));
    fill(2, 1, bits(-2.0f));
    fill(3, 1, bits(2.0f));
    RUN({ 0x00, 0x62, 0x3d, 0xd2, 0x01, 0x05, 0x0e, 0x24 });
    ck_assert_uint_eq(w->vgpr[0][17], 0x2C223344); /* {|-2| / 2, -4 / 2} */
    /* v_cvt_scalef32_pk_fp4_bf16 v0, v1, v2 op_sel:[0,0,0,1] */
    fill(1, 1, 0xC0003F80); /* -2, 1 */
    fill(2, 1, bits(1.0f));
    RUN({ 0x00, 0x40, 0x4d, 0xd2, 0x01, 0x05, 0x02, 0x00 });
    ck_assert_uint_eq(w->vgpr[0][5], 0x2CC23344);
    /* v_cvt_scalef32_pk_f32_fp4 v[0:1], v2, v3 op_sel:[0,1,0] */
    fill(2, 1, 0x00620000);
    RUN({ 0x00, 0x10, 0x3f, 0xd2, 0x02, 0x07, 0x02, 0x00 });
    ck_assert(val(0, 9) == 2.0f);
    ck_assert(val(1, 9) == 8.0f);
}
END_TEST

START_TEST(test_mfma_decoded_fp8_conversions)
{
    /* v_cvt_scalef32_f16_fp8 v0, v1, v2 op_sel:[0,1,1]: byte 2 to the upper half */
    fill(0, 1, 0xAAAABBBB);
    fill(1, 1, 0x00380000); /* 1.0 */
    fill(2, 1, bits(4.0f));
    RUN({ 0x00, 0x50, 0x4a, 0xd2, 0x01, 0x05, 0x02, 0x00 });
    ck_assert_uint_eq(w->vgpr[0][63], 0x4400BBBB);
    /* v_cvt_scalef32_sr_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]: byte 2 */
    fill(1, 1, bits(17.0f)); /* between 16 and 18 */
    fill(2, 1, 0x80000000);
    fill(3, 1, bits(1.0f));
    RUN({ 0x00, 0x40, 0x37, 0xd2, 0x01, 0x05, 0x0e, 0x04 });
    ck_assert_uint_eq(w->vgpr[0][1], 0x4459BBBB);
    fill(2, 1, 0x7FFFFFFF);
    RUN({ 0x00, 0x40, 0x37, 0xd2, 0x01, 0x05, 0x0e, 0x04 });
    ck_assert_uint_eq(w->vgpr[0][1], 0x4458BBBB);
    /* v_cvt_pk_bf8_f32 v0, v1, v2 op_sel:[0,0,1] */
    fill(1, 1, bits(1.0f));
    fill(2, 1, bits(-2.0f));
    RUN({ 0x00, 0x40, 0xa3, 0xd2, 0x01, 0x05, 0x02, 0x00 });
    ck_assert_uint_eq(w->vgpr[0][1], 0xC03CBBBB);
    /* v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_2 */
    fill(1, 1, 0x00B80000);
    RUN({ 0xf9, 0xa8, 0x00, 0x7e, 0x01, 0x06, 0x02, 0x00 });
    ck_assert(val(0, 30) == -1.0f);
    /* v_cvt_pk_f32_bf8_sdwa v[0:1], v2 src0_sel:WORD_1 */
    fill(2, 1, 0xC03C0000);
    RUN({ 0xf9, 0xae, 0x00, 0x7e, 0x02, 0x06, 0x05, 0x00 });
    ck_assert(val(0, 30) == 1.0f);
    ck_assert(val(1, 30) == -2.0f);
    /* v_cvt_f32_fp8_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf */
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        w->vgpr[1][lane] = lane & 1 ? 0x38 : 0x40;
    }
    RUN({ 0xfa, 0xa8, 0x00, 0x7e, 0x01, 0xb1, 0x00, 0xff });
    ck_assert(val(0, 20) == 1.0f);
    ck_assert(val(0, 21) == 2.0f);
}
END_TEST

START_TEST(test_mfma_decoded_fp6_conversions)
{
    /* v_cvt_scalef32_2xpk16_fp6_f32 v[0:5], v[6:21], v[22:37], v38 */
    fill(6, 16, bits(1.0f));  /* 0x08 */
    fill(22, 16, bits(2.0f)); /* 0x10 */
    fill(38, 1, bits(1.0f));
    RUN({ 0x00, 0x00, 0x52, 0xd2, 0x06, 0x2d, 0x9a, 0x04 });
    uint32_t want[6] = { 0 };
    for (unsigned e = 0; e < 32; e++) {
        const uint64_t code = e & 1 ? 0x10 : 0x08;
        want[e * 6 / 32] |= (uint32_t)(code << e * 6 % 32);
        if (e * 6 % 32 > 26) {
            want[e * 6 / 32 + 1] |= (uint32_t)(code >> (32 - e * 6 % 32));
        }
    }
    for (unsigned d = 0; d < 6; d++) {
        ck_assert_uint_eq(w->vgpr[d][11], want[d]);
    }
    /* v_cvt_scalef32_sr_pk32_bf6_bf16 v[0:5], v[6:21], v22, v23: exact values, any seed */
    fill(6, 16, 0x3F803F80); /* 1.0 = 0x0C */
    fill(22, 1, 0xFFFFFFFF);
    fill(23, 1, bits(1.0f));
    RUN({ 0x00, 0x00, 0x5f, 0xd2, 0x06, 0x2d, 0x5e, 0x04 });
    for (unsigned e = 0; e < 32; e++) {
        unsigned code = 0;
        for (unsigned b = 0; b < 6; b++) {
            const unsigned bit = e * 6 + b;
            code |= (w->vgpr[bit / 32][2] >> bit % 32 & 1) << b;
        }
        ck_assert_uint_eq(code, 0x0C);
    }
}
END_TEST

START_TEST(test_mfma_decoded_dense_forms)
{
    /* v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7] neg:[1,0,1] */
    for (unsigned r = 0; r < 12; r += 2) {
        fill(r, 1, 0);
        fill(r + 1, 1, 0x40000000); /* 2.0 */
    }
    RUN({ 0x00, 0x00, 0xee, 0xd3, 0x08, 0x15, 0x02, 0xa4 });
    ck_assert_uint_eq(w->vgpr[1][33], 0xC0320000); /* -2 - 4 * 4 = -18 */
    /* v_mfma_f32_4x4x4_16b_f16 a[0:3], v[4:5], v[6:7], a[0:3] cbsz:1 abid:1 blgp:3 */
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        w->vgpr[4][lane] = lane >= 32 ? 0x40004000 : 0; /* 2.0 in the upper 32 lanes */
        w->vgpr[5][lane] = 0;
        w->vgpr[6][lane] = lane < 16 ? 0x3C003C00 : 0; /* 1.0 in the first 16 */
        w->vgpr[7][lane] = 0;
    }
    fill(256, 4, 0);
    RUN({ 0x00, 0x89, 0xca, 0xd3, 0x04, 0x0d, 0x02, 0x64 });
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        ck_assert(val(256 + 2, lane) == (lane >= 48 ? 4.0f : 0.0f)); /* (l + 16) % 64 < 16 */
    }
    /* v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[8:11], v12 abid:2 */
    fill(0, 4, bits(5.0f));
    fill(4, 2, 0x3C003C00);
    fill(8, 2, 0x44004000);  /* k = 0, 1: 2, 4; k = 2, 3: the same */
    fill(10, 2, 0);          /* k = 4..7: 0 */
    fill(12, 1, 0x00E40000); /* set 2: first pair 0, 1; second pair 2, 3 */
    RUN({ 0x00, 0x10, 0xe2, 0xd3, 0x04, 0x11, 0x32, 0x04 });
    ck_assert(val(0, 0) == 5 + 4 * (2 + 4));
    /* v_mfma_f32_16x16x32_bf8_fp8 v[0:3], v[4:5], v[6:7], v[0:3] */
    fill(0, 4, 0);
    fill(4, 2, 0x3C3C3C3C); /* BF8 1.0, FP8 1.5 * 2^0 */
    fill(6, 2, 0x38383838); /* FP8 1.0, BF8 0.5 */
    RUN({ 0x00, 0x00, 0xf1, 0xd3, 0x04, 0x0d, 0x02, 0x04 });
    ck_assert(val(1, 1) == 32.0f);
    /* v_mfma_i32_16x16x64_i8 v[0:3], v[4:7], v[8:11], v[0:3] */
    fill(0, 4, 7);
    fill(4, 4, 0x01010101);
    fill(8, 4, 0xFEFEFEFE);
    RUN({ 0x00, 0x00, 0xb6, 0xd3, 0x04, 0x11, 0x02, 0x04 });
    ck_assert_int_eq((int32_t)w->vgpr[3][3], 7 - 2 * 64);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mfma_decoded");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_mfma_decoded_scaled);
    tcase_add_test(t, test_mfma_decoded_mixed_formats);
    tcase_add_test(t, test_mfma_decoded_unscaled);
    tcase_add_test(t, test_mfma_decoded_fp4_conversions);
    tcase_add_test(t, test_mfma_decoded_fp8_conversions);
    tcase_add_test(t, test_mfma_decoded_fp6_conversions);
    tcase_add_test(t, test_mfma_decoded_dense_forms);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
