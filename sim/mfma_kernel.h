/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of the F8F6F4 MFMA on dense arrays, apart from registers and
 * instructions.  Functions here are inlined twice by exec_mfma_f8f6f4.c: once
 * for any CPU, once for AVX2 and FMA.
 */
#ifndef SIM_MFMA_KERNEL_H
#define SIM_MFMA_KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "fp_lowp.h"

#define MFMA_INLINE static inline __attribute__((always_inline))

#define MX_BLOCK 32 /* elements that share a scale */

/*
 * One multiplication, mn x mn outputs.  The 64 lanes hold 64 / mn blocks of K,
 * and element (r, k) of an operand is x[k * mn + r], k counted from 0 over all
 * blocks.  The scale of row r and block kb is byte kb * mn + r.
 */
struct mx_job {
    unsigned mn;
    uint8_t scale_a[64], scale_b[64];
    bool split; /* products of two 8-bit formats, one of them BF8 */
    _Alignas(64) float a[64 * MX_BLOCK];
    _Alignas(64) float b[64 * MX_BLOCK];
    _Alignas(64) float d[32 * 32]; /* in: C, out: D, row by row */
};

typedef float mx_v4 __attribute__((vector_size(16), may_alias));
typedef float mx_v8 __attribute__((vector_size(32), may_alias));

/* FP4 codes of 8 consecutive K from one register row: out[i * mn + r] for i = 0..7. */
MFMA_INLINE void mx_decode_fp4(const uint32_t *row, unsigned mn, float *out)
{
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned r = 0; r < mn; r++) {
            const uint32_t x = row[r] >> (4 * i);
            const uint32_t t = x & 7;
            /* Codes 0 and 1 are 0 and 0.5; from 2 on the bits are those of an f32. */
            const uint32_t low = (0u - t) & 0x3F000000u;
            const uint32_t mag = t < 2 ? low : (t << 22) + (126u << 23);
            out[i * mn + r] = sim_f32_from_bits(mag | (x & 8) << 28);
        }
    }
}

/*
 * Dot products of one block: rows 0..3 (or 0..1) of a with 16 columns of b.
 *
 * In f32 these are exact in any order for FP4, FP6 and BF6: products are
 * multiples of 2^-8 at most, and the largest sum, 32 * 28 * 28, needs 23 bits.
 */
MFMA_INLINE void mx_dot_4x16(const float *a, const float *b, unsigned mn, float *out)
{
    mx_v8 c00 = { 0 }, c01 = { 0 }, c10 = { 0 }, c11 = { 0 };
    mx_v8 c20 = { 0 }, c21 = { 0 }, c30 = { 0 }, c31 = { 0 };
    const mx_v8 zero = { 0 };
    for (unsigned k = 0; k < MX_BLOCK; k++, a += mn, b += mn) {
        const mx_v8 b0 = *(const mx_v8 *)b;
        const mx_v8 b1 = *(const mx_v8 *)(b + 8);
        /* x - (+0) is x for every x, -0 included: a broadcast. */
        mx_v8 s = a[0] - zero;
        c00 += s * b0;
        c01 += s * b1;
        s = a[1] - zero;
        c10 += s * b0;
        c11 += s * b1;
        s = a[2] - zero;
        c20 += s * b0;
        c21 += s * b1;
        s = a[3] - zero;
        c30 += s * b0;
        c31 += s * b1;
    }
    mx_v8 *o = (mx_v8 *)out;
    o[0] = c00;
    o[1] = c01;
    o[2] = c10;
    o[3] = c11;
    o[4] = c20;
    o[5] = c21;
    o[6] = c30;
    o[7] = c31;
}

MFMA_INLINE void mx_dot_2x16(const float *a, const float *b, unsigned mn, float *out)
{
    mx_v4 c00 = { 0 }, c01 = { 0 }, c02 = { 0 }, c03 = { 0 };
    mx_v4 c10 = { 0 }, c11 = { 0 }, c12 = { 0 }, c13 = { 0 };
    const mx_v4 zero = { 0 };
    for (unsigned k = 0; k < MX_BLOCK; k++, a += mn, b += mn) {
        const mx_v4 b0 = *(const mx_v4 *)b;
        const mx_v4 b1 = *(const mx_v4 *)(b + 4);
        const mx_v4 b2 = *(const mx_v4 *)(b + 8);
        const mx_v4 b3 = *(const mx_v4 *)(b + 12);
        mx_v4 s = a[0] - zero;
        c00 += s * b0;
        c01 += s * b1;
        c02 += s * b2;
        c03 += s * b3;
        s = a[1] - zero;
        c10 += s * b0;
        c11 += s * b1;
        c12 += s * b2;
        c13 += s * b3;
    }
    mx_v4 *o = (mx_v4 *)out;
    o[0] = c00;
    o[1] = c01;
    o[2] = c02;
    o[3] = c03;
    o[4] = c10;
    o[5] = c11;
    o[6] = c12;
    o[7] = c13;
}

/*
 * A sum of two doubles rounded to odd: rounding it again to f32 is then one
 * correct rounding of the exact sum (the double has more than 24 + 2 bits).
 */
MFMA_INLINE double mx_add_odd(double x, double y)
{
    const double s = x + y;
    const double part = s - x;
    const double err = (x - (s - part)) + (y - part);
    uint64_t u;
    memcpy(&u, &s, sizeof u);
    if (!isfinite(s) || err == 0 || (u & 1)) {
        return s;
    }
    /* Inexact and even: step towards the error, to the odd neighbour. */
    u = (err > 0) == (s > 0) ? u + 1 : u - 1;
    double odd;
    memcpy(&odd, &u, sizeof odd);
    return odd;
}

/*
 * One row of the dot products in double, for 8-bit operands, exact as well.
 * Products of BF8 with an 8-bit format span more than 53 bits, so those from 1 up
 * (multiples of 2^-5 below 2^37) and those below 1 (multiples of 2^-32) are summed
 * apart.
 */
MFMA_INLINE void mx_dot_row_double(const float *a, const float *b, unsigned mn, bool split,
                                   double *out)
{
    double hi[16] = { 0 }, lo[16] = { 0 };
    for (unsigned k = 0; k < MX_BLOCK; k++, a += mn, b += mn) {
        const double x = a[0];
        for (unsigned n = 0; n < 16; n++) {
            const double p = x * (double)b[n];
            /* Comparisons with NaN fail, so that NaN joins hi, where it stays. */
            const bool small = split && fabs(p) < 1.0;
            hi[n] += small ? 0.0 : p;
            lo[n] += small ? p : 0.0;
        }
    }
    for (unsigned n = 0; n < 16; n++) {
        out[n] = split ? mx_add_odd(hi[n], lo[n]) : hi[n];
    }
}

/*
 * Adding a block's scaled sum to the accumulator.  Neither the order of the
 * additions nor their precision is documented.  Here: C first, blocks in
 * ascending K, each scaled sum rounded once to f32, each addition rounded to
 * nearest even in f32.
 */
MFMA_INLINE float mx_accumulate(float d, float term)
{
    return d + term;
}

/* 2^(s - 127) as a double; 0xFF is NaN, so that even a sum of zeros becomes NaN. */
MFMA_INLINE double mx_scale_double(uint8_t s)
{
    const uint64_t u = s == 0xFF ? 0x7FF8000000000000u : (uint64_t)(s + 1023 - 127) << 52;
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* General scaling: exact in double, one rounding to f32. */
MFMA_INLINE void mx_add_row_double(float *d, const double *dot, uint8_t sa, const uint8_t *sb)
{
    const double fa = mx_scale_double(sa);
    for (unsigned n = 0; n < 16; n++) {
        d[n] = mx_accumulate(d[n], (float)(dot[n] * fa * mx_scale_double(sb[n])));
    }
}

/*
 * May the scaling be done in f32?  Sums are multiples of 2^-8 below 2^16, so
 * with the product of the scales in 2^-118 .. 2^110 it is exact there too.
 */
MFMA_INLINE bool mx_scales_are_tame(const uint8_t *sa, const uint8_t *sb)
{
    unsigned lo_a = 255, lo_b = 255, hi_a = 0, hi_b = 0;
    for (unsigned i = 0; i < 64; i++) {
        lo_a = sa[i] < lo_a ? sa[i] : lo_a;
        hi_a = sa[i] > hi_a ? sa[i] : hi_a;
        lo_b = sb[i] < lo_b ? sb[i] : lo_b;
        hi_b = sb[i] > hi_b ? sb[i] : hi_b;
    }
    /* The single factors must be normal numbers, not NaN. */
    return lo_a > 0 && lo_b > 0 && hi_a < 255 && hi_b < 255 && lo_a + lo_b >= 254 - 118 &&
           hi_a + hi_b <= 254 + 110;
}

MFMA_INLINE void mx_add_row_f32(float *d, const float *dot, uint8_t sa, const uint8_t *sb)
{
    const float fa = sim_f32_from_bits((uint32_t)sa << 23);
    for (unsigned n = 0; n < 16; n++) {
        const float scale = fa * sim_f32_from_bits((uint32_t)sb[n] << 23);
        d[n] = mx_accumulate(d[n], dot[n] * scale);
    }
}

/* The whole product for operands of up to 6 bits. */
MFMA_INLINE void mx_multiply_f32(struct mx_job *j, unsigned mn, bool wide)
{
    const bool tame = mx_scales_are_tame(j->scale_a, j->scale_b);
    const unsigned rows = wide ? 4 : 2;
    _Alignas(32) float dot[4 * 16];
    double dd[16];
    for (unsigned kb = 0; kb < 64 / mn; kb++) {
        const float *a = j->a + kb * MX_BLOCK * mn;
        const float *b = j->b + kb * MX_BLOCK * mn;
        for (unsigned m = 0; m < mn; m += rows) {
            for (unsigned n = 0; n < mn; n += 16) {
                if (wide) {
                    mx_dot_4x16(a + m, b + n, mn, dot);
                } else {
                    mx_dot_2x16(a + m, b + n, mn, dot);
                }
                for (unsigned r = 0; r < rows; r++) {
                    float *d = j->d + (m + r) * mn + n;
                    const uint8_t sa = j->scale_a[kb * mn + m + r];
                    const uint8_t *sb = j->scale_b + kb * mn + n;
                    if (tame) {
                        mx_add_row_f32(d, dot + 16 * r, sa, sb);
                        continue;
                    }
                    for (unsigned i = 0; i < 16; i++) {
                        dd[i] = dot[16 * r + i];
                    }
                    mx_add_row_double(d, dd, sa, sb);
                }
            }
        }
    }
}

/* The whole product where an operand has 8-bit elements. */
MFMA_INLINE void mx_multiply_double(struct mx_job *j, unsigned mn, bool split)
{
    double dot[16];
    for (unsigned kb = 0; kb < 64 / mn; kb++) {
        const float *a = j->a + kb * MX_BLOCK * mn;
        const float *b = j->b + kb * MX_BLOCK * mn;
        for (unsigned m = 0; m < mn; m++) {
            for (unsigned n = 0; n < mn; n += 16) {
                mx_dot_row_double(a + m, b + n, mn, split, dot);
                mx_add_row_double(j->d + m * mn + n, dot, j->scale_a[kb * mn + m],
                                  j->scale_b + kb * mn + n);
            }
        }
    }
}

#endif
