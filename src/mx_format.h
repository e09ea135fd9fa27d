/* SPDX-License-Identifier: MIT */
/*
 * Scalar MX arithmetic (OCP Microscaling Formats v1.0, section 5): E2M1
 * elements, E8M0 scales, and the scale rule of mxg_gemm.
 */
#ifndef MXG_MX_FORMAT_H
#define MXG_MX_FORMAT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define MX_BLOCK 32      /* elements that share a scale */
#define MX_SCALE_NAN 255 /* E8M0's only NaN */

/* fp32 bit patterns that the scale rule is made of. */
#define MX_F32_MAGNITUDE UINT32_C(0x7fffffff)
#define MX_F32_INFINITY UINT32_C(0x7f800000)
#define MX_AMAX_ROUND \
    UINT32_C(0x00200000) /* carries into the exponent from a mantissa of 1.75 on */

static inline uint32_t mx_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float mx_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline float mx_f32_from_bf16(uint16_t bits)
{
    return mx_f32_from_bits((uint32_t)bits << 16);
}

/*
 * Scale byte of a block whose largest magnitude has these fp32 bits: the
 * exponent, rounded up from 1.75 on, less E2M1's own largest exponent 2.
 * The topmost exponent has no successor to round to, so it stays 254.
 */
static inline uint8_t mx_scale_from_amax(uint32_t amax_bits)
{
    if (amax_bits >= MX_F32_INFINITY) {
        return MX_SCALE_NAN;
    }
    uint32_t s = (amax_bits + MX_AMAX_ROUND) >> 23;
    if (s == 255) {
        return 254;
    }
    return (uint8_t)(s > 2 ? s - 2 : 0);
}

/*
 * Nearest E2M1 code, ties to even, saturating at 6; the sign of zero is kept.  `value` is
 * no NaN.
 */
static inline uint8_t mx_e2m1_encode(double value)
{
    double mag = fabs(value);
    uint8_t code = mag <= 0.25   ? 0
                   : mag < 0.75  ? 1
                   : mag <= 1.25 ? 2
                   : mag < 1.75  ? 3
                   : mag <= 2.5  ? 4
                   : mag < 3.5   ? 5
                   : mag <= 5.0  ? 6
                                 : 7;
    return (uint8_t)(signbit(value) ? code | 8 : code);
}

/*
 * Element under a scale byte below 255.  The product is exact in a double: fp32 range
 * times a power of two.
 */
static inline uint8_t mx_quantize_element(float value, uint8_t scale)
{
    return mx_e2m1_encode(ldexp((double)value, 127 - scale));
}

#endif
