/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of the F8F6F4 MFMA on dense arrays, apart from registers and
 * instructions.  The MFMA_INLINE functions are compiled twice, into callers for
 * any CPU and into callers for AVX2 and FMA.
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
    _Alignas(64) float a[64 * MX_BLOCK];
    _Alignas(64) float b[64 * MX_BLOCK];
    _Alignas(64) float d[32 * 32]; /* in: C, out: D, row by row */
};

typedef float mx_v4 __attribute__((vector_size(16), may_alias));
typedef double mx_v4d __attribute__((vector_size(32)));
typedef int64_t mx_v4i __attribute__((vector_size(32)));

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SIM_NO_AVX2)
#define MX_HAVE_AVX2 1
#include <immintrin.h>
#endif

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
 * Dot products of one block, rows r of a with 16 columns of b: out[16 * r + n].
 *
 * In f32 these are exact in any order for FP4, FP6 and BF6: products are
 * multiples of 2^-8 at most, and the largest sum, 32 * 28 * 28, needs 23 bits.
 */
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
        /* x - (+0) is x for every x, -0 included: a broadcast. */
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

#ifdef MX_HAVE_AVX2
#define MX_AVX2 static inline __attribute__((target("avx2,fma")))

MX_AVX2 void mx_decode_fp4_avx2(const uint32_t *row, unsigned mn, float *out)
{
    const __m256 magnitude = _mm256_setr_ps(0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f);
    const __m256i top = _mm256_set1_epi32(INT32_MIN);
    for (unsigned r = 0; r < mn; r += 8) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(row + r));
        for (int i = 0; i < 8; i++) {
            /* The permute looks at the low three bits only. */
            const __m256 mag = _mm256_permutevar8x32_ps(magnitude, _mm256_srli_epi32(x, 4 * i));
            const __m256i sign = _mm256_and_si256(_mm256_slli_epi32(x, 28 - 4 * i), top);
            _mm256_store_ps(out + (unsigned)i * mn + r,
                            _mm256_or_ps(mag, _mm256_castsi256_ps(sign)));
        }
    }
}

MX_AVX2 void mx_dot_4x16_avx2(const float *a, const float *b, unsigned mn, float *out)
{
    __m256 c00 = _mm256_setzero_ps(), c01 = c00, c10 = c00, c11 = c00;
    __m256 c20 = c00, c21 = c00, c30 = c00, c31 = c00;
    for (unsigned k = 0; k < MX_BLOCK; k++, a += mn, b += mn) {
        const __m256 b0 = _mm256_load_ps(b);
        const __m256 b1 = _mm256_load_ps(b + 8);
        __m256 s = _mm256_broadcast_ss(a);
        c00 = _mm256_fmadd_ps(s, b0, c00);
        c01 = _mm256_fmadd_ps(s, b1, c01);
        s = _mm256_broadcast_ss(a + 1);
        c10 = _mm256_fmadd_ps(s, b0, c10);
        c11 = _mm256_fmadd_ps(s, b1, c11);
        s = _mm256_broadcast_ss(a + 2);
        c20 = _mm256_fmadd_ps(s, b0, c20);
        c21 = _mm256_fmadd_ps(s, b1, c21);
        s = _mm256_broadcast_ss(a + 3);
        c30 = _mm256_fmadd_ps(s, b0, c30);
        c31 = _mm256_fmadd_ps(s, b1, c31);
    }
    _mm256_store_ps(out, c00);
    _mm256_store_ps(out + 8, c01);
    _mm256_store_ps(out + 16, c10);
    _mm256_store_ps(out + 24, c11);
    _mm256_store_ps(out + 32, c20);
    _mm256_store_ps(out + 40, c21);
    _mm256_store_ps(out + 48, c30);
    _mm256_store_ps(out + 56, c31);
}
#endif

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

/* One step of mx_dot_row_double in four columns. */
MFMA_INLINE void mx_mac_double(double a, const float *b, bool split, mx_v4d *hi, mx_v4d *lo)
{
    const mx_v4d zero = { 0 };
    const mx_v4d p = a * __builtin_convertvector(*(const mx_v4 *)b, mx_v4d);
    if (!split) {
        *hi += p;
        return;
    }
    /* Comparisons with NaN fail, so that NaN joins hi, where it stays. */
    const mx_v4i small = (p < zero + 1.0) & (p > zero - 1.0);
    *hi += (mx_v4d)(~small & (mx_v4i)p);
    *lo += (mx_v4d)(small & (mx_v4i)p);
}

/*
 * One row of the dot products, 16 columns, in double, for 8-bit operands: exact
 * as well.  Products of BF8 with an 8-bit format span more than 53 bits, so those
 * from 1 up (multiples of 2^-5 below 2^37) and those below 1 (multiples of 2^-32)
 * are summed apart.
 */
MFMA_INLINE void mx_dot_row_double(const float *a, const float *b, unsigned mn, bool split,
                                   double *out)
{
    mx_v4d hi0 = { 0 }, hi1 = { 0 }, hi2 = { 0 }, hi3 = { 0 };
    mx_v4d lo0 = { 0 }, lo1 = { 0 }, lo2 = { 0 }, lo3 = { 0 };
    for (unsigned k = 0; k < MX_BLOCK; k++, a += mn, b += mn) {
        mx_mac_double((double)a[0], b, split, &hi0, &lo0);
        mx_mac_double((double)a[0], b + 4, split, &hi1, &lo1);
        mx_mac_double((double)a[0], b + 8, split, &hi2, &lo2);
        mx_mac_double((double)a[0], b + 12, split, &hi3, &lo3);
    }
    for (unsigned n = 0; n < 4; n++) {
        out[n] = split ? mx_add_odd(hi0[n], lo0[n]) : hi0[n];
        out[n + 4] = split ? mx_add_odd(hi1[n], lo1[n]) : hi1[n];
        out[n + 8] = split ? mx_add_odd(hi2[n], lo2[n]) : hi2[n];
        out[n + 12] = split ? mx_add_odd(hi3[n], lo3[n]) : hi3[n];
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

MFMA_INLINE void mx_add_row_f32(float *restrict d, const float *restrict dot, float fa,
                                const float *restrict fb)
{
    for (unsigned n = 0; n < 16; n++) {
        d[n] = mx_accumulate(d[n], dot[n] * (fa * fb[n]));
    }
}

/* Scales as f32, where they are tame. */
MFMA_INLINE void mx_scales_f32(const uint8_t *s, float *out)
{
    for (unsigned i = 0; i < 64; i++) {
        out[i] = sim_f32_from_bits((uint32_t)s[i] << 23);
    }
}

/* `rows` rows of dot products of block kb, from row m and column n, scaled and added. */
MFMA_INLINE void mx_add_tile(struct mx_job *j, unsigned mn, unsigned kb, unsigned m, unsigned n,
                             unsigned rows, const float *dot, const float *fa, const float *fb)
{
    for (unsigned r = 0; r < rows; r++) {
        float *d = j->d + (m + r) * mn + n;
        const unsigned sa = kb * mn + m + r;
        if (fa) {
            mx_add_row_f32(d, dot + 16 * r, fa[sa], fb + kb * mn + n);
            continue;
        }
        double dd[16];
        for (unsigned i = 0; i < 16; i++) {
            dd[i] = dot[16 * r + i];
        }
        mx_add_row_double(d, dd, j->scale_a[sa], j->scale_b + kb * mn + n);
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

/* Which NaN comes out is not documented: the canonical quiet one here. */
MFMA_INLINE void mx_canonical_nan(float *d, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        const uint32_t u = sim_f32_bits(d[n]);
        d[n] = sim_f32_from_bits((u & 0x7FFFFFFFu) > SIM_F32_INF ? SIM_F32_QNAN : u);
    }
}

#endif
