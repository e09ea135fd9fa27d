/* SPDX-License-Identifier: MIT */
/*
 * What all MFMA forms share: checks of operands that the encoding allows and the
 * ISA text does not, C in and D out, special results.
 */
#include "exec_mfma.h"

#include <math.h>

bool mfma_check_tuple(struct sim_wave *w, const struct sim_opnd *o, unsigned ndw,
                      const char *name)
{
    if (o->kind != SIM_OPND_VGPR && o->kind != SIM_OPND_AGPR) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1, "MFMA operand %s is not a vector register",
                 name);
        return false;
    }
    const char file = o->kind == SIM_OPND_AGPR ? 'a' : 'v';
    if (o->reg + ndw > 256) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
                 "MFMA operand %s starts at %c%u and needs %u registers: there are 256", name,
                 file, o->reg, ndw);
        return false;
    }
    if (ndw > 1 && (o->reg & 1)) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
                 "MFMA operand %s starts at %c%u: register tuples must start at an even number",
                 name, file, o->reg);
        return false;
    }
    return true;
}

bool mfma_check_c(struct sim_wave *w, const struct sim_opnd *o, unsigned ndw)
{
    return o->kind == SIM_OPND_CONST || mfma_check_tuple(w, o, ndw, "C");
}

void mfma_check_modifiers(struct sim_wave *w, const struct sim_inst *inst)
{
    if ((inst->neg & 3) || (inst->abs & 3)) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1,
                 "%s: modifiers on A or B (neg %u, abs %u) must be zero; they are ignored",
                 inst->op->name, inst->neg & 3u, inst->abs & 3u);
    }
}

/* C's f32 bits after |C| and -C (ABS[2], NEG[2]). */
static uint32_t modified(const struct sim_inst *inst, uint32_t c)
{
    c = inst->abs & 4 ? c & 0x7FFFFFFFu : c;
    return inst->neg & 4 ? c ^ 0x80000000u : c;
}

void mfma_load_c(struct sim_wave *w, const struct sim_inst *inst, const struct sim_opnd *o,
                 const struct mfma_shape *s, float *c)
{
    const bool constant = o->kind == SIM_OPND_CONST;
    const float k = sim_f32_from_bits(modified(inst, (uint32_t)o->imm));
    /* h rows are consecutive items; the columns of a row are consecutive lanes. */
    for (unsigned r = 0; r < s->blocks * s->m; r += s->h) {
        const struct mfma_loc at = mfma_output(s, r / s->m, r % s->m, 0);
        for (unsigned h = 0; h < s->h; h++, c += s->m) {
            const uint32_t *row = constant ? NULL : sim_vrow(w, o, at.item + h) + at.lane;
            for (unsigned j = 0; j < s->m; j++) {
                c[j] = row ? sim_f32_from_bits(modified(inst, row[j])) : k;
            }
        }
    }
}

void mfma_store_d(struct sim_wave *w, const struct sim_opnd *o, const struct mfma_shape *s,
                  const void *d)
{
    const uint32_t *row = d;
    for (unsigned r = 0; r < s->blocks * s->m; r += s->h) {
        const struct mfma_loc at = mfma_output(s, r / s->m, r % s->m, 0);
        for (unsigned h = 0; h < s->h; h++, row += s->m) {
            memcpy(sim_vrow(w, o, at.item + h) + at.lane, row, s->m * sizeof *row);
        }
    }
}

/* Which NaN comes out is not documented: the canonical quiet one here. */
void mfma_result_bits(const struct mfma_shape *s, const float *d, uint32_t *bits)
{
    for (unsigned n = 0; n < s->blocks * s->m * s->m; n++) {
        const uint32_t u = sim_f32_bits(d[n]);
        bits[n] = (u & 0x7FFFFFFFu) > SIM_F32_INF ? SIM_F32_QNAN : u;
    }
}

static bool any_inf(const float *x, unsigned count, unsigned stride)
{
    for (unsigned k = 0; k < count; k++) {
        if (isinf(x[k * stride])) {
            return true;
        }
    }
    return false;
}

/*
 * The rule tables of 7.1.2 and 7.1.5 say that MODE.FP16_OVFL clamps an overflowing
 * F32 result to +-MAX; the notes of the opcodes say that clamping is not
 * supported.  Here the tables are followed.  An infinity that comes from an
 * operand is no overflow and stays.
 */
void mfma_clamp_overflow(const struct sim_wave *w, const struct mfma_shape *s, const float *a,
                         const float *b, const float *c, float *d)
{
    if (!(w->mode & SIM_MODE_FP16_OVFL)) {
        return;
    }
    const unsigned m = s->m;
    for (unsigned n = 0; n < s->blocks * m * m; n++) {
        const unsigned base = n / (m * m) * s->k * m;
        if (isinf(d[n]) && !isinf(c[n]) && !any_inf(a + base + n / m % m, s->k, m) &&
            !any_inf(b + base + n % m, s->k, m)) {
            d[n] = copysignf(0x1.fffffep127f, d[n]);
        }
    }
}

static unsigned broadcast_b(unsigned lane, unsigned blgp)
{
    switch (blgp) {
    case 0:
        return lane;
    case 1:
    case 2:
        return lane % 32 + 32 * (blgp - 1);
    case 3:
        return (lane + 16) % 64;
    default: /* the table in the ISA text stops at 6; 7 carries its pattern on */
        return lane % 16 + 16 * (blgp - 4);
    }
}

void mfma_broadcast(struct sim_wave *w, const struct sim_inst *inst, unsigned blocks,
                    struct mfma_lanes *lanes)
{
    const unsigned cbsz = inst->cbsz, abid = inst->abid;
    if (cbsz > 4 || (1u << cbsz) > blocks || abid >= 1u << cbsz) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1,
                 "%s: cbsz %u and abid %u are undefined for %u blocks: 2^cbsz must not exceed "
                 "the blocks, and abid must be below 2^cbsz",
                 inst->op->name, cbsz, abid, blocks);
    }
    const unsigned size = cbsz > 4 ? 4 : 64u >> cbsz;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        lanes->a[lane] = (uint8_t)((lane % size + size * abid) % 64);
        lanes->b[lane] = (uint8_t)broadcast_b(lane, inst->blgp & 7);
    }
}
