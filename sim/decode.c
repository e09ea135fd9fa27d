/* SPDX-License-Identifier: MIT */
/*
 * Decoder: tells the encodings apart (ISA text, chapter 13), decodes the
 * scalar ALU ones, and reads the operands that all encodings share.
 */
#include "decode.h"

#include <stdio.h>
#include <string.h>

bool dec_refuse(struct decode *d, const char *why)
{
    if (d->in->refused == NULL) {
        d->in->refused = why;
    }
    return false;
}

void token_start(struct token *t, const struct sim_op *op)
{
    memset(t, 0, sizeof(*t));
    t->next = op->operands;
}

bool token_next(struct token *t)
{
    while (*t->next == ' ') {
        t->next++;
    }
    if (*t->next == '\0' || *t->next == ';') {
        return false;
    }
    t->letter = *t->next++;
    t->type = 0;
    t->number = 0;
    while (*t->next != '\0' && *t->next != ' ' && *t->next != ';') {
        char c = *t->next++;
        if (c >= '0' && c <= '9') {
            t->number = t->number * 10 + (unsigned)(c - '0');
        } else {
            t->type = c;
        }
    }
    return true;
}

bool dec_sgpr(struct decode *d, struct sim_opnd *o, unsigned code, unsigned n)
{
    unsigned align = n >= 4 ? 4 : n;
    if (code >= SIM_SGPR_COUNT || code == 125) {
        return dec_refuse(d, "operand code is not a scalar register");
    }
    if (code % align != 0) {
        return dec_refuse(d, "scalar register tuple is not aligned");
    }
    unsigned last = code + n - 1;
    bool ok = last < SIM_SGPR_FLAT_SCRATCH || /* inside s0..s101 */
              (code >= SIM_SGPR_TTMP0 && last < SIM_SGPR_M0) ||
              (n <= 2 && code >= SIM_SGPR_FLAT_SCRATCH && code < SIM_SGPR_TTMP0) ||
              (n == 1 && code == SIM_SGPR_M0) || (n <= 2 && code >= SIM_SGPR_EXEC);
    if (!ok) {
        return dec_refuse(d, "scalar register tuple leaves its register file");
    }
    memset(o, 0, sizeof(*o));
    o->kind = SIM_OPND_SGPR;
    o->ndw = (uint8_t)n;
    o->reg = (uint16_t)code;
    return true;
}

bool dec_vgpr(struct decode *d, struct sim_opnd *o, unsigned kind, unsigned reg, unsigned n)
{
    /* ISA text, "VGPR Allocation and Alignment": 64-bit and wider data is even-aligned. */
    if (n > 1 && reg % 2 != 0) {
        return dec_refuse(d, "vector register tuple is not aligned");
    }
    if (reg + n > 256) {
        return dec_refuse(d, "vector register tuple leaves its register file");
    }
    memset(o, 0, sizeof(*o));
    o->kind = (uint8_t)kind;
    o->ndw = (uint8_t)n;
    o->reg = (uint16_t)reg;
    return true;
}

/* Codes 240..248 in half, bfloat16, single and double precision (ISA text, table 23). */
static const struct {
    uint16_t h, b;
    uint32_t f;
    uint64_t d;
} inline_floats[] = {
    { 0x3800, 0x3f00, 0x3f000000, 0x3fe0000000000000 },
    { 0xb800, 0xbf00, 0xbf000000, 0xbfe0000000000000 },
    { 0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000 },
    { 0xbc00, 0xbf80, 0xbf800000, 0xbff0000000000000 },
    { 0x4000, 0x4000, 0x40000000, 0x4000000000000000 },
    { 0xc000, 0xc000, 0xc0000000, 0xc000000000000000 },
    { 0x4400, 0x4080, 0x40800000, 0x4010000000000000 },
    { 0xc400, 0xc080, 0xc0800000, 0xc010000000000000 },
    { 0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882 },
};

bool dec_inline(struct decode *d, struct sim_opnd *o, unsigned code, char type)
{
    memset(o, 0, sizeof(*o));
    o->kind = SIM_OPND_CONST;
    o->ndw = (uint8_t)type_dwords(type);
    if (code >= 128 && code <= 208) {
        int64_t v = code <= 192 ? (int)code - 128 : 192 - (int)code;
        bool wide = type == 'd' || type == 'q' || type == 'Q';
        o->imm = wide ? (uint64_t)v : (uint32_t)v;
        return true;
    }
    if (code < 240 || code > 248) {
        return dec_refuse(d, "operand code is reserved");
    }
    switch (type) {
    case 'h':
    case 't':
    case 'w': /* 16-bit integers see the half-precision pattern */
    case 'H':
        o->imm = inline_floats[code - 240].h;
        break;
    case 'b':
    case 'Y':
        o->imm = inline_floats[code - 240].b;
        break;
    case 'd':
    case 'q':
    case 'Q':
        o->imm = inline_floats[code - 240].d;
        break;
    default:
        o->imm = inline_floats[code - 240].f;
        break;
    }
    return true;
}

bool dec_literal(struct decode *d, unsigned at, uint32_t *value)
{
    if (at >= d->words) {
        return dec_refuse(d, "the code ends inside an instruction");
    }
    *value = d->w[at];
    d->has_literal = true;
    d->size = 4 * (at + 1);
    return true;
}

/* A literal, widened as ISA text section 6.2.1.1 says. */
static bool literal_operand(struct decode *d, struct sim_opnd *o, char type, unsigned at)
{
    uint32_t value;
    if (at == 0) {
        return dec_refuse(d, "this encoding takes no literal");
    }
    if (!dec_literal(d, at, &value)) {
        return false;
    }
    memset(o, 0, sizeof(*o));
    o->kind = SIM_OPND_CONST;
    o->ndw = (uint8_t)type_dwords(type);
    o->is_literal = 1;
    if (type == 'd') {
        o->imm = (uint64_t)value << 32;
    } else if (type == 'Q') {
        o->imm = (uint64_t)(int64_t)(int32_t)value;
    } else {
        o->imm = value;
    }
    return true;
}

bool dec_scalar(struct decode *d, struct sim_opnd *o, unsigned code, char type,
                unsigned literal_at)
{
    unsigned n = type_dwords(type);
    if (code < SIM_SGPR_COUNT) {
        return dec_sgpr(d, o, code, n);
    }
    memset(o, 0, sizeof(*o));
    o->ndw = (uint8_t)n;
    switch (code) {
    case 235:
    case 236:
    case 237:
    case 238:
        o->kind = SIM_OPND_APERTURE;
        o->reg = (uint16_t)code;
        return true;
    case 251:
        o->kind = SIM_OPND_VCCZ;
        return true;
    case 252:
        o->kind = SIM_OPND_EXECZ;
        return true;
    case 253:
        o->kind = SIM_OPND_SCC;
        return true;
    case 255:
        return literal_operand(d, o, type, literal_at);
    default:
        return dec_inline(d, o, code, type);
    }
}

/* Finds the row and fills the fields that every encoding sets. */
static bool set_op(struct decode *d, enum sim_enc enc, unsigned opcode)
{
    d->in->op = sim_op_find(enc, SIM_SEG_NONE, opcode);
    d->in->enc = (uint8_t)enc;
    d->size = 4;
    return d->in->op != NULL || dec_refuse(d, "no such opcode in this encoding");
}

/* SOP2, SOP1, SOPC, SOPK and SOPP: fields are at fixed places, rows say which are used. */
static bool dec_sop(struct decode *d, enum sim_enc enc, unsigned opcode)
{
    uint32_t w = d->w[0];
    struct sim_inst *in = d->in;
    struct token t;
    unsigned src = 0;
    if (!set_op(d, enc, opcode)) {
        return false;
    }
    in->imm = (int16_t)(w & 0xffff);
    bool imm_used = false;
    bool dst_used = false;
    token_start(&t, in->op);
    while (token_next(&t)) {
        bool ok = true;
        uint32_t value;
        switch (t.letter) {
        case 'S':
            ok = dec_sgpr(d, &in->dst[0], w >> 16 & 0x7f, t.number);
            dst_used = true;
            break;
        case 'R':
            ok = dec_sgpr(d, &in->src[src++], w >> 16 & 0x7f, t.number);
            dst_used = true;
            break;
        case 's':
            ok = dec_scalar(d, &in->src[src], src == 0 ? w & 0xff : w >> 8 & 0xff, t.type, 1);
            src++;
            break;
        case 'r':
            ok = dec_sgpr(d, &in->src[src++], w & 0xff, type_dwords(t.type));
            break;
        case 'I':
            /* SOPC keeps the index mode where the second source would be. */
            in->imm = enc == SIM_ENC_SOPC ? (int)(w >> 8 & 0xff) : (int)(w & 0xffff);
            imm_used = true;
            break;
        case 'K':
            ok = dec_literal(d, 1, &value);
            if (ok) {
                in->src[src].kind = SIM_OPND_CONST;
                in->src[src].ndw = 1;
                in->src[src].is_literal = 1;
                in->src[src++].imm = value;
            }
            break;
        default:
            imm_used = true;
            break;
        }
        if (!ok) {
            return false;
        }
    }
    if (enc == SIM_ENC_SOPP && !imm_used && in->imm != 0) {
        return dec_refuse(d, "unused immediate is not zero");
    }
    if (enc == SIM_ENC_SOP1 && ((!dst_used && (w >> 16 & 0x7f) != 0) ||
                                (src == 0 && (w & 0xff) != 0))) {
        return dec_refuse(d, "unused field is not zero");
    }
    if (enc == SIM_ENC_SOP2 && !dst_used && (w >> 16 & 0x7f) != 0) {
        return dec_refuse(d, "unused field is not zero");
    }
    return true;
}

/* The encodings whose first bits are 10 (scalar ALU). */
static bool dec_salu(struct decode *d)
{
    uint32_t w = d->w[0];
    switch (w >> 23) {
    case 0x17d:
        return dec_sop(d, SIM_ENC_SOP1, w >> 8 & 0xff);
    case 0x17e:
        return dec_sop(d, SIM_ENC_SOPC, w >> 16 & 0x7f);
    case 0x17f:
        return dec_sop(d, SIM_ENC_SOPP, w >> 16 & 0x7f);
    default:
        break;
    }
    if (w >> 28 == 0xb) {
        return dec_sop(d, SIM_ENC_SOPK, w >> 23 & 0x1f);
    }
    return dec_sop(d, SIM_ENC_SOP2, w >> 23 & 0x7f);
}

static bool dec_by_encoding(struct decode *d)
{
    uint32_t w = d->w[0];
    if (w >> 31 == 0) {
        switch (w >> 25) {
        case 0x3f:
            return dec_vop_short(d, SIM_ENC_VOP1, w >> 9 & 0xff);
        case 0x3e:
            return dec_vop_short(d, SIM_ENC_VOPC, w >> 17 & 0xff);
        default:
            return dec_vop_short(d, SIM_ENC_VOP2, w >> 25);
        }
    }
    if (w >> 30 == 2) {
        return dec_salu(d);
    }
    if (d->words < 2) {
        return dec_refuse(d, "the code ends inside an instruction");
    }
    d->size = 8;
    switch (w >> 26) {
    case 0x30:
        return dec_smem(d);
    case 0x34:
        return w >> 23 == 0x1a7 ? dec_vop3p(d) : dec_vop3(d);
    case 0x36:
        return dec_ds(d);
    case 0x37:
        return dec_flat(d);
    case 0x38:
        return dec_mubuf(d);
    default:
        return dec_refuse(d, "no such encoding");
    }
}

size_t sim_decode(const uint8_t *code, size_t avail, uint64_t pc, struct sim_inst *inst)
{
    struct decode d = { .in = inst };
    memset(inst, 0, sizeof(*inst));
    inst->pc = pc;
    for (d.words = 0; d.words < 4 && avail >= 4 * (d.words + 1); d.words++) {
        const uint8_t *p = code + 4 * d.words;
        d.w[d.words] = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    }
    if (d.words == 0) {
        inst->refused = "the code ends inside an instruction";
        return 0;
    }
    if (!dec_by_encoding(&d)) {
        const char *why = inst->refused;
        memset(inst, 0, sizeof(*inst));
        inst->pc = pc;
        inst->refused = why;
        return 0;
    }
    inst->size = (uint8_t)d.size;
    return d.size;
}

char *sim_decode_raw_text(const struct sim_inst *inst, const uint8_t *code, size_t avail,
                          char *buf, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < 4 && 4 * (i + 1) <= avail; i++) {
        uint32_t w;
        memcpy(&w, code + 4 * i, 4);
        int n = snprintf(buf + at, size - at, "%s%08x", i == 0 ? "words " : " ", w);
        if (n < 0 || (size_t)n >= size - at) {
            return buf;
        }
        at += (size_t)n;
    }
    snprintf(buf + at, size - at, " (%s)",
             inst->refused != NULL ? inst->refused : "not an instruction");
    return buf;
}
