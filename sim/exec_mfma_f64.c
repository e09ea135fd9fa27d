/* SPDX-License-Identifier: MIT */
/*
 * MFMA in double precision (ISA text, 7.1.3.4 and 7.1.6.4).  MODE is ignored;
 * CBSZ and ABID too; the BLGP field negates A, B and C.
 */
#include <math.h>

#include "exec_mfma.h"

static double from_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static double element(struct sim_wave *w, const struct sim_opnd *o, unsigned item,
                      unsigned lane, bool negate)
{
    uint64_t u = o->imm;
    if (o->kind != SIM_OPND_CONST) {
        u = sim_vrow(w, o, 2 * item)[lane] | (uint64_t)sim_vrow(w, o, 2 * item + 1)[lane] << 32;
    }
    return from_bits(u ^ (uint64_t)negate << 63);
}

/*
 * The sum over K: its order is not documented.  Here C first, K ascending, one
 * fused multiply-add each, rounded to nearest even.  NaN comes out canonical.
 */
static uint64_t dot(const double *a, const double *b, double c, const struct mfma_shape *s)
{
    for (unsigned k = 0; k < s->k; k++) {
        c = fma(a[k * s->m], b[k * s->m], c);
    }
    uint64_t u = 0x7FF8000000000000u;
    if (!isnan(c)) {
        memcpy(&u, &c, sizeof u);
    }
    return u;
}

void sim_x_mfma_f64_f64(struct sim_wave *w, const struct sim_inst *i)
{
    const struct mfma_shape s = { i->op->p[0], i->op->p[1], i->op->p[2], 1 };
    const unsigned cd = 2 * s.m * s.m * s.blocks / SIM_LANES;
    if (!mfma_check_tuple(w, &i->src[0], 2, "A") || !mfma_check_tuple(w, &i->src[1], 2, "B") ||
        !mfma_check_c(w, &i->src[2], cd) || !mfma_check_tuple(w, &i->dst[0], cd, "D")) {
        return;
    }
    /* The decoder names the field neg for these forms. */
    const unsigned neg = i->neg | i->blgp;
    double a[SIM_LANES], b[SIM_LANES];
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        a[mfma_dense_index(&s, lane)] = element(w, &i->src[0], 0, lane, neg & 1);
        b[mfma_dense_index(&s, lane)] = element(w, &i->src[1], 0, lane, neg & 2);
    }
    uint64_t d[256];
    for (unsigned n = 0; n < s.blocks * s.m * s.m; n++) {
        const unsigned block = n / (s.m * s.m), r = n / s.m % s.m, j = n % s.m;
        const struct mfma_loc at = mfma_output(&s, block, r, j);
        const double c = element(w, &i->src[2], at.item, at.lane, neg & 4);
        const unsigned base = block * s.k * s.m;
        d[n] = dot(a + base + r, b + base + j, c, &s);
    }
    for (unsigned n = 0; n < s.blocks * s.m * s.m; n++) {
        const struct mfma_loc at = mfma_output(&s, n / (s.m * s.m), n / s.m % s.m, n % s.m);
        sim_vrow(w, &i->dst[0], 2 * at.item)[at.lane] = (uint32_t)d[n];
        sim_vrow(w, &i->dst[0], 2 * at.item + 1)[at.lane] = (uint32_t)(d[n] >> 32);
    }
}
