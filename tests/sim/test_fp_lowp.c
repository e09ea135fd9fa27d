/* SPDX-License-Identifier: MIT */
/* Scalar conversions of the small formats, over all codes and all 16-bit inputs. */
#include "fp_lowp.h"

#include <check.h>

#include "test_lowp_ref.h"
#include "test_mfma_wave.h"

typedef uint8_t narrow_fn(uint32_t x, uint8_t scale, const struct sim_round *r);
typedef float widen_fn(uint8_t code);

static const struct {
    struct ref_fmt *ref;
    narrow_fn *narrow;
    widen_fn *widen;
} formats[] = {
    { &ref_fp4, sim_fp4_from_f32, sim_fp4_to_f32 },
    { &ref_fp6, sim_fp6_from_f32, sim_fp6_to_f32 },
    { &ref_bf6, sim_bf6_from_f32, sim_bf6_to_f32 },
    { &ref_fp8, sim_fp8_from_f32, sim_fp8_to_f32 },
    { &ref_bf8, sim_bf8_from_f32, sim_bf8_to_f32 },
};
#define FORMATS ((int)(sizeof formats / sizeof *formats))

static const struct sim_round nearest = { false, false, 0 };
static const struct sim_round saturating = { false, true, 0 };

static void check_rne(int i, uint32_t x, int scale)
{
    const unsigned want = ref_narrow(formats[i].ref, (double)f32(x), scale, false);
    const unsigned got = formats[i].narrow(x, (uint8_t)scale, &nearest);
    EXPECT(got == want, "%s of %08x scale %d: %02x, want %02x", formats[i].ref->name, x, scale,
           got, want);
    const unsigned sat = ref_narrow(formats[i].ref, (double)f32(x), scale, true);
    EXPECT_EQ(formats[i].narrow(x, (uint8_t)scale, &saturating), sat);
}

START_TEST(test_fp_lowp_widen_all_codes)
{
    struct ref_fmt *f = formats[_i].ref;
    ref_init(f);
    for (unsigned c = 0; c < 1u << f->bits; c++) {
        const double want = ref_widen(f, c);
        const float got = formats[_i].widen((uint8_t)c);
        ck_assert_int_eq(isnan(got) != 0, isnan(want) != 0);
        ck_assert(isnan(want) || (double)got == want);
        ck_assert_int_eq(signbit(got) != 0, (int)(c >> (f->bits - 1)));
        if (!isnan(want)) { /* and back */
            EXPECT_EQ(formats[_i].narrow(bits32(got), 127, &nearest), c);
        }
    }
}
END_TEST

/* The magnitudes of E2M1 as OCP Microscaling Formats v1.0, table 6 lists them. */
START_TEST(test_fp_lowp_fp4_values)
{
    static const float v[] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6 };
    for (unsigned c = 0; c < 16; c++) {
        ck_assert(fabsf(sim_fp4_to_f32((uint8_t)c)) == v[c & 7]);
    }
    static const struct {
        float x;
        unsigned code;
    } tie[] = { { 0.25f, 0 }, { 0.75f, 2 }, { 1.25f, 2 },   { 1.75f, 4 }, { 2.5f, 4 },
                { 3.5f, 6 },  { 5, 6 },     { 7, 7 },       { 1e30f, 7 }, { -0.0f, 8 },
                { -5, 14 },   { -0.1f, 8 }, { INFINITY, 7 } };
    for (unsigned i = 0; i < sizeof tie / sizeof *tie; i++) {
        EXPECT_EQ(sim_fp4_from_f32(bits32(tie[i].x), 127, &nearest), tie[i].code);
    }
}
END_TEST

/* Every bf16 and f16 value under scales from end to end. */
START_TEST(test_fp_lowp_rne_all_16bit_inputs)
{
    ref_init(formats[_i].ref);
    static const int scales[] = { 0, 1, 2, 64, 110, 120, 126, 127, 128, 140, 200, 253, 254 };
    for (unsigned s = 0; s < sizeof scales / sizeof *scales; s++) {
        for (unsigned h = 0; h < 65536; h++) {
            check_rne(_i, sim_bf16_to_f32((uint16_t)h), scales[s]);
            check_rne(_i, sim_f16_to_f32((uint16_t)h), scales[s]);
        }
    }
}
END_TEST

/* f32 at every midpoint and next to it, under every scale that keeps it in range. */
START_TEST(test_fp_lowp_rne_f32_ties)
{
    struct ref_fmt *f = formats[_i].ref;
    ref_init(f);
    for (unsigned c = 0; c <= f->max; c++) {
        const double mid = (f->value[c] + f->value[c + 1]) / 2;
        for (int scale = 0; scale < 255; scale++) {
            const double x = ldexp(mid, scale - 127);
            if (x > 0x1.fffffep127 || x != (double)(float)x) {
                continue;
            }
            const uint32_t u = bits32((float)x);
            for (uint32_t d = 0; d < 5; d++) {
                check_rne(_i, u + d - 2, scale);
                check_rne(_i, (u + d - 2) | 0x80000000u, scale);
            }
        }
    }
}
END_TEST

START_TEST(test_fp_lowp_rne_random)
{
    ref_init(formats[_i].ref);
    for (unsigned n = 0; n < 300000; n++) {
        const uint32_t x = rnd();
        /* A scale near the value's exponent, so that most results are neither 0 nor max. */
        const int near = (int)(x >> 23 & 255) + (int)(rnd() % 41) - 20;
        check_rne(_i, x, near < 0 ? 0 : near > 254 ? 254 : near);
    }
}
END_TEST

START_TEST(test_fp_lowp_stochastic)
{
    struct ref_fmt *f = formats[_i].ref;
    ref_init(f);
    for (unsigned n = 0; n < 300000; n++) {
        const uint32_t x = rnd();
        const int near = (int)(x >> 23 & 255) + (int)(rnd() % 41) - 20;
        const int scale = near < 0 ? 0 : near > 254 ? 254 : near;
        const struct sim_round r = { true, n % 3 == 0, n % 7 ? rnd() : n % 2 ? 0 : ~0u };
        const unsigned want = ref_narrow_sr(f, (double)f32(x), scale, r.saturate, r.seed);
        const unsigned got = formats[_i].narrow(x, (uint8_t)scale, &r);
        EXPECT(got == want, "%s of %08x scale %d seed %08x: %02x, want %02x", f->name, x, scale,
               r.seed, got, want);
    }
    /* A quarter between two codes goes up for a quarter of evenly spread seeds. */
    const float x = (float)(f->value[4] + 0.25 * (f->value[5] - f->value[4]));
    unsigned up = 0;
    for (unsigned n = 0; n < 1000; n++) {
        const struct sim_round r = { true, false, n * (0xFFFFFFFFu / 1000) };
        up += formats[_i].narrow(bits32(x), 127, &r) == 5;
    }
    ck_assert(up >= 249 && up <= 251);
}
END_TEST

START_TEST(test_fp_lowp_specials)
{
    struct ref_fmt *f = formats[_i].ref;
    const unsigned sign = 1u << (f->bits - 1);
    const unsigned inf = f->inf >= 0   ? (unsigned)f->inf
                         : f->nan >= 0 ? (unsigned)f->nan
                                       : f->max;
    EXPECT_EQ(formats[_i].narrow(0x7F800000, 127, &nearest), inf);
    EXPECT_EQ(formats[_i].narrow(0xFF800000, 127, &nearest), inf | sign);
    EXPECT_EQ(formats[_i].narrow(0x7F800000, 127, &saturating), f->max);
    EXPECT_EQ(formats[_i].narrow(0, 0, &nearest), 0);
    EXPECT_EQ(formats[_i].narrow(0x80000000, 0, &nearest), sign);
    const unsigned nan = f->nan >= 0 ? (unsigned)f->nan : f->max;
    EXPECT_EQ(formats[_i].narrow(0x7FC00000, 127, &saturating), nan);
    EXPECT_EQ(formats[_i].narrow(0xFF800001, 127, &nearest), nan | sign);
}
END_TEST

START_TEST(test_fp_lowp_e8m0_and_scaling)
{
    for (int s = 0; s < 255; s++) {
        ck_assert((double)sim_e8m0_to_f32((uint8_t)s) == ldexp(1, s - 127));
        for (unsigned n = 0; n < 200; n++) {
            const uint32_t x = rnd() & 0x7FFFFFFF;
            if (x < 0x7F800000) {
                const volatile double exact = ldexp((double)f32(x), s - 127);
                EXPECT_EQ(sim_f32_scale(f32(x), (uint8_t)s), bits32((float)exact));
            }
        }
        EXPECT_EQ(sim_f32_scale(f32(0xFF800001), (uint8_t)s), 0xFFC00000);
        EXPECT_EQ(sim_f32_scale(f32(0x80000000), (uint8_t)s), 0x80000000);
    }
    ck_assert(isnan(sim_e8m0_to_f32(0xFF)));
}
END_TEST

/* f16 and bf16: all values go out and back; all midpoints and their neighbours round right. */
START_TEST(test_fp_lowp_half_formats)
{
    for (unsigned bf = 0; bf < 2; bf++) {
        const unsigned inf = bf ? 0x7F80 : 0x7C00;
        for (unsigned h = 0; h < inf; h++) {
            const uint32_t u = bf ? sim_bf16_to_f32((uint16_t)h) : sim_f16_to_f32((uint16_t)h);
            const double lo = (double)f32(u);
            const int e = (int)(h >> (bf ? 7 : 10)), m = (int)h & (bf ? 127 : 1023);
            const int one = bf ? 128 : 1024, bias = bf ? 127 : 15, mb = bf ? 7 : 10;
            ck_assert(lo == (e ? ldexp(one + m, e - bias - mb) : ldexp(m, 1 - bias - mb)));
            const double hi = h + 1 < inf ? (double)f32(bf ? sim_bf16_to_f32((uint16_t)(h + 1))
                                                           : sim_f16_to_f32((uint16_t)(h + 1)))
                              : bf        ? 0x1p128
                                          : 0x1p16;
            const float mid = (float)((lo + hi) / 2);
            for (int sign = 0; sign < 2; sign++) {
                const uint32_t s = sign ? 0x80000000u : 0, s16 = sign ? 0x8000 : 0;
                uint16_t (*const to)(uint32_t) = bf ? sim_bf16_from_f32 : sim_f16_from_f32;
                EXPECT_EQ(to(u | s), h | s16);
                EXPECT_EQ(to(bits32(mid) | s), (h + (h & 1)) | s16);
                EXPECT_EQ(to((bits32(mid) - 1) | s), h | s16);
                EXPECT_EQ(to((bits32(mid) + 1) | s), (h + 1) | s16);
                uint16_t (*const sr)(uint32_t, uint32_t) =
                    bf ? sim_bf16_from_f32_sr : sim_f16_from_f32_sr;
                EXPECT_EQ(sr(u | s, 0xFFFFFFFF), h | s16);
                EXPECT_EQ(sr(bits32(mid) | s, 0x7FFFFFFF), h | s16);
                EXPECT_EQ(sr(bits32(mid) | s, 0x80000000), (h + 1) | s16);
            }
        }
        uint16_t (*const to)(uint32_t) = bf ? sim_bf16_from_f32 : sim_f16_from_f32;
        EXPECT_EQ(to(0x7F800000), inf);
        EXPECT_EQ(to(0x7F7FFFFF), inf);
        EXPECT_EQ(to(0x7F800001), inf | (bf ? 0x40 : 0x200));
        EXPECT_EQ(to(0xFFC00000), 0x8000 | inf | (bf ? 0x40 : 0x200));
    }
    EXPECT_EQ(sim_f16_to_f32(0x7E01), 0x7FC02000);
    EXPECT_EQ(sim_f16_to_f32(0xFC00), 0xFF800000);
}
END_TEST

START_TEST(test_fp_lowp_prng)
{
    EXPECT_EQ(sim_prng_next(0), 0);
    EXPECT_EQ(sim_prng_next(1), 2);
    EXPECT_EQ(sim_prng_next(0x80000001u), 2 ^ 197);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fp_lowp");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_fp_lowp_widen_all_codes, 0, FORMATS);
    tcase_add_test(t, test_fp_lowp_fp4_values);
    tcase_add_loop_test(t, test_fp_lowp_rne_all_16bit_inputs, 0, FORMATS);
    tcase_add_loop_test(t, test_fp_lowp_rne_f32_ties, 0, FORMATS);
    tcase_add_loop_test(t, test_fp_lowp_rne_random, 0, FORMATS);
    tcase_add_loop_test(t, test_fp_lowp_stochastic, 0, FORMATS);
    tcase_add_loop_test(t, test_fp_lowp_specials, 0, FORMATS);
    tcase_add_test(t, test_fp_lowp_e8m0_and_scaling);
    tcase_add_test(t, test_fp_lowp_half_formats);
    tcase_add_test(t, test_fp_lowp_prng);
    suite_add_tcase(s, t);
    return run_suite(s);
}
