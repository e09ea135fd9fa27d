/* SPDX-License-Identifier: MIT */
/*
 * What an executed instruction leaves in the checker's state: results that are defined,
 * pending or fresh, operands that must not be overwritten yet, counters issued.
 */
#include "wave_check.h"

#include "group.h"

static const struct sim_span *find_role(const struct sim_span *list, unsigned count,
                                        unsigned role)
{
    for (unsigned k = 0; k < count; k++) {
        if (list[k].role == role) {
            return &list[k];
        }
    }
    return NULL;
}

/* Lanes of source `role`'s dword i that hold defined data; constants always do. */
static uint64_t source_lanes(const struct sim_wave *w, const struct sim_dec *d, unsigned role,
                             unsigned i)
{
    const struct sim_check *c = w->check;
    const struct sim_span *s = find_role(d->vread, d->vread_count, role);
    if (s) {
        return i < s->count ? sim_check_defined(c, (sim_span_base(w, d, s) + i) & 511, 15)
                            : ~(uint64_t)0;
    }
    s = find_role(d->sread, d->sread_count, role);
    return !s || i >= s->count || s->first + i >= SIM_SGPR_COUNT ||
                   c->s[s->first + i].is_defined
               ? ~(uint64_t)0
               : 0;
}

/* Lanes of result dword i that are defined, where sources may pass undefined ones on. */
static uint64_t passed_lanes(const struct sim_wave *w, const struct sim_dec *d, unsigned i)
{
    const struct sim_inst *in = &d->inst;
    if (d->flags & SIM_DEC_COPY) {
        return source_lanes(w, d, 0, i);
    }
    if (d->flags & SIM_DEC_LOW_ADD) {
        return i == 1 ? source_lanes(w, d, 2, 1) : ~(uint64_t)0;
    }
    uint64_t good = ~(uint64_t)0;
    for (unsigned k = 0; k < 3; k++) {
        unsigned half = (i ? in->opsel_hi : in->opsel) >> k & 1;
        good &= source_lanes(w, d, k, half);
    }
    return good;
}

/* Definedness of VGPR r after a write of `bytes` in `lanes`, of which `good` are defined. */
static void define(struct sim_check *c, unsigned r, unsigned bytes, uint64_t lanes,
                   uint64_t good)
{
    struct sim_vstate *v = &c->v[r];
    if (bytes == 15 && !v->has_parts) {
        v->defined = (v->defined & ~lanes) | (lanes & good);
        return;
    }
    if (!v->has_parts) {
        for (unsigned b = 0; b < 4; b++) {
            c->parts[r][b] = v->defined;
        }
        v->has_parts = 1;
    }
    for (unsigned b = 0; b < 4; b++) {
        if (bytes >> b & 1) {
            c->parts[r][b] = (c->parts[r][b] & ~lanes) | (lanes & good);
        }
    }
    v->defined = c->parts[r][0] & c->parts[r][1] & c->parts[r][2] & c->parts[r][3];
    if (v->defined == ~(uint64_t)0) {
        v->has_parts = 0;
    }
}

/* The counter that the instruction's completion decrements. */
static unsigned pending_kind(const struct sim_dec *d)
{
    const struct sim_op *op = d->inst.op;
    if (d->flags & SIM_DEC_NO_COUNT) {
        return SIM_PEND_NONE;
    }
    return d->flags & SIM_DEC_FLAT  ? SIM_PEND_FLAT
           : op->flags & SIM_F_VMEM ? SIM_PEND_VM
           : op->flags & SIM_F_DS   ? SIM_PEND_DS
           : op->flags & SIM_F_SMEM ? SIM_PEND_SMEM
                                    : SIM_PEND_NONE;
}

static uint32_t count_issue(struct sim_queue *q, unsigned max)
{
    /* The counter saturates by stalling: no more than max can be outstanding. */
    q->issued++;
    if (q->issued - q->done > max) {
        q->done = q->issued - max;
    }
    return q->issued;
}

/* Count the instruction as issued; returns its sequence number. */
static uint32_t issue(struct sim_check *c, unsigned kind)
{
    switch (kind) {
    case SIM_PEND_VM:
        return count_issue(&c->vm, 63);
    case SIM_PEND_DS:
        return count_issue(&c->ds, 15);
    case SIM_PEND_SMEM:
        return ++c->smem.issued;
    case SIM_PEND_FLAT:
        ++c->flat_lgkm.issued;
        return ++c->flat_vm.issued;
    default:
        return 0;
    }
}

static void mark_vwrites(struct sim_wave *w, const struct sim_dec *d, uint64_t exec,
                         unsigned kind, uint32_t seq)
{
    struct sim_check *c = w->check;
    uint32_t next = c->tick + d->states;
    unsigned longest = kind ? 0 : sim_hazard_longest(d->hazard, d->passes);
    uint64_t lanes = d->flags & SIM_DEC_WHOLE ? ~(uint64_t)0 : exec;
    if (d->flags & SIM_DEC_ONE_LANE) {
        const struct sim_opnd *o = &d->inst.src[1];
        uint32_t value = o->kind == SIM_OPND_SGPR ? w->sgpr[o->reg] : (uint32_t)o->imm;
        lanes = (uint64_t)1 << (value & 63);
    }
    /* Taken first: the destination may be one of the sources. */
    bool passes = d->flags & (SIM_DEC_COPY | SIM_DEC_PAIRS | SIM_DEC_LOW_ADD);
    uint64_t good_lanes[2] = { 0 };
    for (unsigned i = 0; passes && i < 2; i++) {
        good_lanes[i] = passed_lanes(w, d, i);
    }
    for (unsigned k = 0; k < d->vwrite_count; k++) {
        const struct sim_span *s = &d->vwrite[k];
        unsigned first = sim_span_base(w, d, s);
        for (unsigned i = 0; i < s->count; i++) {
            unsigned r = (first + i) & 511;
            struct sim_vstate *v = &c->v[r];
            uint64_t good = passes ? good_lanes[i & 1] : ~(uint64_t)0;
            if (c->has_undefined && s->role == 8) {
                good = ~c->undefined[i & 15];
            }
            if (lanes != ~(uint64_t)0 || good != ~(uint64_t)0 || s->bytes != 15) {
                define(c, r, s->bytes, lanes, good);
            } else {
                v->defined = ~(uint64_t)0;
                v->has_parts = 0;
            }
            v->kind = (uint8_t)kind;
            v->pending = seq;
            v->written = next;
            v->busy = next + longest;
            v->writer = d->hazard;
            v->passes = d->passes;
            v->base_gap = (uint8_t)i;
            v->span = s->count;
        }
    }
}

/* Reads that forbid an early overwrite: SrcC of the matrix unit, data of wide stores. */
static void mark_reads(struct sim_check *c, const struct sim_dec *d)
{
    bool is_xdl = d->hazard == SIM_HAZ_MFMA && d->passes > 0;
    bool is_store = d->flags & SIM_DEC_WIDE_STORE;
    if (!is_xdl && !is_store) {
        return;
    }
    unsigned role = is_xdl ? sim_hazard_srcc(d) : SIM_SRC_DATA;
    unsigned needs = is_xdl ? d->passes - 1u : 2;
    for (unsigned k = 0; k < d->vread_count; k++) {
        const struct sim_span *s = &d->vread[k];
        if (s->role != role) {
            continue;
        }
        for (unsigned i = 0; i < s->count; i++) {
            struct sim_vstate *v = &c->v[(s->first + i) & 511];
            uint32_t until = c->tick + 1 + needs;
            if (until > v->war) {
                v->war = until;
                v->war_needs = (uint8_t)needs;
                v->war_kind = is_store;
            }
        }
    }
}

static void mark_swrites(struct sim_wave *w, const struct sim_dec *d, uint64_t exec,
                         unsigned kind, uint32_t seq)
{
    struct sim_check *c = w->check;
    const struct sim_op *op = d->inst.op;
    uint64_t lanes = d->flags & SIM_DEC_READS_ONE ? sim_lanes_read(w, d, exec) : ~(uint64_t)0;
    bool scalar_defined[2];
    for (unsigned i = 0; i < 2; i++) {
        scalar_defined[i] = true;
        if (d->flags & SIM_DEC_COPY) {
            scalar_defined[i] = (source_lanes(w, d, 0, i) & lanes) != 0;
        } else if (d->flags & SIM_DEC_MASKS) {
            scalar_defined[i] = source_lanes(w, d, 0, i) || source_lanes(w, d, 1, i);
        }
    }
    for (unsigned k = 0; k < d->swrite_count; k++) {
        const struct sim_span *s = &d->swrite[k];
        for (unsigned i = 0; i < s->count && s->first + i < SIM_SGPR_COUNT; i++) {
            unsigned r = s->first + i;
            struct sim_sstate *v = &c->s[r];
            v->is_defined = s->role != 8 || scalar_defined[i & 1];
            v->kind = (uint8_t)kind;
            v->pending = seq;
            if (op->flags & SIM_F_VALU || r == SIM_SGPR_M0) {
                v->written = c->tick + 1;
                v->writer = d->hazard;
            } else {
                v->written = 0;
            }
        }
    }
    if (d->flags & SIM_DEC_CMPX) {
        c->exec_written = c->tick + 1;
    }
}

void sim_check_after(struct sim_wave *w, const struct sim_dec *d, uint64_t exec_before)
{
    struct sim_check *c = w->check;
    unsigned kind = pending_kind(d);
    uint32_t seq = kind ? issue(c, kind) : 0;
    if (d->vread_count) {
        mark_reads(c, d);
    }
    if (d->vwrite_count) {
        mark_vwrites(w, d, exec_before, kind, seq);
    }
    if (d->swrite_count) {
        mark_swrites(w, d, exec_before, kind, seq);
    }
    c->has_undefined = false;
    c->tick += d->states;
}
