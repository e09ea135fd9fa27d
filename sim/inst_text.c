/* SPDX-License-Identifier: MIT */
/*
 * Text of a decoded instruction in LLVM's syntax: mnemonic, operands, and the
 * modifiers of the ALU encodings.  Memory modifiers and the special immediates
 * are in inst_text_imm.c.
 */
#include "inst_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_add(struct text *t, const char *fmt, ...)
{
    va_list ap;
    if (t->at >= t->size) {
        return;
    }
    va_start(ap, fmt);
    int n = vsnprintf(t->buf + t->at, t->size - t->at, fmt, ap);
    va_end(ap);
    t->at += n > 0 ? (size_t)n : 0;
    if (t->at >= t->size) {
        t->at = t->size; /* truncated, but terminated */
    }
}

static void text_sgpr(struct text *t, unsigned reg, unsigned n)
{
    static const char *const pairs[] = { "flat_scratch", "xnack_mask", "vcc" };
    if (reg == SIM_SGPR_M0) {
        text_add(t, "m0");
    } else if (reg >= SIM_SGPR_EXEC) {
        text_add(t, n == 2 ? "exec" : reg == SIM_SGPR_EXEC ? "exec_lo" : "exec_hi");
    } else if (reg >= SIM_SGPR_TTMP0 && n == 1) {
        text_add(t, "ttmp%u", reg - SIM_SGPR_TTMP0);
    } else if (reg >= SIM_SGPR_TTMP0) {
        text_add(t, "ttmp[%u:%u]", reg - SIM_SGPR_TTMP0, reg - SIM_SGPR_TTMP0 + n - 1);
    } else if (reg >= SIM_SGPR_FLAT_SCRATCH) {
        const char *name = pairs[(reg - SIM_SGPR_FLAT_SCRATCH) / 2];
        text_add(t, "%s%s", name, n == 2 ? "" : reg % 2 == 0 ? "_lo" : "_hi");
    } else if (n == 1) {
        text_add(t, "s%u", reg);
    } else {
        text_add(t, "s[%u:%u]", reg, reg + n - 1);
    }
}

/* Inline float constants as LLVM prints them; the double form of 1/(2*pi) has more digits. */
static const struct {
    uint16_t h, b;
    uint32_t f;
    uint64_t d;
    const char *text;
} float_texts[] = {
    { 0x3800, 0x3f00, 0x3f000000, 0x3fe0000000000000, "0.5" },
    { 0xb800, 0xbf00, 0xbf000000, 0xbfe0000000000000, "-0.5" },
    { 0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000, "1.0" },
    { 0xbc00, 0xbf80, 0xbf800000, 0xbff0000000000000, "-1.0" },
    { 0x4000, 0x4000, 0x40000000, 0x4000000000000000, "2.0" },
    { 0xc000, 0xc000, 0xc0000000, 0xc000000000000000, "-2.0" },
    { 0x4400, 0x4080, 0x40800000, 0x4010000000000000, "4.0" },
    { 0xc400, 0xc080, 0xc0800000, 0xc010000000000000, "-4.0" },
    { 0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882, "0.15915494" },
};

/* The inline float that v stands for in this type, or NULL. */
static const char *float_text(uint64_t v, char type)
{
    for (size_t i = 0; i < sizeof(float_texts) / sizeof(float_texts[0]); i++) {
        switch (type) {
        case 'h':
        case 't':
        case 'H':
            if ((uint16_t)v == float_texts[i].h) {
                return float_texts[i].text;
            }
            break;
        case 'b':
        case 'Y':
            if ((uint16_t)v == float_texts[i].b) {
                return float_texts[i].text;
            }
            break;
        case 'd':
        case 'q':
        case 'Q':
            if (v == float_texts[i].d) {
                return i == 8 ? "0.15915494309189532" : float_texts[i].text;
            }
            break;
        case 'w':
            return NULL; /* LLVM prints the pattern of a 16-bit integer operand */
        default:
            if ((uint32_t)v == float_texts[i].f) {
                return float_texts[i].text;
            }
            break;
        }
    }
    return NULL;
}

/* v as the operand type's signed integer, for the inline range -16..64. */
static int64_t as_int(uint64_t v, char type)
{
    switch (type) {
    case 'd':
    case 'q':
    case 'Q':
        return (int64_t)v;
    case 'h':
    case 't':
    case 'w':
    case 'b':
        return (int16_t)v;
    default:
        return (int32_t)v;
    }
}

static void text_const(struct text *t, const struct sim_opnd *o, char type)
{
    int64_t i = as_int(o->imm, type);
    const char *f = float_text(o->imm, type);
    bool is_inline = (i >= -16 && i <= 64) || f != NULL;
    if (o->is_literal && type != 'd') {
        /* LLVM marks a literal that could have been an inline constant. */
        bool half = type == 'h' || type == 't' || type == 'w' || type == 'b';
        unsigned long long v = half && !is_inline ? o->imm & 0xffff : o->imm & 0xffffffff;
        text_add(t, is_inline ? "lit(0x%llx)" : "0x%llx", v);
    } else if (i >= -16 && i <= 64) {
        text_add(t, "%d", (int)i);
    } else if (f != NULL) {
        text_add(t, "%s", f);
    } else {
        unsigned long long v = o->is_literal ? o->imm >> 32 : type == 'w' ? o->imm & 0xffff
                                                                           : o->imm;
        text_add(t, "0x%llx", v);
    }
}

static void text_vgpr(struct text *t, const struct sim_opnd *o)
{
    char c = o->kind == SIM_OPND_AGPR ? 'a' : 'v';
    if (o->ndw == 1) {
        text_add(t, "%c%u", c, o->reg);
    } else {
        text_add(t, "%c[%u:%u]", c, o->reg, o->reg + o->ndw - 1);
    }
}

void text_opnd(struct text *t, const struct sim_opnd *o, char type)
{
    static const char *const apertures[] = { "src_shared_base", "src_shared_limit",
                                             "src_private_base", "src_private_limit" };
    switch (o->kind) {
    case SIM_OPND_SGPR:
        text_sgpr(t, o->reg, o->ndw);
        break;
    case SIM_OPND_VGPR:
    case SIM_OPND_AGPR:
        text_vgpr(t, o);
        break;
    case SIM_OPND_CONST:
        text_const(t, o, type);
        break;
    case SIM_OPND_SCC:
        text_add(t, "src_scc");
        break;
    case SIM_OPND_VCCZ:
        text_add(t, "src_vccz");
        break;
    case SIM_OPND_EXECZ:
        text_add(t, "src_execz");
        break;
    case SIM_OPND_APERTURE:
        text_add(t, "%s", apertures[o->reg - 235]);
        break;
    default:
        text_add(t, "off");
        break;
    }
}

void text_sep(struct text *t)
{
    text_add(t, t->operands++ == 0 ? " " : ", ");
}

/* " name:[a,b,c]" from the low bits of a mask. */
static void text_bits(struct text *t, const char *name, unsigned bits, unsigned n)
{
    text_add(t, " %s:[", name);
    for (unsigned i = 0; i < n; i++) {
        text_add(t, "%s%u", i == 0 ? "" : ",", bits >> i & 1);
    }
    text_add(t, "]");
}

static void text_clamp_omod(struct text *t, const struct sim_inst *in)
{
    static const char *const omods[] = { "", " mul:2", " mul:4", " div:2" };
    if (in->clamp != 0) {
        text_add(t, " clamp");
    }
    text_add(t, "%s", omods[in->omod & 3]);
}

/* Number of places in op_sel: the sources, and the destination in VOP3. */
static void text_vop3_mods(struct text *t, const struct sim_inst *in, unsigned sources)
{
    if (sim_op_allows(in->op, 'b') && in->bitop3 != 0) {
        text_add(t, in->bitop3 <= 10 ? " bitop3:%u" : " bitop3:0x%x", in->bitop3);
    }
    if (in->opsel != 0) {
        if (sim_op_allows(in->op, 'S')) {
            text_bits(t, "op_sel", in->opsel, 4);
        } else {
            unsigned low = in->opsel & ((1u << sources) - 1);
            text_bits(t, "op_sel", low | (in->opsel >> 3 & 1u) << sources, sources + 1);
        }
    }
    text_clamp_omod(t, in);
}

static void text_vop3p_mods(struct text *t, const struct sim_inst *in, unsigned sources)
{
    bool mix = sim_op_allows(in->op, 'm');
    if (sim_op_allows(in->op, 's')) {
        unsigned all = (1u << sources) - 1;
        if (in->opsel != 0) {
            text_bits(t, "op_sel", in->opsel, sources);
        }
        if (in->opsel_hi != (mix ? 0 : all)) {
            text_bits(t, "op_sel_hi", in->opsel_hi, sources);
        }
    }
    if (!mix && in->neg != 0) {
        text_bits(t, "neg_lo", in->neg, sources);
    }
    if (!mix && in->abs != 0) {
        text_bits(t, "neg_hi", in->abs, sources);
    }
    text_clamp_omod(t, in);
}

static void text_mfma_mods(struct text *t, const struct sim_inst *in)
{
    if (in->enc == SIM_ENC_MAIX) {
        if (in->opsel != 0) {
            text_bits(t, "op_sel", in->opsel, 3);
        }
        text_bits(t, "op_sel_hi", in->opsel_hi, 3);
    }
    if (in->cbsz != 0) {
        text_add(t, " cbsz:%u", in->cbsz);
    }
    if (in->abid != 0) {
        text_add(t, " abid:%u", in->abid);
    }
    if (in->blgp != 0) {
        text_add(t, " blgp:%u", in->blgp);
    }
    if (in->neg != 0) {
        text_bits(t, "neg", in->neg, 3);
    }
}

static void text_dpp(struct text *t, const struct sim_dpp *p)
{
    unsigned c = p->ctrl;
    if (c < 0x100) {
        text_add(t, " quad_perm:[%u,%u,%u,%u]", c & 3, c >> 2 & 3, c >> 4 & 3, c >> 6 & 3);
    } else if (c < 0x130) {
        static const char *const shifts[] = { "row_shl", "row_shr", "row_ror" };
        text_add(t, " %s:%u", shifts[(c >> 4) - 0x10], c & 15);
    } else if (c < 0x140) {
        static const char *const waves[] = { "wave_shl", "wave_rol", "wave_shr", "wave_ror" };
        text_add(t, " %s:1", waves[(c & 15) / 4]);
    } else if (c < 0x144) {
        static const char *const rows[] = { "row_mirror", "row_half_mirror", "row_bcast:15",
                                            "row_bcast:31" };
        text_add(t, " %s", rows[c & 3]);
    } else {
        text_add(t, " row_newbcast:%u", c & 15);
    }
    text_add(t, " row_mask:0x%x bank_mask:0x%x%s", p->row_mask, p->bank_mask,
             p->bound_ctrl ? " bound_ctrl:1" : "");
}

static void text_sdwa(struct text *t, const struct sim_inst *in, unsigned sources)
{
    static const char *const sels[] = { "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                        "WORD_0", "WORD_1", "DWORD",  "?" };
    static const char *const unused[] = { "UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?" };
    text_clamp_omod(t, in);
    if (in->op->enc != SIM_ENC_VOPC && !sim_op_allows(in->op, 'd')) {
        text_add(t, " dst_sel:%s dst_unused:%s", sels[in->sdwa.dst_sel & 7],
                 unused[in->sdwa.dst_unused & 3]);
    }
    for (unsigned i = 0; i < sources; i++) {
        text_add(t, " src%u_sel:%s", i, sels[in->sdwa.src_sel[i] & 7]);
    }
}

/* A vector ALU source with its neg, abs and sext decoration. */
static void text_source(struct text *t, const struct sim_inst *in, unsigned i, unsigned field,
                        char type)
{
    bool plain = in->enc == SIM_ENC_VOP3P && !sim_op_allows(in->op, 'm');
    bool neg = !plain && (in->neg >> field & 1) != 0;
    bool abs = !plain && (in->abs >> field & 1) != 0;
    bool sext = in->has_sdwa && field < 2 && (in->sdwa.sext >> field & 1) != 0;
    const struct sim_opnd *o = &in->src[i];
    /* LLVM writes neg(1) where -1 would read as another constant. */
    bool call = neg && !abs && o->kind == SIM_OPND_CONST;
    text_add(t, "%s%s%s", call ? "neg(" : neg ? "-" : "", abs ? "|" : "", sext ? "sext(" : "");
    text_opnd(t, o, type);
    text_add(t, "%s%s%s", sext ? ")" : "", abs ? "|" : "", call ? ")" : "");
}

static void text_valu_operands(struct text *t, const struct sim_inst *in)
{
    struct token k;
    unsigned src = 0;
    unsigned field = 0;
    unsigned dst = 0;
    bool mai = in->enc == SIM_ENC_MAI || in->enc == SIM_ENC_MAIX;
    token_start(&k, in->op);
    while (token_next(&k)) {
        switch (k.letter) {
        case 'D':
        case 'G':
        case 'S':
        case 'k':
            text_sep(t);
            text_opnd(t, &in->dst[dst++], 'i');
            break;
        case 'K':
            text_sep(t);
            text_add(t, "0x%llx", (unsigned long long)in->src[src++].imm);
            break;
        case 'm':
            text_sep(t);
            text_opnd(t, &in->src[src++], 'q');
            field++;
            break;
        default:
            text_sep(t);
            if (mai) {
                text_opnd(t, &in->src[src], k.letter == 'e' ? 'd' : 'f');
            } else {
                text_source(t, in, src, field, k.type);
            }
            src++;
            field++;
            break;
        }
    }
    if (in->enc == SIM_ENC_MAIX) {
        for (unsigned i = 3; i < 5; i++) {
            text_sep(t);
            text_opnd(t, &in->src[i], 'i');
        }
    }
    if (in->has_dpp) {
        text_dpp(t, &in->dpp);
    } else if (in->has_sdwa) {
        text_sdwa(t, in, in->op->enc == SIM_ENC_VOP1 ? 1 : 2);
    } else if (mai) {
        text_mfma_mods(t, in);
    } else if (in->enc == SIM_ENC_VOP3P) {
        text_vop3p_mods(t, in, field);
    } else if (in->enc == SIM_ENC_VOP3) {
        text_vop3_mods(t, in, field);
    }
}

static void text_mnemonic(struct text *t, const struct sim_inst *in)
{
    const char *name = in->op->name;
    if (in->enc == SIM_ENC_MAIX) {
        text_add(t, "v_mfma_scale%s", name + strlen("v_mfma"));
        return;
    }
    text_add(t, "%s", name);
    if (in->has_dpp) {
        text_add(t, "_dpp");
    } else if (in->has_sdwa) {
        text_add(t, "_sdwa");
    } else if (sim_op_allows(in->op, '3') && !sim_op_allows(in->op, 'n')) {
        text_add(t, in->enc == SIM_ENC_VOP3 ? "_e64" : "_e32");
    }
}

char *sim_inst_text(const struct sim_inst *inst, char *buf, size_t size)
{
    struct text t = { .buf = buf, .size = size };
    if (size == 0) {
        return buf;
    }
    buf[0] = '\0';
    if (inst->op == NULL) {
        text_add(&t, "unknown instruction (%s)",
                 inst->refused != NULL ? inst->refused : "not decoded");
        return buf;
    }
    text_mnemonic(&t, inst);
    if (inst->enc <= SIM_ENC_SOPP) {
        text_salu_operands(&t, inst);
    } else if (inst->enc == SIM_ENC_SMEM) {
        text_smem_operands(&t, inst);
    } else if (inst->enc >= SIM_ENC_DS) {
        text_mem_operands(&t, inst);
    } else {
        text_valu_operands(&t, inst);
    }
    return buf;
}
