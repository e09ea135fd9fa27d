/* SPDX-License-Identifier: MIT */
/* Vector ALU: single precision, also packed and mixed (ISA text, 12.7 to 12.11). */
#include "alu_float.h"
#include "exec_valu.h"

#define F(x) sim_f32_from_bits(x)

/* The host's NaNs differ by machine: lanes that came out NaN get the NaN rule. */
static void settle_nans(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    unsigned nans = 0;
    SIM_FOR_LANES(l) {
        nans |= (d[l] & 0x7fffffff) > 0x7f800000;
    }
    if (nans == 0) {
        return;
    }
    SIM_FOR_LANES(l) {
        if (sim_f32_is_nan(d[l])) {
            d[l] = sim_f32_nan_of(a[l], b[l], c[l]);
        }
    }
}

static void add_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, unsigned round)
{
    if (round != 0) {
        SIM_FOR_LANES(l) {
            d[l] = sim_f32_add(a[l], b[l], round);
        }
        return;
    }
    SIM_FOR_LANES(l) {
        d[l] = sim_f32_bits(F(a[l]) + F(b[l]));
    }
    settle_nans(d, a, b, b);
}

static void mul_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, unsigned round)
{
    if (round != 0) {
        SIM_FOR_LANES(l) {
            d[l] = sim_f32_mul(a[l], b[l], round);
        }
        return;
    }
    SIM_FOR_LANES(l) {
        d[l] = sim_f32_bits(F(a[l]) * F(b[l]));
    }
    settle_nans(d, a, b, b);
}

/*
 * a * b + c with one rounding.  The product is exact in double; the sum is
 * rounded to odd there (see sim_add_odd), so that the rounding to float is
 * right.  Written out so that the loop vectorises without an FMA unit.
 */
static void fma_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                      unsigned round)
{
    if (round != 0) {
        SIM_FOR_LANES(l) {
            d[l] = sim_f32_fma(a[l], b[l], c[l], round);
        }
        return;
    }
    SIM_FOR_LANES(l) {
        const double p = (double)F(a[l]) * (double)F(b[l]);
        const double z = F(c[l]);
        const double s = p + z;
        const double t = s - p;
        const double e = (p - (s - t)) + (z - t);
        const uint64_t u = sim_f64_bits(s);
        const uint64_t outward = (e > 0) == (s > 0) ? u | 1 : (u - 1) | 1;
        const double odd = fabs(e) > 0 ? sim_f64_from_bits(outward) : s;
        d[l] = sim_f32_bits((float)odd);
    }
    settle_nans(d, a, b, c);
}

/* b with its sign flipped, for subtraction; a NaN keeps its sign. */
static void negate_lanes(uint32_t *d, const uint32_t *b)
{
    SIM_FOR_LANES(l) {
        d[l] = sim_f32_is_nan(b[l]) ? b[l] : b[l] ^ 0x80000000;
    }
}

EXEC_FN(v_add_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    add_lanes(d, sim_vf32(w, in, 0, ba), sim_vf32(w, in, 1, bb), sim_round32(w));
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_sub_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], minus[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    negate_lanes(minus, sim_vf32(w, in, 1, bb));
    add_lanes(d, a, minus, sim_round32(w));
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_subrev_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], minus[SIM_LANES], d[SIM_LANES];
    negate_lanes(minus, sim_vf32(w, in, 0, ba));
    add_lanes(d, sim_vf32(w, in, 1, bb), minus, sim_round32(w));
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_mul_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    mul_lanes(d, sim_vf32(w, in, 0, ba), sim_vf32(w, in, 1, bb), sim_round32(w));
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_fma_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    fma_lanes(d, sim_vf32(w, in, 0, ba), sim_vf32(w, in, 1, bb), sim_vf32(w, in, 2, bc),
              sim_round32(w));
    sim_vstoref32(w, in, d);
}

/* The destination as addend, denormals flushed like a source's. */
static const uint32_t *addend_of_dst(struct sim_wave *w, const struct sim_inst *in,
                                     uint32_t *buf)
{
    const uint32_t *v = sim_vdst32(w, in);
    if ((sim_denorm32(w) & 1) != 0) {
        return v;
    }
    SIM_FOR_LANES(l) {
        buf[l] = (v[l] & 0x7f800000) == 0 ? v[l] & 0x80000000 : v[l];
    }
    return buf;
}

EXEC_FN(v_fmac_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    fma_lanes(d, sim_vf32(w, in, 0, ba), sim_vf32(w, in, 1, bb), addend_of_dst(w, in, bc),
              sim_round32(w));
    sim_vstoref32(w, in, d);
}

/* The literal is the second factor (fmamk) or the addend (fmaak), as in the text. */
EXEC_FN(v_fmamk_f32)
{
    sim_x_v_fma_f32(w, in);
}

EXEC_FN(v_fmaak_f32)
{
    sim_x_v_fma_f32(w, in);
}

static bool ieee_mode(const struct sim_wave *w)
{
    return (w->mode & SIM_MODE_IEEE) != 0;
}

#define MINMAX2(name, expr)                                                                    \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];                                   \
        const uint32_t *pa = sim_vf32(w, in, 0, ba);                                           \
        const uint32_t *pb = sim_vf32(w, in, 1, bb);                                           \
        const bool ieee = ieee_mode(w);                                                        \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const uint32_t b = pb[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstoref32(w, in, d);                                                               \
    }
#define MINMAX3(name, expr)                                                                    \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];                    \
        const uint32_t *pa = sim_vf32(w, in, 0, ba);                                           \
        const uint32_t *pb = sim_vf32(w, in, 1, bb);                                           \
        const uint32_t *pc = sim_vf32(w, in, 2, bc);                                           \
        const bool ieee = ieee_mode(w);                                                        \
        (void)ieee;                                                                            \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const uint32_t b = pb[l];                                                          \
            const uint32_t c = pc[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstoref32(w, in, d);                                                               \
    }

#define MIN2(x, y) sim_f32_minmax(x, y, false, ieee)
#define MAX2(x, y) sim_f32_minmax(x, y, true, ieee)

MINMAX2(v_min_f32, MIN2(a, b))
MINMAX2(v_max_f32, MAX2(a, b))
MINMAX3(v_min3_f32, MIN2(MIN2(a, b), c))
MINMAX3(v_max3_f32, MAX2(MAX2(a, b), c))
MINMAX3(v_minimum3_f32, sim_f32_minmaximum(sim_f32_minmaximum(a, b, false), c, false))
MINMAX3(v_maximum3_f32, sim_f32_minmaximum(sim_f32_minmaximum(a, b, true), c, true))

/* By the opcode text, whose comparisons take -0 and +0 as equal. */
static inline uint32_t med3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    if (sim_f32_is_nan(a) || sim_f32_is_nan(b) || sim_f32_is_nan(c)) {
        return MIN2(MIN2(a, b), c);
    }
    const float top = F(MAX2(MAX2(a, b), c));
    return top == F(a) ? MAX2(b, c) : top == F(b) ? MAX2(a, c) : MAX2(a, b);
}

MINMAX3(v_med3_f32, med3(a, b, c, ieee))

/* One float source and a float result by an expression over the value x. */
#define UNARY(name, expr)                                                                      \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], d[SIM_LANES];                                                  \
        const uint32_t *pa = sim_vf32(w, in, 0, ba);                                           \
        SIM_FOR_LANES(l) {                                                                     \
            const float x = F(pa[l]);                                                          \
            d[l] = sim_f32_is_nan(pa[l]) ? pa[l] | 0x400000 : sim_f32_bits(expr);              \
        }                                                                                      \
        sim_vstoref32(w, in, d);                                                               \
    }

UNARY(v_trunc_f32, truncf(x))
UNARY(v_ceil_f32, ceilf(x))
UNARY(v_floor_f32, floorf(x))
UNARY(v_rndne_f32, rintf(x)) /* the host rounds to nearest even here */

EXEC_FN(v_fract_f32)
{
    uint32_t ba[SIM_LANES], minus[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    SIM_FOR_LANES(l) {
        minus[l] = sim_f32_is_nan(a[l]) ? a[l] : sim_f32_bits(-floorf(F(a[l])));
    }
    add_lanes(d, a, minus, sim_round32(w));
    sim_vstoref32(w, in, d);
}

/*
 * Transcendental functions.  The ISA text gives 1 ULP and no bits; here they
 * are rounded from double to nearest.  Denormals are flushed on both sides
 * whatever MODE says, but for sin and cos (notes of V_EXP_F32 and others).
 */
static inline uint32_t flush32(uint32_t v)
{
    return (v & 0x7f800000) == 0 ? v & 0x80000000 : v;
}

static inline uint32_t result32(double r)
{
    return isnan(r) ? SIM_F32_NAN_OUT : sim_f32_round(r, 0);
}

#define TRANS(name, expr)                                                                      \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], d[SIM_LANES];                                                  \
        const uint32_t *pa = sim_vf32_raw(w, in, 0, ba);                                       \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = flush32(pa[l]);                                                 \
            const double x = F(a);                                                             \
            d[l] = sim_f32_is_nan(a) ? a | 0x400000 : flush32(result32(expr));                 \
        }                                                                                      \
        sim_vstoref32(w, in, d);                                                               \
    }

TRANS(v_exp_f32, exp2(x))
TRANS(v_log_f32, log2(x))
TRANS(v_rcp_f32, 1.0 / x)
TRANS(v_rcp_iflag_f32, 1.0 / x)
TRANS(v_rsq_f32, x == 0 ? copysign(INFINITY, x) : 1.0 / sqrt(x))
TRANS(v_sqrt_f32, sqrt(x))

/*
 * sin and cos of x turns.  The turn is reduced exactly to an eighth either side
 * of a quarter; a zero result of a nonzero argument is +0 (examples of V_SIN_F32).
 */
static double sin_turns(double x, unsigned quarters)
{
    const double r = fmod(x, 1.0);
    const double n = rint(r * 4);
    const double f = (r - n / 4) * 6.283185307179586476925;
    double v;
    switch (((int)n + (int)quarters) & 3) {
    case 0:
        v = sin(f);
        break;
    case 1:
        v = cos(f);
        break;
    case 2:
        v = -sin(f);
        break;
    default:
        v = -cos(f);
        break;
    }
    return v != 0 ? v : x == 0 && quarters == 0 ? x : 0.0;
}

UNARY(v_sin_f32, F(isinf(x) ? SIM_F32_NAN_OUT : sim_f32_round(sin_turns(x, 0), 0)))
UNARY(v_cos_f32, F(isinf(x) ? SIM_F32_NAN_OUT : sim_f32_round(sin_turns(x, 1), 0)))

EXEC_FN(v_ldexp_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    const uint32_t *pa = sim_vf32(w, in, 0, ba);
    const uint32_t *pb = sim_v32(w, in, 1, bb);
    const unsigned round = sim_round32(w);
    SIM_FOR_LANES(l) {
        /* Beyond +-600 every float over- or underflows; the product is exact in double. */
        const int32_t n = (int32_t)pb[l];
        const int e = n > 600 ? 600 : n < -600 ? -600 : n;
        d[l] = sim_f32_is_nan(pa[l]) ? pa[l] | 0x400000
                                     : sim_f32_round(ldexp(F(pa[l]), e), round);
    }
    sim_vstoref32(w, in, d);
}

/* Like C's frexp: 0 for zeros, infinities and NaNs. */
EXEC_FN(v_frexp_exp_i32_f32)
{
    uint32_t ba[SIM_LANES], d[SIM_LANES];
    const uint32_t *pa = sim_vf32(w, in, 0, ba);
    SIM_FOR_LANES(l) {
        int e = 0;
        if (isfinite(F(pa[l]))) {
            frexpf(F(pa[l]), &e);
        }
        d[l] = (uint32_t)e;
    }
    sim_vstore32(w, in, d);
}

static float mantissa(float x)
{
    int e;
    return isfinite(x) ? frexpf(x, &e) : x;
}

UNARY(v_frexp_mant_f32, mantissa(x))

/* Dword of source i that the low (0) or high (1) half of a packed f32 instruction reads. */
static void packed_source(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                          unsigned half, uint32_t *out)
{
    uint64_t buf[SIM_LANES];
    const uint64_t *v = sim_v64(w, in, i, buf);
    const bool high = ((half == 0 ? in->opsel : in->opsel_hi) >> i & 1) != 0;
    const uint32_t flip = ((half == 0 ? in->neg : in->abs) >> i & 1) != 0 ? 0x80000000 : 0;
    const bool flush = (sim_denorm32(w) & 1) == 0;
    if (high && in->src[i].kind == SIM_OPND_CONST) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "upper half of an inline constant");
    }
    SIM_FOR_LANES(l) {
        const uint32_t x = (uint32_t)(v[l] >> (high ? 32 : 0)) ^ flip;
        out[l] = flush ? flush32(x) : x;
    }
}

enum packed_op { PACKED_ADD, PACKED_MUL, PACKED_FMA };

/* Both halves of a packed f32 instruction; clamp and output flush per half. */
static void packed_f32(struct sim_wave *w, const struct sim_inst *in, enum packed_op op)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES], d[2][SIM_LANES];
    uint64_t out[SIM_LANES];
    const unsigned round = sim_round32(w);
    for (unsigned half = 0; half < 2; half++) {
        packed_source(w, in, 0, half, a);
        packed_source(w, in, 1, half, b);
        if (op == PACKED_ADD) {
            add_lanes(d[half], a, b, round);
        } else if (op == PACKED_MUL) {
            mul_lanes(d[half], a, b, round);
        } else {
            packed_source(w, in, 2, half, c);
            fma_lanes(d[half], a, b, c, round);
        }
        sim_f32_output(w, in, d[half]);
    }
    SIM_FOR_LANES(l) {
        out[l] = d[0][l] | (uint64_t)d[1][l] << 32;
    }
    sim_vstore64(w, in, out);
}

EXEC_FN(v_pk_add_f32)
{
    packed_f32(w, in, PACKED_ADD);
}

EXEC_FN(v_pk_mul_f32)
{
    packed_f32(w, in, PACKED_MUL);
}

EXEC_FN(v_pk_fma_f32)
{
    packed_f32(w, in, PACKED_FMA);
}

/*
 * Source of a mix instruction: f32, or the f16 half that op_sel names where
 * op_sel_hi is set; neg and abs work on the value (ISA text, V_MAD_MIX_F32).
 */
static void mix_source(struct sim_wave *w, const struct sim_inst *in, unsigned i, uint32_t *out)
{
    uint32_t buf[SIM_LANES];
    const uint32_t *v = sim_v32(w, in, i, buf);
    const bool half = (in->opsel_hi >> i & 1) != 0;
    const unsigned shift = (in->opsel >> i & 1) != 0 ? 16 : 0;
    const uint32_t keep = (in->abs >> i & 1) != 0 ? 0x7fffffff : 0xffffffff;
    const uint32_t flip = (in->neg >> i & 1) != 0 ? 0x80000000 : 0;
    const bool flush16 = (sim_denorm64(w) & 1) == 0;
    const bool flush = (sim_denorm32(w) & 1) == 0;
    SIM_FOR_LANES(l) {
        uint32_t x = v[l];
        if (half) {
            uint32_t h = x >> shift & 0xffff;
            h = flush16 && (h & 0x7c00) == 0 ? h & 0x8000 : h;
            x = sim_f16_to_f32((uint16_t)h);
        } else if (flush) {
            x = flush32(x);
        }
        out[l] = (x & keep) ^ flip;
    }
}

static void mix_lanes(struct sim_wave *w, const struct sim_inst *in, uint32_t *d)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES];
    mix_source(w, in, 0, a);
    mix_source(w, in, 1, b);
    mix_source(w, in, 2, c);
    fma_lanes(d, a, b, c, sim_round32(w));
}

EXEC_FN(v_fma_mix_f32)
{
    uint32_t d[SIM_LANES];
    mix_lanes(w, in, d);
    sim_vstoref32(w, in, d);
}

/* The f32 result rounded to f16 into one half; the other half is kept. */
static void mix_to_half(struct sim_wave *w, const struct sim_inst *in, unsigned shift)
{
    uint32_t d[SIM_LANES];
    const uint32_t *row = sim_vdst32(w, in);
    const bool ovfl = (w->mode & SIM_MODE_FP16_OVFL) != 0;
    mix_lanes(w, in, d);
    SIM_FOR_LANES(l) {
        uint32_t h = sim_f32_is_nan(d[l]) ? sim_f16_nan_from_f32(d[l])
                                          : sim_f16_round(F(d[l]), sim_round64(w), ovfl);
        h = sim_f16_output(w, in, h);
        d[l] = (row[l] & ~(0xffffu << shift)) | h << shift;
    }
    sim_vstore32(w, in, d);
}

EXEC_FN(v_fma_mixlo_f16)
{
    mix_to_half(w, in, 0);
}

EXEC_FN(v_fma_mixhi_f16)
{
    mix_to_half(w, in, 16);
}
