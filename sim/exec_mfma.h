/* SPDX-License-Identifier: MIT */
/*
 * MFMA semantics: entry points named by the instruction table, and what their
 * files share.  Parameters of a row are in sim_op.p[], see inst.h.
 */
#ifndef SIM_EXEC_MFMA_H
#define SIM_EXEC_MFMA_H

#include "wave.h"

sim_exec_fn sim_x_mfma_f32_f32;
sim_exec_fn sim_x_mfma_f32_f16;
sim_exec_fn sim_x_mfma_f32_bf16;
sim_exec_fn sim_x_mfma_f32_fp8;
sim_exec_fn sim_x_mfma_i32_i8;
sim_exec_fn sim_x_mfma_f64_f64;
sim_exec_fn sim_x_mfma_f32_f8f6f4;
sim_exec_fn sim_x_smfmac_f32_f16;
sim_exec_fn sim_x_smfmac_f32_bf16;
sim_exec_fn sim_x_smfmac_f32_fp8;
sim_exec_fn sim_x_smfmac_i32_i8;

/* MODE.FP16_OVFL (ISA text, "MODE register"). */
#define SIM_MODE_FP16_OVFL (1u << 23)

/*
 * Is operand `o` a run of ndw vector registers inside its file, even-aligned if
 * longer than one?  If not, stops the kernel: `name` is the operand's role.
 */
bool mfma_check_tuple(struct sim_wave *w, const struct sim_opnd *o, unsigned ndw,
                      const char *name);

/* The same for C, which may also be a constant. */
bool mfma_check_c(struct sim_wave *w, const struct sim_opnd *o, unsigned ndw);

/* Report modifiers of A and B, which the ISA text says must be zero. */
void mfma_check_modifiers(struct sim_wave *w, const struct sim_inst *inst);

/* Value of C's f32 bits after |C| and -C (NEG[2], ABS[2]). */
static inline uint32_t mfma_c_modified(const struct sim_inst *inst, uint32_t c)
{
    c = inst->abs & 4 ? c & 0x7FFFFFFFu : c;
    return inst->neg & 4 ? c ^ 0x80000000u : c;
}

#endif
