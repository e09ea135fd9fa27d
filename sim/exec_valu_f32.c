/* SPDX-License-Identifier: MIT */
/* Vector ALU: single precision (ISA text, 12.7, 12.8, 12.11). */
#include "alu_float.h"
#include "alu_lanes.h"
#include "exec_valu.h"

#define F(x) sim_f32_from_bits(x)

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
    sim_f32_add_lanes(d, sim_vf32(w, in, 0, ba), sim_vf32(w, in, 1, bb), sim_round32(w));
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_sub_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], minus[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    negate_lanes(minus, sim_vf32(w, in, 1, bb));
    sim_f32_add_lanes(d, a, minus, sim_round32(w));
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_subrev_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], minus[SIM_LANES], d[SIM_LANES];
    negate_lanes(minus, sim_vf32(w, in, 0, ba));
    sim_f32_add_lanes(d, sim_vf32(w, in, 1, bb), minus, sim_round32(w));
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_mul_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    sim_f32_mul_lanes(d, sim_vf32(w, in, 0, ba), sim_vf32(w, in, 1, bb), sim_round32(w));
    sim_vstoref32(w, in, d);
}

/* DX9 rule: zero times anything is +0. */
EXEC_FN(v_mul_legacy_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    const uint32_t *b = sim_vf32(w, in, 1, bb);
    sim_f32_mul_lanes(d, a, b, sim_round32(w));
    SIM_FOR_LANES(l) {
        d[l] = (a[l] & 0x7fffffff) == 0 || (b[l] & 0x7fffffff) == 0 ? 0 : d[l];
    }
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_fma_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    sim_f32_fma_lanes(d, sim_vf32(w, in, 0, ba), sim_vf32(w, in, 1, bb), sim_vf32(w, in, 2, bc),
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
    sim_f32_fma_lanes(d, sim_vf32(w, in, 0, ba), sim_vf32(w, in, 1, bb),
                      addend_of_dst(w, in, bc), sim_round32(w));
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

/* True where no lane of the sources is a NaN. */
static bool numbers_only(const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    unsigned nans = 0;
    SIM_FOR_LANES(l) {
        nans |= (a[l] & 0x7fffffff) > 0x7f800000;
        nans |= (b[l] & 0x7fffffff) > 0x7f800000;
        nans |= (c[l] & 0x7fffffff) > 0x7f800000;
    }
    return nans == 0;
}

/* Numbers as integers in the same order, -0 just below +0; and back. */
static inline int32_t order_key(uint32_t v)
{
    return (int32_t)(v ^ ((uint32_t)((int32_t)v >> 31) >> 1));
}

static inline uint32_t key_bits(int32_t key)
{
    return (uint32_t)order_key((uint32_t)key);
}

#define KEY_MIN(x, y) ((x) < (y) ? (x) : (y))
#define KEY_MAX(x, y) ((x) < (y) ? (y) : (x))

#define MINMAX2(name, key_expr, expr)                                                          \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];                                   \
        const uint32_t *pa = sim_vf32(w, in, 0, ba);                                           \
        const uint32_t *pb = sim_vf32(w, in, 1, bb);                                           \
        const bool ieee = ieee_mode(w);                                                        \
        if (numbers_only(pa, pb, pb)) {                                                        \
            SIM_FOR_LANES(l) {                                                                 \
                const int32_t a = order_key(pa[l]);                                            \
                const int32_t b = order_key(pb[l]);                                            \
                d[l] = key_bits(key_expr);                                                     \
            }                                                                                  \
        } else {                                                                               \
            SIM_FOR_LANES(l) {                                                                 \
                const uint32_t a = pa[l];                                                      \
                const uint32_t b = pb[l];                                                      \
                d[l] = (expr);                                                                 \
            }                                                                                  \
        }                                                                                      \
        sim_vstoref32(w, in, d);                                                               \
    }
#define MINMAX3(name, key_expr, expr)                                                          \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];                    \
        const uint32_t *pa = sim_vf32(w, in, 0, ba);                                           \
        const uint32_t *pb = sim_vf32(w, in, 1, bb);                                           \
        const uint32_t *pc = sim_vf32(w, in, 2, bc);                                           \
        const bool ieee = ieee_mode(w);                                                        \
        (void)ieee;                                                                            \
        if (numbers_only(pa, pb, pc)) {                                                        \
            SIM_FOR_LANES(l) {                                                                 \
                const int32_t a = order_key(pa[l]);                                            \
                const int32_t b = order_key(pb[l]);                                            \
                const int32_t c = order_key(pc[l]);                                            \
                d[l] = key_bits(key_expr);                                                     \
            }                                                                                  \
        } else {                                                                               \
            SIM_FOR_LANES(l) {                                                                 \
                const uint32_t a = pa[l];                                                      \
                const uint32_t b = pb[l];                                                      \
                const uint32_t c = pc[l];                                                      \
                d[l] = (expr);                                                                 \
            }                                                                                  \
        }                                                                                      \
        sim_vstoref32(w, in, d);                                                               \
    }

#define MIN2(x, y) sim_f32_minmax(x, y, false, ieee)
#define MAX2(x, y) sim_f32_minmax(x, y, true, ieee)

MINMAX2(v_min_f32, KEY_MIN(a, b), MIN2(a, b))
MINMAX2(v_max_f32, KEY_MAX(a, b), MAX2(a, b))
MINMAX3(v_min3_f32, KEY_MIN(KEY_MIN(a, b), c), MIN2(MIN2(a, b), c))
MINMAX3(v_max3_f32, KEY_MAX(KEY_MAX(a, b), c), MAX2(MAX2(a, b), c))
MINMAX3(v_minimum3_f32, KEY_MIN(KEY_MIN(a, b), c),
        sim_f32_minmaximum(sim_f32_minmaximum(a, b, false), c, false))
MINMAX3(v_maximum3_f32, KEY_MAX(KEY_MAX(a, b), c),
        sim_f32_minmaximum(sim_f32_minmaximum(a, b, true), c, true))

/* By the opcode text, whose comparisons take -0 and +0 as equal. */
static inline uint32_t med3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    if (sim_f32_is_nan(a) || sim_f32_is_nan(b) || sim_f32_is_nan(c)) {
        return MIN2(MIN2(a, b), c);
    }
    const float top = F(MAX2(MAX2(a, b), c));
    return top == F(a) ? MAX2(b, c) : top == F(b) ? MAX2(a, c) : MAX2(a, b);
}

EXEC_FN(v_med3_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    const uint32_t *b = sim_vf32(w, in, 1, bb);
    const uint32_t *c = sim_vf32(w, in, 2, bc);
    SIM_FOR_LANES(l) {
        d[l] = med3(a[l], b[l], c[l], ieee_mode(w));
    }
    sim_vstoref32(w, in, d);
}

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
    sim_f32_add_lanes(d, a, minus, sim_round32(w));
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

/* Cube maps: x, y, z in the three sources; the largest magnitude decides, ties to z, then y. */
enum cube_axis { CUBE_X, CUBE_Y, CUBE_Z };

static enum cube_axis cube_axis(float x, float y, float z)
{
    if (fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y)) {
        return CUBE_Z;
    }
    return fabsf(y) >= fabsf(x) ? CUBE_Y : CUBE_X;
}

static float cube_id(float x, float y, float z)
{
    switch (cube_axis(x, y, z)) {
    case CUBE_Z:
        return z < 0 ? 5 : 4;
    case CUBE_Y:
        return y < 0 ? 3 : 2;
    default:
        return x < 0 ? 1 : 0;
    }
}

static float cube_sc(float x, float y, float z)
{
    switch (cube_axis(x, y, z)) {
    case CUBE_Z:
        return z < 0 ? -x : x;
    case CUBE_Y:
        return x;
    default:
        return x < 0 ? z : -z;
    }
}

static float cube_tc(float x, float y, float z)
{
    if (cube_axis(x, y, z) == CUBE_Y) {
        return y < 0 ? -z : z;
    }
    return -y;
}

static float cube_ma(float x, float y, float z)
{
    const enum cube_axis axis = cube_axis(x, y, z);
    return 2 * (axis == CUBE_Z ? z : axis == CUBE_Y ? y : x);
}

#define CUBE(name, fn)                                                                         \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];                    \
        const uint32_t *a = sim_vf32(w, in, 0, ba);                                            \
        const uint32_t *b = sim_vf32(w, in, 1, bb);                                            \
        const uint32_t *c = sim_vf32(w, in, 2, bc);                                            \
        SIM_FOR_LANES(l) {                                                                     \
            d[l] = sim_f32_bits(fn(F(a[l]), F(b[l]), F(c[l])));                                \
        }                                                                                      \
        sim_vstoref32(w, in, d);                                                               \
    }

CUBE(v_cubeid_f32, cube_id)
CUBE(v_cubesc_f32, cube_sc)
CUBE(v_cubetc_f32, cube_tc)
CUBE(v_cubema_f32, cube_ma)
