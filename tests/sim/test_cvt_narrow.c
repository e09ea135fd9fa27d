/* SPDX-License-Identifier: MIT */
/*
 * Conversions to the small formats as instructions: operands, scale, byte and
 * word selection, EXEC, modifiers, reports.
 */
#include "exec_cvt.h"

#include "exec_mfma.h"
#include "test_lowp_ref.h"
#include "test_mfma_wave.h"

static struct sim_op op = { .name = "v_cvt_under_test" };
static struct sim_inst inst;

static struct ref_fmt *const refs[] = {
    [SIM_FMT_FP8] = &ref_fp8, [SIM_FMT_BF8] = &ref_bf8, [SIM_FMT_FP6] = &ref_fp6,
    [SIM_FMT_BF6] = &ref_bf6, [SIM_FMT_FP4] = &ref_fp4,
};

/* Registers: 0.. destination, 16.. first source, 48.. second, 80 seed, 81 scale. */
enum { DST = 0, SRC0 = 16, SRC1 = 48, SEED = 80, SCALE = 81 };

static void setup(unsigned src, unsigned dst, unsigned count, unsigned flags)
{
    wave_reset();
    ref_init(refs[dst]);
    memset(&inst, 0, sizeof inst);
    op.p[0] = (uint8_t)src;
    op.p[1] = (uint8_t)dst;
    op.p[2] = (uint8_t)count;
    op.p[3] = (uint8_t)flags;
    inst.op = &op;
    inst.dst[0] = vgpr(DST, count == 32 ? 6 : 1);
    unsigned n = 0;
    inst.src[n++] = vgpr(SRC0, 1);
    if (flags & SIM_P_SR) {
        inst.src[n++] = vgpr(SEED, 1);
    } else if (src == SIM_FMT_F32 && count > 1) {
        inst.src[n++] = vgpr(SRC1, 1);
    }
    inst.src[n] = vgpr(SCALE, 1);
}

/* Element e of a lane, where the ISA text's pseudo-code takes it from. */
static uint32_t element(unsigned lane, unsigned e)
{
    const bool two = op.p[0] == SIM_FMT_F32 && op.p[2] > 1 && !(op.p[3] & SIM_P_SR);
    if (op.p[0] == SIM_FMT_F32) {
        return two ? wave.vgpr[(e & 1 ? SRC1 : SRC0) + e / 2][lane] : wave.vgpr[SRC0 + e][lane];
    }
    const unsigned half = op.p[2] == 1 ? inst.opsel & 1 : e & 1;
    const uint16_t h = (uint16_t)(wave.vgpr[SRC0 + e / 2][lane] >> 16 * half);
    return op.p[0] == SIM_FMT_F16 ? sim_f16_to_f32(h) : sim_bf16_to_f32(h);
}

/* All result bits of a lane, as up to 6 dwords. */
static void expected(unsigned lane, bool scaled, uint32_t out[6])
{
    const struct ref_fmt *f = refs[op.p[1]];
    const bool saturate = wave.mode & SIM_MODE_FP16_OVFL;
    const int scale = scaled ? (int)(wave.vgpr[SCALE][lane] >> 23 & 255) : 127;
    uint32_t seed = wave.vgpr[SEED][lane];
    memset(out, 0, 24);
    for (unsigned e = 0; e < op.p[2]; e++) {
        const double x = (double)f32(element(lane, e));
        const unsigned code = op.p[3] & SIM_P_SR ? ref_narrow_sr(f, x, scale, saturate, seed)
                                                 : ref_narrow(f, x, scale, saturate);
        for (unsigned b = 0; b < f->bits; b++) {
            const unsigned bit = e * f->bits + b;
            out[bit / 32] |= (uint32_t)(code >> b & 1) << bit % 32;
        }
        seed = seed << 1 ^ (seed >> 31 ? 197u : 0u);
    }
}

/* Inputs that are no NaN and scales near them, none 0xFF. */
static void usual_inputs(void)
{
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        for (unsigned r = SRC0; r < SEED; r++) {
            uint32_t x = rnd();
            if (op.p[0] == SIM_FMT_F32) {
                x = (x & 0x807FFFFF) | (100 + rnd() % 56) << 23;
            } else if (op.p[0] == SIM_FMT_BF16) {
                x = (x & 0x807F807F) | (100 + rnd() % 56) << 7 | (100 + rnd() % 56) << 23;
            } else {
                x &= 0xFBFFFBFF; /* exponents below 31 */
            }
            wave.vgpr[r][lane] = x;
        }
        wave.vgpr[SCALE][lane] = (rnd() & 0x807FFFFF) | (110 + rnd() % 36) << 23;
    }
}

static void run_and_compare(bool scaled)
{
    static uint32_t want[SIM_LANES][6], before[6][SIM_LANES];
    const uint64_t exec = sim_exec_mask(&wave);
    const unsigned bits = op.p[2] * refs[op.p[1]]->bits;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        expected(lane, scaled, want[lane]);
    }
    memcpy(before, wave.vgpr[inst.dst[0].reg], sizeof before);
    (scaled ? sim_x_cvt_scale_narrow : sim_x_cvt_fp8_narrow)(&wave, &inst);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        const unsigned at = bits == 8 ? inst.opsel >> 2 & 3 : 2u * (inst.opsel >> 3 & 1);
        for (unsigned d = 0; d < 6; d++) {
            uint32_t w = before[d][lane];
            if ((exec >> lane & 1) && bits > 32) {
                w = want[lane][d];
            } else if ((exec >> lane & 1) && d == 0) {
                const uint32_t mask = ((1u << bits) - 1) << 8 * at;
                w = (w & ~mask) | want[lane][0] << 8 * at;
            }
            EXPECT(
                wave.vgpr[inst.dst[0].reg + d][lane] == w,
                "%u to %u, %u elements, flags %u, opsel %x, lane %u, dword %u: %08x want %08x",
                op.p[0], op.p[1], op.p[2], op.p[3], inst.opsel, lane, d,
                wave.vgpr[inst.dst[0].reg + d][lane], w);
        }
    }
}

/* Every form of the instruction table, every OP_SEL, full and partial EXEC. */
START_TEST(test_cvt_narrow_all_forms)
{
    for (unsigned src = SIM_FMT_F32; src <= SIM_FMT_BF16; src++) {
        for (unsigned dst = SIM_FMT_FP8; dst <= SIM_FMT_FP4; dst++) {
            const unsigned bits = refs[dst]->bits;
            for (unsigned flags = 0; flags <= SIM_P_SR; flags++) {
                const unsigned count = bits == 6 ? 32 : bits == 8 && flags ? 1 : 2;
                for (unsigned opsel = 0; opsel < 16; opsel++) {
                    setup(src, dst, count, flags);
                    usual_inputs();
                    inst.opsel = (uint8_t)opsel;
                    if (opsel & 1) {
                        wave.sgpr[SIM_SGPR_EXEC] = rnd();
                        wave.mode |= SIM_MODE_FP16_OVFL;
                    }
                    run_and_compare(true);
                    ck_assert_uint_eq(found_any(), 0);
                    if (src == SIM_FMT_F32 && bits == 8) {
                        run_and_compare(false);
                    }
                }
            }
        }
    }
}
END_TEST

/* All bf16 inputs under all scales; 0xFF is reported, as is NaN. */
START_TEST(test_cvt_narrow_pk_fp4_bf16_exhaustive)
{
    setup(SIM_FMT_BF16, SIM_FMT_FP4, 2, 0);
    for (unsigned scale = 0; scale < 255; scale++) {
        static uint8_t want[65536];
        for (unsigned h = 0; h < 65536; h++) {
            want[h] = (uint8_t)ref_narrow(&ref_fp4, (double)f32(h << 16), (int)scale, false);
        }
        for (unsigned h = 0; h < 65536; h += 128) {
            for (unsigned lane = 0; lane < SIM_LANES; lane++) {
                wave.vgpr[SRC0][lane] = (h + 2 * lane) | (h + 2 * lane + 1) << 16;
                wave.vgpr[SCALE][lane] = scale << 23 | (rnd() & 0x807FFFFF);
            }
            memset(&found, 0, sizeof found);
            sim_x_cvt_scale_narrow(&wave, &inst);
            for (unsigned lane = 0; lane < SIM_LANES; lane++) {
                const unsigned w = want[h + 2 * lane] | want[h + 2 * lane + 1] << 4;
                EXPECT((wave.vgpr[DST][lane] & 255) == w, "bf16 %04x scale %u: %02x want %02x",
                       h + 2 * lane, scale, wave.vgpr[DST][lane] & 255, w);
            }
            const bool nan = (h & 0x7FFF) >= 0x7F80;
            EXPECT(found.count[SIM_FIND_UNPREDICTABLE] == nan, "bf16 %04x: %u reports", h,
                   found.count[SIM_FIND_UNPREDICTABLE]);
        }
    }
}
END_TEST

/* f32 at and next to every rounding boundary of FP4 under every scale. */
START_TEST(test_cvt_narrow_pk_fp4_f32_ties)
{
    setup(SIM_FMT_F32, SIM_FMT_FP4, 2, 0);
    static const double mid[] = { 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6, 7 };
    for (unsigned scale = 0; scale < 255; scale++) {
        for (unsigned m = 0; m < sizeof mid / sizeof *mid; m++) {
            const double x = ldexp(mid[m], (int)scale - 127);
            if (x > 0x1.fffffep127) {
                continue;
            }
            for (unsigned lane = 0; lane < SIM_LANES; lane++) {
                const uint32_t u = bits32((float)x) + lane % 5 - 2;
                wave.vgpr[SRC0][lane] = u;
                wave.vgpr[SRC1][lane] = u ^ 0x80000000u;
                wave.vgpr[SCALE][lane] = scale << 23;
            }
            inst.opsel = (uint8_t)(scale % 4 << 2);
            run_and_compare(true);
        }
    }
    ck_assert_uint_eq(found_any(), 0);
}
END_TEST

START_TEST(test_cvt_narrow_scale_ff_is_reported)
{
    setup(SIM_FMT_F32, SIM_FMT_FP4, 2, 0);
    usual_inputs();
    wave.vgpr[SCALE][7] = 0x7F800000;
    wave.sgpr[SIM_SGPR_EXEC] = ~(1u << 7);
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(found_any(), 0); /* an inactive lane */
    wave.sgpr[SIM_SGPR_EXEC] = ~0u;
    wave.vgpr[SRC0][7] = 0x3F800000;
    wave.vgpr[SRC1][7] = 0xBF800000;
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNPREDICTABLE], 1);
    ck_assert_uint_eq(wave.vgpr[DST][7] & 255, 0xF7);
    setup(SIM_FMT_F32, SIM_FMT_FP8, 2, 0);
    usual_inputs();
    wave.vgpr[SCALE][7] = 0x7F800000;
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNPREDICTABLE], 1);
    ck_assert_uint_eq(wave.vgpr[DST][7] & 0x7F7F, 0x7F7F);
}
END_TEST

/* NaN has a code in FP8: no report.  Infinity follows FP16_OVFL. */
START_TEST(test_cvt_narrow_fp8_specials)
{
    static const uint32_t in[] = { 0x7FC00000, 0xFF800001, 0x7F800000, 0xFF800000 };
    static const struct {
        unsigned dst, ovfl, want[4];
    } t[] = {
        { SIM_FMT_FP8, 0, { 0x7F, 0xFF, 0x7F, 0xFF } },
        { SIM_FMT_FP8, 1, { 0x7F, 0xFF, 0x7E, 0xFE } },
        { SIM_FMT_BF8, 0, { 0x7E, 0xFE, 0x7C, 0xFC } },
        { SIM_FMT_BF8, 1, { 0x7E, 0xFE, 0x7B, 0xFB } },
    };
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned scaled = 0; scaled < 2; scaled++) {
            setup(SIM_FMT_F32, t[i].dst, 2, 0);
            wave.mode |= t[i].ovfl ? SIM_MODE_FP16_OVFL : 0;
            for (unsigned lane = 0; lane < SIM_LANES; lane++) {
                wave.vgpr[SRC0][lane] = wave.vgpr[SRC1][lane] = in[lane % 4];
                wave.vgpr[SCALE][lane] = 0x3F800000;
            }
            (scaled ? sim_x_cvt_scale_narrow : sim_x_cvt_fp8_narrow)(&wave, &inst);
            for (unsigned lane = 0; lane < 4; lane++) {
                EXPECT_EQ(wave.vgpr[DST][lane] & 0xFFFF, t[i].want[lane] * 0x101u);
            }
            ck_assert_uint_eq(found_any(), 0);
        }
    }
}
END_TEST

START_TEST(test_cvt_narrow_source_modifiers_and_denorms)
{
    setup(SIM_FMT_F32, SIM_FMT_FP4, 2, 0);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        wave.vgpr[SRC0][lane] = bits32(-3.0f);
        wave.vgpr[SRC1][lane] = bits32(2.0f);
        wave.vgpr[SCALE][lane] = bits32(-1.5f); /* only the exponent counts */
    }
    inst.abs = 1;
    inst.neg = 2;
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(wave.vgpr[DST][0] & 255, 0xC5);
    inst.neg = 3;
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(wave.vgpr[DST][0] & 255, 0xCD);
    /* 2^-127 / 2^-127 is 1, unless MODE flushes the f32 source. */
    inst.abs = inst.neg = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        wave.vgpr[SRC0][lane] = 0x00400000;
        wave.vgpr[SRC1][lane] = 0x80400000;
        wave.vgpr[SCALE][lane] = 0;
    }
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(wave.vgpr[DST][0] & 255, 0xA2);
    wave.mode &= ~0xF0u;
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(wave.vgpr[DST][0] & 255, 0x80);
    /* bf16 sources are not flushed. */
    setup(SIM_FMT_BF16, SIM_FMT_FP4, 2, 0);
    wave.mode = 0;
    wave.vgpr[SRC0][5] = 0x80400040;
    wave.vgpr[SCALE][5] = 0;
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(wave.vgpr[DST][5] & 255, 0xA2);
}
END_TEST

/* The destination may be any of the sources. */
START_TEST(test_cvt_narrow_overlap)
{
    for (unsigned which = 0; which < 3; which++) {
        setup(SIM_FMT_F32, SIM_FMT_FP4, 2, 0);
        usual_inputs();
        static const uint16_t reg[] = { SRC0, SRC1, SCALE };
        inst.dst[0].reg = reg[which];
        inst.opsel = 8;
        run_and_compare(true);
    }
    setup(SIM_FMT_F32, SIM_FMT_FP6, 32, 0);
    usual_inputs();
    inst.dst[0].reg = SRC0 + 2;
    run_and_compare(true);
    setup(SIM_FMT_F32, SIM_FMT_BF6, 32, SIM_P_SR);
    usual_inputs();
    inst.dst[0].reg = SRC0;
    run_and_compare(true);
}
END_TEST

START_TEST(test_cvt_narrow_scalar_and_constant_operands)
{
    setup(SIM_FMT_F32, SIM_FMT_FP4, 2, 0);
    inst.src[0] = konst(bits32(4.0f));
    inst.src[1] = (struct sim_opnd){ .kind = SIM_OPND_SGPR, .reg = 10 };
    inst.src[2] = konst(bits32(2.0f));
    wave.sgpr[10] = bits32(-1.0f);
    sim_x_cvt_scale_narrow(&wave, &inst);
    ck_assert_uint_eq(wave.vgpr[DST][33] & 255, 0x94);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cvt_narrow");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_cvt_narrow_all_forms);
    tcase_add_test(t, test_cvt_narrow_pk_fp4_bf16_exhaustive);
    tcase_add_test(t, test_cvt_narrow_pk_fp4_f32_ties);
    tcase_add_test(t, test_cvt_narrow_scale_ff_is_reported);
    tcase_add_test(t, test_cvt_narrow_fp8_specials);
    tcase_add_test(t, test_cvt_narrow_source_modifiers_and_denorms);
    tcase_add_test(t, test_cvt_narrow_overlap);
    tcase_add_test(t, test_cvt_narrow_scalar_and_constant_operands);
    suite_add_tcase(s, t);
    return run_suite(s);
}
