/* SPDX-License-Identifier: MIT */
/*
 * Scalar floating point as the vector ALU does it: values travel as bits,
 * rounding modes are 0 nearest even, 1 up, 2 down, 3 toward zero, NaN results
 * follow one rule, denormal flushing is the caller's.
 *
 * NaN rule: the first NaN operand, made quiet; a NaN that an operation creates
 * is 0xffc00000 (ISA text, examples of V_LOG_F32 and V_SQRT_F32; no other
 * document gives payloads).
 */
#ifndef SIM_ALU_FLOAT_H
#define SIM_ALU_FLOAT_H

#include <math.h>

#include "fp_lowp.h"

#define SIM_F32_NAN_OUT 0xffc00000u
#define SIM_F16_NAN_OUT 0xfe00u
#define SIM_F64_NAN_OUT 0xfff8000000000000ull

static inline double sim_f64_from_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof(x));
    return x;
}

static inline uint64_t sim_f64_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof(u));
    return u;
}

static inline bool sim_f64_is_nan(uint64_t u)
{
    return (u & INT64_MAX) > 0x7ff0000000000000ull;
}

static inline bool sim_f16_is_nan(uint32_t u)
{
    return (u & 0x7fff) > 0x7c00;
}

static inline double sim_f16_value(uint32_t h)
{
    return sim_f32_from_bits(sim_f16_to_f32((uint16_t)h));
}

/* x + y with the inexact bit kept in the last place (round to odd), for one later rounding. */
double sim_add_odd(double x, double y);

/* A double rounded to f32 or f16 bits; ovfl16: overflow gives the largest f16. */
uint32_t sim_f32_round(double x, unsigned mode);
uint32_t sim_f16_round(double x, unsigned mode, bool ovfl16);

/* a * b + c, exact but for one rounding. */
uint32_t sim_f32_fma(uint32_t a, uint32_t b, uint32_t c, unsigned mode);
uint32_t sim_f16_fma(uint32_t a, uint32_t b, uint32_t c, unsigned mode, bool ovfl16);
uint64_t sim_f64_fma(uint64_t a, uint64_t b, uint64_t c, unsigned mode);

/* Sums and products, exact but for one rounding. */
uint32_t sim_f32_add(uint32_t a, uint32_t b, unsigned mode);
uint32_t sim_f32_mul(uint32_t a, uint32_t b, unsigned mode);
uint32_t sim_f16_add(uint32_t a, uint32_t b, unsigned mode, bool ovfl16);
uint32_t sim_f16_mul(uint32_t a, uint32_t b, unsigned mode, bool ovfl16);
uint64_t sim_f64_add(uint64_t a, uint64_t b, unsigned mode);
uint64_t sim_f64_mul(uint64_t a, uint64_t b, unsigned mode);

/* The NaN that comes out of operands of which some is NaN. */
static inline uint32_t sim_f32_nan_of(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t n = sim_f32_is_nan(a) ? a : sim_f32_is_nan(b) ? b : c;
    return sim_f32_is_nan(n) ? n | 0x400000 : SIM_F32_NAN_OUT;
}

static inline uint64_t sim_f64_nan_of(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t n = sim_f64_is_nan(a) ? a : sim_f64_is_nan(b) ? b : c;
    return sim_f64_is_nan(n) ? n | 1ull << 51 : SIM_F64_NAN_OUT;
}

static inline uint32_t sim_f16_nan_of(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t n = sim_f16_is_nan(a) ? a : sim_f16_is_nan(b) ? b : c;
    return sim_f16_is_nan(n) ? n | 0x200 : SIM_F16_NAN_OUT;
}

/* A NaN carried to half or to single precision: sign and top payload bits stay, quiet. */
static inline uint32_t sim_f16_nan_from_f32(uint32_t v)
{
    return (v >> 16 & 0x8000) | 0x7e00 | (v >> 13 & 0x1ff);
}

static inline uint32_t sim_f32_nan_from_f16(uint32_t h)
{
    return (h & 0x8000) << 16 | 0x7fc00000 | (h & 0x1ff) << 13;
}

/*
 * minNum and maxNum by the opcode text of V_MIN_F32 and V_MAX_F32: a NaN loses
 * against a number, IEEE mode returns a signaling NaN quiet, -0 < +0.
 */
static inline bool sim_f32_is_snan(uint32_t a)
{
    return sim_f32_is_nan(a) && (a & 0x400000) == 0;
}

/* Order of f32 bits with -0 below +0; NaNs excluded. */
static inline int32_t sim_f32_order(uint32_t a)
{
    return (int32_t)a < 0 ? (int32_t)(0x80000000u - a) - 1 : (int32_t)a;
}

static inline uint32_t sim_f32_minmax(uint32_t a, uint32_t b, bool max, bool ieee)
{
    if (ieee && (sim_f32_is_snan(a) || sim_f32_is_snan(b))) {
        return (sim_f32_is_snan(a) ? a : b) | 0x400000;
    }
    if (sim_f32_is_nan(a)) {
        return b;
    }
    if (sim_f32_is_nan(b)) {
        return a;
    }
    return (sim_f32_order(a) < sim_f32_order(b)) != max ? a : b;
}

/* IEEE 754-2019 minimum and maximum: a NaN wins. */
static inline uint32_t sim_f32_minmaximum(uint32_t a, uint32_t b, bool max)
{
    if (sim_f32_is_nan(a) || sim_f32_is_nan(b)) {
        return sim_f32_nan_of(a, b, b);
    }
    return (sim_f32_order(a) < sim_f32_order(b)) != max ? a : b;
}

static inline int32_t sim_f16_order(uint32_t a)
{
    return (a & 0x8000) != 0 ? -(int32_t)(a & 0x7fff) - 1 : (int32_t)a;
}

static inline bool sim_f16_is_snan(uint32_t a)
{
    return sim_f16_is_nan(a) && (a & 0x200) == 0;
}

static inline uint32_t sim_f16_minmax(uint32_t a, uint32_t b, bool max, bool ieee)
{
    if (ieee && (sim_f16_is_snan(a) || sim_f16_is_snan(b))) {
        return (sim_f16_is_snan(a) ? a : b) | 0x200;
    }
    if (sim_f16_is_nan(a)) {
        return b;
    }
    if (sim_f16_is_nan(b)) {
        return a;
    }
    return (sim_f16_order(a) < sim_f16_order(b)) != max ? a : b;
}

static inline uint32_t sim_f16_minmaximum(uint32_t a, uint32_t b, bool max)
{
    if (sim_f16_is_nan(a) || sim_f16_is_nan(b)) {
        return sim_f16_nan_of(a, b, b);
    }
    return (sim_f16_order(a) < sim_f16_order(b)) != max ? a : b;
}

static inline int64_t sim_f64_order(uint64_t a)
{
    return (int64_t)a < 0 ? (int64_t)(0x8000000000000000ull - a) - 1 : (int64_t)a;
}

static inline bool sim_f64_is_snan(uint64_t a)
{
    return sim_f64_is_nan(a) && (a >> 51 & 1) == 0;
}

static inline uint64_t sim_f64_minmax(uint64_t a, uint64_t b, bool max, bool ieee)
{
    if (ieee && (sim_f64_is_snan(a) || sim_f64_is_snan(b))) {
        return (sim_f64_is_snan(a) ? a : b) | 1ull << 51;
    }
    if (sim_f64_is_nan(a)) {
        return b;
    }
    if (sim_f64_is_nan(b)) {
        return a;
    }
    return (sim_f64_order(a) < sim_f64_order(b)) != max ? a : b;
}

#endif
