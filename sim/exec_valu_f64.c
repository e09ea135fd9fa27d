/* SPDX-License-Identifier: MIT */
/* Vector ALU: double precision (ISA text, 12.8, 12.11). */
#include "alu_float.h"
#include "exec_valu.h"

#define V(u) sim_f64_from_bits(u)

#define F64_1(name, expr)                                                                      \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint64_t pa[SIM_LANES], d[SIM_LANES];                                                  \
        sim_vf64(w, in, 0, pa);                                                                \
        SIM_FOR_LANES(l) {                                                                     \
            const uint64_t a = pa[l];                                                          \
            const double x = V(a);                                                             \
            const double r = (expr);                                                           \
            d[l] = sim_f64_is_nan(a) ? a | 1ull << 51                                          \
                   : isnan(r)        ? SIM_F64_NAN_OUT                                         \
                                     : sim_f64_bits(r);                                        \
        }                                                                                      \
        sim_vstoref64(w, in, d);                                                               \
    }
#define F64_2(name, expr)                                                                      \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint64_t pa[SIM_LANES], pb[SIM_LANES], d[SIM_LANES];                                   \
        const unsigned round = sim_round64(w);                                                 \
        const bool ieee = (w->mode & SIM_MODE_IEEE) != 0;                                      \
        (void)round;                                                                           \
        (void)ieee;                                                                            \
        sim_vf64(w, in, 0, pa);                                                                \
        sim_vf64(w, in, 1, pb);                                                                \
        SIM_FOR_LANES(l) {                                                                     \
            const uint64_t a = pa[l];                                                          \
            const uint64_t b = pb[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstoref64(w, in, d);                                                               \
    }

F64_2(v_add_f64, sim_f64_add(a, b, round))
F64_2(v_mul_f64, sim_f64_mul(a, b, round))
F64_2(v_min_f64, sim_f64_minmax(a, b, false, ieee))
F64_2(v_max_f64, sim_f64_minmax(a, b, true, ieee))

EXEC_FN(v_fma_f64)
{
    uint64_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES], d[SIM_LANES];
    sim_vf64(w, in, 0, a);
    sim_vf64(w, in, 1, b);
    sim_vf64(w, in, 2, c);
    SIM_FOR_LANES(l) {
        d[l] = sim_f64_fma(a[l], b[l], c[l], sim_round64(w));
    }
    sim_vstoref64(w, in, d);
}

EXEC_FN(v_fmac_f64)
{
    uint64_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES], d[SIM_LANES];
    const bool flush = (sim_denorm64(w) & 1) == 0;
    sim_vf64(w, in, 0, a);
    sim_vf64(w, in, 1, b);
    sim_vdst64(w, in, c);
    SIM_FOR_LANES(l) {
        uint64_t z = c[l];
        z = flush && (z & 0x7ff0000000000000ull) == 0 ? z & 1ull << 63 : z;
        d[l] = sim_f64_fma(a[l], b[l], z, sim_round64(w));
    }
    sim_vstoref64(w, in, d);
}

F64_1(v_trunc_f64, trunc(x))
F64_1(v_ceil_f64, ceil(x))
F64_1(v_floor_f64, floor(x))
F64_1(v_rndne_f64, rint(x))
F64_1(v_fract_f64, isinf(x) ? NAN : V(sim_f64_add(a, sim_f64_bits(-floor(x)), sim_round64(w))))

/*
 * Hardware's double reciprocals and roots are starting values for a Newton
 * iteration (2^29 ULP by the LLVM backend guide; the ISA text gives no bits).
 * Rounded correctly here: whatever follows converges from it as well.
 */
F64_1(v_rcp_f64, 1.0 / x)
F64_1(v_rsq_f64, x == 0 ? copysign(INFINITY, x) : 1.0 / sqrt(x))
F64_1(v_sqrt_f64, sqrt(x))

static double mantissa(double x)
{
    int e;
    return isfinite(x) ? frexp(x, &e) : x;
}

F64_1(v_frexp_mant_f64, mantissa(x))

EXEC_FN(v_frexp_exp_i32_f64)
{
    uint64_t a[SIM_LANES];
    uint32_t d[SIM_LANES];
    sim_vf64(w, in, 0, a);
    SIM_FOR_LANES(l) {
        int e = 0;
        if (isfinite(V(a[l]))) {
            frexp(V(a[l]), &e);
        }
        d[l] = (uint32_t)e;
    }
    sim_vstore32(w, in, d);
}

/* x * 2^n with one rounding: a result below the normal range is rounded in one step. */
static uint64_t scale64(uint64_t a, int32_t n, unsigned round)
{
    if (sim_f64_is_nan(a)) {
        return a | 1ull << 51;
    }
    int e;
    const double m = frexp(V(a), &e);
    const int64_t want = (int64_t)e + n;
    if (m == 0 || isinf(m)) {
        return a;
    }
    if (want > 2000) {
        return sim_f64_mul(sim_f64_bits(copysign(1e300, m)), sim_f64_bits(1e300), round);
    }
    if (want < -2000) {
        return sim_f64_mul(sim_f64_bits(copysign(1e-300, m)), sim_f64_bits(1e-300), round);
    }
    /* 2^(want + 1000) m is exact and normal; one more product rounds once. */
    const int apart = want < -1000 ? -1000 : want > 1000 ? 1000 : 0;
    const double big = ldexp(m, (int)want - apart);
    const double last = ldexp(1.0, apart);
    return sim_f64_mul(sim_f64_bits(big), sim_f64_bits(last), round);
}

EXEC_FN(v_ldexp_f64)
{
    uint64_t a[SIM_LANES], d[SIM_LANES];
    uint32_t bb[SIM_LANES];
    sim_vf64(w, in, 0, a);
    const uint32_t *b = sim_v32(w, in, 1, bb);
    SIM_FOR_LANES(l) {
        d[l] = scale64(a[l], (int32_t)b[l], sim_round64(w));
    }
    sim_vstoref64(w, in, d);
}
