/* SPDX-License-Identifier: MIT */
/*
 * Prototypes of the vector ALU's exec functions, from the instruction rows,
 * and the lane-loop shapes that most of them have.
 */
#ifndef SIM_EXEC_VALU_H
#define SIM_EXEC_VALU_H

#include "alu_fetch.h"

#define OP(opcode, mnemonic, operands, ex, fl) sim_exec_fn sim_x_##ex;
#define OPP(opcode, mnemonic, operands, ex, ...) sim_exec_fn sim_x_##ex;
#define NX(opcode, mnemonic, operands, fl)
#define MFMA(opcode, mnemonic, operands, ex, ...)
#include "insts_mai.def"
#include "insts_vop1.def"
#include "insts_vop2.def"
#include "insts_vop3.def"
#include "insts_vop3p.def"
#include "insts_vopc.def"
#undef OP
#undef OPP
#undef NX
#undef MFMA

#define EXEC_FN(name) void sim_x_##name(struct sim_wave *w, const struct sim_inst *in)

/* One, two or three 32-bit sources a, b, c; the expression gives the lane's 32 bits. */
#define VALU1_32(name, expr)                                                                   \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], d[SIM_LANES];                                                  \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }
#define VALU2_32(name, expr)                                                                   \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];                                   \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        const uint32_t *pb = sim_v32(w, in, 1, bb);                                            \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const uint32_t b = pb[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }
#define VALU3_32(name, expr)                                                                   \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];                    \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        const uint32_t *pb = sim_v32(w, in, 1, bb);                                            \
        const uint32_t *pc = sim_v32(w, in, 2, bc);                                            \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const uint32_t b = pb[l];                                                          \
            const uint32_t c = pc[l];                                                          \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }

/*
 * The same where the clamp bit saturates: the expression is the exact result
 * as int64_t, lo and hi the range of the result type.
 */
#define VALU_CLAMPED(expr, lo, hi)                                                             \
    SIM_FOR_LANES(l) {                                                                         \
        const int64_t v = (expr);                                                              \
        d[l] = (uint32_t)(in->clamp == 0 ? v : v < (lo) ? (lo) : v > (hi) ? (hi) : v);         \
    }

#endif
