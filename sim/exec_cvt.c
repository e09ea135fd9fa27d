/* SPDX-License-Identifier: MIT */
/* Operand access of the small-format conversions. */
#include "exec_cvt.h"

#include "alu_fetch.h"

const uint32_t *cvt_row(struct sim_wave *w, const struct sim_inst *inst, unsigned s, unsigned i,
                        uint32_t tmp[SIM_LANES])
{
    /* Sources of several registers exist in VOP3 only: no DPP, no SDWA, no scalars. */
    return i == 0 ? sim_v32(w, inst, s, tmp) : sim_vrow(w, &inst->src[s], i);
}

void cvt_load_scale(struct sim_wave *w, const struct sim_inst *inst, unsigned s,
                    uint32_t scale[SIM_LANES])
{
    uint32_t tmp[SIM_LANES];
    const uint32_t *row = cvt_row(w, inst, s, 0, tmp);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        scale[lane] = row[lane] >> 23 & 0xFF;
    }
}

void cvt_check_scale(struct sim_wave *w, const struct sim_inst *inst,
                     const uint32_t scale[SIM_LANES])
{
    if (!cvt_any_bad_scale(scale)) {
        return;
    }
    const uint64_t exec = sim_exec_mask(w);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        if (scale[lane] == 0xFF && (exec >> lane & 1)) {
            sim_find(w, SIM_FIND_UNPREDICTABLE, (int)lane,
                     "%s: scale exponent 0xFF; no document defines the result", inst->op->name);
            return;
        }
    }
}

void cvt_store(struct sim_wave *w, const struct sim_inst *inst, unsigned i, uint32_t mask,
               const uint32_t value[SIM_LANES])
{
    const uint64_t exec = sim_vwrite_mask(w, inst);
    uint32_t *row = sim_vrow(w, &inst->dst[0], i);
    if (exec == UINT64_MAX) { /* the usual case, as a loop without branches */
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            row[lane] = (row[lane] & ~mask) | (value[lane] & mask);
        }
        return;
    }
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        const uint32_t m = exec >> lane & 1 ? mask : 0;
        row[lane] = (row[lane] & ~m) | (value[lane] & m);
    }
}
