/* SPDX-License-Identifier: MIT */
/*
 * Decoder of the vector ALU encodings: VOP1, VOP2, VOPC with DPP and SDWA,
 * VOP3, VOP3P and VOP3P-MAI (ISA text, section 13.3).
 */
#include "decode.h"

enum { SRC_DPP = 250, SRC_SDWA = 249 };

/* The encoding-independent view of the fields while operands are read. */
struct vfields {
    unsigned vdst;     /* destination field; VOPC in VOP3: the mask */
    unsigned src[3];   /* nine-bit codes */
    unsigned mask_dst; /* scalar register code of a k operand */
    unsigned mask_src; /* scalar register code of an m operand */
    unsigned literal_at; /* index of the literal word, 0 = none allowed */
};

static bool dec_src(struct decode *d, struct sim_opnd *o, unsigned code, const struct token *t,
                    unsigned literal_at)
{
    if (code >= 256) {
        return t->letter == 'l' ? dec_refuse(d, "operand must be scalar")
                                : dec_vgpr(d, o, SIM_OPND_VGPR, code - 256, token_dwords(t));
    }
    if (t->letter == 'v' || t->letter == 'u') {
        return dec_refuse(d, "operand must be a vector register");
    }
    return dec_scalar(d, o, code, t->type, literal_at);
}

/* Literal of v_fmamk and v_fmaak; it may be the one that src0 names as well. */
static bool dec_k(struct decode *d, struct sim_opnd *o, unsigned at)
{
    uint32_t value;
    if (!dec_literal(d, at, &value)) {
        return false;
    }
    *o = (struct sim_opnd){ .kind = SIM_OPND_CONST, .ndw = 1, .is_literal = 1, .imm = value };
    return true;
}

/* Reads the operands of a row in text order. */
static bool dec_operands(struct decode *d, const struct vfields *f)
{
    struct sim_inst *in = d->in;
    struct token t;
    unsigned src = 0;
    unsigned field = 0;
    unsigned dst = 0;
    token_start(&t, in->op);
    while (token_next(&t)) {
        bool ok;
        switch (t.letter) {
        case 'D':
            ok = dec_vgpr(d, &in->dst[dst++], SIM_OPND_VGPR, f->vdst, t.number);
            break;
        case 'G':
            ok = dec_vgpr(d, &in->dst[dst++], SIM_OPND_AGPR, f->vdst, t.number);
            break;
        case 'S':
            ok = in->enc == SIM_ENC_VOP3 && f->vdst == SIM_SGPR_M0
                     ? dec_refuse(d, "lane read into M0")
                     : dec_sgpr(d, &in->dst[dst++], f->vdst, t.number);
            break;
        case 'k':
            ok = dec_sgpr(d, &in->dst[dst++], f->mask_dst, 2);
            break;
        case 'm':
            ok = f->mask_src < 128
                     ? dec_sgpr(d, &in->src[src++], f->mask_src, 2)
                     : dec_refuse(d, "mask operand must be a scalar register pair");
            break;
        case 'K':
            ok = dec_k(d, &in->src[src++], f->literal_at);
            break;
        case 'g':
            ok = f->src[field] < 256
                     ? dec_refuse(d, "operand must be a vector register")
                     : dec_vgpr(d, &in->src[src], SIM_OPND_AGPR, f->src[field] - 256, t.number);
            src++;
            field++;
            break;
        default:
            ok = dec_src(d, &in->src[src], f->src[field++], &t, f->literal_at);
            if (ok && t.letter == 'u') {
                in->dst[dst++] = in->src[src];
            }
            src++;
            break;
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* Bits of neg or abs may be set only for float sources. */
static bool check_source_mods(struct decode *d, unsigned bits)
{
    struct token t;
    unsigned i = 0;
    token_start(&t, d->in->op);
    while (token_next(&t)) {
        if (t.letter == 'x' || t.letter == 'v' || t.letter == 'l' || t.letter == 'u' ||
            t.letter == 'm' || t.letter == 'g') {
            if ((bits >> i & 1) != 0 && (t.letter == 'm' || !type_is_float(t.type))) {
                return dec_refuse(d, "source modifier on an operand that takes none");
            }
            i++;
        }
    }
    return bits >> i == 0 || dec_refuse(d, "source modifier on an absent operand");
}

static bool dpp_ctrl_is_valid(unsigned ctrl)
{
    if (ctrl < 0x100) {
        return true; /* quad_perm */
    }
    switch (ctrl) {
    case 0x130: /* wave_shl, wave_rol, wave_shr, wave_ror by one */
    case 0x134:
    case 0x138:
    case 0x13c:
    case 0x140: /* row_mirror, row_half_mirror */
    case 0x141:
    case 0x142: /* row_bcast:15, row_bcast:31 */
    case 0x143:
        return true;
    default:
        /* row_shl, row_shr, row_ror by 1..15; row_newbcast:0..15 */
        return (ctrl < 0x130 && (ctrl & 15) != 0) || (ctrl >= 0x150 && ctrl <= 0x15f);
    }
}

/* ISA text, "DPP": the word after a VOP1 or VOP2 whose src0 is 250. */
static bool dec_dpp(struct decode *d, struct vfields *f)
{
    struct sim_inst *in = d->in;
    uint32_t w = d->w[1];
    unsigned ctrl = w >> 8 & 0x1ff;
    bool wide_only = sim_op_allows(in->op, 'P');
    if (d->words < 2) {
        return dec_refuse(d, "the code ends inside an instruction");
    }
    if (!wide_only && !sim_op_allows(in->op, 'p')) {
        return dec_refuse(d, "this instruction has no DPP form");
    }
    if (!dpp_ctrl_is_valid(ctrl) || (wide_only && ctrl < 0x150)) {
        return dec_refuse(d, "dpp_ctrl is reserved");
    }
    if ((w & 0x60000) != 0) {
        return dec_refuse(d, "reserved bit is not zero");
    }
    d->size = 8;
    f->src[0] = 256 + (w & 0xff);
    in->has_dpp = 1;
    in->dpp.ctrl = (uint16_t)ctrl;
    in->dpp.bound_ctrl = (w >> 19 & 1) != 0;
    in->dpp.bank_mask = w >> 24 & 15;
    in->dpp.row_mask = w >> 28 & 15;
    in->neg = (uint8_t)((w >> 20 & 1) | (w >> 22 & 1) << 1);
    in->abs = (uint8_t)((w >> 21 & 1) | (w >> 23 & 1) << 1);
    return check_source_mods(d, in->neg | in->abs);
}

/* Fields of the SDWA word that depend on whether the row writes a VGPR or a mask. */
static bool dec_sdwa_dst(struct decode *d, struct vfields *f, uint32_t w)
{
    struct sim_inst *in = d->in;
    if (in->op->enc == SIM_ENC_VOPC) {
        f->mask_dst = (w >> 15 & 1) != 0 ? w >> 8 & 0x7f : SIM_SGPR_VCC;
        if ((w >> 15 & 1) == 0 && (w >> 8 & 0x7f) != 0) {
            return dec_refuse(d, "reserved bit is not zero");
        }
        in->sdwa.dst_sel = 6;
        return true;
    }
    in->sdwa.dst_sel = w >> 8 & 7;
    in->sdwa.dst_unused = w >> 11 & 3;
    in->clamp = w >> 13 & 1;
    in->omod = w >> 14 & 3;
    if (in->sdwa.dst_sel == 7 || in->sdwa.dst_unused == 3) {
        return dec_refuse(d, "SDWA destination selector is reserved");
    }
    if (sim_op_allows(in->op, 'd') && (in->sdwa.dst_sel != 6 || in->sdwa.dst_unused != 0)) {
        return dec_refuse(d, "SDWA destination selector on an instruction that takes none");
    }
    if ((in->clamp != 0 && !sim_op_allows(in->op, 'c')) ||
        (in->omod != 0 && !sim_op_allows(in->op, 'o'))) {
        return dec_refuse(d, "output modifier on an instruction that takes none");
    }
    return true;
}

/* ISA text, "SDWA": the word after a VOP1, VOP2 or VOPC whose src0 is 249. */
static bool dec_sdwa(struct decode *d, struct vfields *f)
{
    struct sim_inst *in = d->in;
    uint32_t w = d->w[1];
    bool two = in->op->enc != SIM_ENC_VOP1;
    if (d->words < 2) {
        return dec_refuse(d, "the code ends inside an instruction");
    }
    if (!sim_op_allows(in->op, 'w')) {
        return dec_refuse(d, "this instruction has no SDWA form");
    }
    if ((w & 0x40400000) != 0 || (!two && w >> 24 != 0)) {
        return dec_refuse(d, "reserved bit is not zero");
    }
    if (!dec_sdwa_dst(d, f, w)) {
        return false;
    }
    d->size = 8;
    f->src[0] = (w >> 23 & 1) != 0 ? w & 0xff : 256 + (w & 0xff);
    f->literal_at = 0;
    in->has_sdwa = 1;
    in->sdwa.src_sel[0] = w >> 16 & 7;
    in->sdwa.sext = (uint8_t)((w >> 19 & 1) | (w >> 27 & 1) << 1);
    in->neg = (uint8_t)((w >> 20 & 1) | (w >> 28 & 1) << 1);
    in->abs = (uint8_t)((w >> 21 & 1) | (w >> 29 & 1) << 1);
    in->sdwa.src_sel[1] = two ? w >> 24 & 7 : 6;
    if (two && (w >> 31 & 1) != 0) {
        f->src[1] -= 256;
    }
    if (in->sdwa.src_sel[0] == 7 || in->sdwa.src_sel[1] == 7) {
        return dec_refuse(d, "SDWA source selector is reserved");
    }
    return check_source_mods(d, in->neg | in->abs);
}

/* Sign extension works on integer sources only. */
static bool check_sext(struct decode *d)
{
    struct token t;
    unsigned i = 0;
    token_start(&t, d->in->op);
    while (token_next(&t)) {
        if (t.letter == 'x') {
            if ((d->in->sdwa.sext >> i & 1) != 0 && type_is_float(t.type)) {
                return dec_refuse(d, "sign extension of a float source");
            }
            i++;
        }
    }
    return true;
}

bool dec_vop_short(struct decode *d, enum sim_enc enc, unsigned opcode)
{
    uint32_t w = d->w[0];
    struct sim_inst *in = d->in;
    struct vfields f = { .vdst = w >> 17 & 0xff,
                         .src = { w & 0x1ff, 256 + (w >> 9 & 0xff), 0 },
                         .mask_dst = SIM_SGPR_VCC,
                         .mask_src = SIM_SGPR_VCC,
                         .literal_at = 1 };
    in->enc = (uint8_t)enc;
    in->op = sim_op_find(enc, SIM_SEG_NONE, opcode);
    d->size = 4;
    if (in->op == NULL) {
        return dec_refuse(d, "no such opcode in this encoding");
    }
    if (in->op->operands[0] == '\0' || in->op->operands[0] == ';') {
        return (w & 0x1fe01ff) == 0 || dec_refuse(d, "unused field is not zero");
    }
    if (f.src[0] == SRC_DPP && !dec_dpp(d, &f)) {
        return false;
    }
    if (f.src[0] == SRC_SDWA && !(dec_sdwa(d, &f) && check_sext(d))) {
        return false;
    }
    return dec_operands(d, &f);
}

/* The row of a VOP3 opcode: VOPC, VOP2 and VOP1 rows lie below 448 (ISA text, table 85). */
static const struct sim_op *vop3_row(unsigned opcode)
{
    const struct sim_op *op;
    if (opcode < 0x100) {
        op = sim_op_find(SIM_ENC_VOPC, SIM_SEG_NONE, opcode);
    } else if (opcode < 0x140) {
        op = sim_op_find(SIM_ENC_VOP2, SIM_SEG_NONE, opcode - 0x100);
    } else if (opcode < 0x1c0) {
        op = sim_op_find(SIM_ENC_VOP1, SIM_SEG_NONE, opcode - 0x140);
    } else {
        return sim_op_find(SIM_ENC_VOP3, SIM_SEG_NONE, opcode);
    }
    return op != NULL && sim_op_allows(op, '3') ? op : NULL;
}

static bool row_has(const struct sim_op *op, char letter)
{
    struct token t;
    token_start(&t, op);
    while (token_next(&t)) {
        if (t.letter == letter) {
            return true;
        }
    }
    return false;
}

/* Modifier fields of VOP3 once the row is known. */
static bool dec_vop3_mods(struct decode *d, bool has_carry)
{
    struct sim_inst *in = d->in;
    uint32_t lo = d->w[0];
    uint32_t hi = d->w[1];
    in->neg = hi >> 29 & 7;
    in->abs = has_carry ? 0 : lo >> 8 & 7;
    in->omod = hi >> 27 & 3;
    in->clamp = lo >> 15 & 1;
    in->opsel = has_carry ? 0 : lo >> 11 & 15;
    if (sim_op_allows(in->op, 'b')) {
        in->bitop3 = (uint8_t)(in->omod << 6 | in->abs << 3 | in->neg);
        in->omod = in->abs = in->neg = 0;
    }
    if ((in->clamp != 0 && !sim_op_allows(in->op, 'c')) ||
        (in->omod != 0 && !sim_op_allows(in->op, 'o'))) {
        return dec_refuse(d, "output modifier on an instruction that takes none");
    }
    if (in->opsel != 0 && !sim_op_allows(in->op, 's') && !sim_op_allows(in->op, 'S')) {
        return dec_refuse(d, "op_sel on an instruction that takes none");
    }
    return check_source_mods(d, in->neg | in->abs);
}

/* op_sel bits must belong to a source or the destination. */
static bool check_opsel(struct decode *d)
{
    struct token t;
    unsigned sources = 0;
    token_start(&t, d->in->op);
    while (token_next(&t)) {
        sources += t.letter == 'x' || t.letter == 'v';
    }
    if (sim_op_allows(d->in->op, 's') && sources < 3 && (d->in->opsel & 4) != 0) {
        return dec_refuse(d, "op_sel bit of an absent operand");
    }
    return true;
}

bool dec_vop3(struct decode *d)
{
    uint32_t lo = d->w[0];
    uint32_t hi = d->w[1];
    struct sim_inst *in = d->in;
    struct vfields f = { .vdst = lo & 0xff,
                         .src = { hi & 0x1ff, hi >> 9 & 0x1ff, hi >> 18 & 0x1ff },
                         .mask_src = hi >> 18 & 0x1ff };
    in->enc = SIM_ENC_VOP3;
    in->op = vop3_row(lo >> 16 & 0x3ff);
    if (in->op == NULL) {
        return dec_refuse(d, "no such opcode in this encoding");
    }
    bool is_compare = in->op->enc == SIM_ENC_VOPC;
    bool has_carry = !is_compare && row_has(in->op, 'k');
    f.mask_dst = is_compare ? f.vdst : lo >> 8 & 0x7f;
    if (in->op->operands[0] == ';') {
        return (lo & 0xffff) == 0 && hi == 0 ? true : dec_refuse(d, "unused field is not zero");
    }
    return dec_vop3_mods(d, has_carry) && check_opsel(d) && dec_operands(d, &f);
}

bool dec_vop3p(struct decode *d)
{
    uint32_t lo = d->w[0];
    uint32_t hi = d->w[1];
    unsigned opcode = lo >> 16 & 0x7f;
    struct sim_inst *in = d->in;
    struct vfields f = { .vdst = lo & 0xff,
                         .src = { hi & 0x1ff, hi >> 9 & 0x1ff, hi >> 18 & 0x1ff } };
    if (opcode == 0x2c || sim_op_find(SIM_ENC_MAI, SIM_SEG_NONE, opcode) != NULL) {
        return dec_mai(d, 0);
    }
    in->enc = SIM_ENC_VOP3P;
    in->op = sim_op_find(SIM_ENC_VOP3P, SIM_SEG_NONE, opcode);
    if (in->op == NULL) {
        return dec_refuse(d, "no such opcode in this encoding");
    }
    if (!dec_operands(d, &f)) {
        return false;
    }
    unsigned present = in->src[2].kind != SIM_OPND_NONE ? 7 : 3;
    in->neg = hi >> 29 & 7;
    in->abs = lo >> 8 & 7; /* neg_hi, or abs of the mix instructions */
    in->opsel = lo >> 11 & 7;
    in->opsel_hi = (uint8_t)(((hi >> 27 & 3) | (lo >> 14 & 1) << 2) & present);
    in->clamp = lo >> 15 & 1;
    if (((in->neg | in->abs | in->opsel) & ~present) != 0) {
        return dec_refuse(d, "modifier of an absent operand");
    }
    if (!sim_op_allows(in->op, 's')) {
        if (in->opsel != 0) {
            return dec_refuse(d, "op_sel on an instruction that takes none");
        }
        in->opsel_hi = 0;
    }
    return true;
}

/* Dwords of an operand of the f8f6f4 instructions by its format code (ISA text, 7.1.5). */
static unsigned f8f6f4_dwords(unsigned format)
{
    static const uint8_t dwords[] = { 8, 8, 6, 6, 4 };
    return format < sizeof(dwords) ? dwords[format] : 0;
}

/* Operands of an MFMA; lo and hi are its VOP3P-MAI words. */
static bool dec_mai_operands(struct decode *d, uint32_t lo, uint32_t hi)
{
    struct sim_inst *in = d->in;
    struct token t;
    unsigned acc = hi >> 27 & 3;
    unsigned cd = (lo >> 15 & 1) != 0 ? SIM_OPND_AGPR : SIM_OPND_VGPR;
    token_start(&t, in->op);
    while (token_next(&t)) {
        unsigned i = t.letter == 'a' ? 0 : t.letter == 'b' ? 1 : 2;
        unsigned code = hi >> 9 * i & 0x1ff;
        unsigned n = t.number;
        bool ok;
        switch (t.letter) {
        case 'D':
            ok = dec_vgpr(d, &in->dst[0], cd, lo & 0xff, n);
            break;
        case 'a':
        case 'b':
            n = n != 0 ? n : f8f6f4_dwords(i == 0 ? in->cbsz : in->blgp);
            if (n == 0) {
                return dec_refuse(d, "matrix format code is reserved");
            }
            ok = code >= 256 ? dec_vgpr(d, &in->src[i],
                                        (acc >> i & 1) != 0 ? SIM_OPND_AGPR : SIM_OPND_VGPR,
                                        code - 256, n)
                             : dec_refuse(d, "operand must be a vector register");
            break;
        case 'v':
            ok = code >= 256 ? dec_vgpr(d, &in->src[2], SIM_OPND_VGPR, code - 256, n)
                             : dec_refuse(d, "operand must be a vector register");
            break;
        default:
            ok = code >= 256 ? dec_vgpr(d, &in->src[2], cd, code - 256, n)
                             : dec_inline(d, &in->src[2], code, t.letter == 'e' ? 'd' : 'f');
            break;
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* v_accvgpr_read and _write share the MAI opcode space but have one source. */
static bool dec_accvgpr(struct decode *d, uint32_t lo, uint32_t hi)
{
    struct vfields f = { .vdst = lo & 0xff, .src = { hi & 0x1ff, 0, 0 } };
    if ((lo & 0xbf00) != 0 || (hi & 0xe7fffe00) != 0) {
        return dec_refuse(d, "unused field is not zero");
    }
    return dec_operands(d, &f);
}

/* The scale words of a 16-byte MFMA (ISA text, 7.2.1; LLVM's VOP3PX2). */
static bool dec_scales(struct decode *d)
{
    uint32_t lo = d->w[0];
    uint32_t hi = d->w[1];
    struct sim_inst *in = d->in;
    if ((lo & 0xe7ff) != 0 || hi >> 29 != 0 || (hi >> 18 & 0x1ff) != 0) {
        return dec_refuse(d, "unused field of the scale words is not zero");
    }
    for (unsigned i = 0; i < 2; i++) {
        unsigned code = hi >> 9 * i & 0x1ff;
        if (code < 256) {
            return dec_refuse(d, "scale operand must be a vector register");
        }
        if (!dec_vgpr(d, &in->src[3 + i], SIM_OPND_VGPR, code - 256, 1)) {
            return false;
        }
    }
    in->opsel = lo >> 11 & 3;
    in->opsel_hi = hi >> 27 & 3;
    return true;
}

bool dec_mai(struct decode *d, unsigned at)
{
    struct sim_inst *in = d->in;
    uint32_t lo = d->w[at];
    uint32_t hi = d->w[at + 1];
    unsigned opcode = lo >> 16 & 0x7f;
    if (opcode == 0x2c) {
        /* The scale prefix: only as the first half of a 16-byte instruction. */
        unsigned second = d->w[2] >> 16;
        if (at != 0 || d->words < 4 || (second != 0xd3ad && second != 0xd3ae) ||
            (d->w[2] >> 11 & 15) != 1) {
            return dec_refuse(d, "scale prefix without a scaled MFMA");
        }
        return dec_mai(d, 2);
    }
    in->op = sim_op_find(SIM_ENC_MAI, SIM_SEG_NONE, opcode);
    in->enc = at == 0 ? SIM_ENC_MAI : SIM_ENC_MAIX;
    if (in->op == NULL) {
        return dec_refuse(d, "no such opcode in this encoding");
    }
    if ((in->op->flags & SIM_F_MFMA) == 0) {
        return dec_accvgpr(d, lo, hi);
    }
    in->cbsz = lo >> 8 & 7;
    in->abid = lo >> 11 & 15;
    in->blgp = hi >> 29 & 7;
    bool sparse = row_has(in->op, 'v');
    bool mixed = opcode == 0x2d || opcode == 0x2e;
    if (at == 2) {
        d->size = 16;
        in->abid = 0;
        if (!dec_scales(d)) {
            return false;
        }
    } else if (mixed && in->abid != 0) {
        return dec_refuse(d, "scaled form without its scale prefix");
    }
    if (sparse && in->blgp != 0) {
        return dec_refuse(d, "blgp on a sparse instruction");
    }
    if (sim_op_allows(in->op, 'n')) {
        in->neg = in->blgp; /* double precision: blgp is the negate field, ISA text 7.1.6.4 */
        in->blgp = 0;
    }
    return dec_mai_operands(d, lo, hi);
}
