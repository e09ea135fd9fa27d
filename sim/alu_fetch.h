/* SPDX-License-Identifier: MIT */
/*
 * Vector operands as arrays of 64 lanes: fetching sources through DPP, SDWA,
 * op_sel, neg and abs, and storing results under EXEC with clamp and omod.
 *
 * A fetch returns a pointer to 64 lanes: the register row itself where nothing
 * changes on the way, else the caller's buffer.  Results are computed for all
 * lanes into a buffer first, so sources may be overwritten.
 */
#ifndef SIM_ALU_FETCH_H
#define SIM_ALU_FETCH_H

#include "alu_scalar.h"

#define SIM_FOR_LANES(l) for (unsigned l = 0; l < SIM_LANES; l++)

/* Source i as 32 bits, after DPP and SDWA selection; neg and abs are not applied. */
const uint32_t *sim_v32(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                        uint32_t *buf);

/* Source i as f32: neg and abs applied, denormals flushed where MODE says so. */
const uint32_t *sim_vf32(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                         uint32_t *buf);

/* The same without the flush, for moves and for instructions that keep denormals. */
const uint32_t *sim_vf32_raw(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                             uint32_t *buf);

/* Source i as a 16-bit value in bits 15:0 (op_sel or SDWA chosen), upper bits zero. */
const uint32_t *sim_v16(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                        uint32_t *buf);

/* Source i as f16 bits: as sim_v16, then neg, abs and the denormal flush. */
const uint32_t *sim_vf16(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                         uint32_t *buf);

/* Source i as 64 bits; _f64 applies neg, abs and the denormal flush. */
const uint64_t *sim_v64(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                        uint64_t *buf);
const uint64_t *sim_vf64(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                         uint64_t *buf);

/* Source i of a packed 16-bit instruction: op_sel, op_sel_hi, and for floats neg and flush. */
const uint32_t *sim_vpk16(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                          bool is_float, uint32_t *buf);

/* Lane mask source (VCC or an SGPR pair). */
uint64_t sim_vmask(const struct sim_wave *w, const struct sim_inst *in, unsigned i);

/* The present value of dst[0], for instructions that accumulate or keep part of it. */
const uint32_t *sim_vdst32(struct sim_wave *w, const struct sim_inst *in);
const uint64_t *sim_vdst64(struct sim_wave *w, const struct sim_inst *in, uint64_t *buf);

/* Lanes that the instruction writes: EXEC and, with DPP, the masks and valid sources. */
uint64_t sim_vwrite_mask(const struct sim_wave *w, const struct sim_inst *in);

/* Stores to dst[0]: bits, 16 bits by the row's rule for the other half, 64 bits. */
void sim_vstore32(struct sim_wave *w, const struct sim_inst *in, const uint32_t *d);
void sim_vstore16(struct sim_wave *w, const struct sim_inst *in, const uint32_t *d);
void sim_vstore64(struct sim_wave *w, const struct sim_inst *in, const uint64_t *d);

/* Float stores: omod, clamp and the output denormal flush first.  d is changed. */
void sim_vstoref32(struct sim_wave *w, const struct sim_inst *in, uint32_t *d);
void sim_vstoref16(struct sim_wave *w, const struct sim_inst *in, uint32_t *d);
void sim_vstoref64(struct sim_wave *w, const struct sim_inst *in, uint64_t *d);

/* Output steps of f32 lanes without the store, for packed instructions. */
void sim_f32_output(const struct sim_wave *w, const struct sim_inst *in, uint32_t *d);

/* Output steps of one f16 lane (clamp, flush), for packed and mixed instructions. */
uint32_t sim_f16_output(const struct sim_wave *w, const struct sim_inst *in, uint32_t v);

/* A lane mask result, into dst[which]: bits of lanes outside EXEC are written as zero. */
void sim_vstore_mask(struct sim_wave *w, const struct sim_inst *in, unsigned which,
                     uint64_t mask);

/* True where MODE lets denormal inputs (bit 0) or outputs (bit 1) live. */
static inline unsigned sim_denorm32(const struct sim_wave *w)
{
    return w->mode >> SIM_MODE_DENORM32_SHIFT & 3;
}

static inline unsigned sim_denorm64(const struct sim_wave *w)
{
    return w->mode >> SIM_MODE_DENORM64_SHIFT & 3;
}

/* Rounding modes: 0 nearest even, 1 up, 2 down, 3 toward zero. */
static inline unsigned sim_round32(const struct sim_wave *w)
{
    return w->mode & SIM_MODE_ROUND32;
}

static inline unsigned sim_round64(const struct sim_wave *w)
{
    return w->mode >> SIM_MODE_ROUND64_SHIFT & 3;
}

#endif
