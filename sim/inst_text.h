/* SPDX-License-Identifier: MIT */
/* Inside of the instruction printer: a bounded text and the operand printers. */
#ifndef SIM_INST_TEXT_H
#define SIM_INST_TEXT_H

#include "decode.h"

struct text {
    char *buf;
    size_t size, at;
    unsigned operands; /* printed so far */
};

void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The blank or comma before the next operand. */
void text_sep(struct text *t);

/* One operand; type as in optable.h. */
void text_opnd(struct text *t, const struct sim_opnd *o, char type);

void text_salu_operands(struct text *t, const struct sim_inst *in);
void text_smem_operands(struct text *t, const struct sim_inst *in);
void text_mem_operands(struct text *t, const struct sim_inst *in);

#endif
