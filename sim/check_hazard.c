/* SPDX-License-Identifier: MIT */
/*
 * Wait states that software must keep because hardware does not interlock: ISA text,
 * tables 11 and 38, with the figures of the lost rows as LLVM 22's hazard recogniser
 * has them for gfx950.  One wait state = one instruction, s_nop n = n+1.
 */
#include "wave_check.h"

#include <string.h>

static bool is_matrix(unsigned class)
{
    return class == SIM_HAZ_MFMA || class == SIM_HAZ_SGEMM || class == SIM_HAZ_DGEMM;
}

/* VALU in the hazard tables' sense: everything on the vector ALU but the matrix unit. */
static bool is_valu(unsigned class)
{
    return class >= SIM_HAZ_VALU && class <= SIM_HAZ_READLANE;
}

/* Results of a matrix instruction to anything but SrcC of another. */
static unsigned matrix_to_read(unsigned writer, unsigned passes, bool is_memory)
{
    switch (writer) {
    case SIM_HAZ_MFMA:
        return passes == 2 ? 5 : passes + 4;
    case SIM_HAZ_SGEMM:
        return passes + 2;
    default: /* the 4x4x4 form has 8 passes, 16x16x4 has 16 */
        return passes <= 8 ? (is_memory ? 9 : 6) : (is_memory ? 18 : 19);
    }
}

/* ... and overwritten by another instruction than a matrix one. */
static unsigned matrix_to_write(unsigned writer, unsigned passes)
{
    return writer == SIM_HAZ_DGEMM && passes > 8 ? 11 : matrix_to_read(writer, passes, false);
}

/* ... to SrcC; exact: the same registers, first to last. */
static unsigned matrix_to_srcc(unsigned writer, unsigned passes, unsigned reader, bool exact)
{
    switch (writer) {
    case SIM_HAZ_MFMA:
        if (exact) {
            return passes == 2 ? 2 : 0;
        }
        return passes == 2 ? (reader == SIM_HAZ_DGEMM ? 3 : 4) : passes + 2;
    case SIM_HAZ_SGEMM:
        if (exact) {
            return passes == 2 ? 2 : 0;
        }
        return reader == SIM_HAZ_MFMA ? 0 : passes;
    default:
        if (reader == SIM_HAZ_MFMA) {
            return 0;
        }
        return passes <= 8 ? 4 : exact ? 0 : 17;
    }
}

unsigned sim_hazard_srcc(const struct sim_dec *d)
{
    return d->inst.op->flags & SIM_F_READS_DST ? 8 : 2;
}

unsigned sim_hazard_longest(unsigned writer, unsigned passes)
{
    if (is_matrix(writer)) {
        unsigned read = matrix_to_read(writer, passes, true);
        unsigned other = matrix_to_read(writer, passes, false);
        return read > other ? read : other;
    }
    return is_valu(writer) ? 2 : 0;
}

static bool is_exact(const struct sim_vstate *v, const struct sim_span *s, unsigned r)
{
    return r - s->first == v->base_gap && s->count == v->span;
}

/* Wait states that reading r in this operand needs after its last writer. */
static unsigned read_needs(const struct sim_dec *d, const struct sim_span *s,
                           const struct sim_vstate *v, unsigned r)
{
    unsigned reader = d->hazard;
    if (is_matrix(v->writer)) {
        if (is_matrix(reader) && s->role == sim_hazard_srcc(d)) {
            return matrix_to_srcc(v->writer, v->passes, reader, is_exact(v, s, r));
        }
        bool is_memory = reader == SIM_HAZ_VMEM || reader == SIM_HAZ_DS;
        return matrix_to_read(v->writer, v->passes, is_memory);
    }
    if (!is_valu(v->writer)) {
        return 0;
    }
    if (is_matrix(reader) || reader == SIM_HAZ_PERMLANE ||
        (reader == SIM_HAZ_DPP && s->role == 0)) {
        return 2;
    }
    if (reader == SIM_HAZ_READLANE) {
        return 1;
    }
    if (v->writer == SIM_HAZ_TRANS && is_valu(reader) && reader != SIM_HAZ_TRANS) {
        return 1;
    }
    return v->writer == SIM_HAZ_OPSEL && is_valu(reader) ? 1 : 0;
}

static const char *writer_text(unsigned writer)
{
    static const char *const text[SIM_HAZ_COUNT] = {
        [SIM_HAZ_SALU] = "a scalar instruction",
        [SIM_HAZ_VALU] = "a VALU instruction",
        [SIM_HAZ_TRANS] = "a transcendental instruction",
        [SIM_HAZ_OPSEL] = "an instruction that moves its result to other bits",
        [SIM_HAZ_DPP] = "a VALU instruction",
        [SIM_HAZ_PERMLANE] = "a permlane instruction",
        [SIM_HAZ_READLANE] = "a lane access",
        [SIM_HAZ_MFMA] = "a matrix instruction",
        [SIM_HAZ_SGEMM] = "a matrix instruction on f32",
        [SIM_HAZ_DGEMM] = "a matrix instruction on f64",
    };
    return writer < SIM_HAZ_COUNT && text[writer] ? text[writer] : "an instruction";
}

void sim_hazard_vread(struct sim_wave *w, const struct sim_dec *d, const struct sim_span *s,
                      unsigned r)
{
    struct sim_vstate *v = &w->check->v[r];
    unsigned needs = read_needs(d, s, v, r);
    unsigned had = w->check->tick - v->written;
    char name[16];
    if (had < needs) {
        sim_find(w, SIM_FIND_HAZARD, -1,
                 "%s is read %u wait states after %s wrote it; %u are needed",
                 sim_vreg_name(r, name, sizeof name), had, writer_text(v->writer), needs);
        v->busy = 0;
    }
}

void sim_hazard_vwrite(struct sim_wave *w, const struct sim_dec *d, const struct sim_span *s,
                       unsigned r)
{
    struct sim_check *c = w->check;
    struct sim_vstate *v = &c->v[r];
    char name[16];
    unsigned had = c->tick - v->written;
    unsigned needs = 0;
    bool is_memory = d->hazard == SIM_HAZ_VMEM || d->hazard == SIM_HAZ_DS;
    if (is_matrix(v->writer) && (is_valu(d->hazard) || is_memory)) {
        needs = matrix_to_write(v->writer, v->passes);
    } else if (v->writer == SIM_HAZ_OPSEL && s->bytes != 15 && is_valu(d->hazard)) {
        /* Keeping the other bytes is a read of them. */
        needs = 1;
    }
    if (had < needs && c->tick < v->busy) {
        sim_find(w, SIM_FIND_HAZARD, -1,
                 "%s is overwritten %u wait states after %s wrote it; %u are needed",
                 sim_vreg_name(r, name, sizeof name), had, writer_text(v->writer), needs);
        v->busy = 0;
        return;
    }
    bool is_alu = is_valu(d->hazard) || (v->war_kind == 1 && is_matrix(d->hazard));
    if (c->tick < v->war && is_alu) {
        sim_find(
            w, SIM_FIND_HAZARD, -1,
            "%s is overwritten %u wait states too early: %s still reads it (%u are needed)",
            sim_vreg_name(r, name, sizeof name), v->war - c->tick,
            v->war_kind ? "a store of 3 or 4 dwords" : "a matrix instruction's SrcC",
            v->war_needs);
        v->war = 0;
    }
}

/* The operand is a mask or carry-in: forwarded by hardware. */
static bool is_mask_operand(const struct sim_dec *d, unsigned role)
{
    const struct sim_op *op = d->inst.op;
    const char *p = op->operands;
    unsigned at = 0;
    for (; p && *p && *p != ';'; p += *p == ' ') {
        if (!strchr("DGSkR", *p)) {
            if (at == role) {
                return *p == 'm';
            }
            at++;
        }
        while (*p && *p != ' ' && *p != ';') {
            p++;
        }
    }
    return false;
}

void sim_hazard_sread(struct sim_wave *w, const struct sim_dec *d, const struct sim_span *s,
                      unsigned r)
{
    const struct sim_op *op = d->inst.op;
    struct sim_sstate *v = &w->check->s[r];
    unsigned had = w->check->tick - v->written;
    unsigned needs = 0;
    char name[24];
    if (v->writer == SIM_HAZ_SALU) {
        needs = r == SIM_SGPR_M0 && (d->flags & SIM_DEC_READS_M0) && s->role == 16 ? 1 : 0;
    } else if (op->flags & SIM_F_VMEM) {
        needs = 5;
    } else if (strncmp(op->name, "v_div_fmas", 10) == 0 && s->role == 16) {
        needs = 4;
    } else if (d->hazard == SIM_HAZ_READLANE && s->role == 1) {
        needs = 4;
    } else if (op->flags & SIM_F_VALU) {
        needs = is_mask_operand(d, s->role) || s->role == 16 ? 0 : 2;
    }
    if (had < needs) {
        sim_find(w, SIM_FIND_HAZARD, -1,
                 "%s is read %u wait states after %s wrote it; %u are needed",
                 sim_sreg_name(r, name, sizeof name), had, writer_text(v->writer), needs);
        v->written = 0;
    }
}

void sim_hazard_exec(struct sim_wave *w, const struct sim_dec *d)
{
    struct sim_check *c = w->check;
    unsigned had = c->tick - c->exec_written;
    unsigned needs =
        is_matrix(d->hazard) || d->hazard == SIM_HAZ_READLANE || d->hazard == SIM_HAZ_PERMLANE
            ? 4
        : d->hazard == SIM_HAZ_DPP ? 5
                                   : 0;
    if (had < needs) {
        sim_find(w, SIM_FIND_HAZARD, -1,
                 "EXEC is used %u wait states after a VALU instruction wrote it; %u are needed",
                 had, needs);
        c->exec_written = 0;
    }
}

void sim_hazard_hwreg(struct sim_wave *w, const struct sim_dec *d)
{
    struct sim_check *c = w->check;
    unsigned id = (unsigned)d->inst.imm & 63;
    unsigned had = c->tick - c->setreg_written;
    if (id == c->setreg_id && had < 2) {
        sim_find(w, SIM_FIND_HAZARD, -1,
                 "hardware register %u is used %u wait states after s_setreg wrote it; 2 are "
                 "needed",
                 id, had);
    }
    if (d->hazard == SIM_HAZ_SETREG) {
        c->setreg_id = (uint16_t)id;
        c->setreg_written = c->tick + 1;
    }
}
