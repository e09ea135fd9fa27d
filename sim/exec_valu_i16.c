/* SPDX-License-Identifier: MIT */
/* Vector ALU: 16-bit integers, single and packed (ISA text, 12.7, 12.10, 12.11). */
#include "exec_valu.h"

#define S16(x) ((int32_t)(int16_t)(x))

static inline uint32_t saturate(int64_t v, bool clamp, int64_t lo, int64_t hi)
{
    return (uint32_t)(!clamp ? v : v < lo ? lo : v > hi ? hi : v) & 0xffff;
}

/* Two or three 16-bit sources; the exact result, saturated to lo..hi under clamp. */
#define VALU2_16(name, expr, range)                                                            \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], d[SIM_LANES];                                   \
        sim_v16(w, in, 0, pa);                                                                 \
        sim_v16(w, in, 1, pb);                                                                 \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const uint32_t b = pb[l];                                                          \
            d[l] = saturate(expr, in->clamp != 0, range);                                      \
        }                                                                                      \
        sim_vstore16(w, in, d);                                                                \
    }
#define VALU3_16(name, expr, range)                                                            \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], pc[SIM_LANES], d[SIM_LANES];                    \
        sim_v16(w, in, 0, pa);                                                                 \
        sim_v16(w, in, 1, pb);                                                                 \
        sim_v16(w, in, 2, pc);                                                                 \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const uint32_t b = pb[l];                                                          \
            const uint32_t c = pc[l];                                                          \
            d[l] = saturate(expr, in->clamp != 0, range);                                      \
        }                                                                                      \
        sim_vstore16(w, in, d);                                                                \
    }

#define U16 0, 0xffff
#define I16 -0x8000, 0x7fff

VALU2_16(v_add_u16, (int64_t)a + b, U16)
VALU2_16(v_sub_u16, (int64_t)a - b, U16)
VALU2_16(v_subrev_u16, (int64_t)b - a, U16)
VALU2_16(v_add_i16, (int64_t)S16(a) + S16(b), I16)
VALU2_16(v_sub_i16, (int64_t)S16(a) - S16(b), I16)
VALU2_16(v_mul_lo_u16, (int64_t)a *b, U16)
VALU2_16(v_lshlrev_b16, (int64_t)(b << (a & 15)), U16)
VALU2_16(v_lshrrev_b16, (int64_t)(b >> (a & 15)), U16)
VALU2_16(v_ashrrev_i16, (int64_t)(S16(b) >> (a & 15)), I16)
VALU2_16(v_max_u16, a > b ? a : b, U16)
VALU2_16(v_min_u16, a < b ? a : b, U16)
VALU2_16(v_max_i16, S16(a) > S16(b) ? S16(a) : S16(b), I16)
VALU2_16(v_min_i16, S16(a) < S16(b) ? S16(a) : S16(b), I16)

#define MIN2(x, y) ((x) < (y) ? (x) : (y))
#define MAX2(x, y) ((x) < (y) ? (y) : (x))

static inline int32_t med3(int32_t a, int32_t b, int32_t c)
{
    return MAX2(MIN2(a, b), MIN2(MAX2(a, b), c));
}

VALU3_16(v_min3_u16, MIN2(MIN2(a, b), c), U16)
VALU3_16(v_max3_u16, MAX2(MAX2(a, b), c), U16)
VALU3_16(v_med3_u16, med3((int32_t)a, (int32_t)b, (int32_t)c), U16)
VALU3_16(v_min3_i16, MIN2(MIN2(S16(a), S16(b)), S16(c)), I16)
VALU3_16(v_max3_i16, MAX2(MAX2(S16(a), S16(b)), S16(c)), I16)
VALU3_16(v_med3_i16, med3(S16(a), S16(b), S16(c)), I16)
VALU3_16(v_mad_u16, (int64_t)a *b + c, U16)
VALU3_16(v_mad_i16, (int64_t)S16(a) * S16(b) + S16(c), I16)
/* The legacy forms differ in the upper half only: sim_vstore16 writes it as zero. */
VALU3_16(v_mad_legacy_u16, (int64_t)a *b + c, U16)
VALU3_16(v_mad_legacy_i16, (int64_t)S16(a) * S16(b) + S16(c), I16)

/* 16-bit factors, a 32-bit addend and result. */
#define MAD_32_16(name, expr, lo, hi)                                                          \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];                    \
        sim_v16(w, in, 0, pa);                                                                 \
        sim_v16(w, in, 1, pb);                                                                 \
        const uint32_t *pc = sim_v32(w, in, 2, bc);                                            \
        if ((in->opsel & 12) != 0) {                                                           \
            sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "op_sel on a 32-bit operand");             \
        }                                                                                      \
        VALU_CLAMPED(expr, lo, hi)                                                             \
        sim_vstore32(w, in, d);                                                                \
    }

MAD_32_16(v_mad_u32_u16, (int64_t)pa[l] * pb[l] + pc[l], 0, (int64_t)UINT32_MAX)
MAD_32_16(v_mad_i32_i16, (int64_t)S16(pa[l]) * S16(pb[l]) + (int32_t)pc[l], INT32_MIN,
          INT32_MAX)

/* Packed: the expression is evaluated for each half. */
#define PK2(name, expr, range)                                                                 \
    static inline uint32_t half_##name(uint32_t a, uint32_t b, bool clamp)                     \
    {                                                                                          \
        return saturate(expr, clamp, range);                                                   \
    }                                                                                          \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], d[SIM_LANES];                                   \
        sim_vpk16(w, in, 0, false, pa);                                                        \
        sim_vpk16(w, in, 1, false, pb);                                                        \
        const bool clamp = in->clamp != 0;                                                     \
        SIM_FOR_LANES(l) {                                                                     \
            d[l] = half_##name(pa[l] & 0xffff, pb[l] & 0xffff, clamp) |                        \
                   half_##name(pa[l] >> 16, pb[l] >> 16, clamp) << 16;                         \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }

PK2(v_pk_mul_lo_u16, (int64_t)a *b, U16)
PK2(v_pk_add_u16, (int64_t)a + b, U16)
PK2(v_pk_sub_u16, (int64_t)a - b, U16)
PK2(v_pk_add_i16, (int64_t)S16(a) + S16(b), I16)
PK2(v_pk_sub_i16, (int64_t)S16(a) - S16(b), I16)
PK2(v_pk_lshlrev_b16, (int64_t)(b << (a & 15)), U16)
PK2(v_pk_lshrrev_b16, (int64_t)(b >> (a & 15)), U16)
PK2(v_pk_ashrrev_i16, (int64_t)(S16(b) >> (a & 15)), I16)
PK2(v_pk_max_i16, MAX2(S16(a), S16(b)), I16)
PK2(v_pk_min_i16, MIN2(S16(a), S16(b)), I16)
PK2(v_pk_max_u16, MAX2(a, b), U16)
PK2(v_pk_min_u16, MIN2(a, b), U16)

#define PK3(name, expr, range)                                                                 \
    static inline uint32_t half_##name(uint32_t a, uint32_t b, uint32_t c, bool clamp)         \
    {                                                                                          \
        return saturate(expr, clamp, range);                                                   \
    }                                                                                          \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], pc[SIM_LANES], d[SIM_LANES];                    \
        sim_vpk16(w, in, 0, false, pa);                                                        \
        sim_vpk16(w, in, 1, false, pb);                                                        \
        sim_vpk16(w, in, 2, false, pc);                                                        \
        const bool clamp = in->clamp != 0;                                                     \
        SIM_FOR_LANES(l) {                                                                     \
            d[l] = half_##name(pa[l] & 0xffff, pb[l] & 0xffff, pc[l] & 0xffff, clamp) |        \
                   half_##name(pa[l] >> 16, pb[l] >> 16, pc[l] >> 16, clamp) << 16;            \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }

PK3(v_pk_mad_u16, (int64_t)a *b + c, U16)
PK3(v_pk_mad_i16, (int64_t)S16(a) * S16(b) + S16(c), I16)
