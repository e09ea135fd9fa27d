/* SPDX-License-Identifier: MIT */
/*
 * Vector ALU: the steps of the division macro (ISA text, V_DIV_SCALE_F32,
 * V_DIV_FMAS_F32, V_DIV_FIXUP_F32 and their f64 and f16 forms).
 *
 * The opcode text of V_DIV_SCALE scales by 2^64 (2^128 for f64) and that of
 * V_DIV_FMAS undoes it by a fixed 2^32 (2^64), which gives no quotient; and it
 * scales a huge denominator up where only down can help.  The functions here
 * keep the text's cases and make the three steps fit: V_DIV_FMAS multiplies by
 * 2^64 where the estimate is above 1 and by 2^-64 where it is below (2^128 for
 * f64).  Likewise V_DIV_FIXUP's overflow case tests the denominator for infinity,
 * which its earlier cases have ruled out; it can only mean the estimate.  With
 * that the macro yields the correctly rounded quotient.
 */
#include "alu_float.h"
#include "exec_valu.h"

/* What differs between single and double precision, in exponents of the value itself. */
struct div_format {
    int huge_ratio; /* numerator this many binades above the denominator: near overflow */
    int min_exp;    /* exponent of the smallest normal number */
    int tiny_exp;   /* a numerator at or below this is tiny */
    int scale;      /* binades to scale by */
};

static const struct div_format div_f32 = { 96, -126, 23 - 127, 64 };
static const struct div_format div_f64 = { 768, -1022, 53 - 1023, 128 };

/* Unbiased exponent field: one below the normal range for denormals, one past it for inf. */
static int exponent_of(double x, const struct div_format *f)
{
    if (!isfinite(x)) {
        return 1 - f->min_exp + 1;
    }
    const int e = x == 0 ? f->min_exp - 1 : ilogb(x);
    return e < f->min_exp ? f->min_exp - 1 : e;
}

static bool is_denormal(double x, const struct div_format *f)
{
    return x != 0 && isfinite(x) && ilogb(x) < f->min_exp;
}

/* True where num / den is a nonzero number below the normal range. */
static bool quotient_is_denormal(double num, double den, const struct div_format *f)
{
    if (!isfinite(num) || !isfinite(den) || num == 0 || den == 0) {
        return false;
    }
    int en;
    int ed;
    const double mn = fabs(frexp(num, &en));
    const double md = fabs(frexp(den, &ed));
    return en - ed - (mn < md) < f->min_exp;
}

/*
 * Binades to scale s0 by; *flag is the lane's VCC bit.  s0 is the denominator
 * (s1) or the numerator (s2), told apart by value as the opcode text does.
 */
static int division_scale(double s0, double s1, double s2, const struct div_format *f,
                          bool *flag)
{
    const bool small_reciprocal = isfinite(s1) && s1 != 0 && quotient_is_denormal(1.0, s1, f);
    const bool small_quotient = quotient_is_denormal(s2, s1, f);
    *flag = false;
    if (exponent_of(s2, f) - exponent_of(s1, f) >= f->huge_ratio) {
        *flag = true;
        return s0 == s1 ? f->scale : 0;
    }
    if (is_denormal(s1, f)) {
        return f->scale;
    }
    if (small_reciprocal && small_quotient) {
        *flag = true;
        return s0 == s1 ? -f->scale : 0;
    }
    if (small_reciprocal) {
        return -f->scale;
    }
    if (small_quotient) {
        *flag = true;
        return s0 == s2 ? f->scale : 0;
    }
    return exponent_of(s2, f) <= f->tiny_exp ? f->scale : 0;
}

EXEC_FN(v_div_scale_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32_raw(w, in, 0, ba);
    const uint32_t *b = sim_vf32_raw(w, in, 1, bb);
    const uint32_t *c = sim_vf32_raw(w, in, 2, bc);
    uint64_t vcc = 0;
    SIM_FOR_LANES(l)
    {
        const double s0 = sim_f32_from_bits(a[l]);
        const double s1 = sim_f32_from_bits(b[l]);
        const double s2 = sim_f32_from_bits(c[l]);
        bool flag = false;
        if (s1 == 0 || s2 == 0) {
            d[l] = SIM_F32_NAN_OUT;
        } else if (isnan(s0)) {
            d[l] = a[l] | 0x400000;
        } else {
            d[l] = sim_f32_round(ldexp(s0, division_scale(s0, s1, s2, &div_f32, &flag)), 0);
        }
        vcc |= (uint64_t)flag << l;
    }
    sim_vstore_mask(w, in, 1, vcc);
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_div_scale_f64)
{
    uint64_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES], d[SIM_LANES];
    uint64_t vcc = 0;
    sim_vf64(w, in, 0, a);
    sim_vf64(w, in, 1, b);
    sim_vf64(w, in, 2, c);
    SIM_FOR_LANES(l)
    {
        const double s0 = sim_f64_from_bits(a[l]);
        const double s1 = sim_f64_from_bits(b[l]);
        const double s2 = sim_f64_from_bits(c[l]);
        bool flag = false;
        if (s1 == 0 || s2 == 0) {
            d[l] = SIM_F64_NAN_OUT;
        } else if (isnan(s0)) {
            d[l] = a[l] | 1ull << 51;
        } else {
            d[l] = sim_f64_bits(ldexp(s0, division_scale(s0, s1, s2, &div_f64, &flag)));
        }
        vcc |= (uint64_t)flag << l;
    }
    sim_vstore_mask(w, in, 1, vcc);
    sim_vstoref64(w, in, d);
}

/* Input denormals are not flushed (note of V_DIV_FMAS_F32). */
EXEC_FN(v_div_fmas_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32_raw(w, in, 0, ba);
    const uint32_t *b = sim_vf32_raw(w, in, 1, bb);
    const uint32_t *c = sim_vf32_raw(w, in, 2, bc);
    const uint64_t vcc = sim_vcc(w);
    const unsigned round = sim_round32(w);
    SIM_FOR_LANES(l)
    {
        d[l] = sim_f32_fma(a[l], b[l], c[l], round);
        if ((vcc >> l & 1) != 0 && isfinite(sim_f32_from_bits(d[l]))) {
            /* One rounding: the sum is kept odd-rounded in double and scaled there. */
            const double p = (double)sim_f32_from_bits(a[l]) * sim_f32_from_bits(b[l]);
            const double s = sim_add_odd(p, sim_f32_from_bits(c[l]));
            const bool up = (c[l] >> 23 & 0xff) > 127;
            d[l] = sim_f32_round(s * (up ? 0x1p64 : 0x1p-64), round);
        }
    }
    sim_vstoref32(w, in, d);
}

/* Sign of a * b + c - r where r is that sum rounded to nearest: what the rounding lost. */
static int lost_sign(double a, double b, double c, double r)
{
    const double p = a * b;
    const double pe = fma(a, b, -p);
    const double s = p + c;
    const double t = s - p;
    const double se = (p - (s - t)) + (c - t);
    const double lost = (s - r) + (se + pe);
    return (lost > 0) - (lost < 0);
}

/*
 * (a * b + c) * 2^-128 with one rounding.  Where the result is normal the
 * scaling is exact; a subnormal result drops bits of the sum, and what the sum
 * itself lost decides ties.
 */
static uint64_t scaled_down(uint64_t a, uint64_t b, uint64_t c, unsigned round)
{
    const uint64_t sum = sim_f64_fma(a, b, c, 0);
    const uint64_t sign = sum & 1ull << 63;
    const int biased = (int)(sum >> 52 & 0x7ff) - 128;
    if (sim_f64_is_nan(sum) || (sum & INT64_MAX) == 0x7ff0000000000000ull || biased > 0) {
        return sim_f64_mul(sim_f64_fma(a, b, c, round), sim_f64_bits(0x1p-128), round);
    }
    const int drop = 1 - biased < 60 ? 1 - biased : 60;
    const uint64_t m = (sum & 0xfffffffffffffull) | ((sum >> 52 & 0x7ff) != 0 ? 1ull << 52 : 0);
    const uint64_t rest = m & ((1ull << drop) - 1);
    const uint64_t half = 1ull << (drop - 1);
    int lost = lost_sign(sim_f64_from_bits(a), sim_f64_from_bits(b), sim_f64_from_bits(c),
                         sim_f64_from_bits(sum));
    lost = sign != 0 ? -lost : lost; /* by magnitude */
    uint64_t q = m >> drop;
    if (rest == 0 && lost < 0) {
        q--; /* truncation of a magnitude just below q */
        return sign |
               (q + (round == 0 || (round == 1 && sign == 0) || (round == 2 && sign != 0)));
    }
    const bool inexact = rest != 0 || lost != 0;
    const bool above = rest > half || (rest == half && lost > 0);
    const bool tie = rest == half && lost == 0;
    const bool away = round == 0   ? above || (tie && (q & 1) != 0)
                      : round == 1 ? inexact && sign == 0
                      : round == 2 ? inexact && sign != 0
                                   : false;
    return sign | (q + away);
}

EXEC_FN(v_div_fmas_f64)
{
    uint64_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES], d[SIM_LANES];
    const uint64_t vcc = sim_vcc(w);
    const unsigned round = sim_round64(w);
    sim_v64(w, in, 0, a);
    sim_v64(w, in, 1, b);
    sim_v64(w, in, 2, c);
    SIM_FOR_LANES(l)
    {
        for (unsigned i = 0; i < 3; i++) {
            uint64_t *v = i == 0 ? &a[l] : i == 1 ? &b[l] : &c[l];
            *v = (in->abs >> i & 1) != 0 ? *v & INT64_MAX : *v;
            *v ^= (uint64_t)(in->neg >> i & 1) << 63;
        }
        d[l] = sim_f64_fma(a[l], b[l], c[l], round);
        if ((vcc >> l & 1) != 0) {
            const bool up = (c[l] >> 52 & 0x7ff) > 1023;
            d[l] = up ? sim_f64_mul(d[l], sim_f64_bits(0x1p128), round)
                      : scaled_down(a[l], b[l], c[l], round);
        }
    }
    sim_vstoref64(w, in, d);
}

/* Special quotients of num / den; true when q is not to be used. */
static bool special_quotient(double num, double den, double *special)
{
    const double sign = (signbit(num) != 0) != (signbit(den) != 0) ? -1.0 : 1.0;
    if ((num == 0 && den == 0) || (isinf(num) && isinf(den))) {
        *special = NAN;
        return true;
    }
    if (den == 0 || isinf(num)) {
        *special = sign * INFINITY;
        return true;
    }
    if (isinf(den) || num == 0) {
        *special = sign * 0.0;
        return true;
    }
    return false;
}

/* True where an overflowing quotient rounds to infinity rather than to the largest number. */
static bool overflow_is_inf(bool negative, unsigned round)
{
    return round == 0 || (round == 1 && !negative) || (round == 2 && negative);
}

/* Magnitude bits of a quotient far below the range: zero, or one where rounding says so. */
static uint32_t underflow_bits(bool negative, unsigned round)
{
    return (round == 1 && !negative) || (round == 2 && negative);
}

EXEC_FN(v_div_fixup_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *q = sim_vf32_raw(w, in, 0, ba);
    const uint32_t *den = sim_vf32_raw(w, in, 1, bb);
    const uint32_t *num = sim_vf32_raw(w, in, 2, bc);
    SIM_FOR_LANES(l)
    {
        const double n = sim_f32_from_bits(num[l]);
        const double m = sim_f32_from_bits(den[l]);
        const uint32_t sign = (num[l] ^ den[l]) & 0x80000000;
        double special;
        if (isnan(n) || isnan(m)) {
            d[l] = sim_f32_nan_of(num[l], den[l], den[l]);
        } else if (special_quotient(n, m, &special)) {
            d[l] = isnan(special) ? SIM_F32_NAN_OUT : sim_f32_bits((float)special);
        } else if ((int)(num[l] >> 23 & 0xff) - (int)(den[l] >> 23 & 0xff) < -150) {
            d[l] = sign | underflow_bits(sign != 0, sim_round32(w));
        } else if ((q[l] & 0x7f800000) == 0x7f800000) {
            d[l] = sign | (0x7f800000 - !overflow_is_inf(sign != 0, sim_round32(w)));
        } else {
            d[l] = sign | (q[l] & 0x7fffffff);
        }
    }
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_div_fixup_f64)
{
    uint64_t q[SIM_LANES], den[SIM_LANES], num[SIM_LANES], d[SIM_LANES];
    sim_vf64(w, in, 0, q);
    sim_vf64(w, in, 1, den);
    sim_vf64(w, in, 2, num);
    SIM_FOR_LANES(l)
    {
        const double n = sim_f64_from_bits(num[l]);
        const double m = sim_f64_from_bits(den[l]);
        const uint64_t sign = (num[l] ^ den[l]) & 1ull << 63;
        double special;
        if (isnan(n) || isnan(m)) {
            d[l] = sim_f64_nan_of(num[l], den[l], den[l]);
        } else if (special_quotient(n, m, &special)) {
            d[l] = isnan(special) ? SIM_F64_NAN_OUT : sim_f64_bits(special);
        } else if ((int)(num[l] >> 52 & 0x7ff) - (int)(den[l] >> 52 & 0x7ff) < -1075) {
            d[l] = sign | underflow_bits(sign != 0, sim_round64(w));
        } else if ((q[l] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull) {
            d[l] = sign | (0x7ff0000000000000ull - !overflow_is_inf(sign != 0, sim_round64(w)));
        } else {
            d[l] = sign | (q[l] & INT64_MAX);
        }
    }
    sim_vstoref64(w, in, d);
}

/* Both f16 forms: they differ in what the store does with the upper half. */
static void fixup_f16(struct sim_wave *w, const struct sim_inst *in)
{
    uint32_t q[SIM_LANES], den[SIM_LANES], num[SIM_LANES], d[SIM_LANES];
    sim_vf16(w, in, 0, q);
    sim_vf16(w, in, 1, den);
    sim_vf16(w, in, 2, num);
    SIM_FOR_LANES(l)
    {
        const double n = sim_f16_value(num[l]);
        const double m = sim_f16_value(den[l]);
        double special;
        if (isnan(n) || isnan(m)) {
            d[l] = sim_f16_nan_of(num[l], den[l], den[l]);
        } else if (special_quotient(n, m, &special)) {
            d[l] = isnan(special) ? SIM_F16_NAN_OUT : sim_f16_round(special, 0, false);
        } else {
            d[l] = ((num[l] ^ den[l]) & 0x8000) | (q[l] & 0x7fff);
        }
    }
    sim_vstoref16(w, in, d);
}

EXEC_FN(v_div_fixup_f16)
{
    fixup_f16(w, in);
}

EXEC_FN(v_div_fixup_legacy_f16)
{
    fixup_f16(w, in);
}
