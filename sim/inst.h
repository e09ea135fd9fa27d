/* SPDX-License-Identifier: MIT */
/*
 * One decoded gfx950 instruction: what the decoder produces, what the
 * executor, the checkers and the tracer consume.  The decoder is the only
 * code that looks at encoding bits; everything after it sees operands.
 */
#ifndef SIM_INST_H
#define SIM_INST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_wave;
struct sim_inst;

/* Encoding families of the CDNA4 ISA text, "Microcode Formats". */
enum sim_enc {
    SIM_ENC_SOP2,
    SIM_ENC_SOP1,
    SIM_ENC_SOPC,
    SIM_ENC_SOPK,
    SIM_ENC_SOPP,
    SIM_ENC_SMEM,
    SIM_ENC_VOP1,
    SIM_ENC_VOP2,
    SIM_ENC_VOPC,
    SIM_ENC_VOP3,   /* VOP3A and VOP3B; VOP3B has a scalar destination as well */
    SIM_ENC_VOP3P,
    SIM_ENC_MAI,    /* VOP3P-MAI, 8 bytes */
    SIM_ENC_MAIX,   /* scaled MFMA, 16 bytes (LLVM: VOP3PX2) */
    SIM_ENC_DS,
    SIM_ENC_MUBUF,
    SIM_ENC_FLAT,   /* flat, global and scratch, told apart by sim_inst.segment */
    SIM_ENC_COUNT
};

/*
 * The scalar operand space keeps the hardware's numbering (ISA text, "SGPR
 * and constant operands"): 0..101 SGPRs, 102/103 FLAT_SCRATCH, 104/105
 * XNACK_MASK, 106/107 VCC, 108..123 TTMP, 124 M0, 126/127 EXEC.
 */
enum {
    SIM_SGPR_FLAT_SCRATCH = 102,
    SIM_SGPR_VCC = 106,
    SIM_SGPR_TTMP0 = 108,
    SIM_SGPR_M0 = 124,
    SIM_SGPR_EXEC = 126,
    SIM_SGPR_COUNT = 128
};

enum sim_opnd_kind {
    SIM_OPND_NONE,
    SIM_OPND_SGPR,  /* reg = index in the scalar operand space; implicit VCC appears as 106 */
    SIM_OPND_VGPR,  /* reg = 0..255 architectural */
    SIM_OPND_AGPR,  /* reg = 0..255 accumulation */
    SIM_OPND_CONST, /* imm = the value as this operand's type sees it */
    SIM_OPND_SCC,   /* SRC_SCC, VCCZ, EXECZ and the apertures are scalar sources */
    SIM_OPND_VCCZ,
    SIM_OPND_EXECZ,
    SIM_OPND_APERTURE /* reg = 235..239: shared/private base/limit, pops id */
};

struct sim_opnd {
    uint8_t kind;      /* enum sim_opnd_kind */
    uint8_t ndw;       /* registers read or written, in dwords; 16-bit types count 1 */
    uint8_t is_literal;/* CONST from a 32-bit literal, not an inline constant */
    uint8_t reserved;
    uint16_t reg;
    uint64_t imm;
};

enum sim_segment { SIM_SEG_NONE, SIM_SEG_FLAT, SIM_SEG_GLOBAL, SIM_SEG_SCRATCH };

/* Memory modifiers (bits of sim_inst.mem). */
enum {
    SIM_MEM_SC0 = 1 << 0,   /* glc: an atomic returns the old value */
    SIM_MEM_SC1 = 1 << 1,
    SIM_MEM_NT = 1 << 2,
    SIM_MEM_LDS = 1 << 3,   /* data goes to LDS, not to VGPRs */
    SIM_MEM_OFFEN = 1 << 4, /* MUBUF: VGPR offset; SMEM: the immediate offset is there */
    SIM_MEM_IDXEN = 1 << 5,
    SIM_MEM_GDS = 1 << 6,
    SIM_MEM_SADDR = 1 << 7  /* FLAT family: src[SIM_SRC_SADDR] is present */
};

/*
 * Where memory operands sit in src[]:
 *   DS     src[0]=address, src[1]=data0, src[2]=data1;   M0 is implicit
 *   MUBUF  src[0]=vaddr, src[1]=store data, src[2]=srsrc (4 SGPRs), src[3]=soffset
 *   FLAT   src[0]=vaddr, src[1]=store data, src[2]=saddr
 *   SMEM   src[0]=sbase, src[2]=soffset (SGPR or NONE), offset = immediate
 * dst[0] is the loaded data (or the atomic's old value).
 */
enum { SIM_SRC_ADDR = 0, SIM_SRC_DATA = 1, SIM_SRC_DATA1 = 2, SIM_SRC_RSRC = 2,
       SIM_SRC_SADDR = 2, SIM_SRC_SOFF = 3, SIM_SRC_MAX = 5 };

/* DPP and SDWA state of a VOP1/VOP2/VOPC instruction. */
struct sim_dpp {
    uint16_t ctrl;         /* dpp_ctrl, 9 bits */
    uint8_t row_mask, bank_mask;
    bool bound_ctrl;
};

struct sim_sdwa {
    uint8_t dst_sel, dst_unused, src_sel[2];
    uint8_t sext;          /* bit i: sign-extend source i */
};

struct sim_inst {
    const struct sim_op *op;
    uint64_t pc;           /* byte offset from the start of the code segment image */
    uint8_t size;          /* bytes: 4, 8, 12 or 16 */
    uint8_t enc;           /* enum sim_enc as met: VOP3 for the _e64 form of a VOP1 row */
    uint8_t neg;           /* bit i: negate source i (VOP3P: neg_lo) */
    uint8_t abs;           /* bit i: |source i| (VOP3P: neg_hi) */
    uint8_t clamp, omod;
    uint8_t opsel;         /* VOP3: bits 0..2 sources, bit 3 destination */
    uint8_t opsel_hi;      /* VOP3P and scaled MFMA */
    uint8_t cbsz, abid, blgp; /* MFMA */
    uint8_t segment;       /* enum sim_segment */
    uint8_t mem;           /* SIM_MEM_* */
    uint8_t has_dpp, has_sdwa;
    uint8_t bitop3;        /* truth table of v_bitop3 */
    int32_t offset;        /* memory offset in bytes; DS with two: offset0 | offset1<<8 */
    int32_t imm;           /* SOPP/SOPK simm16, sign-extended; s_waitcnt raw */
    struct sim_dpp dpp;
    struct sim_sdwa sdwa;
    struct sim_opnd dst[2];          /* dst[1]: carry-out mask, or the second VGPR of a swap */
    struct sim_opnd src[SIM_SRC_MAX]; /* scaled MFMA: A, B, C, scale A, scale B */
    const char *refused;   /* set when sim_decode returned 0: the rule that the words break */
};

typedef void sim_exec_fn(struct sim_wave *wave, const struct sim_inst *inst);

/* What an instruction is, for counters, waits and hazards (bits of sim_op.flags). */
enum {
    SIM_F_SALU = 1 << 0,
    SIM_F_VALU = 1 << 1,
    SIM_F_TRANS = 1 << 2,      /* v_rcp, v_exp, ... */
    SIM_F_MFMA = 1 << 3,
    SIM_F_SMEM = 1 << 4,       /* counts in lgkmcnt, returns out of order */
    SIM_F_VMEM = 1 << 5,       /* buffer, global, scratch, flat: vmcnt */
    SIM_F_DS = 1 << 6,         /* lgkmcnt */
    SIM_F_LOAD = 1 << 7,
    SIM_F_STORE = 1 << 8,
    SIM_F_ATOMIC = 1 << 9,
    SIM_F_BRANCH = 1 << 10,
    SIM_F_READS_VCC = 1 << 11, /* implicit operands, beyond src[] and dst[] */
    SIM_F_WRITES_VCC = 1 << 12,
    SIM_F_READS_SCC = 1 << 13,
    SIM_F_WRITES_SCC = 1 << 14,
    SIM_F_WRITES_EXEC = 1 << 15,
    SIM_F_READS_M0 = 1 << 16,
    SIM_F_READS_DST = 1 << 17, /* accumulates into or keeps part of dst[0] */
    SIM_F_IGNORES_EXEC = 1 << 18, /* v_readlane, v_readfirstlane, MFMA, ... */
    SIM_F_CROSSLANE = 1 << 19  /* permlane swaps, readlane, writelane */
};

/*
 * Parameters of rows that share one exec function (sim_op.p[]).
 *   memory loads and stores  p[0] = bytes per lane, p[1] = SIM_P_* flags
 *   DS two-address forms     p[0] = bytes per element, p[1] = offset unit in elements (1 or 64)
 *   atomics                  p[0] = bytes of the memory operand, p[1] = enum sim_atomic
 *   ds_read_b*_tr_*          p[0] = bytes per lane, p[1] = bits per element
 *   SMEM loads               p[0] = dwords
 *   MFMA, SMFMAC             p[0] = M (= N), p[1] = K, p[2] = blocks, p[3] = SIM_P_*_BF8 flags
 *   conversions of small formats  p[0] = source, p[1] = destination (enum sim_fmt),
 *                            p[2] = elements converted, p[3] = SIM_P_SR or 0
 */
enum {
    SIM_P_SIGNED = 1,  /* sign-extend the loaded element */
    SIM_P_D16 = 2,     /* load into bits 15:0, keep bits 31:16 */
    SIM_P_D16_HI = 4,  /* load into bits 31:16, keep the rest; store from bits 31:16 */
    SIM_P_A_BF8 = 1,   /* MFMA on 8-bit floats: A is BF8, else FP8 */
    SIM_P_B_BF8 = 2,
    SIM_P_SR = 1       /* stochastic rounding with a random-bits operand */
};

enum sim_atomic {
    SIM_ATOMIC_SWAP,
    SIM_ATOMIC_CMPSWAP, /* DS: data0 = compare, data1 = new; others: data = {new, compare} */
    SIM_ATOMIC_ADD,
    SIM_ATOMIC_SUB,
    SIM_ATOMIC_RSUB,
    SIM_ATOMIC_SMIN,
    SIM_ATOMIC_UMIN,
    SIM_ATOMIC_SMAX,
    SIM_ATOMIC_UMAX,
    SIM_ATOMIC_AND,
    SIM_ATOMIC_OR,
    SIM_ATOMIC_XOR,
    SIM_ATOMIC_INC,
    SIM_ATOMIC_DEC,
    SIM_ATOMIC_MSKOR,
    SIM_ATOMIC_WRAP,
    SIM_ATOMIC_FCMPSWAP,
    SIM_ATOMIC_FADD,
    SIM_ATOMIC_FMIN,
    SIM_ATOMIC_FMAX,
    SIM_ATOMIC_PK_ADD_F16,
    SIM_ATOMIC_PK_ADD_BF16
};

enum sim_fmt {
    SIM_FMT_F32,
    SIM_FMT_F16,
    SIM_FMT_BF16,
    SIM_FMT_FP8, /* E4M3 */
    SIM_FMT_BF8, /* E5M2 */
    SIM_FMT_FP6, /* E2M3 */
    SIM_FMT_BF6, /* E3M2 */
    SIM_FMT_FP4  /* E2M1 */
};

/* One row of the instruction table (sim/insts_*.def). */
struct sim_op {
    const char *name;      /* mnemonic without _e32/_e64 */
    const char *operands;  /* operand types, decoder's own notation (decode.c) */
    sim_exec_fn *exec;     /* NULL: decoded and printed, but executing it stops the kernel */
    uint32_t flags;
    uint16_t opcode;       /* opcode field of its encoding */
    uint8_t enc;           /* enum sim_enc */
    uint8_t passes;        /* MFMA: passes of 4 clocks, largest of its forms */
    uint8_t p[4];          /* parameters of a shared exec function, see above */
};

/*
 * Decode the instruction at code[0..avail).  Returns its size in bytes, or 0
 * when the words are no instruction of gfx950 known to the table; then
 * *inst holds only pc and refused, and sim_decode_raw_text gives a text.
 */
size_t sim_decode(const uint8_t *code, size_t avail, uint64_t pc, struct sim_inst *inst);

/* The words at code[0..avail) as numbers, with the reason of a refusal; returns buf. */
char *sim_decode_raw_text(const struct sim_inst *inst, const uint8_t *code, size_t avail,
                          char *buf, size_t size);

/* Text of an instruction in LLVM's syntax, always terminated; returns buf. */
char *sim_inst_text(const struct sim_inst *inst, char *buf, size_t size);

#endif
