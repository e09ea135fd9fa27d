/* SPDX-License-Identifier: MIT */
/* Vector ALU: 64-bit integers and wide multiplies (ISA text, 12.8, 12.11). */
#include "exec_valu.h"

EXEC_FN(v_mov_b64)
{
    uint64_t buf[SIM_LANES];
    sim_vstore64(w, in, sim_v64(w, in, 0, buf));
}

/* Shift count n first, 64-bit value v second. */
#define SHIFT64(name, expr)                                                                    \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t bn[SIM_LANES];                                                                \
        uint64_t bv[SIM_LANES], d[SIM_LANES];                                                  \
        const uint32_t *pn = sim_v32(w, in, 0, bn);                                            \
        const uint64_t *pv = sim_v64(w, in, 1, bv);                                            \
        SIM_FOR_LANES(l) {                                                                     \
            const unsigned n = pn[l] & 63;                                                     \
            const uint64_t v = pv[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstore64(w, in, d);                                                                \
    }

SHIFT64(v_lshlrev_b64, v << n)
SHIFT64(v_lshrrev_b64, v >> n)
SHIFT64(v_ashrrev_i64, (uint64_t)((int64_t)v >> n))

/* ISA text: "shift count must be between 0 and 4, higher shift counts are unsupported". */
EXEC_FN(v_lshl_add_u64)
{
    uint32_t bn[SIM_LANES];
    uint64_t ba[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const uint64_t *pa = sim_v64(w, in, 0, ba);
    const uint32_t *pn = sim_v32(w, in, 1, bn);
    const uint64_t *pc = sim_v64(w, in, 2, bc);
    unsigned widest = pn[0] & 7;
    if (in->src[1].kind == SIM_OPND_CONST) {
        /* Addresses are made with a constant count; such a loop vectorises. */
        const unsigned n = widest;
        SIM_FOR_LANES(l) {
            d[l] = (pa[l] << n) + pc[l];
        }
    } else {
        SIM_FOR_LANES(l) {
            const unsigned n = pn[l] & 7;
            widest = n > widest ? n : widest;
            d[l] = (pa[l] << n) + pc[l];
        }
    }
    if (widest > 4) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "v_lshl_add_u64 shifts by %u", widest);
    }
    sim_vstore64(w, in, d);
}

/*
 * 65-bit results: the mask gets bit 64.  For the signed form that is the sign
 * of the exact sum, which the opcode text writes as D1.i1.
 */
EXEC_FN(v_mad_u64_u32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES];
    uint64_t bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *pa = sim_v32(w, in, 0, ba);
    const uint32_t *pb = sim_v32(w, in, 1, bb);
    const uint64_t *pc = sim_v64(w, in, 2, bc);
    uint64_t carry = 0;
    SIM_FOR_LANES(l) {
        const uint64_t p = (uint64_t)pa[l] * pb[l];
        d[l] = p + pc[l];
        const bool out = d[l] < p;
        d[l] = out && in->clamp != 0 ? UINT64_MAX : d[l];
        carry |= (uint64_t)out << l;
    }
    sim_vstore_mask(w, in, 1, carry);
    sim_vstore64(w, in, d);
}

EXEC_FN(v_mad_i64_i32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES];
    uint64_t bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *pa = sim_v32(w, in, 0, ba);
    const uint32_t *pb = sim_v32(w, in, 1, bb);
    const uint64_t *pc = sim_v64(w, in, 2, bc);
    uint64_t sign = 0;
    SIM_FOR_LANES(l) {
        int64_t sum;
        const int64_t p = (int64_t)(int32_t)pa[l] * (int32_t)pb[l];
        const bool overflow = __builtin_add_overflow(p, (int64_t)pc[l], &sum);
        const bool negative = overflow ? sum >= 0 : sum < 0; /* sign of the exact sum */
        d[l] = (uint64_t)sum;
        if (overflow && in->clamp != 0) {
            d[l] = negative ? 1ull << 63 : INT64_MAX;
        }
        sign |= (uint64_t)negative << l;
    }
    sim_vstore_mask(w, in, 1, sign);
    sim_vstore64(w, in, d);
}
