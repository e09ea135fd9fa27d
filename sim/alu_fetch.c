/* SPDX-License-Identifier: MIT */
/*
 * Fetching vector sources: registers, scalars and constants spread over the
 * lanes, DPP lane movement, SDWA selection, op_sel, neg, abs, denormal flush.
 */
#include "alu_fetch.h"

#include <string.h>

#include "optable.h"

/* What VGPR indexing adds to operand slot 0..2, or to the destination (slot 3). */
static unsigned index_offset(const struct sim_wave *w, unsigned slot)
{
    const uint32_t m0 = w->sgpr[SIM_SGPR_M0];
    if ((w->mode & SIM_MODE_GPR_IDX_EN) == 0 || slot > 3 || (m0 >> (12 + slot) & 1) == 0) {
        return 0;
    }
    return m0 & 0xff;
}

/* Row of a vector operand's dword; an index that leads out of the file reads VGPR 0. */
static uint32_t *vector_row(struct sim_wave *w, const struct sim_opnd *o, unsigned dword,
                            unsigned slot)
{
    const unsigned base = o->kind == SIM_OPND_AGPR ? 256 : 0;
    const unsigned reg = o->reg + dword + index_offset(w, slot);
    if (reg > 255) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "VGPR index leads to v%u", reg);
        return w->vgpr[base];
    }
    return w->vgpr[base + reg];
}

static bool is_vector(const struct sim_opnd *o)
{
    return o->kind == SIM_OPND_VGPR || o->kind == SIM_OPND_AGPR;
}

/* Source lane of lane l under a DPP control (ISA text, table 94), or -1. */
static int dpp_source(unsigned ctrl, int l)
{
    const int in_row = l & 15;
    const int n = (int)(ctrl & 15);
    if (ctrl < 0x100) {
        return (l & 0x3c) + (int)(ctrl >> 2 * (l & 3) & 3);
    }
    switch (ctrl >> 4) {
    case 0x10: /* row_shl */
        return in_row < 16 - n ? l + n : -1;
    case 0x11: /* row_shr */
        return in_row >= n ? l - n : -1;
    case 0x12: /* row_ror */
        return in_row >= n ? l - n : l + 16 - n;
    case 0x15: /* row_newbcast */
        return (l & 0x30) + n;
    default:
        break;
    }
    switch (ctrl) {
    case 0x130:
        return l < 63 ? l + 1 : -1;
    case 0x134:
        return (l + 1) & 63;
    case 0x138:
        return l > 0 ? l - 1 : -1;
    case 0x13c:
        return (l + 63) & 63;
    case 0x140:
        return (l & 0x30) + 15 - in_row;
    case 0x141:
        return (l & 0x38) + 7 - (l & 7);
    case 0x142: /* row_bcast:15, from the previous row */
        return l > 15 ? (l & 0x30) - 1 : -1;
    default: /* row_bcast:31 */
        return l > 31 ? 31 : -1;
    }
}

/* A source lane outside EXEC counts as out of range. */
static bool dpp_lane_valid(uint64_t exec, int source)
{
    return source >= 0 && (exec >> source & 1) != 0;
}

uint64_t sim_vwrite_mask(const struct sim_wave *w, const struct sim_inst *in)
{
    const uint64_t exec = sim_exec_mask(w);
    if (!in->has_dpp) {
        return exec;
    }
    uint64_t mask = 0;
    SIM_FOR_LANES(l) {
        const bool row = (in->dpp.row_mask >> (l >> 4) & 1) != 0;
        const bool bank = (in->dpp.bank_mask >> (l >> 2 & 3) & 1) != 0;
        const bool source = in->dpp.bound_ctrl ||
                            dpp_lane_valid(exec, dpp_source(in->dpp.ctrl, (int)l));
        mask |= (uint64_t)(row && bank && source) << l;
    }
    return mask & exec;
}

/* Moves the lanes of a row; lanes without a source read zero. */
static void dpp_move(const struct sim_wave *w, const struct sim_inst *in, const uint32_t *row,
                     uint32_t *buf)
{
    const uint64_t exec = sim_exec_mask(w);
    SIM_FOR_LANES(l) {
        const int s = dpp_source(in->dpp.ctrl, (int)l);
        buf[l] = dpp_lane_valid(exec, s) ? row[s] : 0;
    }
}

/* SDWA source selection with zero or sign extension. */
static void sdwa_select(const struct sim_inst *in, unsigned i, const uint32_t *v, uint32_t *buf)
{
    const unsigned sel = in->sdwa.src_sel[i];
    const bool sext = (in->sdwa.sext >> i & 1) != 0;
    if (sel == 6) {
        memmove(buf, v, SIM_LANES * sizeof(*buf));
        return;
    }
    const unsigned bits = sel < 4 ? 8 : 16;
    const unsigned shift = sel < 4 ? 8 * sel : 16 * (sel - 4);
    SIM_FOR_LANES(l) {
        const uint32_t top = v[l] << (32 - bits - shift);
        buf[l] = sext ? (uint32_t)((int32_t)top >> (32 - bits)) : top >> (32 - bits);
    }
}

static void spread32(uint32_t v, uint32_t *buf)
{
    SIM_FOR_LANES(l) {
        buf[l] = v;
    }
}

const uint32_t *sim_v32(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                        uint32_t *buf)
{
    const struct sim_opnd *o = &in->src[i];
    const uint32_t *v = buf;
    if (is_vector(o)) {
        v = vector_row(w, o, 0, i);
    } else {
        spread32(sim_scalar_read32(w, o), buf);
    }
    if (in->has_dpp && i == 0) {
        dpp_move(w, in, v, buf);
        return buf;
    }
    if (in->has_sdwa && i < 2) {
        sdwa_select(in, i, v, buf);
        return buf;
    }
    return v;
}

const uint32_t *sim_vf32_raw(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                             uint32_t *buf)
{
    const uint32_t *v = sim_v32(w, in, i, buf);
    const uint32_t keep = (in->abs >> i & 1) != 0 ? 0x7fffffff : 0xffffffff;
    const uint32_t flip = (in->neg >> i & 1) != 0 ? 0x80000000 : 0;
    if (keep == 0xffffffff && flip == 0) {
        return v;
    }
    SIM_FOR_LANES(l) {
        buf[l] = (v[l] & keep) ^ flip;
    }
    return buf;
}

const uint32_t *sim_vf32(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                         uint32_t *buf)
{
    const uint32_t *v = sim_vf32_raw(w, in, i, buf);
    if ((sim_denorm32(w) & 1) != 0) {
        return v;
    }
    SIM_FOR_LANES(l) {
        buf[l] = (v[l] & 0x7f800000) == 0 ? v[l] & 0x80000000 : v[l];
    }
    return buf;
}

const uint32_t *sim_v16(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                        uint32_t *buf)
{
    const uint32_t *v = sim_v32(w, in, i, buf);
    const unsigned shift = in->enc == SIM_ENC_VOP3 && (in->opsel >> i & 1) != 0 ? 16 : 0;
    SIM_FOR_LANES(l) {
        buf[l] = v[l] >> shift & 0xffff;
    }
    return buf;
}

const uint32_t *sim_vf16(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                         uint32_t *buf)
{
    const uint32_t keep = (in->abs >> i & 1) != 0 ? 0x7fff : 0xffff;
    const uint32_t flip = (in->neg >> i & 1) != 0 ? 0x8000 : 0;
    const bool flush = (sim_denorm64(w) & 1) == 0;
    sim_v16(w, in, i, buf);
    SIM_FOR_LANES(l) {
        const uint32_t v = (buf[l] & keep) ^ flip;
        buf[l] = flush && (v & 0x7c00) == 0 ? v & 0x8000 : v;
    }
    return buf;
}

const uint64_t *sim_v64(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                        uint64_t *buf)
{
    const struct sim_opnd *o = &in->src[i];
    if (!is_vector(o)) {
        const uint64_t v = sim_scalar_read(w, o);
        SIM_FOR_LANES(l) {
            buf[l] = v;
        }
        return buf;
    }
    const uint32_t *lo = vector_row(w, o, 0, i);
    const uint32_t *hi = vector_row(w, o, 1, i);
    uint32_t moved[2][SIM_LANES];
    if (in->has_dpp && i == 0) {
        dpp_move(w, in, lo, moved[0]);
        dpp_move(w, in, hi, moved[1]);
        lo = moved[0];
        hi = moved[1];
    }
    SIM_FOR_LANES(l) {
        buf[l] = lo[l] | (uint64_t)hi[l] << 32;
    }
    return buf;
}

const uint64_t *sim_vf64(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                         uint64_t *buf)
{
    const uint64_t keep = (in->abs >> i & 1) != 0 ? INT64_MAX : UINT64_MAX;
    const uint64_t flip = (in->neg >> i & 1) != 0 ? 1ull << 63 : 0;
    const bool flush = (sim_denorm64(w) & 1) == 0;
    sim_v64(w, in, i, buf);
    SIM_FOR_LANES(l) {
        const uint64_t v = (buf[l] & keep) ^ flip;
        buf[l] = flush && (v & 0x7ff0000000000000ull) == 0 ? v & 1ull << 63 : v;
    }
    return buf;
}

/* One half of a packed source with its negation and, for floats, its flush. */
static uint32_t packed_half(uint32_t h, uint32_t flip, bool flush)
{
    h = (h & 0xffff) ^ flip;
    return flush && (h & 0x7c00) == 0 ? h & 0x8000 : h;
}

const uint32_t *sim_vpk16(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                          bool is_float, uint32_t *buf)
{
    const uint32_t *v = sim_v32(w, in, i, buf);
    const bool packed = in->enc == SIM_ENC_VOP3P;
    const unsigned lo = packed && (in->opsel >> i & 1) != 0 ? 16 : 0;
    const unsigned hi = !packed || (in->opsel_hi >> i & 1) != 0 ? 16 : 0;
    const bool flush = is_float && (sim_denorm64(w) & 1) == 0;
    /* In VOP3P neg is neg_lo and abs is neg_hi; elsewhere both halves get both. */
    uint32_t flip_lo = (in->neg >> i & 1) != 0 ? 0x8000 : 0;
    uint32_t flip_hi = packed ? ((in->abs >> i & 1) != 0 ? 0x8000 : 0) : flip_lo;
    const uint32_t keep = !packed && (in->abs >> i & 1) != 0 ? 0x7fff7fff : 0xffffffff;
    if (!is_float && (flip_lo | flip_hi) != 0) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "neg on an integer source");
        flip_lo = flip_hi = 0;
    }
    SIM_FOR_LANES(l) {
        const uint32_t a = packed_half((v[l] & keep) >> lo, flip_lo, flush);
        const uint32_t b = packed_half((v[l] & keep) >> hi, flip_hi, flush);
        buf[l] = a | b << 16;
    }
    return buf;
}

uint64_t sim_vmask(const struct sim_wave *w, const struct sim_inst *in, unsigned i)
{
    return sim_scalar_read(w, &in->src[i]);
}

const uint32_t *sim_vdst32(struct sim_wave *w, const struct sim_inst *in)
{
    return vector_row(w, &in->dst[0], 0, 3);
}

const uint64_t *sim_vdst64(struct sim_wave *w, const struct sim_inst *in, uint64_t *buf)
{
    const uint32_t *lo = vector_row(w, &in->dst[0], 0, 3);
    const uint32_t *hi = vector_row(w, &in->dst[0], 1, 3);
    SIM_FOR_LANES(l) {
        buf[l] = lo[l] | (uint64_t)hi[l] << 32;
    }
    return buf;
}

/* Writes the lanes of a mask; the common full mask is one copy. */
static void masked_copy(uint32_t *row, const uint32_t *d, uint64_t mask)
{
    if (mask == UINT64_MAX) {
        memcpy(row, d, SIM_LANES * sizeof(*row));
        return;
    }
    SIM_FOR_LANES(l) {
        if ((mask >> l & 1) != 0) {
            row[l] = d[l];
        }
    }
}

/* Places a result by SDWA's dst_sel and dst_unused (ISA text, table 91). */
static void sdwa_place(const struct sim_inst *in, const uint32_t *row, const uint32_t *d,
                       uint32_t *out)
{
    const unsigned sel = in->sdwa.dst_sel;
    const unsigned bits = sel < 4 ? 8 : 16;
    const unsigned shift = sel < 4 ? 8 * sel : 16 * (sel - 4);
    const uint32_t field = (bits == 8 ? 0xffu : 0xffffu) << shift;
    SIM_FOR_LANES(l) {
        const uint32_t v = d[l] << shift & field;
        switch (in->sdwa.dst_unused) {
        case 0:
            out[l] = v;
            break;
        case 1: /* the field's sign above it, zeros below */
            out[l] = (uint32_t)((int32_t)(v << (32 - bits - shift)) >> (32 - bits - shift));
            break;
        default:
            out[l] = v | (row[l] & ~field);
            break;
        }
    }
}

void sim_vstore32(struct sim_wave *w, const struct sim_inst *in, const uint32_t *d)
{
    uint32_t *row = vector_row(w, &in->dst[0], 0, 3);
    uint32_t placed[SIM_LANES];
    if (in->has_sdwa && in->sdwa.dst_sel != 6) {
        sdwa_place(in, row, d, placed);
        d = placed;
    }
    masked_copy(row, d, sim_vwrite_mask(w, in));
}

void sim_vstore16(struct sim_wave *w, const struct sim_inst *in, const uint32_t *d)
{
    /*
     * Instructions with op_sel in their own VOP3 encoding keep the other half
     * of the register; the VOP1 and VOP2 ones write it as zero (ISA text, notes
     * of V_MAD_LEGACY_F16 and V_MAD_F16).
     */
    const bool keeps = !in->has_sdwa && sim_op_allows(in->op, 's');
    const unsigned shift = keeps && (in->opsel & 8) != 0 ? 16 : 0;
    const uint32_t *row = vector_row(w, &in->dst[0], 0, 3);
    uint32_t out[SIM_LANES];
    SIM_FOR_LANES(l) {
        const uint32_t v = d[l] & 0xffff;
        out[l] = keeps ? (row[l] & ~(0xffffu << shift)) | v << shift : v;
    }
    sim_vstore32(w, in, out);
}

void sim_vstore64(struct sim_wave *w, const struct sim_inst *in, const uint64_t *d)
{
    const uint64_t mask = sim_vwrite_mask(w, in);
    uint32_t lo[SIM_LANES];
    uint32_t hi[SIM_LANES];
    SIM_FOR_LANES(l) {
        lo[l] = (uint32_t)d[l];
        hi[l] = (uint32_t)(d[l] >> 32);
    }
    masked_copy(vector_row(w, &in->dst[0], 0, 3), lo, mask);
    masked_copy(vector_row(w, &in->dst[0], 1, 3), hi, mask);
}

void sim_vstore_mask(struct sim_wave *w, const struct sim_inst *in, unsigned which,
                     uint64_t mask)
{
    sim_scalar_write64(w, &in->dst[which], mask & sim_exec_mask(w));
}
