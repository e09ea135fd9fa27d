/* SPDX-License-Identifier: MIT */
/* Conversions from the small formats as instructions: all codes, all scales, all forms. */
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

enum { DST = 0, SRC = 40, SCALE = 50 };

static void setup(unsigned src, unsigned dst, unsigned count)
{
    wave_reset();
    ref_init(refs[src]);
    memset(&inst, 0, sizeof inst);
    op.p[0] = (uint8_t)src;
    op.p[1] = (uint8_t)dst;
    op.p[2] = (uint8_t)count;
    inst.op = &op;
    inst.dst[0] = vgpr(DST, 1);
    inst.src[0] = vgpr(SRC, 1);
    inst.src[1] = vgpr(SCALE, 1);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        wave.vgpr[SCALE][lane] = (rnd() & 0x807FFFFF) | (rnd() % 255) << 23;
    }
}

/* v * 2^(scale - 127) in the target format, rounded once. */
static uint32_t ref_target(unsigned dst, double v, unsigned scale)
{
    const uint32_t sign = signbit(v) ? 1 : 0;
    const int mb = dst == SIM_FMT_F32 ? 23 : dst == SIM_FMT_F16 ? 10 : 7;
    const int emin = dst == SIM_FMT_F16 ? -14 : -126;
    const uint32_t inf = dst == SIM_FMT_F32 ? 0x7F800000 : dst == SIM_FMT_F16 ? 0x7C00 : 0x7F80;
    const uint32_t s = sign << (dst == SIM_FMT_F32 ? 31 : 15);
    if (isnan(v) || scale == 255) {
        return s | inf | 1u << (mb - 1);
    }
    const double x = ldexp(fabs(v), (int)scale - 127);
    if (isinf(x) || x == 0) {
        return s | (x > 0 ? inf : 0);
    }
    int e = ilogb(x);
    e = e < emin ? emin : e;
    const double q = nearbyint(ldexp(x, mb - e)); /* ties to even */
    const double code = ldexp(e - emin, mb) + q;
    return s | (code < inf ? (uint32_t)code : inf);
}

static unsigned source_code(unsigned lane, unsigned e)
{
    const unsigned bits = refs[op.p[0]]->bits;
    unsigned start = 0;
    if (op.p[2] <= 2) {
        start = op.p[2] * bits == 16 ? 16 * (inst.opsel & 1) : 8 * (inst.opsel & 3);
        if (inst.has_sdwa) {
            start = inst.sdwa.src_sel[0] < 4 ? 8 * inst.sdwa.src_sel[0]
                                             : 16 * (inst.sdwa.src_sel[0] == 5);
        }
    }
    unsigned code = 0;
    for (unsigned b = 0; b < bits; b++) {
        const unsigned bit = start + e * bits + b;
        code |= (wave.vgpr[SRC + bit / 32][lane] >> bit % 32 & 1) << b;
    }
    return code;
}

static void run_and_compare(bool scaled)
{
    static uint32_t want[32][SIM_LANES];
    const uint64_t exec = sim_exec_mask(&wave);
    const bool half = op.p[1] != SIM_FMT_F32;
    memcpy(want, wave.vgpr[inst.dst[0].reg], sizeof want);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        for (unsigned e = 0; e < op.p[2] && (exec >> lane & 1); e++) {
            const unsigned scale = scaled ? wave.vgpr[SCALE][lane] >> 23 & 255 : 127;
            const uint32_t r =
                ref_target(op.p[1], ref_widen(refs[op.p[0]], source_code(lane, e)), scale);
            uint32_t *w = &want[half ? e / 2 : e][lane];
            const unsigned shift = 16 * (op.p[2] == 1 ? inst.opsel >> 3 & 1 : e & 1);
            *w = half ? (*w & ~(0xFFFFu << shift)) | r << shift : r;
        }
    }
    (scaled ? sim_x_cvt_scale_widen : sim_x_cvt_fp8_widen)(&wave, &inst);
    for (unsigned d = 0; d < 32; d++) {
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            EXPECT(wave.vgpr[inst.dst[0].reg + d][lane] == want[d][lane],
                   "%u to %u, %u elements, opsel %x, lane %u dword %u: %08x want %08x", op.p[0],
                   op.p[1], op.p[2], inst.opsel, lane, d, wave.vgpr[inst.dst[0].reg + d][lane],
                   want[d][lane]);
        }
    }
}

START_TEST(test_cvt_widen_all_forms)
{
    for (unsigned src = SIM_FMT_FP8; src <= SIM_FMT_FP4; src++) {
        for (unsigned dst = SIM_FMT_F32; dst <= SIM_FMT_BF16; dst++) {
            const unsigned bits = refs[src]->bits;
            for (unsigned n = 0; n < 2; n++) {
                const unsigned count = bits == 6 ? 32 : bits == 8 && n ? 1 : 2;
                for (unsigned opsel = 0; opsel < 16; opsel++) {
                    setup(src, dst, count);
                    inst.opsel = (uint8_t)(bits == 8 && count == 2 ? opsel & 9 : opsel);
                    if (opsel & 1) {
                        wave.sgpr[SIM_SGPR_EXEC + 1] = rnd();
                    }
                    run_and_compare(true);
                    ck_assert_uint_eq(found_any(), 0);
                }
            }
        }
    }
}
END_TEST

/* Every code under every scale byte, to every target. */
START_TEST(test_cvt_widen_exhaustive)
{
    for (unsigned src = SIM_FMT_FP8; src <= SIM_FMT_FP4; src++) {
        const unsigned bits = refs[src]->bits;
        for (unsigned dst = SIM_FMT_F32; dst <= SIM_FMT_BF16; dst++) {
            setup(src, dst, bits == 6 ? 32 : 2);
            for (unsigned scale = 0; scale < 256; scale++) {
                for (unsigned base = 0; base < 256; base += 64) {
                    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
                        const uint32_t c = base + lane;
                        for (unsigned r = 0; r < 6; r++) {
                            wave.vgpr[SRC + r][lane] = bits == 8   ? c | (c ^ 0x80) << 8
                                                       : bits == 4 ? c
                                                                   : rnd();
                        }
                        wave.vgpr[SCALE][lane] = scale << 23;
                    }
                    run_and_compare(true);
                }
            }
            ck_assert_uint_eq(found.count[SIM_FIND_UNPREDICTABLE], 4); /* scale 255 */
        }
    }
}
END_TEST

START_TEST(test_cvt_widen_unscaled_and_sdwa)
{
    for (unsigned src = SIM_FMT_FP8; src <= SIM_FMT_BF8; src++) {
        for (unsigned count = 1; count <= 2; count++) {
            for (unsigned sel = 0; sel < 8; sel++) {
                setup(src, SIM_FMT_F32, count);
                inst.has_sdwa = sel < 7;
                inst.sdwa.src_sel[0] = (uint8_t)sel;
                if (count == 2 && sel < 4) {
                    continue; /* only words are legal */
                }
                run_and_compare(false);
                ck_assert_uint_eq(found_any(), 0);
            }
        }
    }
}
END_TEST

/* f16 overflow: infinity, or the largest number with FP16_OVFL; BF8's infinity stays. */
START_TEST(test_cvt_widen_f16_ovfl)
{
    setup(SIM_FMT_BF8, SIM_FMT_F16, 2);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        wave.vgpr[SRC][lane] = 0xFB7C; /* infinity, -57344 */
        wave.vgpr[SCALE][lane] = bits32(2.0f);
    }
    sim_x_cvt_scale_widen(&wave, &inst);
    ck_assert_uint_eq(wave.vgpr[DST][9], 0xFC007C00);
    wave.mode |= SIM_MODE_FP16_OVFL;
    sim_x_cvt_scale_widen(&wave, &inst);
    ck_assert_uint_eq(wave.vgpr[DST][9], 0xFBFF7C00);
}
END_TEST

START_TEST(test_cvt_widen_overlap)
{
    for (unsigned dst = SIM_FMT_F32; dst <= SIM_FMT_BF16; dst++) {
        for (unsigned base = SRC - 30; base <= SRC; base++) {
            setup(SIM_FMT_BF6, dst, 32);
            inst.dst[0].reg = (uint16_t)base;
            run_and_compare(true);
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cvt_widen");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_cvt_widen_all_forms);
    tcase_add_test(t, test_cvt_widen_exhaustive);
    tcase_add_test(t, test_cvt_widen_unscaled_and_sdwa);
    tcase_add_test(t, test_cvt_widen_f16_ovfl);
    tcase_add_test(t, test_cvt_widen_overlap);
    suite_add_tcase(s, t);
    return run_suite(s);
}
