/* SPDX-License-Identifier: MIT */
/*
 * The F8F6F4 MFMA against a slow reference: element by element, exact in
 * 128-bit integers, written from the ISA text 7.1.5 and 7.2 and the OCP formats.
 */
#include <math.h>
#include <stdlib.h>

#include "exec_mfma.h"
#include "test_mfma_wave.h"

__extension__ typedef __int128 i128;

enum { FP8, BF8, FP6, BF6, FP4 };
static const unsigned width[] = { 8, 8, 6, 6, 4 };

static struct sim_op op = { .name = "v_mfma_scale_f32_f8f6f4" };
static struct sim_inst inst;

/* ---- reference ---- */

/* One element as an integer multiple of 2^-16, or an infinity or NaN. */
struct elem {
    int64_t v;
    int inf; /* +1, -1 */
    bool nan;
};

static struct elem ref_decode(unsigned fmt, unsigned code)
{
    static const int eb[] = { 4, 5, 2, 3, 2 };
    static const int mb[] = { 3, 2, 3, 2, 1 };
    static const int bias[] = { 7, 15, 1, 3, 1 };
    const int e = (int)(code >> mb[fmt]) & ((1 << eb[fmt]) - 1);
    const int m = (int)code & ((1 << mb[fmt]) - 1);
    const int sign = code >> (width[fmt] - 1) & 1 ? -1 : 1;
    if (fmt == FP8 && e == 15 && m == 7) {
        return (struct elem){ .nan = true };
    }
    if (fmt == BF8 && e == 31) {
        return (struct elem){ .nan = m != 0, .inf = m ? 0 : sign };
    }
    const int64_t frac = e ? m + (1 << mb[fmt]) : m;
    const int shift = (e ? e : 1) - bias[fmt] - mb[fmt] + 16;
    return (struct elem){ .v = sign * (shift >= 0 ? frac << shift : frac >> -shift) };
}

/* Element (r, k) as the ISA text lays it out in lanes and registers. */
static unsigned ref_code(const struct sim_opnd *o, unsigned fmt, unsigned mn, unsigned r,
                         unsigned k)
{
    unsigned lane, item;
    if (width[fmt] == 8) {
        /* FP8: registers 0-3 hold the first half of K in runs of 16, 4-7 the second. */
        const unsigned half = 1024 / mn;
        lane = r + mn * (k % half / 16);
        item = k / half * 16 + k % 16;
    } else {
        lane = r + mn * (k / 32);
        item = k % 32;
    }
    unsigned code = 0;
    for (unsigned b = 0; b < width[fmt]; b++) {
        const unsigned bit = item * width[fmt] + b;
        const unsigned reg = (o->kind == SIM_OPND_AGPR ? 256 : 0) + o->reg + bit / 32;
        code |= (wave.vgpr[reg][lane] >> bit % 32 & 1) << b;
    }
    return code;
}

/* v * 2^e rounded to nearest even. */
static float ref_round(i128 v, int e)
{
    const bool neg = v < 0;
    i128 m = neg ? -v : v;
    if (m == 0) {
        return 0.0f;
    }
    int top = 0;
    while (m >> top > 1) {
        top++;
    }
    int lsb = top + e - 23; /* exponent of the last place */
    lsb = lsb < -149 ? -149 : lsb;
    const int drop = lsb - e;
    if (drop > 100) {
        return neg ? -0.0f : 0.0f;
    }
    if (drop > 0) {
        const i128 half = (i128)1 << (drop - 1);
        const i128 rest = m & (((i128)1 << drop) - 1);
        m >>= drop;
        m += rest > half || (rest == half && (m & 1));
    } else {
        m <<= -drop;
    }
    const double d = ldexp((double)(int64_t)m, lsb); /* at most 25 bits: exact */
    const float f = d > 0x1.fffffep127 ? INFINITY : (float)d;
    return neg ? -f : f;
}

static unsigned ref_scale(unsigned which, unsigned mn, unsigned r, unsigned kb)
{
    const struct sim_opnd *o = &inst.src[3 + which];
    if (o->kind == SIM_OPND_NONE) {
        return 127;
    }
    if (o->kind == SIM_OPND_CONST) {
        return o->imm >> 23 & 255;
    }
    const unsigned byte = (inst.opsel >> which & 1) | (inst.opsel_hi >> which & 1) << 1;
    return wave.vgpr[o->reg][r + mn * kb] >> 8 * byte & 255;
}

static float ref_c(unsigned mn, unsigned m, unsigned n)
{
    const struct sim_opnd *o = &inst.src[2];
    uint32_t c;
    if (o->kind == SIM_OPND_CONST) {
        c = (uint32_t)o->imm;
    } else {
        const unsigned base = (o->kind == SIM_OPND_AGPR ? 256 : 0) + o->reg;
        c = mn == 16 ? wave.vgpr[base + m % 4][16 * (m / 4) + n]
                     : wave.vgpr[base + 4 * (m / 8) + m % 4][32 * (m / 4 % 2) + n];
    }
    c = inst.abs & 4 ? c & 0x7FFFFFFF : c;
    return f32(inst.neg & 4 ? c ^ 0x80000000u : c);
}

static float ref_element(unsigned mn, unsigned m, unsigned n)
{
    volatile float d = ref_c(mn, m, n);
    for (unsigned kb = 0; kb < 64 / mn; kb++) {
        i128 sum = 0;
        int inf = 0;
        bool nan = false;
        for (unsigned k = 32 * kb; k < 32 * kb + 32; k++) {
            const struct elem a =
                ref_decode(inst.cbsz, ref_code(&inst.src[0], inst.cbsz, mn, m, k));
            const struct elem b =
                ref_decode(inst.blgp, ref_code(&inst.src[1], inst.blgp, mn, n, k));
            const int sa = a.inf ? a.inf : (a.v > 0) - (a.v < 0);
            const int sb = b.inf ? b.inf : (b.v > 0) - (b.v < 0);
            const int p = (a.inf || b.inf) && !a.nan && !b.nan ? sa * sb : 0;
            nan = nan || a.nan || b.nan || ((a.inf || b.inf) && p == 0) || p * inf < 0;
            inf = p ? p : inf;
            sum += (i128)a.v * b.v;
        }
        const unsigned sa = ref_scale(0, mn, m, kb), sb = ref_scale(1, mn, n, kb);
        float term = ref_round(sum, (int)(sa + sb) - 254 - 32);
        term = inf ? (float)inf * INFINITY : term;
        term = nan || sa == 255 || sb == 255 ? NAN : term;
        d = d + term;
    }
    return d;
}

/* ---- helpers ---- */

static void setup(unsigned mn, unsigned fa, unsigned fb)
{
    wave_reset();
    memset(&inst, 0, sizeof inst);
    op.p[0] = (uint8_t)mn;
    op.p[1] = (uint8_t)(2048 / mn);
    op.p[2] = 1;
    inst.op = &op;
    inst.cbsz = (uint8_t)fa;
    inst.blgp = (uint8_t)fb;
    inst.src[0] = vgpr(8, width[fa]);
    inst.src[1] = vgpr(16, width[fb]);
    inst.src[2] = vgpr(32, mn * mn / 64);
    inst.src[3] = vgpr(2, 1);
    inst.src[4] = vgpr(3, 1);
    inst.dst[0] = vgpr(64, mn * mn / 64);
}

/* C near 1 and scale bytes within +-spread of 127. */
static void tame(unsigned spread)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        for (unsigned r = 32; r < 48; r++) {
            wave.vgpr[r][lane] = bits32((float)((int)(rnd() % 2001) - 1000) / 64.0f);
        }
        for (unsigned r = 2; r < 4; r++) {
            uint32_t x = 0;
            for (unsigned b = 0; b < 4; b++) {
                x |= (127 - spread + rnd() % (2 * spread + 1)) << 8 * b;
            }
            wave.vgpr[r][lane] = x;
        }
    }
}

static uint32_t d_bits(unsigned mn, unsigned m, unsigned n)
{
    const unsigned base = (inst.dst[0].kind == SIM_OPND_AGPR ? 256 : 0) + inst.dst[0].reg;
    return mn == 16 ? wave.vgpr[base + m % 4][16 * (m / 4) + n]
                    : wave.vgpr[base + 4 * (m / 8) + m % 4][32 * (m / 4 % 2) + n];
}

/* Run and compare every output, bit for bit; NaN must be the canonical one. */
static void run_and_compare(unsigned mn)
{
    static float want[32][32];
    for (unsigned m = 0; m < mn; m++) {
        for (unsigned n = 0; n < mn; n++) {
            want[m][n] = ref_element(mn, m, n);
        }
    }
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    for (unsigned m = 0; m < mn; m++) {
        for (unsigned n = 0; n < mn; n++) {
            const uint32_t w = isnan(want[m][n]) ? 0x7FC00000u : bits32(want[m][n]);
            EXPECT(d_bits(mn, m, n) == w, "%ux%u cbsz %u blgp %u (%u,%u): %08x, want %08x", mn,
                   mn, inst.cbsz, inst.blgp, m, n, d_bits(mn, m, n), w);
        }
    }
    EXPECT(found_any() == 0, "%s", found.text);
}

/* ---- tests ---- */

START_TEST(test_mfma_all_format_mixes_match_reference)
{
    const unsigned mn = _i & 1 ? 32 : 16;
    for (unsigned fa = 0; fa < 5; fa++) {
        for (unsigned fb = 0; fb < 5; fb++) {
            for (unsigned spread = 0; spread <= 64; spread += 16) {
                setup(mn, fa, fb);
                tame(spread);
                run_and_compare(mn);
            }
            /* All scale bytes, 0xFF and 0 among them; C any bits. */
            setup(mn, fa, fb);
            run_and_compare(mn);
        }
    }
}
END_TEST

/* Every pair of FP4 codes, alone in its block, at every position of K. */
START_TEST(test_mfma_every_fp4_pair)
{
    for (unsigned a = 0; a < 16; a++) {
        for (unsigned b = 0; b < 16; b++) {
            setup(16, FP4, FP4);
            memset(wave.vgpr[8], 0, sizeof wave.vgpr[8] * 4);
            memset(wave.vgpr[16], 0, sizeof wave.vgpr[16] * 4);
            const unsigned k = (a * 16 + b) % 32;
            for (unsigned lane = 0; lane < 64; lane++) {
                wave.vgpr[8 + k / 8][lane] = a << 4 * (k % 8);
                wave.vgpr[16 + k / 8][lane] = b << 4 * (k % 8);
            }
            inst.src[2] = konst(0);
            inst.src[3].kind = inst.src[4].kind = SIM_OPND_NONE;
            static const float v[] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6 };
            const float want = 4 * v[a & 7] * v[b & 7] * ((a ^ b) & 8 ? -1.0f : 1.0f);
            run_and_compare(16);
            ck_assert(f32(d_bits(16, 5, 9)) == want);
        }
    }
}
END_TEST

/* One element of A and one of B set: exactly the outputs that they meet in change. */
START_TEST(test_mfma_one_hot_layout)
{
    const unsigned mn = _i & 1 ? 32 : 16;
    const unsigned nk = 2048 / mn;
    for (unsigned fmt = 0; fmt < 5; fmt++) {
        static const unsigned one[] = { 0x38, 0x3C, 0x08, 0x0C, 0x02 };
        for (unsigned trial = 0; trial < 400; trial++) {
            setup(mn, fmt, fmt);
            memset(wave.vgpr[8], 0, sizeof wave.vgpr[8] * 16);
            const unsigned m = rnd() % mn, n = rnd() % mn, k = rnd() % nk;
            const unsigned w = width[fmt];
            const unsigned half = nk / 2;
            const unsigned group = w == 8 ? k % half / 16 : k / 32;
            const unsigned item = w == 8 ? k / half * 16 + k % 16 : k % 32;
            for (unsigned b = 0; b < w; b++) {
                const unsigned bit = item * w + b;
                const uint32_t x = (one[fmt] >> b & 1) << bit % 32;
                wave.vgpr[8 + bit / 32][m + mn * group] |= x;
                wave.vgpr[16 + bit / 32][n + mn * group] |= x;
            }
            /* The scales of just that row and block: 2^3 and 2^4, all others NaN-free junk. */
            for (unsigned lane = 0; lane < 64; lane++) {
                wave.vgpr[2][lane] = lane == m + mn * (k / 32) ? 130 : 10;
                wave.vgpr[3][lane] = lane == n + mn * (k / 32) ? 131 : 10;
            }
            inst.src[2] = konst(0);
            sim_x_mfma_f32_f8f6f4(&wave, &inst);
            for (unsigned i = 0; i < mn; i++) {
                for (unsigned j = 0; j < mn; j++) {
                    const float want = i == m && j == n ? 128.0f : 0.0f;
                    EXPECT_EQ(d_bits(mn, i, j), bits32(want));
                }
            }
        }
    }
}
END_TEST

/* Byte op_sel + 2 * op_sel_hi of the scale registers, independently for A and B. */
START_TEST(test_mfma_scale_byte_selection)
{
    for (unsigned a = 0; a < 4; a++) {
        for (unsigned b = 0; b < 4; b++) {
            setup(16, FP4, FP4);
            tame(20);
            inst.opsel = (uint8_t)((a & 1) | (b & 1) << 1);
            inst.opsel_hi = (uint8_t)(a >> 1 | (b >> 1) << 1);
            run_and_compare(16);
            /* And against known numbers: byte i holds 2^i for A, 2^(4 i) for B. */
            for (unsigned lane = 0; lane < 64; lane++) {
                wave.vgpr[2][lane] = 0x8281807F;
                wave.vgpr[3][lane] = 0x8B87837F;
                for (unsigned r = 0; r < 4; r++) {
                    wave.vgpr[8 + r][lane] = wave.vgpr[16 + r][lane] = 0x22222222;
                }
            }
            inst.src[2] = konst(0);
            run_and_compare(16);
            ck_assert(f32(d_bits(16, 3, 4)) == 128.0f * (float)(1 << a) * (float)(1 << 4 * b));
        }
    }
}
END_TEST

/* Scale bytes at the ends: subnormal and overflowing results, NaN from 0xFF with zeros. */
START_TEST(test_mfma_scale_extremes)
{
    static const uint8_t edge[] = { 0, 1, 2, 52, 60, 64, 126, 127, 128, 190, 253, 254, 255 };
    for (unsigned fmt = 0; fmt < 5; fmt++) {
        for (unsigned a = 0; a < sizeof edge; a++) {
            for (unsigned b = 0; b < sizeof edge; b++) {
                setup(16, fmt, FP4);
                tame(4);
                for (unsigned lane = 0; lane < 64; lane++) {
                    wave.vgpr[2][lane] = edge[a];
                    wave.vgpr[3][lane] = edge[b];
                    for (unsigned r = 0; r < 16 && b % 2; r++) {
                        wave.vgpr[32 + r][lane] = rnd() & 0x807FFFFF; /* subnormal C */
                    }
                }
                run_and_compare(16);
            }
        }
    }
}
END_TEST

/*
 * BF8 products 2^24 + 1 + 2^-32: a double cannot hold the sum, and the nearest
 * double is a tie in f32.  The exact sum is above the tie.
 */
START_TEST(test_mfma_bf8_sum_rounds_once)
{
    for (int sign = 0; sign < 2; sign++) {
        setup(16, BF8, BF8);
        memset(wave.vgpr[8], 0, sizeof wave.vgpr[8] * 16);
        for (unsigned lane = 0; lane < 16; lane++) {
            wave.vgpr[8][lane] = 0x00013C6C; /* 2^12, 1, 2^-16 */
            wave.vgpr[16][lane] = sign ? 0x0081BCEC : 0x00013C6C;
        }
        inst.src[2] = konst(0);
        inst.src[3].kind = inst.src[4].kind = SIM_OPND_NONE;
        run_and_compare(16);
        ck_assert(fabsf(f32(d_bits(16, 7, 7))) == 0x1p24f + 2);
    }
}
END_TEST

START_TEST(test_mfma_nan_scale_of_zero_elements)
{
    setup(16, FP4, FP4);
    tame(4);
    memset(wave.vgpr[8], 0, sizeof wave.vgpr[8] * 16);
    /* Row 5 of A, block 2 only. */
    wave.vgpr[2][5 + 16 * 2] = 0xFF;
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    for (unsigned m = 0; m < 16; m++) {
        for (unsigned n = 0; n < 16; n++) {
            ck_assert(isnan(f32(d_bits(16, m, n))) == (m == 5));
        }
    }
}
END_TEST

START_TEST(test_mfma_c_specials)
{
    static const uint32_t c[] = { 0x80000000, 0,          0x7F800000, 0xFF800000,
                                  0x7FC00001, 0x7F800001, 1,          0x7F7FFFFF };
    for (unsigned i = 0; i < sizeof c / sizeof *c; i++) {
        for (unsigned mod = 0; mod < 4; mod++) {
            setup(32, FP4, FP4);
            tame(100);
            for (unsigned r = 32; r < 48; r++) {
                for (unsigned lane = 0; lane < 64; lane++) {
                    wave.vgpr[r][lane] = c[i];
                }
            }
            inst.neg = mod & 1 ? 4 : 0;
            inst.abs = mod & 2 ? 4 : 0;
            run_and_compare(32);
            inst.src[2] = konst(c[i]);
            run_and_compare(32);
        }
    }
}
END_TEST

/* Registers of either file, D on top of A, B, C or the scales. */
START_TEST(test_mfma_register_files_and_overlap)
{
    for (unsigned files = 0; files < 8; files++) {
        for (unsigned where = 0; where < 6; where++) {
            const unsigned mn = files & 1 ? 32 : 16;
            setup(mn, FP4, where & 1 ? BF6 : FP4);
            tame(8);
            if (files & 2) {
                inst.src[0] = agpr(8, 4);
                inst.dst[0].kind = inst.src[2].kind = SIM_OPND_AGPR;
            }
            if (files & 4) {
                inst.src[1] = agpr(20, 4);
            }
            static const uint16_t base[] = { 64, 8, 16, 32, 2, 34 };
            inst.dst[0].reg = base[where];
            for (unsigned r = 256; r < 512; r++) {
                for (unsigned lane = 0; lane < 64; lane++) {
                    wave.vgpr[r][lane] &= 0xBFFFFFFF; /* C in AGPRs: no NaN */
                }
            }
            run_and_compare(mn);
        }
    }
}
END_TEST

START_TEST(test_mfma_ignores_exec_round_and_denorm)
{
    setup(16, FP4, FP4);
    tame(60);
    wave.sgpr[SIM_SGPR_EXEC] = 0x00F0;
    wave.sgpr[SIM_SGPR_EXEC + 1] = 0;
    wave.mode = 0x0F; /* round to zero, flush everything */
    run_and_compare(16);
}
END_TEST

START_TEST(test_mfma_scale_constants)
{
    setup(16, FP4, FP6);
    tame(3);
    inst.src[3] = konst(bits32(4.0f));
    inst.src[4] = konst(bits32(-0.5f)); /* only the exponent counts */
    inst.opsel = 3;
    run_and_compare(16);
}
END_TEST

/* FP16_OVFL: overflow becomes the largest number, a true infinity stays. */
START_TEST(test_mfma_fp16_ovfl_clamps)
{
    setup(16, FP4, FP4);
    for (unsigned lane = 0; lane < 64; lane++) {
        wave.vgpr[2][lane] = wave.vgpr[3][lane] = 254;
        for (unsigned r = 0; r < 4; r++) {
            wave.vgpr[8 + r][lane] = 0x77777777;
            wave.vgpr[16 + r][lane] = lane % 2 ? 0xFFFFFFFF : 0x77777777;
            wave.vgpr[32 + r][lane] = lane == 3 ? 0x7F800000 : 0;
        }
    }
    wave.mode |= SIM_MODE_FP16_OVFL;
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    ck_assert_uint_eq(d_bits(16, 1, 4), 0x7F7FFFFF);
    ck_assert_uint_eq(d_bits(16, 1, 5), 0xFF7FFFFF);
    ck_assert_uint_eq(d_bits(16, 1, 3), 0x7FC00000); /* inf - inf */
    wave.mode &= ~SIM_MODE_FP16_OVFL;
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    ck_assert_uint_eq(d_bits(16, 1, 4), 0x7F800000);
    ck_assert_uint_eq(d_bits(16, 1, 5), 0xFF800000);
}
END_TEST

START_TEST(test_mfma_refuses_undefined_forms)
{
    setup(16, FP4, FP4);
    inst.cbsz = 5;
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
    setup(16, FP4, FP4);
    inst.blgp = 7;
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
    setup(16, FP4, FP4);
    inst.src[0].reg = 9;
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
    setup(32, FP8, FP4);
    inst.dst[0] = agpr(242, 16);
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
    setup(16, FP4, FP4);
    inst.src[3] = (struct sim_opnd){ .kind = SIM_OPND_SGPR, .reg = 4 };
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
    setup(16, FP4, FP4);
    inst.neg = 1;
    sim_x_mfma_f32_f8f6f4(&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNPREDICTABLE], 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mfma_f8f6f4");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_mfma_all_format_mixes_match_reference, 0, 2);
    tcase_add_test(t, test_mfma_every_fp4_pair);
    tcase_add_loop_test(t, test_mfma_one_hot_layout, 0, 2);
    tcase_add_test(t, test_mfma_scale_byte_selection);
    tcase_add_test(t, test_mfma_scale_extremes);
    tcase_add_test(t, test_mfma_bf8_sum_rounds_once);
    tcase_add_test(t, test_mfma_nan_scale_of_zero_elements);
    tcase_add_test(t, test_mfma_c_specials);
    tcase_add_test(t, test_mfma_register_files_and_overlap);
    tcase_add_test(t, test_mfma_ignores_exec_round_and_denorm);
    tcase_add_test(t, test_mfma_scale_constants);
    tcase_add_test(t, test_mfma_fp16_ovfl_clamps);
    tcase_add_test(t, test_mfma_refuses_undefined_forms);
    suite_add_tcase(s, t);
    return run_suite(s);
}
