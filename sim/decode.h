/* SPDX-License-Identifier: MIT */
/*
 * Inside of the decoder: the cursor that decode.c, decode_valu.c and
 * decode_mem.c share, and the operand readers.
 */
#ifndef SIM_DECODE_H
#define SIM_DECODE_H

#include "inst.h"
#include "optable.h"

struct decode {
    uint32_t w[4];        /* the words available, zero beyond them */
    unsigned words;       /* how many of w[] are really there */
    unsigned size;        /* bytes of this instruction so far */
    bool has_literal;     /* the word after the base encoding is a literal */
    struct sim_inst *in;
};

/* Operand types of a row, see optable.h.  0 for a type that is only a number. */
static inline unsigned type_dwords(char type)
{
    switch (type) {
    case 'd':
    case 'q':
    case 'Q':
    case 'P':
    case 'F':
        return 2;
    default:
        return 1;
    }
}

/* Types on which neg and abs work. */
static inline bool type_is_float(char type)
{
    return type == 'f' || type == 'h' || type == 'd' || type == 'b' || type == 'F' ||
           type == 'H' || type == 'Y';
}

/* Record why the words are refused; always returns false. */
bool dec_refuse(struct decode *d, const char *why);

/* A scalar register (no constant) of n dwords from its operand code. */
bool dec_sgpr(struct decode *d, struct sim_opnd *o, unsigned code, unsigned n);

/* A vector register of n dwords; kind is SIM_OPND_VGPR or SIM_OPND_AGPR. */
bool dec_vgpr(struct decode *d, struct sim_opnd *o, unsigned kind, unsigned reg, unsigned n);

/* An inline constant of a type, codes 128..208 and 240..248. */
bool dec_inline(struct decode *d, struct sim_opnd *o, unsigned code, char type);

/*
 * Any scalar source: register, inline constant, special source, and where
 * literal_at != 0 the literal word with that index.
 */
bool dec_scalar(struct decode *d, struct sim_opnd *o, unsigned code, char type,
                unsigned literal_at);

/* Takes the literal word with this index into the instruction. */
bool dec_literal(struct decode *d, unsigned at, uint32_t *value);

/* Iterates over the operand tokens of a row; false at the end. */
struct token {
    const char *next;
    char letter, type; /* type 0: see number */
    unsigned number;
};
void token_start(struct token *t, const struct sim_op *op);
bool token_next(struct token *t);

/* Registers of a token's operand. */
static inline unsigned token_dwords(const struct token *t)
{
    return t->type != 0 ? type_dwords(t->type) : t->number;
}

/* One function per group of encodings; false = refused. */
bool dec_vop_short(struct decode *d, enum sim_enc enc, unsigned opcode);
bool dec_vop3(struct decode *d);
bool dec_vop3p(struct decode *d);
bool dec_mai(struct decode *d, unsigned at);
bool dec_smem(struct decode *d);
bool dec_ds(struct decode *d);
bool dec_mubuf(struct decode *d);
bool dec_flat(struct decode *d);

#endif
