/* SPDX-License-Identifier: MIT */
/*
 * DS instructions on LDS memory (ISA text, chapter 11).  Addresses beyond the
 * workgroup's LDS read 0 and write nothing, as hardware clamps them, and are reported.
 */
#include "exec_mem.h"

#include <string.h>

#define BANKS 64

/* Byte addresses of all lanes for one address operand. */
static void ds_addresses(struct sim_wave *w, const struct sim_opnd *o, uint32_t offset,
                         struct sim_lanes *l)
{
    const uint32_t *row = sim_vrow(w, o, 0);
    l->mask = sim_exec_mask(w);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        l->addr[lane] = (uint64_t)row[lane] + offset;
    }
}

/* Lanes whose access lies in the workgroup's LDS; the first one outside is reported. */
static uint64_t inside(struct sim_wave *w, const struct sim_lanes *l, unsigned size)
{
    uint32_t room = w->group->lds_size;
    uint64_t ok = 0, m = l->mask;
    bool has_reported = false;
    while (m) {
        unsigned lane = sim_next_lane(&m);
        if (l->addr[lane] + size <= room) {
            ok |= (uint64_t)1 << lane;
        } else if (!has_reported) {
            has_reported = true;
            sim_find(w, SIM_FIND_LDS_BOUNDS, (int)lane,
                     "%u bytes at LDS address %llu: the workgroup has %u", size,
                     (unsigned long long)l->addr[lane], room);
        }
    }
    return ok;
}

/*
 * Extra passes over the banks.  Lanes are served in groups that together could use every
 * bank once: 64 of 4 bytes, 32 of 8, 16 of 16.  Lanes that want the same address share it.
 */
static unsigned bank_conflicts(const struct sim_lanes *l, unsigned size)
{
    unsigned unit = size <= 4 ? 4 : size <= 8 ? 8 : 16;
    unsigned lanes = BANKS * 4 / unit, slots = lanes, extra = 0;
    for (unsigned first = 0; first < SIM_LANES; first += lanes) {
        uint8_t used[BANKS] = { 0 }, head[BANKS], next[SIM_LANES];
        unsigned deepest = 1;
        for (unsigned lane = first; lane < first + lanes; lane++) {
            if (!(l->mask >> lane & 1)) {
                continue;
            }
            unsigned slot = (unsigned)(l->addr[lane] / unit) % slots;
            unsigned at = used[slot] ? head[slot] : SIM_LANES;
            while (at != SIM_LANES && l->addr[at] / unit != l->addr[lane] / unit) {
                at = next[at];
            }
            if (at != SIM_LANES) {
                continue;
            }
            next[lane] = used[slot] ? head[slot] : SIM_LANES;
            head[slot] = (uint8_t)lane;
            used[slot]++;
            deepest = used[slot] > deepest ? used[slot] : deepest;
        }
        extra += deepest - 1;
    }
    return extra;
}

static void count(struct sim_wave *w, const struct sim_lanes *l, unsigned size, bool is_write)
{
    struct mxgsim_counters *c = &w->group->counts.c;
    uint64_t bytes = (uint64_t)__builtin_popcountll(l->mask) * size;
    c->lds_bytes_read += is_write ? 0 : bytes;
    c->lds_bytes_written += is_write ? bytes : 0;
    if (!sim_is_contiguous(l, size)) {
        c->lds_bank_conflicts += bank_conflicts(l, size);
    }
}

static unsigned natural_align(unsigned bytes)
{
    return bytes == 12 ? 16 : bytes;
}

/* The dwords that [at, at+bytes) touches are no whole ones. */
static bool is_narrow(uint64_t at, unsigned bytes)
{
    return bytes < 4 || at % 4 != 0;
}

/* Shadow of an access that covers parts of dwords. */
static void narrow_access(struct sim_wave *w, unsigned lane, uint32_t at, unsigned bytes,
                          bool is_write, uint32_t event)
{
    struct sim_lds_shadow *s = &w->group->shadow;
    for (uint32_t end = at + bytes; at < end;) {
        uint32_t stop = (at | 3) + 1 < end ? (at | 3) + 1 : end;
        unsigned mask = ((1u << (stop - at)) - 1) << (at & 3);
        if (is_write) {
            sim_lds_write_bytes(w, (int)lane, at / 4, mask, event);
        } else if (s->written[at / 4] - 1 >= s->safe) {
            sim_lds_read_slow(w, (int)lane, at / 4, mask, false);
        }
        if (!is_write) {
            uint32_t mark = sim_lds_mark(w), r = s->read[at / 4];
            s->read[at / 4] = r >> 5 == mark >> 5 && r != mark ? mark | SIM_LDS_MANY : mark;
        }
        at = stop;
    }
}

/* 16 bytes a lane, all lanes inside LDS at dword addresses. */
static void load_quads(struct sim_wave *w, uint32_t *row, const struct sim_lanes *l,
                       uint32_t mark)
{
    struct sim_group *g = w->group;
    uint32_t known = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane += 4) {
        sim_quad q[4];
        for (unsigned i = 0; i < 4; i++) {
            uint32_t at = (uint32_t)l->addr[lane + i];
            sim_lds_read_check(w, &g->shadow, (int)(lane + i), at / 4, 4, mark, &known);
            memcpy(&q[i], g->lds + at, sizeof q[i]);
        }
        sim_transpose(q);
        for (unsigned i = 0; i < 4; i++) {
            memcpy(row + i * SIM_LANES + lane, &q[i], sizeof q[i]);
        }
    }
}

static void store_quads(struct sim_wave *w, const uint32_t *row, const struct sim_lanes *l,
                        uint32_t mark, uint32_t event)
{
    struct sim_group *g = w->group;
    for (unsigned lane = 0; lane < SIM_LANES; lane += 4) {
        sim_quad q[4];
        for (unsigned i = 0; i < 4; i++) {
            memcpy(&q[i], row + i * SIM_LANES + lane, sizeof q[i]);
        }
        sim_transpose(q);
        for (unsigned i = 0; i < 4; i++) {
            uint32_t at = (uint32_t)l->addr[lane + i];
            sim_lds_write_check(w, &g->shadow, (int)(lane + i), at / 4, 4, mark, event);
            memcpy(g->lds + at, &q[i], sizeof q[i]);
        }
    }
}

/* All lanes do whole dwords within the workgroup's LDS. */
static bool is_plain(const struct sim_wave *w, const struct sim_lanes *l, unsigned size)
{
    uint64_t bits = 0, high = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        bits |= l->addr[lane];
        high = l->addr[lane] > high ? l->addr[lane] : high;
    }
    return l->mask == ~(uint64_t)0 && bits % 4 == 0 && high + size <= w->group->lds_size;
}

void sim_lds_load(struct sim_wave *w, const struct sim_opnd *dst, const struct sim_lanes *l,
                  unsigned bytes, unsigned flags)
{
    struct sim_group *g = w->group;
    uint32_t *row = sim_vrow(w, dst, 0);
    uint32_t mark = sim_lds_mark(w), known = 0;
    unsigned dwords = (bytes + 3) / 4;
    count(w, l, bytes, false);
    if (bytes == 16 && is_plain(w, l, bytes)) {
        load_quads(w, row, l, mark);
        return;
    }
    uint64_t ok = inside(w, l, bytes);
    for (uint64_t m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        uint32_t at = (uint32_t)l->addr[lane];
        uint32_t v[4] = { 0 };
        if (!(ok >> lane & 1)) {
            at = 0;
        } else if (is_narrow(at, bytes)) {
            narrow_access(w, lane, at, bytes, false, 0);
            memcpy(v, g->lds + at, bytes);
        } else {
            sim_lds_read_check(w, &g->shadow, (int)lane, at / 4, dwords, mark, &known);
            memcpy(v, g->lds + at, bytes);
        }
        if (bytes < 4) {
            sim_narrow_result(row + lane, v[0], bytes, flags);
            continue;
        }
        for (unsigned i = 0; i < dwords; i++) {
            row[i * SIM_LANES + lane] = v[i];
        }
    }
}

void sim_lds_store(struct sim_wave *w, const struct sim_opnd *src, const struct sim_lanes *l,
                   unsigned bytes, unsigned flags, enum sim_lds_kind kind)
{
    struct sim_group *g = w->group;
    const uint32_t *row = sim_vrow(w, src, 0);
    uint32_t mark = sim_lds_mark(w);
    uint32_t event = sim_lds_event_begin(w, kind, false);
    count(w, l, bytes, true);
    if (bytes == 16 && is_plain(w, l, bytes)) {
        store_quads(w, row, l, mark, event);
        return;
    }
    uint64_t ok = inside(w, l, bytes);
    for (uint64_t m = ok; m;) {
        unsigned lane = sim_next_lane(&m);
        uint32_t at = (uint32_t)l->addr[lane];
        uint32_t v[4];
        if (bytes < 4) {
            v[0] = flags & SIM_P_D16_HI ? row[lane] >> 16 : row[lane];
        }
        for (unsigned i = 0; i < bytes / 4; i++) {
            v[i] = row[i * SIM_LANES + lane];
        }
        if (is_narrow(at, bytes)) {
            narrow_access(w, lane, at, bytes, true, event);
        } else {
            sim_lds_write_check(w, &g->shadow, (int)lane, at / 4, bytes / 4, mark, event);
        }
        memcpy(g->lds + at, v, bytes);
    }
}

void sim_x_ds_read(struct sim_wave *w, const struct sim_inst *in)
{
    struct sim_lanes l;
    unsigned bytes = in->op->p[0];
    ds_addresses(w, &in->src[SIM_SRC_ADDR], (uint32_t)in->offset, &l);
    sim_mem_align(w, &l, natural_align(bytes), "LDS");
    sim_lds_load(w, &in->dst[0], &l, bytes, in->op->p[1]);
}

void sim_x_ds_write(struct sim_wave *w, const struct sim_inst *in)
{
    struct sim_lanes l;
    unsigned bytes = in->op->p[0];
    ds_addresses(w, &in->src[SIM_SRC_ADDR], (uint32_t)in->offset, &l);
    sim_mem_align(w, &l, natural_align(bytes), "LDS");
    sim_lds_store(w, &in->src[SIM_SRC_DATA], &l, bytes, in->op->p[1], SIM_LDS_DS);
}

/* Byte offset of address k of a two-address form. */
static uint32_t pair_offset(const struct sim_inst *in, unsigned k)
{
    return ((uint32_t)in->offset >> 8 * k & 255) * in->op->p[0] * in->op->p[1];
}

void sim_x_ds_read2(struct sim_wave *w, const struct sim_inst *in)
{
    unsigned bytes = in->op->p[0];
    uint32_t addr[SIM_LANES];
    /* The destination may overlap the address register: keep the addresses. */
    memcpy(addr, sim_vrow(w, &in->src[SIM_SRC_ADDR], 0), sizeof addr);
    for (unsigned k = 0; k < 2; k++) {
        struct sim_lanes l = { .mask = sim_exec_mask(w) };
        struct sim_opnd dst = in->dst[0];
        dst.reg = (uint16_t)(dst.reg + k * bytes / 4);
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            l.addr[lane] = (uint64_t)addr[lane] + pair_offset(in, k);
        }
        sim_mem_align(w, &l, bytes == 8 ? 8 : 4, "LDS");
        sim_lds_load(w, &dst, &l, bytes, 0);
    }
}

void sim_x_ds_write2(struct sim_wave *w, const struct sim_inst *in)
{
    unsigned bytes = in->op->p[0];
    for (unsigned k = 0; k < 2; k++) {
        struct sim_lanes l;
        ds_addresses(w, &in->src[SIM_SRC_ADDR], pair_offset(in, k), &l);
        sim_mem_align(w, &l, bytes == 8 ? 8 : 4, "LDS");
        sim_lds_store(w, &in->src[SIM_SRC_DATA + k], &l, bytes, 0, SIM_LDS_DS);
        if (pair_offset(in, 0) == pair_offset(in, 1)) {
            /* "This causes only one write to occur and uses only the first DATA0" (11.3.1). */
            break;
        }
    }
}

static uint64_t lane_value(const uint32_t *row, unsigned lane, unsigned bytes)
{
    return row[lane] | (bytes == 8 ? (uint64_t)row[SIM_LANES + lane] << 32 : 0);
}

static void set_lane(uint32_t *row, unsigned lane, unsigned bytes, uint64_t v)
{
    row[lane] = (uint32_t)v;
    if (bytes == 8) {
        row[SIM_LANES + lane] = (uint32_t)(v >> 32);
    }
}

/* MODE.FP_DENORM bits 5:4 are for single precision; 0 flushes sources and results. */
static bool flushes_f32(const struct sim_wave *w)
{
    return (w->mode >> 4 & 3) == 0;
}

void sim_lds_atomic(struct sim_wave *w, const struct sim_opnd *dst, const struct sim_opnd *data,
                    const struct sim_opnd *data1, const struct sim_lanes *l, unsigned bytes,
                    unsigned op, enum sim_lds_kind kind)
{
    struct sim_group *g = w->group;
    const uint32_t *d0 = sim_vrow(w, data, 0);
    const uint32_t *d1 = data1 && data1->kind != SIM_OPND_NONE ? sim_vrow(w, data1, 0) : d0;
    uint32_t *result = dst ? sim_vrow(w, dst, 0) : NULL;
    uint32_t event = sim_lds_event_begin(w, kind, true);
    uint64_t ok = inside(w, l, bytes);
    count(w, l, bytes, true);
    for (uint64_t m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        uint64_t old = 0, data_v = lane_value(d0, lane, bytes),
                 cmp = lane_value(d1, lane, bytes);
        if (ok >> lane & 1) {
            uint32_t at = (uint32_t)l->addr[lane];
            for (unsigned i = 0; i < bytes / 4; i++) {
                if (g->shadow.written[at / 4 + i] != event) {
                    sim_lds_read_slow(w, (int)lane, at / 4 + i, 15, true);
                    sim_lds_write_slow(w, (int)lane, at / 4 + i, 15, event);
                }
                g->shadow.written[at / 4 + i] = event;
            }
            memcpy(&old, g->lds + at, bytes);
            uint64_t v = bytes == 8 ? sim_atomic64(op, old, data_v, cmp)
                                    : sim_atomic32(op, (uint32_t)old, (uint32_t)data_v,
                                                   (uint32_t)cmp, flushes_f32(w));
            memcpy(g->lds + at, &v, bytes);
        }
        if (result) {
            set_lane(result, lane, bytes, old);
        }
    }
}

void sim_x_ds_atomic(struct sim_wave *w, const struct sim_inst *in)
{
    struct sim_lanes l;
    unsigned bytes = in->op->p[0], op = in->op->p[1];
    const struct sim_opnd *dst = in->dst[0].kind != SIM_OPND_NONE ? &in->dst[0] : NULL;
    const struct sim_opnd *first = &in->src[SIM_SRC_DATA], *second = &in->src[SIM_SRC_DATA1];
    ds_addresses(w, &in->src[SIM_SRC_ADDR], (uint32_t)in->offset, &l);
    if (!sim_mem_align(w, &l, bytes, "LDS atomic")) {
        return;
    }
    if (op == SIM_ATOMIC_CMPSWAP || op == SIM_ATOMIC_FCMPSWAP) {
        /* DS has compare first, then the new value: "the order is the opposite". */
        sim_lds_atomic(w, dst, second, first, &l, bytes, op, SIM_LDS_DS);
        return;
    }
    sim_lds_atomic(w, dst, first, second, &l, bytes, op, SIM_LDS_DS);
}

void sim_x_ds_wrxchg2(struct sim_wave *w, const struct sim_inst *in)
{
    unsigned bytes = in->op->p[0];
    struct sim_lanes l[2];
    for (unsigned k = 0; k < 2; k++) {
        ds_addresses(w, &in->src[SIM_SRC_ADDR], pair_offset(in, k), &l[k]);
        if (!sim_mem_align(w, &l[k], bytes, "LDS atomic")) {
            return;
        }
    }
    for (unsigned k = 0; k < 2; k++) {
        struct sim_opnd dst = in->dst[0];
        dst.reg = (uint16_t)(dst.reg + k * bytes / 4);
        sim_lds_atomic(w, &dst, &in->src[SIM_SRC_DATA + k], NULL, &l[k], bytes, SIM_ATOMIC_SWAP,
                       SIM_LDS_DS);
    }
}
