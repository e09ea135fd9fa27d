/* SPDX-License-Identifier: MIT */
/* Reading and writing the scalar operands of a decoded instruction. */
#ifndef SIM_ALU_SCALAR_H
#define SIM_ALU_SCALAR_H

#include "wave.h"

/* The value of a source that is not a vector register; 32-bit operands zero-extend. */
uint64_t sim_scalar_read(const struct sim_wave *w, const struct sim_opnd *o);

static inline uint32_t sim_scalar_read32(const struct sim_wave *w, const struct sim_opnd *o)
{
    return o->kind == SIM_OPND_SGPR ? w->sgpr[o->reg] : (uint32_t)sim_scalar_read(w, o);
}

static inline void sim_scalar_write32(struct sim_wave *w, const struct sim_opnd *o, uint32_t v)
{
    w->sgpr[o->reg] = v;
}

static inline void sim_scalar_write64(struct sim_wave *w, const struct sim_opnd *o, uint64_t v)
{
    w->sgpr[o->reg] = (uint32_t)v;
    w->sgpr[o->reg + 1] = (uint32_t)(v >> 32);
}

static inline void sim_exec_write(struct sim_wave *w, uint64_t v)
{
    w->sgpr[SIM_SGPR_EXEC] = (uint32_t)v;
    w->sgpr[SIM_SGPR_EXEC + 1] = (uint32_t)(v >> 32);
}

/* Bits of the MODE register (ISA text, table 4). */
enum {
    SIM_MODE_ROUND32 = 0x3,
    SIM_MODE_ROUND64_SHIFT = 2,
    SIM_MODE_DENORM32_SHIFT = 4,
    SIM_MODE_DENORM64_SHIFT = 6,
    SIM_MODE_DX10_CLAMP = 1 << 8,
    SIM_MODE_IEEE = 1 << 9,
    SIM_MODE_FP16_OVFL = 1 << 23,
    SIM_MODE_GPR_IDX_EN = 1 << 27,
    SIM_MODE_VSKIP = 1 << 28
};

#endif
