/* SPDX-License-Identifier: MIT */
/*
 * DS instructions that move data between lanes, or address LDS by other means than a
 * lane's register.
 */
#include "exec_mem.h"

#include <string.h>

/* Lane that lane i reads in ds_swizzle_b32 (ISA text, DS_SWIZZLE_B32's pseudocode). */
static unsigned swizzle_source(unsigned offset, unsigned i)
{
    unsigned mask = offset & 31, j;
    if (offset >= 0xe000) {
        unsigned reversed = 0;
        for (unsigned b = 0; b < 5; b++) {
            reversed |= (i >> b & 1) << (4 - b);
        }
        j = reversed >> __builtin_popcount(mask) | (i & mask);
    } else if (offset >= 0xc000) {
        int rotate = (int)(offset >> 5 & 31);
        rotate = offset >> 10 & 1 ? -rotate : rotate;
        j = (i & mask) | ((unsigned)((int)i + rotate) & ~mask);
        j &= 31;
    } else if (offset & 0x8000) {
        return (i & ~3u) + (offset >> 2 * (i & 3) & 3);
    } else {
        j = (((i & mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31)) & 31;
    }
    return j | (i & 32);
}

static void write_lanes(struct sim_wave *w, const struct sim_opnd *dst, const uint32_t *values)
{
    uint32_t *row = sim_vrow(w, dst, 0);
    for (uint64_t m = sim_exec_mask(w); m;) {
        unsigned lane = sim_next_lane(&m);
        row[lane] = values[lane];
    }
}

void sim_x_ds_swizzle(struct sim_wave *w, const struct sim_inst *in)
{
    const uint32_t *src = sim_vrow(w, &in->src[SIM_SRC_ADDR], 0);
    uint64_t exec = sim_exec_mask(w);
    uint32_t out[SIM_LANES];
    for (unsigned i = 0; i < SIM_LANES; i++) {
        unsigned j = swizzle_source((unsigned)in->offset & 0xffff, i);
        out[i] = exec >> j & 1 ? src[j] : 0;
    }
    write_lanes(w, &in->dst[0], out);
}

void sim_x_ds_permute(struct sim_wave *w, const struct sim_inst *in)
{
    const uint32_t *addr = sim_vrow(w, &in->src[SIM_SRC_ADDR], 0);
    const uint32_t *data = sim_vrow(w, &in->src[SIM_SRC_DATA], 0);
    uint32_t out[SIM_LANES] = { 0 };
    for (uint64_t m = sim_exec_mask(w); m;) {
        unsigned lane = sim_next_lane(&m);
        out[(addr[lane] + (uint32_t)in->offset) / 4 % SIM_LANES] = data[lane];
    }
    write_lanes(w, &in->dst[0], out);
}

void sim_x_ds_bpermute(struct sim_wave *w, const struct sim_inst *in)
{
    const uint32_t *addr = sim_vrow(w, &in->src[SIM_SRC_ADDR], 0);
    const uint32_t *data = sim_vrow(w, &in->src[SIM_SRC_DATA], 0);
    uint64_t exec = sim_exec_mask(w);
    uint32_t out[SIM_LANES];
    for (unsigned i = 0; i < SIM_LANES; i++) {
        unsigned j = (addr[i] + (uint32_t)in->offset) / 4 % SIM_LANES;
        out[i] = exec >> j & 1 ? data[j] : 0;
    }
    write_lanes(w, &in->dst[0], out);
}

/* Address of the forms that add the lane number themselves. */
static void addtid_lanes(const struct sim_wave *w, const struct sim_inst *in,
                         struct sim_lanes *l)
{
    l->mask = sim_exec_mask(w);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        l->addr[lane] =
            (uint64_t)(uint32_t)in->offset + (w->sgpr[SIM_SGPR_M0] & 0xffff) + lane * 4;
    }
}

void sim_x_ds_addtid(struct sim_wave *w, const struct sim_inst *in)
{
    struct sim_lanes l;
    addtid_lanes(w, in, &l);
    if (in->op->p[1]) {
        const struct sim_opnd *data =
            in->src[SIM_SRC_DATA].kind != SIM_OPND_NONE ? &in->src[SIM_SRC_DATA] : &in->src[0];
        sim_lds_store(w, data, &l, 4, 0, SIM_LDS_DS);
    } else {
        sim_lds_load(w, &in->dst[0], &l, 4, 0);
    }
}

void sim_x_ds_append(struct sim_wave *w, const struct sim_inst *in)
{
    uint64_t exec = sim_exec_mask(w);
    uint32_t n = (uint32_t)__builtin_popcountll(exec);
    uint32_t at = (uint32_t)in->offset + (w->sgpr[SIM_SGPR_M0] & 0xffff);
    uint32_t old = 0;
    if ((uint64_t)at + 4 > w->group->lds_size || at % 4) {
        sim_find(w, SIM_FIND_LDS_BOUNDS, -1, "4 bytes at LDS address %u: the workgroup has %u",
                 at, w->group->lds_size);
    } else {
        struct sim_lds_shadow *s = &w->group->shadow;
        uint32_t event = sim_lds_event_begin(w, SIM_LDS_DS, true);
        sim_lds_read_slow(w, -1, at / 4, 15, true);
        sim_lds_write_slow(w, -1, at / 4, 15, event);
        s->written[at / 4] = event;
        memcpy(&old, w->group->lds + at, sizeof old);
        uint32_t new_value = in->op->p[1] ? old - n : old + n;
        memcpy(w->group->lds + at, &new_value, sizeof new_value);
    }
    uint32_t out[SIM_LANES];
    for (unsigned i = 0; i < SIM_LANES; i++) {
        out[i] = old;
    }
    write_lanes(w, &in->dst[0], out);
}

/*
 * The ISA text describes the transposing reads by what two of them bring together and
 * gives no lane formula; a guess would be worse than stopping.
 */
void sim_x_ds_read_tr(struct sim_wave *w, const struct sim_inst *in)
{
    (void)in;
    sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
             "transposing LDS reads: no AMD document defines their lane layout");
}

void sim_x_ds_nop(struct sim_wave *w, const struct sim_inst *in)
{
    (void)w;
    (void)in;
}
