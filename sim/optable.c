/* SPDX-License-Identifier: MIT */
/*
 * The instruction table, built from insts_*.def: one array per encoding,
 * indexed by opcode.
 */
#include "optable.h"

#include <string.h>

/* Short names for the flags and parameters in the rows. */
enum {
    WS = SIM_F_WRITES_SCC,
    RS = SIM_F_READS_SCC,
    RV = SIM_F_READS_VCC,
    WX = SIM_F_WRITES_EXEC,
    RE = 0, /* reads EXEC as a scalar: no flag of its own */
    BR = SIM_F_BRANCH,
    RD = SIM_F_READS_DST,
    RM0 = SIM_F_READS_M0,
    TR = SIM_F_TRANS,
    MF = SIM_F_MFMA | SIM_F_IGNORES_EXEC,
    XL = SIM_F_CROSSLANE,
    NE = SIM_F_IGNORES_EXEC,
    LD = SIM_F_LOAD,
    ST = SIM_F_STORE,
    AT = SIM_F_ATOMIC
};

enum { SG = SIM_P_SIGNED, D16 = SIM_P_D16, HI = SIM_P_D16_HI };

enum {
    F32 = SIM_FMT_F32,
    F16 = SIM_FMT_F16,
    BF16 = SIM_FMT_BF16,
    FP8 = SIM_FMT_FP8,
    BF8 = SIM_FMT_BF8,
    FP6 = SIM_FMT_FP6,
    BF6 = SIM_FMT_BF6,
    FP4 = SIM_FMT_FP4
};

enum {
    A_SWAP = SIM_ATOMIC_SWAP,
    A_CMPSWAP = SIM_ATOMIC_CMPSWAP,
    A_ADD = SIM_ATOMIC_ADD,
    A_SUB = SIM_ATOMIC_SUB,
    A_RSUB = SIM_ATOMIC_RSUB,
    A_SMIN = SIM_ATOMIC_SMIN,
    A_UMIN = SIM_ATOMIC_UMIN,
    A_SMAX = SIM_ATOMIC_SMAX,
    A_UMAX = SIM_ATOMIC_UMAX,
    A_AND = SIM_ATOMIC_AND,
    A_OR = SIM_ATOMIC_OR,
    A_XOR = SIM_ATOMIC_XOR,
    A_INC = SIM_ATOMIC_INC,
    A_DEC = SIM_ATOMIC_DEC,
    A_MSKOR = SIM_ATOMIC_MSKOR,
    A_WRAP = SIM_ATOMIC_WRAP,
    A_FCMPSWAP = SIM_ATOMIC_FCMPSWAP,
    A_FADD = SIM_ATOMIC_FADD,
    A_FMIN = SIM_ATOMIC_FMIN,
    A_FMAX = SIM_ATOMIC_FMAX,
    A_PK_ADD_F16 = SIM_ATOMIC_PK_ADD_F16,
    A_PK_ADD_BF16 = SIM_ATOMIC_PK_ADD_BF16
};

/* First pass over the rows: prototypes of the exec functions. */
#define OP(opcode, mnemonic, operands, ex, fl) sim_exec_fn sim_x_##ex;
#define OPP(opcode, mnemonic, operands, ex, ...) sim_exec_fn sim_x_##ex;
#define NX(opcode, mnemonic, operands, fl)
#define MFMA(opcode, mnemonic, operands, ex, ...) sim_exec_fn sim_x_##ex;
#include "insts_sop2.def"
#include "insts_sop1.def"
#include "insts_sopc.def"
#include "insts_sopk.def"
#include "insts_sopp.def"
#include "insts_smem.def"
#include "insts_vop1.def"
#include "insts_vop2.def"
#include "insts_vopc.def"
#include "insts_vop3.def"
#include "insts_vop3p.def"
#include "insts_mai.def"
#include "insts_ds.def"
#include "insts_mubuf.def"
#include "insts_flat.def"
#include "insts_global.def"
#include "insts_scratch.def"
#undef OP
#undef OPP
#undef NX
#undef MFMA

/* Second pass: the rows.  ENC and CLASS are set around each include. */
#define ROW(opc, mnemonic, opnds, fn, fl, pass, ...)                                           \
    [opc] = { .name = #mnemonic, .operands = opnds, .exec = fn, .flags = (fl) | (CLASS),       \
              .opcode = opc, .enc = ENC, .passes = pass, .p = { __VA_ARGS__ } },
#define OP(opcode, mnemonic, operands, ex, fl)                                                 \
    ROW(opcode, mnemonic, operands, sim_x_##ex, fl, 0, 0)
#define OPP(opcode, mnemonic, operands, ex, fl, ...)                                           \
    ROW(opcode, mnemonic, operands, sim_x_##ex, fl, 0, __VA_ARGS__)
#define NX(opcode, mnemonic, operands, fl) ROW(opcode, mnemonic, operands, NULL, fl, 0, 0)
#define MFMA(opcode, mnemonic, operands, ex, fl, pass, ...)                                    \
    ROW(opcode, mnemonic, operands, sim_x_##ex, fl, pass, __VA_ARGS__)

#define CLASS SIM_F_SALU
#define ENC SIM_ENC_SOP2
static const struct sim_op sop2_ops[] = {
#include "insts_sop2.def"
};
#undef ENC
#define ENC SIM_ENC_SOP1
static const struct sim_op sop1_ops[] = {
#include "insts_sop1.def"
};
#undef ENC
#define ENC SIM_ENC_SOPC
static const struct sim_op sopc_ops[] = {
#include "insts_sopc.def"
};
#undef ENC
#define ENC SIM_ENC_SOPK
static const struct sim_op sopk_ops[] = {
#include "insts_sopk.def"
};
#undef ENC
#define ENC SIM_ENC_SOPP
static const struct sim_op sopp_ops[] = {
#include "insts_sopp.def"
};
#undef ENC
#undef CLASS
#define CLASS SIM_F_SMEM
#define ENC SIM_ENC_SMEM
static const struct sim_op smem_ops[] = {
#include "insts_smem.def"
};
#undef ENC
#undef CLASS
#define CLASS SIM_F_VALU
#define ENC SIM_ENC_VOP1
static const struct sim_op vop1_ops[] = {
#include "insts_vop1.def"
};
#undef ENC
#define ENC SIM_ENC_VOP2
static const struct sim_op vop2_ops[] = {
#include "insts_vop2.def"
};
#undef ENC
#define ENC SIM_ENC_VOPC
static const struct sim_op vopc_ops[] = {
#include "insts_vopc.def"
};
#undef ENC
#define ENC SIM_ENC_VOP3
static const struct sim_op vop3_ops[] = {
#include "insts_vop3.def"
};
#undef ENC
#define ENC SIM_ENC_VOP3P
static const struct sim_op vop3p_ops[] = {
#include "insts_vop3p.def"
};
#undef ENC
#define ENC SIM_ENC_MAI
static const struct sim_op mai_ops[] = {
#include "insts_mai.def"
};
#undef ENC
#undef CLASS
#define CLASS SIM_F_DS
#define ENC SIM_ENC_DS
static const struct sim_op ds_ops[] = {
#include "insts_ds.def"
};
#undef ENC
#undef CLASS
#define CLASS SIM_F_VMEM
#define ENC SIM_ENC_MUBUF
static const struct sim_op mubuf_ops[] = {
#include "insts_mubuf.def"
};
#undef ENC
#define ENC SIM_ENC_FLAT
static const struct sim_op global_ops[] = {
#include "insts_global.def"
};
static const struct sim_op scratch_ops[] = {
#include "insts_scratch.def"
};
#undef CLASS
/* A flat access may reach LDS, so it counts in lgkmcnt as well (ISA text, "Flat"). */
#define CLASS SIM_F_VMEM | SIM_F_DS
static const struct sim_op flat_ops[] = {
#include "insts_flat.def"
};
#undef ENC
#undef CLASS

struct op_table {
    const struct sim_op *ops;
    size_t count;
    uint8_t enc, segment;
};

#define TABLE(array, enc, seg) { array, sizeof(array) / sizeof(array[0]), enc, seg }

static const struct op_table tables[] = {
    TABLE(sop2_ops, SIM_ENC_SOP2, SIM_SEG_NONE),
    TABLE(sop1_ops, SIM_ENC_SOP1, SIM_SEG_NONE),
    TABLE(sopc_ops, SIM_ENC_SOPC, SIM_SEG_NONE),
    TABLE(sopk_ops, SIM_ENC_SOPK, SIM_SEG_NONE),
    TABLE(sopp_ops, SIM_ENC_SOPP, SIM_SEG_NONE),
    TABLE(smem_ops, SIM_ENC_SMEM, SIM_SEG_NONE),
    TABLE(vop1_ops, SIM_ENC_VOP1, SIM_SEG_NONE),
    TABLE(vop2_ops, SIM_ENC_VOP2, SIM_SEG_NONE),
    TABLE(vopc_ops, SIM_ENC_VOPC, SIM_SEG_NONE),
    TABLE(vop3_ops, SIM_ENC_VOP3, SIM_SEG_NONE),
    TABLE(vop3p_ops, SIM_ENC_VOP3P, SIM_SEG_NONE),
    TABLE(mai_ops, SIM_ENC_MAI, SIM_SEG_NONE),
    TABLE(ds_ops, SIM_ENC_DS, SIM_SEG_NONE),
    TABLE(mubuf_ops, SIM_ENC_MUBUF, SIM_SEG_NONE),
    TABLE(flat_ops, SIM_ENC_FLAT, SIM_SEG_FLAT),
    TABLE(global_ops, SIM_ENC_FLAT, SIM_SEG_GLOBAL),
    TABLE(scratch_ops, SIM_ENC_FLAT, SIM_SEG_SCRATCH),
};

const struct sim_op *sim_op_find(enum sim_enc enc, enum sim_segment segment, unsigned opcode)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const struct op_table *t = &tables[i];
        if (t->enc == enc && t->segment == segment) {
            return opcode < t->count && t->ops[opcode].name != NULL ? &t->ops[opcode] : NULL;
        }
    }
    return NULL;
}

void sim_op_each(void (*fn)(const struct sim_op *op, void *user), void *user)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (size_t k = 0; k < tables[i].count; k++) {
            if (tables[i].ops[k].name != NULL) {
                fn(&tables[i].ops[k], user);
            }
        }
    }
}

bool sim_op_allows(const struct sim_op *op, char letter)
{
    const char *mods = strchr(op->operands, ';');
    return mods != NULL && strchr(mods + 1, letter) != NULL;
}
