/* SPDX-License-Identifier: MIT */
/*
 * The instruction table: one row per mnemonic, found by encoding and opcode.
 *
 * A row of insts_*.def is one of
 *     OP(opcode, mnemonic, operands, exec, flags)             executes sim_x_<exec>
 *     OPP(opcode, mnemonic, operands, exec, flags, p0, ...)   the same with parameters
 *     NX(opcode, mnemonic, operands, flags)                   decoded, not executable
 *     MFMA(opcode, mnemonic, operands, exec, flags, passes, p0, ...)
 *
 * `operands` lists the operands in text order, then after ';' what the row
 * allows.  An operand is a letter and a type.
 *
 *   Types       i 32-bit integer or bits   f f32     h f16     w 16-bit integer
 *               b bf16   t 16-bit integer, constants as f16
 *               H, W, Y   two f16, 16-bit integers, bf16
 *               d f64    q, Q 64-bit bits or unsigned, signed    P two f32, 32-bit constants
 *               F two f32 in VGPRs         a number: that many dwords of registers
 *   Scalar      Sn destination, Rn the destination field read, s<type> source,
 *               r<type> source that must be a register
 *   SOPK, SOPP  k 16-bit value, B branch distance, n plain number, e optional number,
 *               w s_waitcnt, m message, I index mode, h hardware register, K literal
 *   Vector      Dn destination, Gn accumulation VGPR destination, Sn SGPR destination
 *               k mask destination (VCC in the short forms), m mask source (likewise)
 *               x<type> VGPR, SGPR or constant; v<type> VGPR; l<type> SGPR or constant
 *               g1 accumulation VGPR, u1 VGPR that is written as well, K literal
 *   MFMA        an, bn sources A and B (n = 0: by cbsz, blgp), cn C with f32 constants,
 *               en C with f64 constants, v1 index VGPR
 *   Memory      a address, dn and en data, O 16-bit offset, o two 8-bit offsets (SMEM: the
 *               offset), w swizzle pattern; Ln load, Tn store, An atomic, l load to LDS;
 *               bn scalar base, p probe number
 *   After ';'   3 has a VOP3 form, p DPP, P DPP with row_newbcast only, w SDWA, c clamp,
 *               o omod, s op_sel, S op_sel printed with four places, n neg (VOP3P),
 *               m source modifiers of the mix instructions, b truth table,
 *               l may load to LDS, g GDS form only, i cache bits only
 *               (in VOP1: n no suffix in the text, d no destination selector in SDWA)
 */
#ifndef SIM_OPTABLE_H
#define SIM_OPTABLE_H

#include "inst.h"

/* The row of an opcode, or NULL.  FLAT rows depend on the segment. */
const struct sim_op *sim_op_find(enum sim_enc enc, enum sim_segment segment, unsigned opcode);

/* Calls fn for every row, for tests and statistics. */
void sim_op_each(void (*fn)(const struct sim_op *op, void *user), void *user);

/* True when the row allows `letter` (the part of operands after ';'). */
bool sim_op_allows(const struct sim_op *op, char letter);

#endif
