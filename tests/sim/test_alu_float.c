/* SPDX-License-Identifier: MIT */
/*
 * The exact arithmetic under the float vector ALU against the host's own in
 * every rounding mode, on random and special operands.  NaNs are compared as
 * NaNs only: their payloads follow the simulator's rule.
 */
#include <fenv.h>
#include <float.h>

#include "alu_float.h"
#include "isa_vec.h"

enum { CASES = 200000 };

static const int host_modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

static uint64_t state = 0x2545f4914f6cdd1d;

static uint64_t random64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x9e3779b97f4a7c15ull;
}

static const uint32_t special[] = { 0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                    0x00800000, 0x3f800000, 0xbf800000, 0x3f800001, 0x7f7fffff,
                                    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                                    0x33800000 };

/* Any bits, special values, or neighbours in exponent so that sums cancel. */
static uint32_t operand(void)
{
    const uint64_t r = random64();
    switch (r & 7) {
    case 0:
        return special[r >> 8 & 15];
    case 1:
    case 2:
        return (uint32_t)(r >> 32);
    default:
        return (uint32_t)(r >> 32 & 0x807fffff) | (uint32_t)(120 + (r >> 16) % 16) << 23;
    }
}

static void same(const char *what, unsigned mode, uint32_t a, uint32_t b, uint32_t c,
                 uint32_t got, float host)
{
    const uint32_t want = sim_f32_bits(host);
    const bool ok = isnan(host) ? sim_f32_is_nan(got) : got == want;
    ck_assert_msg(ok, "%s mode %u (%#x, %#x, %#x): got %#x, want %#x", what, mode, a, b, c, got,
                  want);
}

START_TEST(test_alu_float_single)
{
    for (unsigned i = 0; i < CASES; i++) {
        const uint32_t a = operand();
        const uint32_t b = operand();
        const uint32_t c = operand();
        volatile float x = sim_f32_from_bits(a);
        volatile float y = sim_f32_from_bits(b);
        volatile float z = sim_f32_from_bits(c);
        for (unsigned m = 0; m < 4; m++) {
            fesetround(host_modes[m]);
            volatile float sum = x + y;
            volatile float product = x * y;
            volatile float fused = fmaf(x, y, z);
            fesetround(FE_TONEAREST);
            same("add", m, a, b, 0, sim_f32_add(a, b, m), sum);
            same("mul", m, a, b, 0, sim_f32_mul(a, b, m), product);
            same("fma", m, a, b, c, sim_f32_fma(a, b, c, m), fused);
        }
    }
}
END_TEST

START_TEST(test_alu_float_narrowing)
{
    for (unsigned i = 0; i < CASES; i++) {
        uint64_t u = random64();
        if (i % 4 != 0) { /* the range of f32 and around */
            u = (u & 0x800fffffffffffff) | (uint64_t)(1023 - 160 + u % 300) << 52;
        }
        volatile double d = sim_f64_from_bits(u);
        if (isnan(d)) {
            continue;
        }
        for (unsigned m = 0; m < 4; m++) {
            fesetround(host_modes[m]);
            volatile float f = (float)d;
            fesetround(FE_TONEAREST);
            same("f32", m, (uint32_t)(u >> 32), (uint32_t)u, 0, sim_f32_round(d, m), f);
        }
    }
}
END_TEST

/* Every f16 converts there and back, and a value halfway between two goes to the even one. */
START_TEST(test_alu_float_half)
{
    for (uint32_t h = 0; h < 0x7c00; h++) {
        const double v = sim_f16_value(h);
        for (unsigned m = 0; m < 4; m++) {
            ck_assert_uint_eq(sim_f16_round(v, m, false), h);
            ck_assert_uint_eq(sim_f16_round(-v, m, false), h | 0x8000);
        }
        if (h + 1 < 0x7c00) {
            const double middle = (v + sim_f16_value(h + 1)) / 2;
            ck_assert_uint_eq(sim_f16_round(middle, 0, false), h + (h & 1));
            ck_assert_uint_eq(sim_f16_round(middle, 1, false), h + 1);
            ck_assert_uint_eq(sim_f16_round(middle, 2, false), h);
            ck_assert_uint_eq(sim_f16_round(-middle, 1, false), h | 0x8000);
            ck_assert_uint_eq(sim_f16_round(-middle, 2, false), (h + 1) | 0x8000);
            ck_assert_uint_eq(sim_f16_round(middle, 3, false), h);
        }
    }
    ck_assert_uint_eq(sim_f16_round(65520, 0, false), 0x7c00);
    ck_assert_uint_eq(sim_f16_round(65519.99, 0, false), 0x7bff);
    ck_assert_uint_eq(sim_f16_round(1e9, 0, true), 0x7bff);
    ck_assert_uint_eq(sim_f16_round(INFINITY, 0, true), 0x7c00);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { test_alu_float_single, test_alu_float_narrowing,
                                   test_alu_float_half, NULL };
    return isa_main("alu_float", tests);
}
