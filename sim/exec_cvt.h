/* SPDX-License-Identifier: MIT */
/*
 * Conversions between f32, f16, bf16 and the small formats: entry points named
 * by the instruction table (p[0] source, p[1] destination, p[2] elements,
 * p[3] SIM_P_SR), and what their two files share.
 */
#ifndef SIM_EXEC_CVT_H
#define SIM_EXEC_CVT_H

#include "fp_lowp.h"
#include "wave.h"

sim_exec_fn sim_x_cvt_scale_narrow; /* v_cvt_scalef32_* to FP8, BF8, FP6, BF6, FP4 */
sim_exec_fn sim_x_cvt_scale_widen;  /* v_cvt_scalef32_* from them */
sim_exec_fn sim_x_cvt_fp8_narrow;   /* v_cvt_{pk,sr}_{fp8,bf8}_f32 */
sim_exec_fn sim_x_cvt_fp8_widen;    /* v_cvt_f32_{fp8,bf8}, v_cvt_pk_f32_{fp8,bf8} */

/*
 * Dword i of source s for all lanes: the register row itself, or tmp filled with
 * what a scalar, a constant, DPP or SDWA gives.
 */
const uint32_t *cvt_row(struct sim_wave *w, const struct sim_inst *inst, unsigned s, unsigned i,
                        uint32_t tmp[SIM_LANES]);

static inline bool cvt_any_bad_scale(const uint32_t scale[SIM_LANES])
{
    uint32_t any = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        any |= scale[lane] == 0xFF;
    }
    return any;
}

/*
 * Report a conversion scale of 0xFF in any active lane.  E8M0 calls it NaN; what
 * the conversions make of it is not documented.  `scale` holds exponent bytes.
 */
void cvt_check_scale(struct sim_wave *w, const struct sim_inst *inst,
                     const uint32_t scale[SIM_LANES]);

/* Exponent bytes of the f32 scale, source s; sign and mantissa do not count. */
void cvt_load_scale(struct sim_wave *w, const struct sim_inst *inst, unsigned s,
                    uint32_t scale[SIM_LANES]);

/* Write `mask` bits of dword i of the destination in the lanes that are written. */
void cvt_store(struct sim_wave *w, const struct sim_inst *inst, unsigned i, uint32_t mask,
               const uint32_t value[SIM_LANES]);

#endif
