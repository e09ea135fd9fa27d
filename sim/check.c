/* SPDX-License-Identifier: MIT */
/*
 * Per-instruction register checks: definedness, outstanding loads, and the tick tests
 * that lead to check_hazard.c.  Generic over the spans that classify.c found.
 */
#include "wave_check.h"

#include "group.h"

#include <stdio.h>
#include <string.h>

/* Ticks start here, so that "written at tick 0" is long ago for every rule. */
#define FIRST_TICK 64
#define GPR_IDX_EN (1u << 27)

const char *sim_vreg_name(unsigned r, char *buf, size_t size)
{
    snprintf(buf, size, "%c%u", r < 256 ? 'v' : 'a', r & 255);
    return buf;
}

const char *sim_sreg_name(unsigned r, char *buf, size_t size)
{
    static const char *const special[] = {
        [102 - 102] = "flat_scratch_lo", [103 - 102] = "flat_scratch_hi",
        [104 - 102] = "xnack_mask_lo",   [105 - 102] = "xnack_mask_hi",
        [106 - 102] = "vcc_lo",          [107 - 102] = "vcc_hi"
    };
    if (r >= 102 && r < 108) {
        snprintf(buf, size, "%s", special[r - 102]);
    } else if (r == SIM_SGPR_M0) {
        snprintf(buf, size, "m0");
    } else if (r >= SIM_SGPR_EXEC) {
        snprintf(buf, size, "exec_%s", r == SIM_SGPR_EXEC ? "lo" : "hi");
    } else if (r >= SIM_SGPR_TTMP0) {
        snprintf(buf, size, "ttmp%u", r - SIM_SGPR_TTMP0);
    } else {
        snprintf(buf, size, "s%u", r);
    }
    return buf;
}

void sim_check_reset(struct sim_wave *w, uint32_t vgprs, uint32_t agprs)
{
    struct sim_check *c = w->check;
    memset(c->v, 0, vgprs * sizeof c->v[0]);
    memset(c->v + 256, 0, agprs * sizeof c->v[0]);
    memset(c->s, 0, sizeof c->s);
    c->tick = FIRST_TICK;
    c->exec_written = 0;
    c->setreg_written = 0;
    c->vm = c->ds = c->smem = c->flat_vm = c->flat_lgkm = (struct sim_queue){ 0 };
    c->has_undefined = false;
    memset(c->undefined, 0, sizeof c->undefined);
    c->scc_defined = 0;
}

bool sim_check_is_pending(const struct sim_check *c, unsigned kind, uint32_t pending)
{
    switch (kind) {
    case SIM_PEND_VM:
        return pending > c->vm.done;
    case SIM_PEND_DS:
        return pending > c->ds.done;
    case SIM_PEND_SMEM:
        return pending > c->smem.done;
    case SIM_PEND_FLAT:
        return pending > c->flat_vm.done || pending > c->flat_lgkm.done;
    default:
        return false;
    }
}

uint64_t sim_check_defined(const struct sim_check *c, unsigned r, unsigned bytes)
{
    uint64_t defined = c->v[r].defined;
    if (c->v[r].has_parts) {
        uint64_t parts = ~(uint64_t)0;
        for (unsigned b = 0; b < 4; b++) {
            parts &= bytes >> b & 1 ? c->parts[r][b] : ~(uint64_t)0;
        }
        defined |= parts;
    }
    return defined;
}

/* The s_waitcnt that would have covered the load. */
static const char *enough(const struct sim_check *c, unsigned kind, uint32_t pending, char *buf,
                          size_t size)
{
    switch (kind) {
    case SIM_PEND_VM:
        snprintf(buf, size, "vmcnt(%u) or lower", c->vm.issued - pending);
        break;
    case SIM_PEND_DS:
        snprintf(buf, size, "lgkmcnt(%u) or lower", c->ds.issued - pending);
        break;
    case SIM_PEND_FLAT:
        snprintf(buf, size, "vmcnt(0) and lgkmcnt(0)");
        break;
    default:
        snprintf(buf, size, "lgkmcnt(0)");
        break;
    }
    return buf;
}

static void report_pending(struct sim_wave *w, const char *reg, unsigned kind, uint32_t pending,
                           const char *how)
{
    char wait[48];
    sim_find(w, SIM_FIND_WAITCNT, -1,
             "%s is %s while the load that writes it is outstanding: s_waitcnt %s is missing",
             reg, how, enough(w->check, kind, pending, wait, sizeof wait));
}

/* Slow part of a VGPR check: the register has a pending mark. */
static void check_vpending(struct sim_wave *w, const struct sim_dec *d, unsigned r,
                           bool is_write)
{
    struct sim_check *c = w->check;
    struct sim_vstate *v = &c->v[r];
    char name[16];
    if (!sim_check_is_pending(c, v->kind, v->pending)) {
        v->kind = SIM_PEND_NONE;
        return;
    }
    /* A later load of the same kind returns later: the register ends with its data. */
    const struct sim_op *op = d->inst.op;
    bool in_order = is_write && !(d->flags & SIM_DEC_FLAT) &&
                    ((v->kind == SIM_PEND_VM && (op->flags & SIM_F_VMEM)) ||
                     (v->kind == SIM_PEND_DS && (op->flags & SIM_F_DS)));
    if (in_order) {
        return;
    }
    report_pending(w, sim_vreg_name(r, name, sizeof name), v->kind, v->pending,
                   is_write ? "overwritten" : "read");
    v->kind = SIM_PEND_NONE;
}

/*
 * First register of a span.  In VGPR indexing mode VALU operands move by M0[7:0] where
 * M0[15:12] says so (ISA text, table 27).
 */
unsigned sim_span_base(const struct sim_wave *w, const struct sim_dec *d,
                       const struct sim_span *s)
{
    if (!(w->mode & GPR_IDX_EN) || !(d->inst.op->flags & SIM_F_VALU)) {
        return s->first;
    }
    uint32_t m0 = w->sgpr[SIM_SGPR_M0];
    unsigned slot = s->role >= 8 ? 3 : s->role;
    return slot < 4 && (m0 >> (12 + slot) & 1) ? s->first + (m0 & 255) : s->first;
}

/* Lanes of source span s that the instruction reads. */
uint64_t sim_lanes_read(const struct sim_wave *w, const struct sim_dec *d, uint64_t exec)
{
    if (d->flags & SIM_DEC_WHOLE) {
        return ~(uint64_t)0;
    }
    if (d->flags & SIM_DEC_READS_ONE) {
        const struct sim_opnd *o = &d->inst.src[1];
        unsigned lane = exec ? (unsigned)__builtin_ctzll(exec) : 0;
        if (o->kind == SIM_OPND_SGPR) {
            lane = w->sgpr[o->reg] & 63;
        } else if (o->kind == SIM_OPND_CONST) {
            lane = (unsigned)o->imm & 63;
        }
        return (uint64_t)1 << lane;
    }
    return exec;
}

/*
 * Dword i of a source whose undefined lanes go along to the result unreported: copies,
 * spills to scratch, and operands of which compilers use a part only.
 */
static bool is_quiet(const struct sim_dec *d, const struct sim_span *s, unsigned i)
{
    /*
     * Masks of lanes grow from undefined ones ("s_or_b64 m, m, exec"): the bits of lanes
     * that are off stay undefined and are never looked at.
     */
    return ((d->flags & SIM_DEC_COPY) && s->role == 0) ||
           (d->flags & (SIM_DEC_PAIRS | SIM_DEC_MASKS)) ||
           ((d->flags & SIM_DEC_SCRATCH) && s->role == SIM_SRC_DATA) ||
           ((d->flags & SIM_DEC_LOW_ADD) && s->role == 2 && i == 1);
}

static void report_undefined(struct sim_wave *w, unsigned r, uint64_t lanes)
{
    char name[16];
    int lane = __builtin_ctzll(lanes);
    sim_find(w, SIM_FIND_UNINIT_REG, lane,
             "%s is read in %d lanes (first lane %d) where nothing has written it",
             sim_vreg_name(r, name, sizeof name), __builtin_popcountll(lanes), lane);
}

static void check_vread(struct sim_wave *w, const struct sim_dec *d, const struct sim_span *s,
                        uint64_t lanes)
{
    struct sim_check *c = w->check;
    unsigned first = sim_span_base(w, d, s);
    for (unsigned i = 0; i < s->count; i++) {
        unsigned r = (first + i) & 511;
        struct sim_vstate *v = &c->v[r];
        if (v->kind) {
            check_vpending(w, d, r, false);
        }
        if (c->tick < v->busy) {
            sim_hazard_vread(w, d, s, r);
        }
        if ((lanes & ~v->defined) && !is_quiet(d, s, i)) {
            uint64_t missing = lanes & ~sim_check_defined(c, r, s->bytes);
            if (missing) {
                report_undefined(w, r, missing);
                v->defined |= missing; /* once is enough */
            }
        }
    }
}

static void check_vwrite(struct sim_wave *w, const struct sim_dec *d, const struct sim_span *s)
{
    struct sim_check *c = w->check;
    unsigned first = sim_span_base(w, d, s);
    for (unsigned i = 0; i < s->count; i++) {
        unsigned r = (first + i) & 511;
        struct sim_vstate *v = &c->v[r];
        if (v->kind) {
            check_vpending(w, d, r, true);
        }
        if (c->tick < v->busy || c->tick < v->war) {
            sim_hazard_vwrite(w, d, s, r);
        }
    }
}

static void check_spending(struct sim_wave *w, unsigned r, bool is_write)
{
    struct sim_check *c = w->check;
    struct sim_sstate *v = &c->s[r];
    char name[24];
    if (sim_check_is_pending(c, v->kind, v->pending)) {
        report_pending(w, sim_sreg_name(r, name, sizeof name), v->kind, v->pending,
                       is_write ? "overwritten" : "read");
    }
    v->kind = SIM_PEND_NONE;
}

static void check_scalars(struct sim_wave *w, const struct sim_dec *d)
{
    struct sim_check *c = w->check;
    for (unsigned k = 0; k < d->sread_count; k++) {
        const struct sim_span *s = &d->sread[k];
        for (unsigned i = 0; i < s->count && s->first + i < SIM_SGPR_COUNT; i++) {
            unsigned r = s->first + i;
            struct sim_sstate *v = &c->s[r];
            if (v->kind) {
                check_spending(w, r, false);
            }
            if (c->tick - v->written < 5) {
                sim_hazard_sread(w, d, s, r);
            }
            if (!v->is_defined && !is_quiet(d, s, i)) {
                char name[24];
                sim_find(w, SIM_FIND_UNINIT_REG, -1, "%s is read and nothing has written it",
                         sim_sreg_name(r, name, sizeof name));
                v->is_defined = 1;
            }
        }
    }
    for (unsigned k = 0; k < d->swrite_count; k++) {
        const struct sim_span *s = &d->swrite[k];
        for (unsigned i = 0; i < s->count && s->first + i < SIM_SGPR_COUNT; i++) {
            if (c->s[s->first + i].kind) {
                check_spending(w, s->first + i, true);
            }
        }
    }
}

/* Registers beyond what the descriptor allocates belong to another wave. */
static void check_limits(struct sim_wave *w, const struct sim_dec *d)
{
    const struct sim_dispatch *p = w->dispatch;
    bool is_arch = d->vgpr_top > p->vgpr_limit;
    char name[16];
    unsigned r = is_arch ? d->vgpr_top - 1u : 256u + d->agpr_top - 1u;
    sim_find(w, SIM_FIND_UNPREDICTABLE, -1,
             "%s is used, but the kernel descriptor allocates %u registers of that file",
             sim_vreg_name(r, name, sizeof name), is_arch ? p->vgpr_limit : p->agpr_limit);
}

void sim_check_before(struct sim_wave *w, const struct sim_dec *d)
{
    struct sim_check *c = w->check;
    uint64_t exec = sim_exec_mask(w);
    const struct sim_dispatch *p = w->dispatch;
    check_scalars(w, d);
    if (d->vread_count | d->vwrite_count) {
        if (d->vgpr_top > p->vgpr_limit || d->agpr_top > p->agpr_limit) {
            check_limits(w, d);
        }
        uint64_t lanes = sim_lanes_read(w, d, exec);
        for (unsigned k = 0; k < d->vread_count; k++) {
            check_vread(w, d, &d->vread[k], lanes);
        }
        for (unsigned k = 0; k < d->vwrite_count; k++) {
            check_vwrite(w, d, &d->vwrite[k]);
        }
    }
    if (c->tick - c->exec_written < 5) {
        sim_hazard_exec(w, d);
    }
    if (d->hazard == SIM_HAZ_SETREG || d->hazard == SIM_HAZ_GETREG) {
        sim_hazard_hwreg(w, d);
    }
}

static void wait_queue(struct sim_queue *q, unsigned left)
{
    if (q->issued - q->done > left) {
        q->done = q->issued - left;
    }
}

void sim_check_waitcnt(struct sim_wave *w, unsigned vmcnt, unsigned lgkmcnt)
{
    struct sim_check *c = w->check;
    wait_queue(&c->vm, vmcnt);
    if (vmcnt == 0) {
        wait_queue(&c->flat_vm, 0);
    }
    /*
     * DS operations return in order among themselves, so that however SMEM and FLAT
     * mix in, all but the newest `lgkmcnt` of them are done.  SMEM and FLAT return
     * out of order: only zero says something about them (ISA text, 4.4 and 10.2.2).
     */
    wait_queue(&c->ds, lgkmcnt);
    if (lgkmcnt == 0) {
        wait_queue(&c->smem, 0);
        wait_queue(&c->flat_lgkm, 0);
    }
    if (w->group->wave_count == 1) {
        sim_lds_waited(w->group);
    }
}
