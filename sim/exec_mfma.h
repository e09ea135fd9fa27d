/* SPDX-License-Identifier: MIT */
/*
 * MFMA semantics: entry points named by the instruction table, and what their
 * files share.  Parameters of a row are in sim_op.p[], see inst.h.
 */
#ifndef SIM_EXEC_MFMA_H
#define SIM_EXEC_MFMA_H

#include "fp_lowp.h"
#include "mfma_layout.h"
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

/* Elements of D at most: 32 x 32, two blocks. */
#define MFMA_MAX_D 2048

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

/* C as f32 with its modifiers: c[(b * m + i) * m + j]. */
void mfma_load_c(struct sim_wave *w, const struct sim_inst *inst, const struct sim_opnd *o,
                 const struct mfma_shape *s, float *c);

/* 32-bit elements of D, in the same order. */
void mfma_store_d(struct sim_wave *w, const struct sim_opnd *o, const struct mfma_shape *s,
                  const void *d);

/* f32 results to their bits, in place; NaN becomes the canonical one. */
void mfma_result_bits(const struct mfma_shape *s, const float *d, uint32_t *bits);

/*
 * Under MODE.FP16_OVFL, replace overflows in d by the largest number.  c is the
 * addend; a and b are the operands, element (block, k, r) at (block * K + k) * m + r.
 */
void mfma_clamp_overflow(const struct sim_wave *w, const struct mfma_shape *s, const float *a,
                         const float *b, const float *c, float *d);

/*
 * i32 result of an exact sum.  MODE.FP16_OVFL saturates it, else carries are
 * dropped.  Whether intermediate sums saturate is not documented; here only the
 * result does.
 */
static inline uint32_t mfma_int_result(const struct sim_wave *w, int64_t sum)
{
    if (w->mode & SIM_MODE_FP16_OVFL) {
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    }
    return (uint32_t)sum;
}

/*
 * Lanes that stand in for the layout's lanes of A (CBSZ, ABID) and of B (BLGP),
 * ISA text 7.1.6.  Undefined settings are reported.
 */
struct mfma_lanes {
    uint8_t a[SIM_LANES], b[SIM_LANES];
};

void mfma_broadcast(struct sim_wave *w, const struct sim_inst *inst, unsigned blocks,
                    struct mfma_lanes *lanes);

#endif
