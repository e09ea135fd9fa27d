/* SPDX-License-Identifier: MIT */
/*
 * Text of scalar ALU operands with their special immediates (waits, messages,
 * hardware registers) and of memory operands.
 */
#include "inst_text.h"

#include <string.h>

/* Hardware registers of s_getreg and s_setreg (ISA text, table 19). */
static const char *hwreg_name(unsigned id)
{
    static const char *const names[] = {
        [1] = "HW_REG_MODE",
        [2] = "HW_REG_STATUS",
        [3] = "HW_REG_TRAPSTS",
        [4] = "HW_REG_HW_ID",
        [5] = "HW_REG_GPR_ALLOC",
        [6] = "HW_REG_LDS_ALLOC",
        [7] = "HW_REG_IB_STS",
        [15] = "HW_REG_SH_MEM_BASES",
        [16] = "HW_REG_TBA_LO",
        [17] = "HW_REG_TBA_HI",
        [18] = "HW_REG_TMA_LO",
        [19] = "HW_REG_TMA_HI",
        [20] = "HW_REG_XCC_ID",
        [21] = "HW_REG_SQ_PERF_SNAPSHOT_DATA",
        [22] = "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
        [23] = "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
        [24] = "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
    };
    return id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
}

static void text_hwreg(struct text *t, unsigned imm)
{
    unsigned id = imm & 0x3f;
    unsigned offset = imm >> 6 & 0x1f;
    unsigned bits = (imm >> 11 & 0x1f) + 1;
    const char *name = hwreg_name(id);
    text_add(t, "hwreg(");
    if (name != NULL) {
        text_add(t, "%s", name);
    } else {
        text_add(t, "%u", id);
    }
    if (offset != 0 || bits != 32) {
        text_add(t, ", %u, %u", offset, bits);
    }
    text_add(t, ")");
}

/* ISA text, "S_WAITCNT": vmcnt in bits 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8. */
static void text_waitcnt(struct text *t, unsigned imm)
{
    unsigned vm = (imm & 15) | (imm >> 14 & 3) << 4;
    unsigned exp = imm >> 4 & 7;
    unsigned lgkm = imm >> 8 & 15;
    bool all = vm == 63 && exp == 7 && lgkm == 15;
    if (vm != 63 || all) {
        text_add(t, " vmcnt(%u)", vm);
    }
    if (exp != 7 || all) {
        text_add(t, " expcnt(%u)", exp);
    }
    if (lgkm != 15 || all) {
        text_add(t, " lgkmcnt(%u)", lgkm);
    }
}

/* Messages whose operation and stream fields LLVM names (ISA text, 12.5.1). */
static void text_message(struct text *t, unsigned imm)
{
    static const char *const names[16] = {
        [1] = "MSG_INTERRUPT",          [2] = "MSG_GS",
        [3] = "MSG_GS_DONE",            [4] = "MSG_SAVEWAVE",
        [5] = "MSG_STALL_WAVE_GEN",     [6] = "MSG_HALT_WAVES",
        [7] = "MSG_ORDERED_PS_DONE",    [8] = "MSG_EARLY_PRIM_DEALLOC",
        [9] = "MSG_GS_ALLOC_REQ",       [10] = "MSG_GET_DOORBELL",
        [15] = "MSG_SYSMSG",
    };
    static const char *const gs_ops[] = { "GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT",
                                          "GS_OP_EMIT_CUT" };
    static const char *const sys_ops[] = { NULL, "SYSMSG_OP_ECC_ERR_INTERRUPT",
                                           "SYSMSG_OP_REG_RD", NULL,
                                           "SYSMSG_OP_TTRACE_PC" };
    unsigned id = imm & 15;
    unsigned op = imm >> 4 & 7;
    unsigned stream = imm >> 8 & 3;
    bool gs = id == 2 || id == 3;
    bool sys = id == 15;
    bool named = names[id] != NULL;
    if (gs) {
        named = op < 4 && (op != 0 || id == 3) && (op != 0 || stream == 0);
    } else if (sys) {
        named = op < 5 && sys_ops[op] != NULL && stream == 0;
    } else {
        named = named && op == 0 && stream == 0;
    }
    if (!named && (imm & ~0x37fu) != 0) {
        text_add(t, " %u", imm);
    } else if (!named) {
        text_add(t, " sendmsg(%u, %u, %u)", id, op, stream);
    } else if (gs && op == 0) {
        text_add(t, " sendmsg(%s, %s)", names[id], gs_ops[0]);
    } else if (gs) {
        text_add(t, " sendmsg(%s, %s, %u)", names[id], gs_ops[op], stream);
    } else if (sys) {
        text_add(t, " sendmsg(%s, %s)", names[id], sys_ops[op]);
    } else {
        text_add(t, " sendmsg(%s)", names[id]);
    }
}

static void text_index_mode(struct text *t, unsigned imm)
{
    static const char *const names[] = { "SRC0", "SRC1", "SRC2", "DST" };
    bool first = true;
    if (imm > 15) {
        text_add(t, "0x%x", imm);
        return;
    }
    text_add(t, "gpr_idx(");
    for (unsigned i = 0; i < 4; i++) {
        if ((imm >> i & 1) != 0) {
            text_add(t, "%s%s", first ? "" : ",", names[i]);
            first = false;
        }
    }
    text_add(t, ")");
}

void text_salu_operands(struct text *t, const struct sim_inst *in)
{
    struct token k;
    unsigned src = 0;
    unsigned imm = (unsigned)in->imm & 0xffff;
    token_start(&k, in->op);
    while (token_next(&k)) {
        switch (k.letter) {
        case 'S':
            text_sep(t);
            text_opnd(t, &in->dst[0], 'i');
            break;
        case 'R':
        case 'r':
        case 's':
            text_sep(t);
            text_opnd(t, &in->src[src++], k.type != 0 ? k.type : 'i');
            break;
        case 'k':
            text_sep(t);
            text_add(t, "0x%x", imm);
            break;
        case 'B':
            text_sep(t);
            text_add(t, "%u", imm);
            break;
        case 'n':
            text_sep(t);
            text_add(t, imm <= 64 ? "%u" : "0x%x", imm);
            break;
        case 'e':
            if (imm != 0) {
                text_add(t, " %u", imm);
            }
            break;
        case 'w':
            text_waitcnt(t, imm);
            break;
        case 'm':
            text_message(t, imm);
            break;
        case 'I':
            text_sep(t);
            text_index_mode(t, imm);
            break;
        case 'h':
            text_sep(t);
            text_hwreg(t, imm);
            break;
        default: /* K */
            text_sep(t);
            text_opnd(t, &in->src[src++], 'i');
            break;
        }
    }
}

void text_smem_operands(struct text *t, const struct sim_inst *in)
{
    struct token k;
    token_start(&k, in->op);
    while (token_next(&k)) {
        text_sep(t);
        switch (k.letter) {
        case 'S':
            text_opnd(t, &in->dst[0], 'i');
            break;
        case 'R':
        case 'A':
            text_opnd(t, &in->src[1], 'i');
            break;
        case 'p':
            text_add(t, in->imm <= 64 ? "%d" : "0x%x", (int)in->imm);
            break;
        case 'b':
            text_opnd(t, &in->src[0], 'i');
            break;
        default:
            if (in->src[2].kind != SIM_OPND_NONE) {
                text_opnd(t, &in->src[2], 'i');
                if ((in->mem & SIM_MEM_OFFEN) != 0) {
                    text_add(t, " offset:%s0x%x", in->offset < 0 ? "-" : "",
                             (unsigned)(in->offset < 0 ? -in->offset : in->offset));
                }
            } else {
                text_add(t, "%s0x%x", in->offset < 0 ? "-" : "",
                         (unsigned)(in->offset < 0 ? -in->offset : in->offset));
            }
            break;
        }
    }
    if ((in->mem & SIM_MEM_SC0) != 0) {
        text_add(t, " glc");
    }
}

/* ds_swizzle_b32 patterns (ISA text, "DS_SWIZZLE_B32"). */
static void text_swizzle(struct text *t, unsigned imm)
{
    unsigned and_mask = imm & 31;
    unsigned or_mask = imm >> 5 & 31;
    unsigned xor_mask = imm >> 10 & 31;
    if (imm == 0) {
        return;
    }
    text_add(t, " offset:");
    if (imm >= 0xe000) {
        text_add(t, "swizzle(FFT,%u)", imm & 31);
    } else if (imm >= 0xc000) {
        text_add(t, "swizzle(ROTATE,%u,%u)", imm >> 10 & 1, imm >> 5 & 31);
    } else if (imm >= 0x8000 && (imm & 0x7f00) == 0) {
        text_add(t, "swizzle(QUAD_PERM,%u,%u,%u,%u)", imm & 3, imm >> 2 & 3, imm >> 4 & 3,
                 imm >> 6 & 3);
    } else if (imm >= 0x8000) {
        text_add(t, "%u", imm);
    } else if (and_mask == 31 && or_mask == 0 && xor_mask != 0 &&
               (xor_mask & (xor_mask - 1)) == 0) {
        text_add(t, "swizzle(SWAP,%u)", xor_mask);
    } else if (and_mask == 31 && or_mask == 0 && xor_mask != 0 &&
               (xor_mask & (xor_mask + 1)) == 0) {
        text_add(t, "swizzle(REVERSE,%u)", xor_mask + 1);
    } else {
        unsigned group = 32 - and_mask;
        if ((group & (group - 1)) == 0 && group > 1 && or_mask < group && xor_mask == 0) {
            text_add(t, "swizzle(BROADCAST,%u,%u)", group, or_mask);
            return;
        }
        text_add(t, "swizzle(BITMASK_PERM,\"");
        for (int i = 4; i >= 0; i--) {
            unsigned a = and_mask >> i & 1;
            unsigned o = or_mask >> i & 1;
            unsigned x = xor_mask >> i & 1;
            unsigned zero = (0u | o) ^ x; /* what a 0 and a 1 become */
            unsigned one = (a | o) ^ x;
            text_add(t, "%c", zero == one ? (zero == 0 ? '0' : '1') : zero == 0 ? 'p' : 'i');
        }
        text_add(t, "\")");
    }
}

static void text_ds(struct text *t, const struct sim_inst *in)
{
    struct token k;
    unsigned offset = (unsigned)in->offset;
    token_start(&k, in->op);
    while (token_next(&k)) {
        switch (k.letter) {
        case 'D':
            text_sep(t);
            text_opnd(t, &in->dst[0], 'i');
            break;
        case 'a':
            text_sep(t);
            text_opnd(t, &in->src[SIM_SRC_ADDR], 'i');
            break;
        case 'd':
            text_sep(t);
            text_opnd(t, &in->src[SIM_SRC_DATA], 'i');
            break;
        case 'e':
            text_sep(t);
            text_opnd(t, &in->src[SIM_SRC_DATA1], 'i');
            break;
        case 'o':
            if ((offset & 0xff) != 0) {
                text_add(t, " offset0:%u", offset & 0xff);
            }
            if (offset >> 8 != 0) {
                text_add(t, " offset1:%u", offset >> 8);
            }
            break;
        case 'w':
            text_swizzle(t, offset);
            break;
        default:
            if (offset != 0) {
                text_add(t, " offset:%u", offset);
            }
            break;
        }
    }
    if ((in->mem & SIM_MEM_GDS) != 0) {
        text_add(t, " gds");
    }
}

static void text_cache_bits(struct text *t, const struct sim_inst *in)
{
    text_add(t, "%s%s%s", (in->mem & SIM_MEM_SC0) != 0 ? " sc0" : "",
             (in->mem & SIM_MEM_NT) != 0 ? " nt" : "",
             (in->mem & SIM_MEM_SC1) != 0 ? " sc1" : "");
}

static void text_mubuf(struct text *t, const struct sim_inst *in)
{
    if (!sim_op_allows(in->op, 'i')) {
        bool load = in->dst[0].kind != SIM_OPND_NONE;
        if (load || in->src[SIM_SRC_DATA].kind != SIM_OPND_NONE) {
            text_sep(t);
            /* An atomic names its data registers even where fewer come back. */
            text_opnd(t, in->src[SIM_SRC_DATA].kind != SIM_OPND_NONE ? &in->src[SIM_SRC_DATA]
                                                                      : &in->dst[0], 'i');
        }
        text_sep(t);
        text_opnd(t, &in->src[SIM_SRC_ADDR], 'i');
        text_sep(t);
        text_opnd(t, &in->src[SIM_SRC_RSRC], 'i');
        text_sep(t);
        text_opnd(t, &in->src[SIM_SRC_SOFF], 'i');
        text_add(t, "%s%s", (in->mem & SIM_MEM_IDXEN) != 0 ? " idxen" : "",
                 (in->mem & SIM_MEM_OFFEN) != 0 ? " offen" : "");
        if (in->offset != 0) {
            text_add(t, " offset:%d", (int)in->offset);
        }
    }
    text_cache_bits(t, in);
    if ((in->mem & SIM_MEM_LDS) != 0) {
        text_add(t, " lds");
    }
}

static void text_flat(struct text *t, const struct sim_inst *in)
{
    if (in->dst[0].kind != SIM_OPND_NONE) {
        text_sep(t);
        text_opnd(t, &in->dst[0], 'i');
    }
    text_sep(t);
    text_opnd(t, &in->src[SIM_SRC_ADDR], 'i');
    if (in->src[SIM_SRC_DATA].kind != SIM_OPND_NONE) {
        text_sep(t);
        text_opnd(t, &in->src[SIM_SRC_DATA], 'i');
    }
    if (in->segment != SIM_SEG_FLAT) {
        text_sep(t);
        text_opnd(t, &in->src[SIM_SRC_SADDR], 'i');
    }
    if (in->offset != 0) {
        text_add(t, " offset:%d", (int)in->offset);
    }
    text_cache_bits(t, in);
}

void text_mem_operands(struct text *t, const struct sim_inst *in)
{
    if (in->enc == SIM_ENC_DS) {
        text_ds(t, in);
    } else if (in->enc == SIM_ENC_MUBUF) {
        text_mubuf(t, in);
    } else {
        text_flat(t, in);
    }
}
