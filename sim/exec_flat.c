/* SPDX-License-Identifier: MIT */
/*
 * FLAT, GLOBAL and SCRATCH instructions (ISA text, chapter 10).
 */
#include "exec_mem.h"

#include <string.h>

/* The lanes of a flat access, by the space their address falls into. */
struct split {
    struct sim_lanes global, lds, scratch;
};

static void global_addresses(struct sim_wave *w, const struct sim_inst *in, uint64_t exec,
                             struct sim_lanes *l)
{
    const struct sim_opnd *v = &in->src[SIM_SRC_ADDR], *s = &in->src[SIM_SRC_SADDR];
    int64_t offset = in->offset;
    l->mask = exec;
    if (s->kind == SIM_OPND_SGPR) {
        uint64_t base = sim_sgpr64(w, s->reg) + (uint64_t)offset;
        const uint32_t *low = v->kind == SIM_OPND_VGPR ? sim_vrow(w, v, 0) : NULL;
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            l->addr[lane] = base + (low ? low[lane] : 0);
        }
        return;
    }
    const uint32_t *low = sim_vrow(w, v, 0), *high = sim_vrow(w, v, 1);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        l->addr[lane] = (low[lane] | (uint64_t)high[lane] << 32) + (uint64_t)offset;
    }
}

/* Scratch: the byte offset of each lane's private memory (ISA text, table 56). */
static void scratch_offsets(struct sim_wave *w, const struct sim_inst *in, uint64_t exec,
                            struct sim_lanes *l)
{
    const struct sim_opnd *v = &in->src[SIM_SRC_ADDR], *s = &in->src[SIM_SRC_SADDR];
    uint64_t base = (uint64_t)(int64_t)in->offset;
    if (s->kind == SIM_OPND_SGPR) {
        base += w->sgpr[s->reg];
    } else if (s->kind == SIM_OPND_CONST) {
        base += s->imm;
    }
    const uint32_t *low = v->kind == SIM_OPND_VGPR ? sim_vrow(w, v, 0) : NULL;
    l->mask = exec;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        l->addr[lane] = base + (low ? low[lane] : 0);
    }
}

static void split_addresses(struct sim_wave *w, const struct sim_inst *in, struct split *s)
{
    uint64_t exec = sim_exec_mask(w);
    s->global.mask = s->lds.mask = s->scratch.mask = 0;
    if (in->segment == SIM_SEG_SCRATCH) {
        scratch_offsets(w, in, exec, &s->scratch);
        return;
    }
    global_addresses(w, in, exec, &s->global);
    if (in->segment == SIM_SEG_GLOBAL) {
        return;
    }
    for (uint64_t m = exec; m;) {
        unsigned lane = sim_next_lane(&m);
        uint64_t addr = s->global.addr[lane], bit = (uint64_t)1 << lane;
        if (addr >> 32 == SIM_SHARED_BASE >> 32) {
            s->lds.addr[lane] = (uint32_t)addr;
            s->lds.mask |= bit;
            s->global.mask &= ~bit;
        } else if (addr >> 32 == SIM_PRIVATE_BASE >> 32) {
            s->scratch.addr[lane] = (uint32_t)addr;
            s->scratch.mask |= bit;
            s->global.mask &= ~bit;
        }
    }
}

/*
 * Turn scratch offsets into host addresses, one block a lane: the swizzle of the real
 * layout cannot be seen by a program.
 */
static bool scratch_check(struct sim_wave *w, struct sim_lanes *l, unsigned size)
{
    struct sim_group *g = w->group;
    for (uint64_t m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        if (l->addr[lane] > g->scratch_size || size > g->scratch_size - l->addr[lane]) {
            sim_find(w, SIM_FIND_MEM_BOUNDS, (int)lane,
                     "%u bytes at scratch offset %lld: the kernel has %u bytes a lane", size,
                     (long long)l->addr[lane], g->scratch_size);
            return false;
        }
        size_t block = (size_t)w->index * SIM_LANES + lane;
        l->addr[lane] += (uint64_t)(uintptr_t)g->scratch + block * g->scratch_size;
    }
    g->counts.c.bytes_scratch += (uint64_t)__builtin_popcountll(l->mask) * size;
    return true;
}

static uint8_t *scratch_shadow(struct sim_group *g, uint64_t addr)
{
    return g->scratch_defined + (addr - (uint64_t)(uintptr_t)g->scratch);
}

/* Undefined scratch bytes make undefined lanes: a spilled register comes back as it was. */
static void scratch_load_shadow(struct sim_wave *w, const struct sim_lanes *l, unsigned bytes)
{
    struct sim_check *c = w->check;
    unsigned dwords = (bytes + 3) / 4;
    memset(c->undefined, 0, dwords * sizeof c->undefined[0]);
    for (uint64_t m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        const uint8_t *s = scratch_shadow(w->group, l->addr[lane]);
        for (unsigned i = 0; i < dwords; i++) {
            unsigned n = bytes < 4 ? bytes : 4;
            if (memchr(s + 4 * i, 0, n)) {
                c->undefined[i] |= (uint64_t)1 << lane;
                c->has_undefined = true;
            }
        }
    }
}

static void scratch_store_shadow(struct sim_wave *w, const struct sim_opnd *src,
                                 const struct sim_lanes *l, unsigned bytes)
{
    for (unsigned i = 0; i < (bytes + 3) / 4; i++) {
        unsigned r = (src->kind == SIM_OPND_AGPR ? 256u : 0u) + src->reg + i;
        uint64_t defined = sim_check_defined(w->check, r & 511, bytes < 4 ? 1 : 15);
        for (uint64_t m = l->mask; m;) {
            unsigned lane = sim_next_lane(&m);
            memset(scratch_shadow(w->group, l->addr[lane]) + 4 * i, defined >> lane & 1,
                   bytes < 4 ? bytes : 4);
        }
    }
}

/* Dword and larger accesses need dwords; hardware splits others, which is worth a report. */
static unsigned natural_align(unsigned bytes)
{
    return bytes >= 4 ? 4 : bytes;
}

void sim_x_flat_load(struct sim_wave *w, const struct sim_inst *in)
{
    struct split s;
    unsigned bytes = in->op->p[0], flags = in->op->p[1];
    split_addresses(w, in, &s);
    sim_mem_align(w, &s.global, natural_align(bytes), "memory");
    if (!sim_mem_check(w, &s.global, bytes, false)) {
        return;
    }
    sim_mem_load(w, &in->dst[0], &s.global, bytes, flags);
    if (s.lds.mask) {
        sim_lds_load(w, &in->dst[0], &s.lds, bytes, flags);
    }
    if (s.scratch.mask && scratch_check(w, &s.scratch, bytes)) {
        scratch_load_shadow(w, &s.scratch, bytes);
        sim_mem_load(w, &in->dst[0], &s.scratch, bytes, flags);
    }
}

void sim_x_flat_store(struct sim_wave *w, const struct sim_inst *in)
{
    struct split s;
    unsigned bytes = in->op->p[0], flags = in->op->p[1];
    const struct sim_opnd *data = &in->src[SIM_SRC_DATA];
    split_addresses(w, in, &s);
    sim_mem_align(w, &s.global, natural_align(bytes), "memory");
    if (!sim_mem_check(w, &s.global, bytes, true)) {
        return;
    }
    sim_mem_store(w, data, &s.global, bytes, flags);
    if (s.lds.mask) {
        sim_lds_store(w, data, &s.lds, bytes, flags, SIM_LDS_FLAT);
    }
    if (s.scratch.mask && scratch_check(w, &s.scratch, bytes)) {
        scratch_store_shadow(w, data, &s.scratch, bytes);
        sim_mem_store(w, data, &s.scratch, bytes, flags);
    }
}

void sim_x_flat_atomic(struct sim_wave *w, const struct sim_inst *in)
{
    struct split s;
    unsigned bytes = in->op->p[0], op = in->op->p[1];
    const struct sim_opnd *dst = in->dst[0].kind != SIM_OPND_NONE ? &in->dst[0] : NULL;
    const struct sim_opnd *data = &in->src[SIM_SRC_DATA];
    split_addresses(w, in, &s);
    if (!sim_mem_align(w, &s.global, bytes, "atomic") ||
        !sim_mem_check(w, &s.global, bytes, true)) {
        return;
    }
    sim_mem_atomic(w, dst, data, &s.global, bytes, op);
    if (s.lds.mask) {
        /* Data is {new, compare} here; sim_lds_atomic takes them as separate operands. */
        bool has_cmp = op == SIM_ATOMIC_CMPSWAP || op == SIM_ATOMIC_FCMPSWAP;
        struct sim_opnd cmp = *data;
        cmp.reg = (uint16_t)(cmp.reg + (has_cmp ? bytes / 4 : 0));
        sim_lds_atomic(w, dst, data, &cmp, &s.lds, bytes, op, SIM_LDS_FLAT);
    }
    if (s.scratch.mask && scratch_check(w, &s.scratch, bytes)) {
        sim_mem_atomic(w, dst, data, &s.scratch, bytes, op);
    }
}

void sim_x_flat_load_lds(struct sim_wave *w, const struct sim_inst *in)
{
    struct split s;
    unsigned bytes = in->op->p[0], flags = in->op->p[1];
    split_addresses(w, in, &s);
    struct sim_lanes *from = in->segment == SIM_SEG_SCRATCH ? &s.scratch : &s.global;
    bool ok = in->segment == SIM_SEG_SCRATCH ? scratch_check(w, from, bytes)
                                             : sim_mem_check(w, from, bytes, false);
    if (!ok) {
        return;
    }
    sim_mem_align(w, from, natural_align(bytes), "memory");
    /* "LDS_ADDR = LDSbase + M0[17:2]*4 + INST.OFFSET + ThreadID*4 (or 16)" (10.3). */
    uint32_t lds = (w->sgpr[SIM_SGPR_M0] & 0x3fffcu) + (uint32_t)in->offset;
    sim_mem_load_lds(w, from, 0, lds, bytes, flags);
}
