/* SPDX-License-Identifier: MIT */
/* Conversions between f32 and the small floating-point formats. */
#include "fp_lowp.h"

static const struct sim_lowp fp4 = SIM_LOWP_FP4;
static const struct sim_lowp fp6 = SIM_LOWP_FP6;
static const struct sim_lowp bf6 = SIM_LOWP_BF6;
static const struct sim_lowp fp8 = SIM_LOWP_FP8;
static const struct sim_lowp bf8 = SIM_LOWP_BF8;

/*
 * floor(|x| / unit + seed / 2^32) where unit is the last place of the result and
 * |x| = m * 2^-shift units.  The documents say that the random value is added
 * below the kept bits and the sum truncated; how many random bits reach a
 * subnormal result is not documented.  Here all 32 do, so that the chance of
 * rounding up is the dropped fraction, to within 2^-32.
 */
static uint64_t add_seed(uint32_t m, int32_t shift, uint32_t seed)
{
    const uint64_t fixed = shift < 64 ? (uint64_t)m << 32 >> shift : 0;
    return (fixed + seed) >> 32;
}

/* mag, finite and not 0, as *m * 2^(e - 23) with 2^23 <= *m < 2^24; returns e. */
static int32_t split(uint32_t mag, uint32_t *m)
{
    const bool tiny = mag < 0x00800000u;
    const uint32_t n = tiny ? sim_f32_bits(sim_f32_from_bits(mag) * 0x1p24f) : mag;
    *m = (n & 0x007FFFFFu) | 0x00800000u;
    return (int32_t)(n >> 23) - 127 - (tiny ? 24 : 0);
}

static int32_t code_sr(const struct sim_lowp *f, uint32_t x, uint32_t scale, uint32_t seed)
{
    const uint32_t mag = x & 0x7FFFFFFFu;
    if (mag == 0) {
        return 0; /* an exact zero has no fraction to round up */
    }
    uint32_t m;
    const int32_t e = split(mag, &m) - ((int32_t)scale - 127);
    const int32_t ce = e > f->emin ? e : f->emin;
    const uint64_t q = add_seed(m, ce - e + 23 - f->mbits, seed);
    return (int32_t)((uint32_t)(ce - f->emin) << f->mbits) + (int32_t)q;
}

/*
 * A NaN that has no code.  AMD's documents do not say what the conversion to
 * FP4 and FP6 makes of it; the host emulation in HIP's headers gives the
 * largest magnitude, rocjitsu gives zero.  The executor reports the case.
 */
static uint8_t nan_without_code(const struct sim_lowp *f)
{
    return f->max_code;
}

static uint8_t narrow(const struct sim_lowp *f, uint32_t x, uint8_t scale,
                      const struct sim_round *r)
{
    const uint8_t sign = (uint8_t)(x >> 31 << (f->bits - 1));
    if (sim_f32_is_nan(x)) {
        return sign | (f->nan_code ? f->nan_code : nan_without_code(f));
    }
    const bool inf = (x & 0x7FFFFFFFu) == SIM_F32_INF;
    const int32_t code = inf             ? INT32_MAX
                         : r->stochastic ? code_sr(f, x, scale, r->seed)
                                         : sim_lowp_code_rne(f, x, scale);
    if (code <= f->max_code) {
        return (uint8_t)(sign | code);
    }
    /* FP4 and FP6 always saturate (ISA text, 7.3); FP8 overflows to NaN, BF8 to infinity. */
    if (!f->nan_code || r->saturate) {
        return sign | f->max_code;
    }
    return sign | (f->inf_code ? f->inf_code : f->nan_code);
}

uint8_t sim_fp4_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r)
{
    return narrow(&fp4, x, scale, r);
}

uint8_t sim_fp6_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r)
{
    return narrow(&fp6, x, scale, r);
}

uint8_t sim_bf6_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r)
{
    return narrow(&bf6, x, scale, r);
}

uint8_t sim_fp8_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r)
{
    return narrow(&fp8, x, scale, r);
}

uint8_t sim_bf8_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r)
{
    return narrow(&bf8, x, scale, r);
}

static float widen(const struct sim_lowp *f, uint8_t code)
{
    const uint32_t mag = code & ((1u << (f->bits - 1)) - 1);
    const uint32_t sign = (uint32_t)(code >> (f->bits - 1) & 1) << 31;
    if (mag > f->max_code) {
        const bool inf = f->inf_code && mag == f->inf_code;
        return sim_f32_from_bits(sign | (inf ? SIM_F32_INF : SIM_F32_QNAN));
    }
    const int32_t e = (int32_t)(mag >> f->mbits);
    const uint32_t fraction = mag & ((1u << f->mbits) - 1);
    const uint32_t m = e ? fraction | 1u << f->mbits : fraction;
    /* m times a power of two, which an f32 holds. */
    const int32_t power = f->emin - f->mbits + (e ? e - 1 : 0);
    const float v = (float)m * sim_f32_from_bits((uint32_t)(power + 127) << 23);
    return sim_f32_from_bits(sim_f32_bits(v) | sign);
}

float sim_fp4_to_f32(uint8_t code)
{
    return widen(&fp4, code);
}

float sim_fp6_to_f32(uint8_t code)
{
    return widen(&fp6, code);
}

float sim_bf6_to_f32(uint8_t code)
{
    return widen(&bf6, code);
}

float sim_fp8_to_f32(uint8_t code)
{
    return widen(&fp8, code);
}

float sim_bf8_to_f32(uint8_t code)
{
    return widen(&bf8, code);
}

float sim_e8m0_to_f32(uint8_t s)
{
    if (s == 0xFF) {
        return sim_f32_from_bits(SIM_F32_QNAN);
    }
    return sim_f32_from_bits(s ? (uint32_t)s << 23 : 0x00400000u);
}

uint32_t sim_f32_scale(float x, uint8_t scale)
{
    const uint32_t u = sim_f32_bits(x);
    if (sim_f32_is_nan(u)) {
        return (u & 0x80000000u) | SIM_F32_QNAN;
    }
    /* The double holds the product exactly; the conversion rounds once. */
    const uint64_t power = (uint64_t)(scale + 1023 - 127) << 52;
    double p;
    memcpy(&p, &power, sizeof p);
    return sim_f32_bits((float)((double)x * p));
}

uint32_t sim_f16_to_f32(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t e = h >> 10 & 31u;
    const uint32_t m = h & 0x3FFu;
    if (e == 31) {
        return sign | SIM_F32_INF | m << 13;
    }
    if (e == 0) {
        return sign | sim_f32_bits((float)m * 0x1p-24f);
    }
    return sign | (e + 112) << 23 | m << 13;
}

/* The 16-bit formats use the same arithmetic, with infinity one past the largest number. */
struct half {
    uint8_t mbits;
    int16_t emin;
    uint16_t inf;
};

static const struct half half_f16 = { 10, -14, 0x7C00 };
static const struct half half_bf16 = { 7, -126, 0x7F80 };

static uint16_t half_from_f32(const struct half *f, uint32_t x, bool stochastic, uint32_t seed)
{
    const uint32_t sign = x >> 31 << 15;
    const uint32_t mag = x & 0x7FFFFFFFu;
    if (mag > SIM_F32_INF) {
        /* A NaN is made quiet and keeps the payload bits that fit. */
        const uint32_t payload = (mag & 0x007FFFFFu) >> (23 - f->mbits);
        return (uint16_t)(sign | f->inf | 1u << (f->mbits - 1) | payload);
    }
    if (mag == SIM_F32_INF || mag == 0) {
        return (uint16_t)(sign | (mag ? f->inf : 0u));
    }
    uint32_t m;
    const int32_t e = split(mag, &m);
    const int32_t ce = e > f->emin ? e : f->emin;
    int32_t shift = ce - e + 23 - f->mbits;
    uint32_t q;
    if (stochastic) {
        q = (uint32_t)add_seed(m, shift, seed);
    } else {
        shift = shift > 25 ? 25 : shift;
        q = (m + (1u << (shift - 1)) - 1 + (m >> shift & 1)) >> shift;
    }
    const uint32_t code = ((uint32_t)(ce - f->emin) << f->mbits) + q;
    return (uint16_t)(sign | (code < f->inf ? code : f->inf));
}

uint16_t sim_f16_from_f32(uint32_t x)
{
    return half_from_f32(&half_f16, x, false, 0);
}

uint16_t sim_f16_from_f32_sr(uint32_t x, uint32_t seed)
{
    return half_from_f32(&half_f16, x, true, seed);
}

uint16_t sim_bf16_from_f32(uint32_t x)
{
    return half_from_f32(&half_bf16, x, false, 0);
}

uint16_t sim_bf16_from_f32_sr(uint32_t x, uint32_t seed)
{
    return half_from_f32(&half_bf16, x, true, seed);
}
