/* SPDX-License-Identifier: MIT */
/*
 * Exact scalar arithmetic with one rounding in any mode.  Half and single
 * precision go through double: products are exact there, sums keep what does
 * not fit in the last place (round to odd), and one integer rounding follows.
 */
#include "alu_float.h"

#include <fenv.h>

double sim_add_odd(double x, double y)
{
    const double s = x + y;
    if (!isfinite(s)) {
        return s;
    }
    /* TwoSum: e is exactly what s lost. */
    const double t = s - x;
    const double e = (x - (s - t)) + (y - t);
    if (e == 0) {
        return s;
    }
    const uint64_t u = sim_f64_bits(s);
    const bool outward = (e > 0) == (s > 0);
    return sim_f64_from_bits(outward ? u | 1 : (u - 1) | 1);
}

/* Where a magnitude q with remainder bits goes: true = to the next larger magnitude. */
static bool rounds_away(unsigned mode, bool negative, bool above_half, bool half, bool sticky,
                        bool odd)
{
    switch (mode) {
    case 0:
        return above_half || (half && odd);
    case 1:
        return !negative && sticky;
    case 2:
        return negative && sticky;
    default:
        return false;
    }
}

/* A double as a code of mbits mantissa bits and exponent range from emin; code of inf given. */
static uint32_t narrow(double x, unsigned mbits, int emin, uint32_t inf, unsigned mode,
                       bool ovfl_max)
{
    const uint64_t u = sim_f64_bits(x);
    const bool negative = u >> 63 != 0;
    const int biased = (int)(u >> 52 & 0x7ff);
    if (biased == 0x7ff) {
        return inf;
    }
    if ((u & INT64_MAX) == 0) {
        return 0;
    }
    /* Subnormal doubles lie far below every narrow format: keep them sticky. */
    const uint64_t m = biased == 0 ? 1 : (u & 0xfffffffffffffull) | 1ull << 52;
    const int e = biased == 0 ? -1100 : biased - 1023;
    int drop = 52 - (int)mbits + (e < emin ? emin - e : 0);
    drop = drop > 62 ? 62 : drop;
    const uint64_t q = m >> drop;
    const uint64_t rest = m & ((1ull << drop) - 1);
    const uint64_t half = 1ull << (drop - 1);
    uint64_t code = e < emin ? q : q + ((uint64_t)(e - emin) << mbits);
    code += rounds_away(mode, negative, rest > half, rest == half, rest != 0, (q & 1) != 0);
    if (code < inf) {
        return (uint32_t)code;
    }
    const bool to_inf = mode == 0 || (mode == 1 && !negative) || (mode == 2 && negative);
    return to_inf && !ovfl_max ? inf : inf - 1;
}

uint32_t sim_f32_round(double x, unsigned mode)
{
    const uint32_t sign = (uint32_t)(sim_f64_bits(x) >> 63) << 31;
    return sign | narrow(x, 23, -126, 0x7f800000, mode, false);
}

uint32_t sim_f16_round(double x, unsigned mode, bool ovfl16)
{
    const uint32_t sign = (uint32_t)(sim_f64_bits(x) >> 63) << 15;
    return sign | narrow(x, 10, -14, 0x7c00, mode, ovfl16);
}

/* The sign of an exact zero sum: minus only when rounding down, or both are -0. */
static double zero_sum(double x, double y, unsigned mode)
{
    const double s = sim_add_odd(x, y);
    return s == 0 && mode == 2 && (signbit(x) != 0) != (signbit(y) != 0) ? -0.0 : s;
}

static double f32_value(uint32_t a)
{
    return sim_f32_from_bits(a);
}

uint32_t sim_f32_fma(uint32_t a, uint32_t b, uint32_t c, unsigned mode)
{
    const double p = f32_value(a) * f32_value(b);
    const double s = zero_sum(p, f32_value(c), mode);
    return isnan(s) ? sim_f32_nan_of(a, b, c) : sim_f32_round(s, mode);
}

uint32_t sim_f32_add(uint32_t a, uint32_t b, unsigned mode)
{
    const double s = zero_sum(f32_value(a), f32_value(b), mode);
    return isnan(s) ? sim_f32_nan_of(a, b, b) : sim_f32_round(s, mode);
}

uint32_t sim_f32_mul(uint32_t a, uint32_t b, unsigned mode)
{
    const double p = f32_value(a) * f32_value(b);
    return isnan(p) ? sim_f32_nan_of(a, b, b) : sim_f32_round(p, mode);
}

uint32_t sim_f16_fma(uint32_t a, uint32_t b, uint32_t c, unsigned mode, bool ovfl16)
{
    const double p = sim_f16_value(a) * sim_f16_value(b);
    const double s = zero_sum(p, sim_f16_value(c), mode);
    return isnan(s) ? sim_f16_nan_of(a, b, c) : sim_f16_round(s, mode, ovfl16);
}

uint32_t sim_f16_add(uint32_t a, uint32_t b, unsigned mode, bool ovfl16)
{
    const double s = zero_sum(sim_f16_value(a), sim_f16_value(b), mode);
    return isnan(s) ? sim_f16_nan_of(a, b, b) : sim_f16_round(s, mode, ovfl16);
}

uint32_t sim_f16_mul(uint32_t a, uint32_t b, unsigned mode, bool ovfl16)
{
    const double p = sim_f16_value(a) * sim_f16_value(b);
    return isnan(p) ? sim_f16_nan_of(a, b, b) : sim_f16_round(p, mode, ovfl16);
}

static const int host_modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

/* Double precision uses the host's rounding; volatile keeps the operation between the calls. */
uint64_t sim_f64_fma(uint64_t a, uint64_t b, uint64_t c, unsigned mode)
{
    volatile double x = sim_f64_from_bits(a);
    volatile double r;
    fesetround(host_modes[mode]);
    r = fma(x, sim_f64_from_bits(b), sim_f64_from_bits(c));
    fesetround(FE_TONEAREST);
    return isnan(r) ? sim_f64_nan_of(a, b, c) : sim_f64_bits(r);
}

uint64_t sim_f64_add(uint64_t a, uint64_t b, unsigned mode)
{
    volatile double x = sim_f64_from_bits(a);
    volatile double r;
    fesetround(host_modes[mode]);
    r = x + sim_f64_from_bits(b);
    fesetround(FE_TONEAREST);
    return isnan(r) ? sim_f64_nan_of(a, b, b) : sim_f64_bits(r);
}

uint64_t sim_f64_mul(uint64_t a, uint64_t b, unsigned mode)
{
    volatile double x = sim_f64_from_bits(a);
    volatile double r;
    fesetround(host_modes[mode]);
    r = x * sim_f64_from_bits(b);
    fesetround(FE_TONEAREST);
    return isnan(r) ? sim_f64_nan_of(a, b, b) : sim_f64_bits(r);
}
