/* SPDX-License-Identifier: MIT */
/* Operand access of the small-format conversions. */
#include "exec_cvt.h"

const uint32_t *cvt_row(struct sim_wave *w, const struct sim_opnd *o, unsigned i,
                        uint32_t tmp[SIM_LANES])
{
    uint32_t x = 0;
    switch (o->kind) {
    case SIM_OPND_VGPR:
    case SIM_OPND_AGPR:
        return sim_vrow(w, o, i);
    case SIM_OPND_SGPR:
        x = w->sgpr[(o->reg + i) % SIM_SGPR_COUNT];
        break;
    case SIM_OPND_CONST:
        x = (uint32_t)o->imm;
        break;
    case SIM_OPND_SCC:
        x = w->scc;
        break;
    case SIM_OPND_VCCZ:
        x = sim_vcc(w) == 0;
        break;
    case SIM_OPND_EXECZ:
        x = sim_exec_mask(w) == 0;
        break;
    default:
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1, "conversion source of a kind not implemented (%u)",
                 o->kind);
        break;
    }
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        tmp[lane] = x;
    }
    return tmp;
}

void cvt_load_scale(struct sim_wave *w, const struct sim_opnd *o, uint32_t scale[SIM_LANES])
{
    uint32_t tmp[SIM_LANES];
    const uint32_t *row = cvt_row(w, o, 0, tmp);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        scale[lane] = row[lane] >> 23 & 0xFF;
    }
}

void cvt_check_scale(struct sim_wave *w, const struct sim_inst *inst,
                     const uint32_t scale[SIM_LANES])
{
    const uint64_t exec = sim_exec_mask(w);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        if (scale[lane] == 0xFF && (exec >> lane & 1)) {
            sim_find(w, SIM_FIND_UNPREDICTABLE, (int)lane,
                     "%s: scale exponent 0xFF; no document defines the result", inst->op->name);
            return;
        }
    }
}

void cvt_store(struct sim_wave *w, const struct sim_opnd *o, unsigned i, uint32_t mask,
               const uint32_t value[SIM_LANES])
{
    const uint64_t exec = sim_exec_mask(w);
    uint32_t *row = sim_vrow(w, o, i);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        const uint32_t m = exec >> lane & 1 ? mask : 0;
        row[lane] = (row[lane] & ~m) | (value[lane] & m);
    }
}
