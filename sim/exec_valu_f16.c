/* SPDX-License-Identifier: MIT */
/*
 * Vector ALU: half precision, single and packed (ISA text, 12.7, 12.8, 12.10,
 * 12.11).  Rounding and denormals follow the double/half fields of MODE.
 */
#include "alu_float.h"
#include "exec_valu.h"

/* What the arithmetic of a lane needs of MODE. */
struct half_mode {
    unsigned round;
    bool ovfl, ieee;
};

static struct half_mode half_mode(const struct sim_wave *w)
{
    return (struct half_mode){ sim_round64(w), (w->mode & SIM_MODE_FP16_OVFL) != 0,
                               (w->mode & SIM_MODE_IEEE) != 0 };
}

static inline uint32_t minus16(uint32_t v)
{
    return sim_f16_is_nan(v) ? v : v ^ 0x8000;
}

#define ADD(x, y) sim_f16_add(x, y, m.round, m.ovfl)
#define MUL(x, y) sim_f16_mul(x, y, m.round, m.ovfl)
#define FMA(x, y, z) sim_f16_fma(x, y, z, m.round, m.ovfl)
#define MIN2(x, y) sim_f16_minmax(x, y, false, m.ieee)
#define MAX2(x, y) sim_f16_minmax(x, y, true, m.ieee)

#define F16_1(name, expr)                                                                      \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], d[SIM_LANES];                                                  \
        const struct half_mode m = half_mode(w);                                               \
        (void)m;                                                                               \
        sim_vf16(w, in, 0, pa);                                                                \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const double x = sim_f16_value(a);                                                 \
            d[l] = sim_f16_is_nan(a) ? a | 0x200 : (expr);                                     \
        }                                                                                      \
        sim_vstoref16(w, in, d);                                                               \
    }
#define F16_2(name, expr)                                                                      \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], d[SIM_LANES];                                   \
        const struct half_mode m = half_mode(w);                                               \
        sim_vf16(w, in, 0, pa);                                                                \
        sim_vf16(w, in, 1, pb);                                                                \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const uint32_t b = pb[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstoref16(w, in, d);                                                               \
    }
#define F16_3(name, expr)                                                                      \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], pc[SIM_LANES], d[SIM_LANES];                    \
        const struct half_mode m = half_mode(w);                                               \
        (void)m;                                                                               \
        sim_vf16(w, in, 0, pa);                                                                \
        sim_vf16(w, in, 1, pb);                                                                \
        sim_vf16(w, in, 2, pc);                                                                \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const uint32_t b = pb[l];                                                          \
            const uint32_t c = pc[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstoref16(w, in, d);                                                               \
    }

F16_2(v_add_f16, ADD(a, b))
F16_2(v_sub_f16, ADD(a, minus16(b)))
F16_2(v_subrev_f16, ADD(b, minus16(a)))
F16_2(v_mul_f16, MUL(a, b))
F16_2(v_min_f16, MIN2(a, b))
F16_2(v_max_f16, MAX2(a, b))
F16_3(v_fma_f16, FMA(a, b, c))
F16_3(v_fma_legacy_f16, FMA(a, b, c))
F16_3(v_min3_f16, MIN2(MIN2(a, b), c))
F16_3(v_max3_f16, MAX2(MAX2(a, b), c))

/* Multiply and add with a rounding after each (ISA text, V_MAD_F16, V_MADMK_F16). */
F16_3(v_mad_f16, ADD(MUL(a, b), c))
F16_3(v_mad_legacy_f16, ADD(MUL(a, b), c))
F16_3(v_madmk_f16, ADD(MUL(a, b), c))
F16_3(v_madak_f16, ADD(MUL(a, b), c))

/* By the opcode text, whose comparisons take -0 and +0 as equal. */
static uint32_t med3(uint32_t a, uint32_t b, uint32_t c, struct half_mode m)
{
    if (sim_f16_is_nan(a) || sim_f16_is_nan(b) || sim_f16_is_nan(c)) {
        return MIN2(MIN2(a, b), c);
    }
    const double top = sim_f16_value(MAX2(MAX2(a, b), c));
    return top == sim_f16_value(a)   ? MAX2(b, c)
           : top == sim_f16_value(b) ? MAX2(a, c)
                                     : MAX2(a, b);
}

F16_3(v_med3_f16, med3(a, b, c, m))

EXEC_FN(v_mac_f16)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], d[SIM_LANES];
    const struct half_mode m = half_mode(w);
    const uint32_t *row = sim_vdst32(w, in);
    const bool flush = (sim_denorm64(w) & 1) == 0;
    sim_vf16(w, in, 0, a);
    sim_vf16(w, in, 1, b);
    SIM_FOR_LANES(l) {
        uint32_t c = row[l] & 0xffff;
        c = flush && (c & 0x7c00) == 0 ? c & 0x8000 : c;
        d[l] = ADD(MUL(a[l], b[l]), c);
    }
    sim_vstoref16(w, in, d);
}

/* Values with an exact half result need no mode; the rest round to nearest. */
static inline uint32_t to_half(double r)
{
    return isnan(r) ? SIM_F16_NAN_OUT : sim_f16_round(r, 0, false);
}

F16_1(v_trunc_f16, to_half(trunc(x)))
F16_1(v_ceil_f16, to_half(ceil(x)))
F16_1(v_floor_f16, to_half(floor(x)))
F16_1(v_rndne_f16, to_half(rint(x)))
F16_1(v_fract_f16, isinf(x) ? SIM_F16_NAN_OUT : sim_f16_round(x - floor(x), m.round, false))

/* The ISA text gives these no bits; rounded from double to nearest. */
F16_1(v_rcp_f16, to_half(1.0 / x))
F16_1(v_sqrt_f16, to_half(sqrt(x)))
F16_1(v_rsq_f16, to_half(x == 0 ? copysign(INFINITY, x) : 1.0 / sqrt(x)))
F16_1(v_exp_f16, to_half(exp2(x)))
F16_1(v_log_f16, to_half(log2(x)))

/* sin and cos of x turns, reduced exactly; a zero of a nonzero argument is +0. */
static uint32_t sin_half(double x, double quarter)
{
    if (isinf(x)) {
        return SIM_F16_NAN_OUT;
    }
    const double r = fmod(x, 1.0) * 4 + quarter;
    const double n = rint(r);
    const double f = (r - n) * 1.570796326794896619231;
    const int k = (int)n & 3;
    const double v = (k & 1 ? cos(f) : sin(f)) * (k & 2 ? -1 : 1);
    return v == 0 && (x != 0 || quarter != 0) ? 0 : to_half(v);
}

F16_1(v_sin_f16, x == 0 ? a : sin_half(x, 0))
F16_1(v_cos_f16, sin_half(x, 1))

static uint32_t half_mantissa(uint32_t a, double x)
{
    int e;
    return isinf(x) ? a : to_half(frexp(x, &e));
}

F16_1(v_frexp_mant_f16, half_mantissa(a, x))

EXEC_FN(v_frexp_exp_i16_f16)
{
    uint32_t a[SIM_LANES], d[SIM_LANES];
    sim_vf16(w, in, 0, a);
    SIM_FOR_LANES(l) {
        int e = 0;
        if (isfinite(sim_f16_value(a[l]))) {
            frexp(sim_f16_value(a[l]), &e);
        }
        d[l] = (uint32_t)e & 0xffff;
    }
    sim_vstore16(w, in, d);
}

EXEC_FN(v_ldexp_f16)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], d[SIM_LANES];
    const struct half_mode m = half_mode(w);
    sim_vf16(w, in, 0, a);
    sim_v16(w, in, 1, b);
    SIM_FOR_LANES(l) {
        const int n = (int16_t)b[l];
        const int e = n > 100 ? 100 : n < -100 ? -100 : n;
        d[l] = sim_f16_is_nan(a[l])
                   ? a[l] | 0x200
                   : sim_f16_round(ldexp(sim_f16_value(a[l]), e), m.round, m.ovfl);
    }
    sim_vstoref16(w, in, d);
}

EXEC_FN(v_pack_b32_f16)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], d[SIM_LANES];
    sim_vf16(w, in, 0, a);
    sim_vf16(w, in, 1, b);
    SIM_FOR_LANES(l) {
        d[l] = a[l] | b[l] << 16;
    }
    sim_vstore32(w, in, d);
}

/* Packed: the expression for each half, then clamp and flush. */
#define PK2(name, expr)                                                                        \
    static uint32_t half_##name(uint32_t a, uint32_t b, struct half_mode m)                    \
    {                                                                                          \
        return (expr);                                                                         \
    }                                                                                          \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], d[SIM_LANES];                                   \
        const struct half_mode m = half_mode(w);                                               \
        sim_vpk16(w, in, 0, true, pa);                                                         \
        sim_vpk16(w, in, 1, true, pb);                                                         \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t lo = half_##name(pa[l] & 0xffff, pb[l] & 0xffff, m);                \
            const uint32_t hi = half_##name(pa[l] >> 16, pb[l] >> 16, m);                      \
            d[l] = sim_f16_output(w, in, lo) | sim_f16_output(w, in, hi) << 16;                \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }
#define PK3(name, expr)                                                                        \
    static uint32_t half_##name(uint32_t a, uint32_t b, uint32_t c, struct half_mode m)        \
    {                                                                                          \
        (void)m;                                                                               \
        return (expr);                                                                         \
    }                                                                                          \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t pa[SIM_LANES], pb[SIM_LANES], pc[SIM_LANES], d[SIM_LANES];                    \
        const struct half_mode m = half_mode(w);                                               \
        sim_vpk16(w, in, 0, true, pa);                                                         \
        sim_vpk16(w, in, 1, true, pb);                                                         \
        sim_vpk16(w, in, 2, true, pc);                                                         \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t c = pc[l];                                                          \
            const uint32_t lo = half_##name(pa[l] & 0xffff, pb[l] & 0xffff, c & 0xffff, m);    \
            const uint32_t hi = half_##name(pa[l] >> 16, pb[l] >> 16, c >> 16, m);             \
            d[l] = sim_f16_output(w, in, lo) | sim_f16_output(w, in, hi) << 16;                \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }

PK2(v_pk_add_f16, ADD(a, b))
PK2(v_pk_mul_f16, MUL(a, b))
PK2(v_pk_min_f16, MIN2(a, b))
PK2(v_pk_max_f16, MAX2(a, b))
PK3(v_pk_fma_f16, FMA(a, b, c))
PK3(v_pk_minimum3_f16, sim_f16_minmaximum(sim_f16_minmaximum(a, b, false), c, false))
PK3(v_pk_maximum3_f16, sim_f16_minmaximum(sim_f16_minmaximum(a, b, true), c, true))

EXEC_FN(v_pk_fmac_f16)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], d[SIM_LANES];
    const struct half_mode m = half_mode(w);
    const uint32_t *row = sim_vdst32(w, in);
    if (in->omod != 0) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "omod on a packed instruction");
    }
    sim_vpk16(w, in, 0, true, a);
    sim_vpk16(w, in, 1, true, b);
    const bool flush = (sim_denorm64(w) & 1) == 0;
    SIM_FOR_LANES(l) {
        uint32_t r = 0;
        for (unsigned s = 0; s < 32; s += 16) {
            uint32_t c = row[l] >> s & 0xffff;
            c = flush && (c & 0x7c00) == 0 ? c & 0x8000 : c;
            r |= sim_f16_output(w, in, FMA(a[l] >> s & 0xffff, b[l] >> s & 0xffff, c)) << s;
        }
        d[l] = r;
    }
    sim_vstore32(w, in, d);
}
