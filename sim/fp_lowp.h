/* SPDX-License-Identifier: MIT */
/*
 * Small floating-point formats: FP4, FP6, BF6, FP8, BF8 and the E8M0 scale
 * (OCP Microscaling Formats v1.0, OCP FP8 v1.0), bf16 and f16.  Scalar, exact,
 * correctly rounded; no register or wave in sight.
 *
 * A float travels as its bits where its NaN or signed zero matters.  A scale is
 * an E8M0 byte s, of value 2^(s - 127); the callers deal with s = 0xFF.
 */
#ifndef SIM_FP_LOWP_H
#define SIM_FP_LOWP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIM_F32_QNAN 0x7FC00000u
#define SIM_F32_INF 0x7F800000u

/* What makes a small format; all have the sign in the top bit. */
struct sim_lowp {
    uint8_t bits;     /* width */
    uint8_t mbits;    /* mantissa bits */
    int8_t emin;      /* exponent of the smallest normal number */
    uint8_t max_code; /* magnitude code of the largest finite number */
    uint8_t nan_code; /* magnitude code of the NaN given out, 0 if there is none */
    uint8_t inf_code; /* magnitude code of infinity, 0 if there is none */
};

/* Payloads of NaN codes are not documented; these are the canonical ones here. */
#define SIM_LOWP_FP4                                                                           \
    {                                                                                          \
        4, 1, 0, 0x07, 0, 0                                                                    \
    }
#define SIM_LOWP_FP6                                                                           \
    {                                                                                          \
        6, 3, 0, 0x1F, 0, 0                                                                    \
    }
#define SIM_LOWP_BF6                                                                           \
    {                                                                                          \
        6, 2, -2, 0x1F, 0, 0                                                                   \
    }
#define SIM_LOWP_FP8                                                                           \
    {                                                                                          \
        8, 3, -6, 0x7E, 0x7F, 0                                                                \
    }
#define SIM_LOWP_BF8                                                                           \
    {                                                                                          \
        8, 2, -14, 0x7B, 0x7E, 0x7C                                                            \
    }

/* How the bits that do not fit are dropped. */
struct sim_round {
    bool stochastic; /* else to nearest, ties to even */
    bool saturate; /* FP8/BF8: overflow and infinity give the largest number (MODE.FP16_OVFL) */
    uint32_t seed; /* stochastic: random bits, the top ones used first */
};

static inline uint32_t sim_f32_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float sim_f32_from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline bool sim_f32_is_nan(uint32_t u)
{
    return (u & 0x7FFFFFFFu) > SIM_F32_INF;
}

/*
 * Magnitude code of |x| / 2^(scale - 127) rounded to nearest even in format f,
 * before any overflow handling: the code goes on counting past max_code.  x is
 * finite.  Free of branches, so that a loop over lanes vectorises.
 */
static inline int32_t sim_lowp_code_rne(const struct sim_lowp *f, uint32_t x, uint32_t scale)
{
    const uint32_t mag = x & 0x7FFFFFFFu;
    /* Subnormals are brought into the normal range first; the product is exact. */
    const uint32_t tiny = mag < 0x00800000u;
    const uint32_t factor = 0x3F800000u + tiny * (24u << 23); /* 1 or 2^24 */
    const uint32_t n = sim_f32_bits(sim_f32_from_bits(mag) * sim_f32_from_bits(factor));
    const int32_t m = (int32_t)((n & 0x007FFFFFu) | (uint32_t)(n != 0) << 23);
    /* |x| / scale = m * 2^(e - 23) with 2^23 <= m < 2^24, unless it is zero. */
    const int32_t e = (int32_t)(n >> 23) - (int32_t)(24 * tiny) - (int32_t)scale;
    const int32_t ce = e > f->emin ? e : f->emin;
    int32_t shift = ce - e + 23 - f->mbits;
    shift = shift > 25 ? 25 : shift; /* already far below half of the smallest number */
    const int32_t q = (m + (1 << (shift - 1)) - 1 + ((m >> shift) & 1)) >> shift;
    return (int32_t)((uint32_t)(ce - f->emin) << f->mbits) + q;
}

/* One function per target format: x / 2^(scale - 127) as a code with sign. */
uint8_t sim_fp4_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r);
uint8_t sim_fp6_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r);
uint8_t sim_bf6_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r);
uint8_t sim_fp8_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r);
uint8_t sim_bf8_from_f32(uint32_t x, uint8_t scale, const struct sim_round *r);

/* Exact value of a code; bits above the format's width are ignored. */
float sim_fp4_to_f32(uint8_t code);
float sim_fp6_to_f32(uint8_t code);
float sim_bf6_to_f32(uint8_t code);
float sim_fp8_to_f32(uint8_t code);
float sim_bf8_to_f32(uint8_t code);

/* Value of a scale byte: 2^(s - 127), NaN for 0xFF. */
float sim_e8m0_to_f32(uint8_t s);

/* x * 2^(scale - 127) rounded once to f32; NaN is made quiet and canonical. */
uint32_t sim_f32_scale(float x, uint8_t scale);

uint32_t sim_f16_to_f32(uint16_t h);
uint16_t sim_f16_from_f32(uint32_t x);                   /* to nearest even */
uint16_t sim_f16_from_f32_sr(uint32_t x, uint32_t seed); /* stochastic */
uint16_t sim_bf16_from_f32(uint32_t x);
uint16_t sim_bf16_from_f32_sr(uint32_t x, uint32_t seed);

static inline uint32_t sim_bf16_to_f32(uint16_t h)
{
    return (uint32_t)h << 16;
}

/* Next value of the LFSR behind v_prng_b32 (ISA text, V_PRNG_B32). */
static inline uint32_t sim_prng_next(uint32_t s)
{
    return s << 1 ^ (s >> 31 ? 197u : 0u);
}

#endif
