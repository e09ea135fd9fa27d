/* SPDX-License-Identifier: MIT */
/* Vector ALU: traffic between lanes, to scalars and between the register files. */
#include <string.h>

#include "exec_valu.h"

/* The raw row of a vector source, whatever EXEC is. */
static uint32_t lane_of(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                        unsigned lane)
{
    uint32_t buf[SIM_LANES];
    return sim_v32(w, in, i, buf)[lane];
}

EXEC_FN(v_readfirstlane_b32)
{
    const uint64_t exec = sim_exec_mask(w);
    const unsigned lane = exec == 0 ? 0 : (unsigned)__builtin_ctzll(exec);
    sim_scalar_write32(w, &in->dst[0], lane_of(w, in, 0, lane));
}

EXEC_FN(v_readlane_b32)
{
    const unsigned lane = sim_scalar_read32(w, &in->src[1]) & 63;
    sim_scalar_write32(w, &in->dst[0], lane_of(w, in, 0, lane));
}

EXEC_FN(v_writelane_b32)
{
    const unsigned lane = sim_scalar_read32(w, &in->src[1]) & 63;
    const uint32_t v = sim_scalar_read32(w, &in->src[0]);
    /* The destination row is w's own, only seen as const by readers. */
    uint32_t *row = (uint32_t *)(uintptr_t)sim_vdst32(w, in);
    row[lane] = v;
}

static void copy_row(struct sim_wave *w, const struct sim_inst *in)
{
    uint32_t buf[SIM_LANES];
    sim_vstore32(w, in, sim_v32(w, in, 0, buf));
}

EXEC_FN(v_accvgpr_read_b32)
{
    copy_row(w, in);
}

EXEC_FN(v_accvgpr_write_b32)
{
    copy_row(w, in);
}

EXEC_FN(v_accvgpr_mov_b32)
{
    copy_row(w, in);
}

EXEC_FN(v_swap_b32)
{
    uint32_t *d = sim_vrow(w, &in->dst[0], 0);
    uint32_t *s = sim_vrow(w, &in->src[0], 0);
    const uint64_t exec = sim_exec_mask(w);
    SIM_FOR_LANES(l) {
        if ((exec >> l & 1) != 0) {
            const uint32_t t = d[l];
            d[l] = s[l];
            s[l] = t;
        }
    }
}

/*
 * Rows of `width` lanes change places: the odd rows of the destination with the
 * even rows of the source (ISA text, V_PERMLANE16_SWAP_B32).  What a partial
 * EXEC would do is not written anywhere.
 */
static void permlane_swap(struct sim_wave *w, const struct sim_inst *in, unsigned width)
{
    uint32_t *d = sim_vrow(w, &in->dst[0], 0);
    uint32_t *s = sim_vrow(w, &in->src[0], 0);
    if (sim_exec_mask(w) != UINT64_MAX) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "permlane swap under a partial EXEC mask");
    }
    for (unsigned base = 0; base < SIM_LANES; base += 2 * width) {
        for (unsigned l = 0; l < width; l++) {
            const uint32_t t = s[base + l];
            s[base + l] = d[base + width + l];
            d[base + width + l] = t;
        }
    }
}

EXEC_FN(v_permlane16_swap_b32)
{
    permlane_swap(w, in, 16);
}

EXEC_FN(v_permlane32_swap_b32)
{
    permlane_swap(w, in, 32);
}

/* Either dword of each source, by op_sel (ISA text, V_PK_MOV_B32). */
EXEC_FN(v_pk_mov_b32)
{
    uint64_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    const uint64_t *pa = sim_v64(w, in, 0, ba);
    const uint64_t *pb = sim_v64(w, in, 1, bb);
    const unsigned sa = (in->opsel & 1) != 0 ? 32 : 0;
    const unsigned sb = (in->opsel & 2) != 0 ? 32 : 0;
    SIM_FOR_LANES(l) {
        d[l] = (pa[l] >> sa & 0xffffffff) | pb[l] >> sb << 32;
    }
    sim_vstore64(w, in, d);
}
