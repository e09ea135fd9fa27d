/* SPDX-License-Identifier: MIT */
/*
 * Decoder of the memory encodings: SMEM, DS, MUBUF and FLAT (ISA text,
 * sections 13.2, 13.4 to 13.6).
 */
#include "decode.h"

static bool find_row(struct decode *d, enum sim_enc enc, enum sim_segment seg, unsigned opcode)
{
    d->in->enc = (uint8_t)enc;
    d->in->segment = (uint8_t)seg;
    d->in->op = sim_op_find(enc, seg, opcode);
    return d->in->op != NULL || dec_refuse(d, "no such opcode in this encoding");
}

/* ISA text, table 75: IMM and SOE choose immediate, SGPR or both as offset. */
static bool dec_smem_offset(struct decode *d)
{
    uint32_t lo = d->w[0];
    uint32_t hi = d->w[1];
    struct sim_inst *in = d->in;
    bool imm = (lo >> 17 & 1) != 0;
    bool soe = (lo >> 14 & 1) != 0;
    if (imm) {
        in->offset = (int32_t)(hi << 11) >> 11;
        in->mem |= SIM_MEM_OFFEN;
    }
    if (soe) {
        if (!imm && (hi & 0x1fffff) != 0) {
            return dec_refuse(d, "unused field is not zero");
        }
        return dec_sgpr(d, &in->src[2], hi >> 25 & 0x7f, 1);
    }
    if (hi >> 25 != 0) {
        return dec_refuse(d, "unused field is not zero");
    }
    if (!imm) {
        if ((hi & 0x1fff80) != 0) {
            return dec_refuse(d, "unused field is not zero");
        }
        return dec_sgpr(d, &in->src[2], hi & 0x7f, 1);
    }
    return true;
}

bool dec_smem(struct decode *d)
{
    uint32_t lo = d->w[0];
    struct sim_inst *in = d->in;
    struct token t;
    bool ok = find_row(d, SIM_ENC_SMEM, SIM_SEG_NONE, lo >> 18 & 0xff);
    if (!ok) {
        return false;
    }
    if ((lo & 0x2000) != 0 || (d->w[1] & 0x1e00000) != 0) {
        return dec_refuse(d, "reserved bit is not zero");
    }
    in->mem = (lo >> 16 & 1) != 0 ? SIM_MEM_SC0 : 0;
    bool has_base = false;
    bool has_data = false;
    bool has_offset = false;
    token_start(&t, in->op);
    while (ok && token_next(&t)) {
        unsigned data = lo >> 6 & 0x7f;
        switch (t.letter) {
        case 'S':
            has_data = true;
            ok = dec_sgpr(d, &in->dst[0], data, t.number);
            break;
        case 'R':
            has_data = true;
            ok = dec_sgpr(d, &in->src[1], data, t.number);
            break;
        case 'A': /* the old value comes back into the data registers, if at all */
            has_data = true;
            ok = dec_sgpr(d, &in->src[1], data, t.number);
            if ((in->mem & SIM_MEM_SC0) != 0) {
                in->dst[0] = in->src[1];
            }
            break;
        case 'p':
            has_data = true;
            if ((in->mem & SIM_MEM_SC0) != 0) {
                return dec_refuse(d, "unused field is not zero");
            }
            in->imm = (int32_t)data;
            break;
        case 'b':
            has_base = true;
            ok = dec_sgpr(d, &in->src[0], 2 * (lo & 0x3f), t.number);
            break;
        default:
            has_offset = true;
            ok = dec_smem_offset(d);
            break;
        }
    }
    /* Without an address, IMM, GLC, NV and SOE mean nothing. */
    if (ok && !has_offset && (d->w[1] != 0 || (lo & 0x1c000) != 0)) {
        return dec_refuse(d, "unused field is not zero");
    }
    if (ok && ((in->dst[0].kind == SIM_OPND_SGPR && in->dst[0].reg >= SIM_SGPR_M0) ||
               (in->src[1].kind == SIM_OPND_SGPR && in->src[1].reg >= SIM_SGPR_M0))) {
        return dec_refuse(d, "scalar memory data in M0 or EXEC");
    }
    if (ok && in->src[0].kind == SIM_OPND_SGPR && in->src[0].reg >= SIM_SGPR_M0) {
        return dec_refuse(d, "scalar memory base in EXEC");
    }
    if (ok && !has_data && (in->mem & SIM_MEM_SC0) != 0) {
        return dec_refuse(d, "unused field is not zero");
    }
    if (ok && ((!has_base && (lo & 0x2003f) != 0) ||
               (!has_data && (lo >> 6 & 0x7f) != 0))) {
        return dec_refuse(d, "unused field is not zero");
    }
    return ok;
}

bool dec_ds(struct decode *d)
{
    uint32_t lo = d->w[0];
    uint32_t hi = d->w[1];
    struct sim_inst *in = d->in;
    struct token t;
    unsigned kind = (lo >> 25 & 1) != 0 ? SIM_OPND_AGPR : SIM_OPND_VGPR;
    bool ok = find_row(d, SIM_ENC_DS, SIM_SEG_NONE, lo >> 17 & 0xff);
    if (!ok) {
        return false;
    }
    in->offset = (int32_t)(lo & 0xffff);
    if ((lo >> 16 & 1) != 0) {
        in->mem = SIM_MEM_GDS;
    }
    /* There is no global data share on this chip but for the GWS instructions. */
    if (((lo >> 16 & 1) != 0) != sim_op_allows(in->op, 'g')) {
        return dec_refuse(d, "GDS bit does not fit the instruction");
    }
    if (sim_op_allows(in->op, 'g') && kind == SIM_OPND_AGPR) {
        return dec_refuse(d, "unused field is not zero");
    }
    uint32_t unused = 0xffffffff; /* bits of the second word no operand lies in */
    bool offset_used = false;
    token_start(&t, in->op);
    while (ok && token_next(&t)) {
        switch (t.letter) {
        case 'D':
            ok = dec_vgpr(d, &in->dst[0], kind, hi >> 24, t.number);
            unused &= 0x00ffffff;
            break;
        case 'a':
            ok = dec_vgpr(d, &in->src[SIM_SRC_ADDR], SIM_OPND_VGPR, hi & 0xff, 1);
            unused &= 0xffffff00;
            break;
        case 'd':
            ok = dec_vgpr(d, &in->src[SIM_SRC_DATA], kind, hi >> 8 & 0xff, t.number);
            unused &= 0xffff00ff;
            break;
        case 'e':
            ok = dec_vgpr(d, &in->src[SIM_SRC_DATA1], kind, hi >> 16 & 0xff, t.number);
            unused &= 0xff00ffff;
            break;
        default:
            offset_used = true;
            break;
        }
    }
    if (ok && ((!offset_used && in->offset != 0) || (hi & unused) != 0)) {
        return dec_refuse(d, "unused field is not zero");
    }
    return ok;
}

bool dec_mubuf(struct decode *d)
{
    uint32_t lo = d->w[0];
    uint32_t hi = d->w[1];
    struct sim_inst *in = d->in;
    unsigned kind = (hi >> 23 & 1) != 0 ? SIM_OPND_AGPR : SIM_OPND_VGPR;
    struct token t;
    if (!find_row(d, SIM_ENC_MUBUF, SIM_SEG_NONE, lo >> 18 & 0x7f)) {
        return false;
    }
    if ((lo & 0x2000000) != 0 || (hi & 0x600000) != 0) {
        return dec_refuse(d, "reserved bit is not zero");
    }
    in->mem = (uint8_t)(((lo >> 14 & 1) != 0 ? SIM_MEM_SC0 : 0) |
                        ((lo >> 15 & 1) != 0 ? SIM_MEM_SC1 : 0) |
                        ((lo >> 17 & 1) != 0 ? SIM_MEM_NT : 0));
    if (sim_op_allows(in->op, 'i')) {
        return ((lo & 0x13fff) == 0 && hi == 0) || dec_refuse(d, "unused field is not zero");
    }
    in->offset = (int32_t)(lo & 0xfff);
    unsigned en = lo >> 12 & 3;
    in->mem |= (uint8_t)((en & 1 ? SIM_MEM_OFFEN : 0) | (en & 2 ? SIM_MEM_IDXEN : 0));
    bool to_lds = (lo >> 16 & 1) != 0;
    if (to_lds && !sim_op_allows(in->op, 'l')) {
        return dec_refuse(d, "this instruction cannot load to LDS");
    }
    in->mem |= to_lds ? SIM_MEM_LDS : 0;
    token_start(&t, in->op);
    token_next(&t);
    bool ok = true;
    if (t.letter == 'L') {
        ok = to_lds || dec_vgpr(d, &in->dst[0], kind, hi >> 8 & 0xff, t.number);
        /* The data field is unused then; compilers leave it zero. */
        if (to_lds && ((hi >> 8 & 0xff) != 0 || kind == SIM_OPND_AGPR)) {
            return dec_refuse(d, "unused field is not zero");
        }
    } else {
        ok = dec_vgpr(d, &in->src[SIM_SRC_DATA], kind, hi >> 8 & 0xff, t.number);
        if (ok && t.letter == 'A' && (in->mem & SIM_MEM_SC0) != 0) {
            in->dst[0] = in->src[SIM_SRC_DATA];
            in->dst[0].ndw = in->op->p[0] / 4;
        }
    }
    if (ok && en != 0) {
        ok = dec_vgpr(d, &in->src[SIM_SRC_ADDR], SIM_OPND_VGPR, hi & 0xff, en == 3 ? 2 : 1);
    }
    return ok && dec_sgpr(d, &in->src[SIM_SRC_RSRC], 4 * (hi >> 16 & 0x1f), 4) &&
           dec_scalar(d, &in->src[SIM_SRC_SOFF], hi >> 24, 'i', 0);
}

/*
 * Float atomics that return a value are defined for architectural registers
 * only; LLVM too decodes but some of their accumulation forms.
 */
static bool check_float_atomic(struct decode *d, unsigned kind)
{
    struct sim_inst *in = d->in;
    if (kind == SIM_OPND_AGPR && (in->op->flags & SIM_F_ATOMIC) != 0 &&
        in->op->p[1] >= SIM_ATOMIC_FADD && (in->mem & SIM_MEM_SC0) != 0) {
        return dec_refuse(d, "returning float atomic on accumulation registers");
    }
    return true;
}

/* Address operands of the three segments (ISA text, table 101). */
static bool dec_flat_address(struct decode *d, uint32_t lo, uint32_t hi)
{
    struct sim_inst *in = d->in;
    unsigned saddr = hi >> 16 & 0x7f;
    bool has_saddr = saddr != 0x7f;
    unsigned n = 2;
    bool sve = (lo >> 13 & 1) != 0; /* scratch: the address VGPR is used */
    if (in->segment == SIM_SEG_FLAT) {
        if (saddr != 0 || sve) {
            return dec_refuse(d, "unused field is not zero");
        }
        return dec_vgpr(d, &in->src[SIM_SRC_ADDR], SIM_OPND_VGPR, hi & 0xff, 2);
    }
    if (in->segment == SIM_SEG_GLOBAL && sve) {
        return dec_refuse(d, "reserved bit is not zero");
    }
    if (has_saddr) {
        bool scratch = in->segment == SIM_SEG_SCRATCH;
        if (!scratch && saddr == SIM_SGPR_EXEC) {
            return dec_refuse(d, "address base in EXEC");
        }
        if (!dec_sgpr(d, &in->src[SIM_SRC_SADDR], saddr, scratch ? 1 : 2)) {
            return false;
        }
        in->mem |= SIM_MEM_SADDR;
        n = 1;
    }
    if (in->segment == SIM_SEG_SCRATCH) {
        n = 1;
        if (!sve) {
            return true;
        }
    }
    return dec_vgpr(d, &in->src[SIM_SRC_ADDR], SIM_OPND_VGPR, hi & 0xff, n);
}

bool dec_flat(struct decode *d)
{
    static const uint8_t segments[] = { SIM_SEG_FLAT, SIM_SEG_SCRATCH, SIM_SEG_GLOBAL,
                                        SIM_SEG_NONE };
    uint32_t lo = d->w[0];
    uint32_t hi = d->w[1];
    struct sim_inst *in = d->in;
    struct token t;
    unsigned kind = (hi >> 23 & 1) != 0 ? SIM_OPND_AGPR : SIM_OPND_VGPR;
    if (!find_row(d, SIM_ENC_FLAT, segments[lo >> 14 & 3], lo >> 18 & 0x7f)) {
        return false;
    }
    in->mem = (uint8_t)(((lo >> 16 & 1) != 0 ? SIM_MEM_SC0 : 0) |
                        ((lo >> 17 & 1) != 0 ? SIM_MEM_NT : 0) |
                        ((lo >> 25 & 1) != 0 ? SIM_MEM_SC1 : 0));
    in->offset = (int32_t)(lo << 19) >> 19; /* 13 bits, signed */
    if (in->segment == SIM_SEG_FLAT && in->offset < 0) {
        return dec_refuse(d, "offset of a flat access has 12 bits");
    }
    token_start(&t, in->op);
    token_next(&t);
    bool ok = true;
    if (t.letter == 'l') {
        in->mem |= SIM_MEM_LDS;
        ok = kind == SIM_OPND_VGPR || dec_refuse(d, "unused field is not zero");
    } else if (t.letter == 'L') {
        ok = dec_vgpr(d, &in->dst[0], kind, hi >> 24, t.number);
    } else {
        ok = dec_vgpr(d, &in->src[SIM_SRC_DATA], kind, hi >> 8 & 0xff, t.number);
        if (ok && t.letter == 'A' && (in->mem & SIM_MEM_SC0) != 0) {
            ok = dec_vgpr(d, &in->dst[0], kind, hi >> 24, in->op->p[0] / 4u);
        }
    }
    return ok && check_float_atomic(d, kind) && dec_flat_address(d, lo, hi);
}
