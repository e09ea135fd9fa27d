/* SPDX-License-Identifier: MIT */
/* Prototypes of the scalar ALU's exec functions, from the instruction rows. */
#ifndef SIM_EXEC_SALU_H
#define SIM_EXEC_SALU_H

#include "inst.h"

#define OP(opcode, mnemonic, operands, ex, fl) sim_exec_fn sim_x_##ex;
#define NX(opcode, mnemonic, operands, fl)
#include "insts_sop2.def"
#include "insts_sop1.def"
#include "insts_sopc.def"
#include "insts_sopk.def"
#include "insts_sopp.def"
#undef OP
#undef NX

#endif
