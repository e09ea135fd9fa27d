/* SPDX-License-Identifier: MIT */
/* Checks of MFMA operands that the encoding allows and the ISA text does not. */
#include "exec_mfma.h"

bool mfma_check_tuple(struct sim_wave *w, const struct sim_opnd *o, unsigned ndw,
                      const char *name)
{
    if (o->kind != SIM_OPND_VGPR && o->kind != SIM_OPND_AGPR) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1, "MFMA operand %s is not a vector register", name);
        return false;
    }
    const char file = o->kind == SIM_OPND_AGPR ? 'a' : 'v';
    if (o->reg + ndw > 256) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
                 "MFMA operand %s starts at %c%u and needs %u registers: there are 256", name,
                 file, o->reg, ndw);
        return false;
    }
    if (ndw > 1 && (o->reg & 1)) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
                 "MFMA operand %s starts at %c%u: register tuples must start at an even number",
                 name, file, o->reg);
        return false;
    }
    return true;
}

bool mfma_check_c(struct sim_wave *w, const struct sim_opnd *o, unsigned ndw)
{
    return o->kind == SIM_OPND_CONST || mfma_check_tuple(w, o, ndw, "C");
}

void mfma_check_modifiers(struct sim_wave *w, const struct sim_inst *inst)
{
    if ((inst->neg & 3) || (inst->abs & 3)) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1,
                 "%s: modifiers on A or B (neg %u, abs %u) must be zero; they are ignored",
                 inst->op->name, inst->neg & 3u, inst->abs & 3u);
    }
}
