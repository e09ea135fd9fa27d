/* SPDX-License-Identifier: MIT */
/*
 * MUBUF instructions (ISA text, 9.1): raw and structured buffers with range checks.
 * Swizzled buffers and ADD_TID, which compute kernels have no use for, are refused.
 */
#include "exec_mem.h"

struct resource {
    uint64_t base;
    uint32_t stride, records;
    bool is_unbound; /* data format INVALID: reads give 0, writes are dropped */
};

static uint32_t scalar_operand(const struct sim_wave *w, const struct sim_opnd *o)
{
    return o->kind == SIM_OPND_SGPR    ? w->sgpr[o->reg]
           : o->kind == SIM_OPND_CONST ? (uint32_t)o->imm
                                       : 0;
}

/* Read the descriptor; false when it asks for a form that is not implemented. */
static bool read_resource(struct sim_wave *w, const struct sim_inst *in, struct resource *r)
{
    unsigned reg = in->src[SIM_SRC_RSRC].reg;
    const uint32_t *s = &w->sgpr[reg <= SIM_SGPR_COUNT - 4 ? reg : 0];
    r->base = s[0] | (uint64_t)(s[1] & 0xffff) << 32;
    r->stride = s[1] >> 16 & 0x3fff;
    r->records = s[2];
    r->is_unbound = (s[3] >> 15 & 15) == 0;
    if (s[1] >> 31 || s[3] >> 23 & 1) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
                 "the buffer descriptor {0x%x, 0x%x, 0x%x, 0x%x} is swizzled or adds the lane: "
                 "not implemented",
                 s[0], s[1], s[2], s[3]);
        return false;
    }
    if (r->is_unbound && r->records) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1,
                 "the buffer descriptor {0x%x, 0x%x, 0x%x, 0x%x} has data format INVALID: it "
                 "counts as unbound",
                 s[0], s[1], s[2], s[3]);
    }
    return true;
}

/* Lane addresses, with offsets within the buffer for the range checks. */
struct access {
    struct sim_lanes l;
    uint64_t offset[SIM_LANES]; /* raw: what is compared with num_records */
    bool is_structured;
    struct resource r;
};

static bool prepare(struct sim_wave *w, const struct sim_inst *in, struct access *a)
{
    const struct sim_opnd *v = &in->src[SIM_SRC_ADDR];
    bool has_index = in->mem & SIM_MEM_IDXEN, has_offset = in->mem & SIM_MEM_OFFEN;
    if (!read_resource(w, in, &a->r)) {
        return false;
    }
    const uint32_t *index = has_index ? sim_vrow(w, v, 0) : NULL;
    const uint32_t *offset = has_offset ? sim_vrow(w, v, has_index) : NULL;
    uint64_t soffset = scalar_operand(w, &in->src[SIM_SRC_SOFF]);
    a->is_structured = has_index && a->r.stride != 0;
    a->l.mask = sim_exec_mask(w);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        uint64_t within = (uint64_t)(uint32_t)in->offset + (offset ? offset[lane] : 0);
        uint64_t record = index ? (uint64_t)index[lane] * a->r.stride : 0;
        /* The scalar offset moves the address but takes no part in the range check. */
        a->l.addr[lane] = a->r.base + soffset + record + within;
        a->offset[lane] = a->is_structured ? index[lane] : within;
    }
    return true;
}

/* Lanes of `mask` whose component at byte `at` of the element is inside the buffer. */
static uint64_t in_range(const struct access *a, uint64_t mask, unsigned at)
{
    uint64_t ok = 0;
    if (a->r.is_unbound) {
        return 0;
    }
    unsigned step = a->is_structured ? 0 : at;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        ok |= (uint64_t)(a->offset[lane] + step < a->r.records) << lane;
    }
    return ok & mask;
}

/* "For Dword or larger, the two LSBs of the byte-address are ignored" (9.1.7). */
static void align_dwords(struct sim_wave *w, struct access *a, unsigned bytes)
{
    if (bytes == 1) {
        return;
    }
    sim_mem_align(w, &a->l, bytes >= 4 ? 4 : bytes, "buffer");
    for (unsigned lane = 0; bytes >= 4 && lane < SIM_LANES; lane++) {
        a->l.addr[lane] &= ~(uint64_t)3;
    }
}

/* The lanes whose every component is inside; they go the fast way. */
static uint64_t wholly_inside(const struct access *a, unsigned bytes)
{
    unsigned last = bytes > 4 ? bytes - 4 : 0;
    return in_range(a, a->l.mask, 0) & in_range(a, a->l.mask, last);
}

static void zero_result(struct sim_wave *w, const struct sim_opnd *dst, uint64_t lanes,
                        unsigned dwords)
{
    for (unsigned i = 0; i < dwords; i++) {
        uint32_t *row = sim_vrow(w, dst, i);
        for (uint64_t m = lanes; m;) {
            row[sim_next_lane(&m)] = 0;
        }
    }
}

/* Lanes that cross the end of the buffer: component by component. */
static bool load_partial(struct sim_wave *w, const struct sim_inst *in, const struct access *a,
                         uint64_t lanes, unsigned bytes)
{
    for (unsigned i = 0; i < bytes / 4; i++) {
        struct sim_lanes part = a->l;
        part.mask = in_range(a, lanes, 4 * i);
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            part.addr[lane] += 4 * i;
        }
        if (!sim_mem_check(w, &part, 4, false)) {
            return false;
        }
        struct sim_opnd dst = in->dst[0];
        dst.reg = (uint16_t)(dst.reg + i);
        sim_mem_load(w, &dst, &part, 4, 0);
    }
    return true;
}

static void load_to_lds(struct sim_wave *w, const struct sim_inst *in, struct access *a,
                        unsigned bytes, unsigned flags)
{
    uint64_t all = a->l.mask;
    uint64_t inside = wholly_inside(a, bytes);
    uint64_t cut = bytes > 4 ? in_range(a, all, 0) & ~inside : 0;
    a->l.mask = inside;
    if (!sim_mem_check(w, &a->l, bytes, false)) {
        return;
    }
    /* LDS_offset = M0[17:0] (9.1.9); the instruction's offset counts on both sides. */
    uint32_t lds = (w->sgpr[SIM_SGPR_M0] & 0x3ffffu) + (uint32_t)in->offset;
    sim_mem_load_lds(w, &a->l, all & ~inside, lds, bytes, flags);
    for (unsigned i = 0; cut && i < bytes / 4; i++) {
        struct sim_lanes part = a->l;
        part.mask = in_range(a, cut, 4 * i);
        for (uint64_t m = part.mask; m;) {
            unsigned lane = sim_next_lane(&m);
            uint64_t at = (uint64_t)(lds & ~3u) + lane * 16u + 4 * i;
            part.addr[lane] += 4 * i;
            struct sim_lanes one = { .mask = (uint64_t)1 << lane };
            one.addr[lane] = part.addr[lane];
            if (!sim_mem_check(w, &one, 4, false)) {
                return;
            }
            if (at + 4 <= w->group->lds_size) {
                __builtin_memcpy(w->group->lds + at, (void *)(uintptr_t)part.addr[lane], 4);
            }
        }
    }
}

void sim_x_buffer_load(struct sim_wave *w, const struct sim_inst *in)
{
    struct access a;
    unsigned bytes = in->op->p[0], flags = in->op->p[1];
    if (!prepare(w, in, &a)) {
        return;
    }
    align_dwords(w, &a, bytes);
    if (in->mem & SIM_MEM_LDS) {
        load_to_lds(w, in, &a, bytes, flags);
        return;
    }
    uint64_t all = a.l.mask;
    a.l.mask = wholly_inside(&a, bytes);
    if (!sim_mem_check(w, &a.l, bytes, false)) {
        return;
    }
    uint64_t outside = all & ~a.l.mask;
    zero_result(w, &in->dst[0], outside, (bytes + 3) / 4);
    sim_mem_load(w, &in->dst[0], &a.l, bytes, flags);
    if (outside && bytes > 4) {
        load_partial(w, in, &a, outside, bytes);
    }
}

void sim_x_buffer_store(struct sim_wave *w, const struct sim_inst *in)
{
    struct access a;
    unsigned bytes = in->op->p[0], flags = in->op->p[1];
    const struct sim_opnd *data = &in->src[SIM_SRC_DATA];
    if (!prepare(w, in, &a)) {
        return;
    }
    align_dwords(w, &a, bytes);
    uint64_t all = a.l.mask;
    a.l.mask = wholly_inside(&a, bytes);
    if (!sim_mem_check(w, &a.l, bytes, true)) {
        return;
    }
    sim_mem_store(w, data, &a.l, bytes, flags);
    uint64_t outside = all & ~a.l.mask;
    for (unsigned i = 0; outside && bytes > 4 && i < bytes / 4; i++) {
        struct sim_lanes part = a.l;
        struct sim_opnd src = *data;
        part.mask = in_range(&a, outside, 4 * i);
        src.reg = (uint16_t)(src.reg + i);
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            part.addr[lane] += 4 * i;
        }
        if (!sim_mem_check(w, &part, 4, true)) {
            return;
        }
        sim_mem_store(w, &src, &part, 4, 0);
    }
}

void sim_x_buffer_atomic(struct sim_wave *w, const struct sim_inst *in)
{
    struct access a;
    unsigned bytes = in->op->p[0], op = in->op->p[1];
    const struct sim_opnd *dst = in->dst[0].kind != SIM_OPND_NONE ? &in->dst[0] : NULL;
    if (!prepare(w, in, &a)) {
        return;
    }
    uint64_t all = a.l.mask;
    /* "Atomics are range-checked all or nothing" (9.1.5.1). */
    a.l.mask = wholly_inside(&a, bytes);
    if (!sim_mem_align(w, &a.l, bytes, "atomic") || !sim_mem_check(w, &a.l, bytes, true)) {
        return;
    }
    if (dst) {
        zero_result(w, dst, all & ~a.l.mask, bytes / 4);
    }
    sim_mem_atomic(w, dst, &in->src[SIM_SRC_DATA], &a.l, bytes, op);
}
