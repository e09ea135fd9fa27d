/* SPDX-License-Identifier: MIT */
/* The reference in double precision; see oracle.h. */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- formats */

/* OCP MX v1.0, section 5.3.3: E2M1 is sign, two exponent bits of bias 1, one mantissa bit. */
double oracle_e2m1(unsigned code)
{
    unsigned exponent = code >> 1 & 3, mantissa = code & 1;
    double magnitude =
        exponent == 0 ? 0.5 * mantissa : ldexp(1.0 + 0.5 * mantissa, (int)exponent - 1);
    return code & 8 ? -magnitude : magnitude;
}

/* Section 5.4.1: E8M0 is an exponent of bias 127 and nothing else. */
double oracle_e8m0(unsigned scale)
{
    return scale == 255 ? NAN : ldexp(1.0, (int)scale - 127);
}

/* An IEEE-like format of 16 bits. */
static double decode16(uint16_t bits, int exponent_bits, int mantissa_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    int mantissa = bits & ((1 << mantissa_bits) - 1);
    double magnitude;

    if (exponent == (1 << exponent_bits) - 1) {
        magnitude = mantissa != 0 ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        magnitude = ldexp(mantissa, 1 - bias - mantissa_bits);
    } else {
        magnitude = ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
    }
    return bits & 0x8000 ? -magnitude : magnitude;
}

double oracle_bf16(uint16_t bits)
{
    return decode16(bits, 8, 7);
}

double oracle_f16(uint16_t bits)
{
    return decode16(bits, 5, 10);
}

uint16_t oracle_to_bf16(double value)
{
    unsigned sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value)) {
        return 0x7fc0;
    }
    if (magnitude == 0.0 || isinf(magnitude)) {
        return (uint16_t)(sign | (magnitude == 0.0 ? 0 : 0x7f80));
    }
    int exponent;
    frexp(magnitude, &exponent);
    exponent = exponent - 1 < -126 ? -126 : exponent - 1;
    /* rint: nearest, ties to even.  A carry moves into the exponent by itself. */
    double units = rint(ldexp(magnitude, 7 - exponent));
    long bits = (long)units + ((long)(exponent + 127) << 7) - 128;
    return (uint16_t)(sign | (unsigned)(bits > 0x7f80 ? 0x7f80 : bits));
}

/* Code whose value is nearest; of two equally near ones that with an even mantissa bit. */
static unsigned nearest_e2m1(double value)
{
    unsigned best = 0;
    for (unsigned code = 1; code < 8; code++) {
        double distance = fabs(fabs(value) - oracle_e2m1(code));
        double present = fabs(fabs(value) - oracle_e2m1(best));
        if (distance < present || (distance == present && code % 2 == 0)) {
            best = code;
        }
    }
    return best | (signbit(value) ? 8 : 0);
}

/*
 * The rule in numbers, not bits: with 2^p <= amax < 2^(p+1), the block's scale
 * is 2^(p-2), or 2^(p-1) from amax = 1.75 * 2^p on; E8M0's range ends at
 * 2^-127.  A double holds every fp32 exactly, so nothing here rounds.
 */
void oracle_quantize_block(const double x[ORACLE_BLOCK], uint8_t q[16], uint8_t *scale)
{
    double amax = 0.0;
    bool is_finite = true;
    for (int i = 0; i < ORACLE_BLOCK; i++) {
        is_finite = is_finite && isfinite(x[i]);
        amax = fabs(x[i]) > amax ? fabs(x[i]) : amax;
    }
    memset(q, 0, 16);
    if (!is_finite) {
        *scale = 255;
        return;
    }
    int power = -127;
    if (amax > 0.0) {
        frexp(amax, &power);
        power -= 1;
        power = amax >= ldexp(1.75, power) ? power - 1 : power - 2;
        /* fp32 has no exponent to round 1.75 * 2^127 up to: the scale is E8M0's largest. */
        power = amax >= ldexp(1.75, 127) ? 127 : power;
        power = power < -127 ? -127 : power;
    }
    *scale = (uint8_t)(power + 127);
    for (int i = 0; i < ORACLE_BLOCK; i++) {
        q[i / 2] |= (uint8_t)(nearest_e2m1(ldexp(x[i], -power)) << i % 2 * 4);
    }
}

void oracle_quantize_bf16(size_t rows, size_t k, const uint16_t *src, size_t ld, uint8_t *q,
                          uint8_t *scale)
{
    size_t blocks = k / ORACLE_BLOCK;
    for (size_t r = 0; r < rows; r++) {
        for (size_t b = 0; b < blocks; b++) {
            double x[ORACLE_BLOCK];
            for (size_t i = 0; i < ORACLE_BLOCK; i++) {
                x[i] = oracle_bf16(src[r * ld + b * ORACLE_BLOCK + i]);
            }
            oracle_quantize_block(x, q + (r * blocks + b) * 16, scale + r * blocks + b);
        }
    }
}

/* --------------------------------------------------------------- products */

static double *dequantize(size_t rows, size_t k, const uint8_t *q, const uint8_t *scale)
{
    double *values = malloc(rows * k * sizeof(*values));
    double table[16];
    if (values == NULL) {
        return NULL;
    }
    for (unsigned i = 0; i < 16; i++) {
        table[i] = oracle_e2m1(i);
    }
    for (size_t i = 0; i < rows * k; i += 2) {
        double factor = oracle_e8m0(scale[i / ORACLE_BLOCK]);
        values[i] = table[q[i / 2] & 15] * factor;
        values[i + 1] = table[q[i / 2] >> 4] * factor;
    }
    return values;
}

/* Eight partial sums, so that compilers can keep them in vectors. */
static void dot(const double *a, const double *b, size_t k, double *sum, double *magnitude)
{
    double s[8] = { 0 }, g[8] = { 0 };
    for (size_t i = 0; i < k; i += 8) {
        for (size_t j = 0; j < 8; j++) {
            double product = a[i + j] * b[i + j];
            s[j] += product;
            g[j] += fabs(product);
        }
    }
    *sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    *magnitude = ((g[0] + g[1]) + (g[2] + g[3])) + ((g[4] + g[5]) + (g[6] + g[7]));
}

bool oracle_multiply(struct oracle_product *product, size_t m, size_t n, size_t k,
                     const uint8_t *a, const uint8_t *a_scale, const uint8_t *b,
                     const uint8_t *b_scale)
{
    *product = (struct oracle_product){ m, n, k, malloc(m * n * sizeof(double)),
                                        malloc(m * n * sizeof(double)) };
    double *wide_a = dequantize(m, k, a, a_scale);
    double *wide_b = dequantize(n, k, b, b_scale);
    bool ok =
        product->sum != NULL && product->magnitude != NULL && wide_a != NULL && wide_b != NULL;

    for (size_t j = 0; ok && j < n; j++) {
        for (size_t i = 0; i < m; i++) {
            dot(wide_a + i * k, wide_b + j * k, k, &product->sum[i * n + j],
                &product->magnitude[i * n + j]);
        }
    }
    free(wide_a);
    free(wide_b);
    if (!ok) {
        oracle_product_free(product);
    }
    return ok;
}

void oracle_product_free(struct oracle_product *product)
{
    free(product->sum);
    free(product->magnitude);
    memset(product, 0, sizeof(*product));
}

/*
 * Stored mantissa bits, and the exponents of the smallest normal and the largest finite
 * value.
 */
static void type_range(mxg_type type, int *mantissa, int *low, int *high)
{
    *mantissa = type == MXG_TYPE_BF16 ? 7 : type == MXG_TYPE_F16 ? 10 : 23;
    *low = type == MXG_TYPE_F16 ? -14 : -126;
    *high = type == MXG_TYPE_F16 ? 15 : 127;
}

double oracle_half_ulp(double value, mxg_type type)
{
    int mantissa, low, high, exponent = 0;
    type_range(type, &mantissa, &low, &high);
    if (value != 0.0) {
        frexp(value, &exponent);
        exponent -= 1;
    }
    if (value == 0.0 || exponent < low) {
        exponent = low;
    }
    return ldexp(0.5, exponent - mantissa);
}

static double read_c(const void *c, size_t index, mxg_type type)
{
    if (type == MXG_TYPE_F32) {
        return ((const float *)c)[index];
    }
    uint16_t bits = ((const uint16_t *)c)[index];
    return type == MXG_TYPE_F16 ? oracle_f16(bits) : oracle_bf16(bits);
}

/* |got - want| in units of the bound; 0 for right NaN and Inf, huge for wrong ones. */
static double excess(double got, double want, double bound, mxg_type type)
{
    int mantissa, low, high;
    type_range(type, &mantissa, &low, &high);
    double largest = ldexp(2.0 - ldexp(1.0, -mantissa), high);

    if (isnan(want) || isnan(got)) {
        return isnan(want) && isnan(got) ? 0.0 : HUGE_VAL;
    }
    if (isinf(got)) {
        /* Beyond the largest value by half its ulp, rounding gives Inf. */
        double edge = largest + oracle_half_ulp(largest, type);
        return fabs(want) + bound >= edge && (got > 0) == (want > 0) ? 0.0 : HUGE_VAL;
    }
    return fabs(got - want) / bound;
}

struct oracle_verdict oracle_check(const struct oracle_product *product, const void *c,
                                   size_t ldc, mxg_type type)
{
    struct oracle_verdict verdict = { 0 };
    double error_sum = 0.0, want_sum = 0.0;
    for (size_t i = 0; i < product->m; i++) {
        for (size_t j = 0; j < product->n; j++) {
            double want = product->sum[i * product->n + j];
            double magnitude = product->magnitude[i * product->n + j];
            double got = read_c(c, i * ldc + j, type);
            double bound =
                oracle_half_ulp(want, type) + (double)product->k * ldexp(magnitude, -24);
            double ratio = excess(got, want, bound, type);
            if (ratio > 1.0) {
                if (verdict.bad++ == 0) {
                    verdict.first_m = i;
                    verdict.first_n = j;
                    verdict.got = got;
                    verdict.want = want;
                    verdict.bound = bound;
                }
            }
            verdict.worst = ratio > verdict.worst ? ratio : verdict.worst;
            if (isfinite(want) && isfinite(got)) {
                error_sum += fabs(got - want);
                want_sum += fabs(want);
            }
        }
    }
    verdict.mean_ratio = want_sum > 0.0 ? error_sum / want_sum : 0.0;
    return verdict;
}
