/* SPDX-License-Identifier: MIT */
/*
 * Vector compares (ISA text, section 12.9): one function per type, the
 * relation and the write to EXEC are row parameters.
 */
#include "alu_float.h"
#include "exec_valu.h"

/* A float relation as a set of outcomes: bit 0 less, 1 equal, 2 greater, 3 unordered. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

/* By opcode offset (ISA text, table 81); the negated relations include unordered. */
static const uint8_t float_relations[16] = {
    0,                                  /* f */
    LESS,                               /* lt */
    EQUAL,                              /* eq */
    LESS | EQUAL,                       /* le */
    GREATER,                            /* gt */
    LESS | GREATER,                     /* lg */
    EQUAL | GREATER,                    /* ge */
    LESS | EQUAL | GREATER,             /* o */
    UNORDERED,                          /* u */
    LESS | UNORDERED,                   /* nge */
    EQUAL | UNORDERED,                  /* nlg */
    LESS | EQUAL | UNORDERED,           /* ngt */
    GREATER | UNORDERED,                /* nle */
    LESS | GREATER | UNORDERED,         /* neq */
    EQUAL | GREATER | UNORDERED,        /* nlt */
    LESS | EQUAL | GREATER | UNORDERED, /* tru */
};

/* Integer relations: f, lt, eq, le, gt, ne, ge, t. */
static const uint8_t int_relations[8] = {
    0, LESS, EQUAL, LESS | EQUAL, GREATER, LESS | GREATER, EQUAL | GREATER,
    LESS | EQUAL | GREATER,
};

/* The mask goes to the row's destination, and for v_cmpx to EXEC as well. */
static void write_result(struct sim_wave *w, const struct sim_inst *in, uint64_t mask,
                         bool to_exec)
{
    mask &= sim_exec_mask(w);
    sim_vstore_mask(w, in, 0, mask);
    if (to_exec) {
        sim_exec_write(w, mask);
    }
}

static inline unsigned outcome(double a, double b)
{
    return a < b ? LESS : a == b ? EQUAL : a > b ? GREATER : UNORDERED;
}

EXEC_FN(v_cmp_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    const uint32_t *b = sim_vf32(w, in, 1, bb);
    const unsigned want = float_relations[in->op->p[0]];
    uint64_t mask = 0;
    SIM_FOR_LANES(l) {
        const unsigned o = outcome(sim_f32_from_bits(a[l]), sim_f32_from_bits(b[l]));
        mask |= (uint64_t)((o & want) != 0) << l;
    }
    write_result(w, in, mask, in->op->p[1] != 0);
}

EXEC_FN(v_cmp_f16)
{
    uint32_t a[SIM_LANES], b[SIM_LANES];
    const unsigned want = float_relations[in->op->p[0]];
    uint64_t mask = 0;
    sim_vf16(w, in, 0, a);
    sim_vf16(w, in, 1, b);
    SIM_FOR_LANES(l) {
        const unsigned o = outcome(sim_f16_value(a[l]), sim_f16_value(b[l]));
        mask |= (uint64_t)((o & want) != 0) << l;
    }
    write_result(w, in, mask, in->op->p[1] != 0);
}

EXEC_FN(v_cmp_f64)
{
    uint64_t a[SIM_LANES], b[SIM_LANES];
    const unsigned want = float_relations[in->op->p[0]];
    uint64_t mask = 0;
    sim_vf64(w, in, 0, a);
    sim_vf64(w, in, 1, b);
    SIM_FOR_LANES(l) {
        const unsigned o = outcome(sim_f64_from_bits(a[l]), sim_f64_from_bits(b[l]));
        mask |= (uint64_t)((o & want) != 0) << l;
    }
    write_result(w, in, mask, in->op->p[1] != 0);
}

/* Fetch, element as fetched and type compared of the integer forms. */
#define CMP_INT(name, fetch, element, type)                                                    \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        element ba[SIM_LANES], bb[SIM_LANES];                                                  \
        const element *pa = fetch(w, in, 0, ba);                                               \
        const element *pb = fetch(w, in, 1, bb);                                               \
        const unsigned want = int_relations[in->op->p[0]];                                     \
        uint64_t mask = 0;                                                                     \
        SIM_FOR_LANES(l) {                                                                     \
            const type a = (type)pa[l];                                                        \
            const type b = (type)pb[l];                                                        \
            const unsigned o = a < b ? LESS : a == b ? EQUAL : GREATER;                        \
            mask |= (uint64_t)((o & want) != 0) << l;                                          \
        }                                                                                      \
        write_result(w, in, mask, in->op->p[1] != 0);                                          \
    }

CMP_INT(v_cmp_i16, sim_v16, uint32_t, int16_t)
CMP_INT(v_cmp_u16, sim_v16, uint32_t, uint16_t)
CMP_INT(v_cmp_i32, sim_v32, uint32_t, int32_t)
CMP_INT(v_cmp_u32, sim_v32, uint32_t, uint32_t)
CMP_INT(v_cmp_i64, sim_v64, uint64_t, int64_t)
CMP_INT(v_cmp_u64, sim_v64, uint64_t, uint64_t)

/* Bit number of a value's class in the mask of V_CMP_CLASS. */
static unsigned value_class(bool negative, bool nan, bool quiet, bool inf, bool zero,
                            bool normal)
{
    if (nan) {
        return quiet ? 1 : 0;
    }
    if (inf) {
        return negative ? 2 : 9;
    }
    if (normal) {
        return negative ? 3 : 8;
    }
    if (!zero) {
        return negative ? 4 : 7;
    }
    return negative ? 5 : 6;
}

static unsigned class32(uint32_t a)
{
    const uint32_t mag = a & 0x7fffffff;
    return value_class(a >> 31 != 0, mag > 0x7f800000, (a & 0x400000) != 0, mag == 0x7f800000,
                       mag == 0, mag >= 0x800000);
}

static unsigned class16(uint32_t a)
{
    const uint32_t mag = a & 0x7fff;
    return value_class((a & 0x8000) != 0, mag > 0x7c00, (a & 0x200) != 0, mag == 0x7c00,
                       mag == 0, mag >= 0x400);
}

static unsigned class64(uint64_t a)
{
    const uint64_t mag = a & INT64_MAX;
    const uint64_t inf = 0x7ff0000000000000ull;
    return value_class(a >> 63 != 0, mag > inf, (a >> 51 & 1) != 0, mag == inf, mag == 0,
                       mag >= 1ull << 52);
}

/* Classification looks at the bits: denormals are never flushed away. */
EXEC_FN(v_cmp_class_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES];
    const uint32_t *a = sim_vf32_raw(w, in, 0, ba);
    const uint32_t *b = sim_v32(w, in, 1, bb);
    uint64_t mask = 0;
    SIM_FOR_LANES(l) {
        mask |= (uint64_t)(b[l] >> class32(a[l]) & 1) << l;
    }
    write_result(w, in, mask, in->op->p[0] != 0);
}

EXEC_FN(v_cmp_class_f16)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES];
    const uint32_t *a = sim_v16(w, in, 0, ba);
    const uint32_t *b = sim_v32(w, in, 1, bb);
    const uint32_t keep = (in->abs & 1) != 0 ? 0x7fff : 0xffff;
    const uint32_t flip = (in->neg & 1) != 0 ? 0x8000 : 0;
    uint64_t mask = 0;
    SIM_FOR_LANES(l) {
        mask |= (uint64_t)(b[l] >> class16((a[l] & keep) ^ flip) & 1) << l;
    }
    write_result(w, in, mask, in->op->p[0] != 0);
}

EXEC_FN(v_cmp_class_f64)
{
    uint64_t ba[SIM_LANES];
    uint32_t bb[SIM_LANES];
    const uint64_t *a = sim_v64(w, in, 0, ba);
    const uint32_t *b = sim_v32(w, in, 1, bb);
    const uint64_t keep = (in->abs & 1) != 0 ? INT64_MAX : UINT64_MAX;
    const uint64_t flip = (in->neg & 1) != 0 ? 1ull << 63 : 0;
    uint64_t mask = 0;
    SIM_FOR_LANES(l) {
        mask |= (uint64_t)(b[l] >> class64((a[l] & keep) ^ flip) & 1) << l;
    }
    write_result(w, in, mask, in->op->p[0] != 0);
}
