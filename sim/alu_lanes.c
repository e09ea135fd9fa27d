/* SPDX-License-Identifier: MIT */
/* Single-precision sums and products of 64 lanes, vectorised in the default rounding mode. */
#include "alu_lanes.h"

#include "alu_fetch.h"
#include "alu_float.h"

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

void sim_f32_add_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, unsigned round)
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

void sim_f32_mul_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, unsigned round)
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
 * With an FMA unit the loop is eight lanes an instruction.  The check is one
 * load; both ways round correctly, so results do not depend on the machine.
 */
#if defined(__FP_FAST_FMAF)
static bool has_fma_unit(void)
{
    return true;
}
#define FMA_TARGET
#elif defined(__x86_64__) && defined(__GNUC__)
static bool has_fma_unit(void)
{
    return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
}
#define FMA_TARGET __attribute__((target("avx2,fma")))
#else
static bool has_fma_unit(void)
{
    return false;
}
#define FMA_TARGET
#endif

FMA_TARGET static void fma_unit_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b,
                                      const uint32_t *c)
{
    SIM_FOR_LANES(l) {
        d[l] = sim_f32_bits(fmaf(F(a[l]), F(b[l]), F(c[l])));
    }
}

void sim_f32_fma_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                       unsigned round)
{
    if (round == 0 && has_fma_unit()) {
        fma_unit_lanes(d, a, b, c);
        settle_nans(d, a, b, c);
        return;
    }
    SIM_FOR_LANES(l) {
        d[l] = sim_f32_fma(a[l], b[l], c[l], round);
    }
}
