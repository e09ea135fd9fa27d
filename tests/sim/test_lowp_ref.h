/* SPDX-License-Identifier: MIT */
/*
 * Reference of the small formats for tests: the list of a format's values,
 * worked out from exponent and mantissa widths, and rounding by comparison with
 * the midpoints between them.  Doubles hold all of it exactly.
 */
#ifndef TEST_LOWP_REF_H
#define TEST_LOWP_REF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct ref_fmt {
    const char *name;
    int ebits, mbits, bias;
    unsigned bits;
    unsigned max;      /* largest finite magnitude code */
    int nan, inf;      /* magnitude codes, -1 if there are none */
    double value[130]; /* of codes 0..max, and the one that would follow */
};

#define REF_FMT __attribute__((unused)) static struct ref_fmt

/* OCP Microscaling Formats v1.0, tables of E4M3, E5M2, E2M3, E3M2, E2M1. */
REF_FMT ref_fp8 = { "fp8", 4, 3, 7, 8, 0x7E, 0x7F, -1, { 0 } };
REF_FMT ref_bf8 = { "bf8", 5, 2, 15, 8, 0x7B, 0x7E, 0x7C, { 0 } };
REF_FMT ref_fp6 = { "fp6", 2, 3, 1, 6, 0x1F, -1, -1, { 0 } };
REF_FMT ref_bf6 = { "bf6", 3, 2, 3, 6, 0x1F, -1, -1, { 0 } };
REF_FMT ref_fp4 = { "fp4", 2, 1, 1, 4, 0x07, -1, -1, { 0 } };

static inline void ref_init(struct ref_fmt *f)
{
    for (unsigned c = 0; c <= f->max + 1; c++) {
        const int e = (int)(c >> f->mbits);
        const int m = (int)c & ((1 << f->mbits) - 1);
        const int one = 1 << f->mbits;
        f->value[c] =
            e ? ldexp(one + m, e - f->bias - f->mbits) : ldexp(m, 1 - f->bias - f->mbits);
    }
}

static inline unsigned ref_overflow(const struct ref_fmt *f, bool saturate)
{
    if (saturate || f->nan < 0) {
        return f->max;
    }
    return (unsigned)(f->inf >= 0 ? f->inf : f->nan);
}

/* Code of x / 2^(scale - 127), to nearest, ties to the even code. */
static inline unsigned ref_narrow(const struct ref_fmt *f, double x, int scale, bool saturate)
{
    const unsigned sign = signbit(x) ? 1u << (f->bits - 1) : 0;
    if (isnan(x)) {
        return sign | (f->nan >= 0 ? (unsigned)f->nan : f->max);
    }
    const double v = ldexp(fabs(x), 127 - scale);
    unsigned c = 0;
    while (c <= f->max) {
        const double mid = (f->value[c] + f->value[c + 1]) / 2;
        if (v < mid || (v == mid && c % 2 == 0)) {
            break;
        }
        c++;
    }
    return sign | (c > f->max ? ref_overflow(f, saturate) : c);
}

/* The same with stochastic rounding: up if fraction + seed / 2^32 reaches 1. */
static inline unsigned ref_narrow_sr(const struct ref_fmt *f, double x, int scale,
                                     bool saturate, uint32_t seed)
{
    const unsigned sign = signbit(x) ? 1u << (f->bits - 1) : 0;
    if (isnan(x) || isinf(x)) {
        return ref_narrow(f, x, scale, saturate);
    }
    const double v = ldexp(fabs(x), 127 - scale);
    unsigned c = 0;
    while (c <= f->max && v >= f->value[c + 1]) {
        c++;
    }
    if (c <= f->max) {
        const double frac = (v - f->value[c]) / (f->value[c + 1] - f->value[c]);
        c += floor(frac * 0x1p32) + seed >= 0x1p32;
    }
    return sign | (c > f->max ? ref_overflow(f, saturate) : c);
}

/* Value of a code with sign. */
static inline double ref_widen(const struct ref_fmt *f, unsigned code)
{
    const unsigned mag = code & ((1u << (f->bits - 1)) - 1);
    const double v = mag <= f->max ? f->value[mag] : (int)mag == f->inf ? INFINITY : NAN;
    return code >> (f->bits - 1) & 1 ? -v : v;
}

#endif
