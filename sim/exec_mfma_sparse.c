/* SPDX-License-Identifier: MIT */
/*
 * SMFMAC: A is 4:2 sparse and packed, C is D (ISA text, 7.5).  Of four
 * consecutive k a lane of A holds two elements, and src[2] two bits for each that
 * say which of the four they are.
 *
 * Forms that read four registers of A are refused: the text copy of the document
 * lacks the layout of their A.
 */
#include <math.h>

#include "exec_mfma.h"

enum element { ELEM_F16, ELEM_BF16, ELEM_FP8, ELEM_BF8, ELEM_I8 };

/* Packed elements of A are 16 x 16, 32 x 8 (16-bit) or 16 x 32, 32 x 16 (8-bit). */
#define MAX_PACKED 512

struct job {
    struct mfma_shape s;         /* the dense product */
    float a[MAX_PACKED];         /* (packed k) * m + i */
    uint8_t dense_k[MAX_PACKED]; /* what k that is */
    float b[2 * MAX_PACKED];     /* k * m + j */
};

static float decode(enum element e, uint32_t x)
{
    switch (e) {
    case ELEM_F16:
        return sim_f32_from_bits(sim_f16_to_f32((uint16_t)x));
    case ELEM_BF16:
        return sim_f32_from_bits(sim_bf16_to_f32((uint16_t)x));
    case ELEM_FP8:
        return sim_fp8_to_f32((uint8_t)x);
    case ELEM_BF8:
        return sim_bf8_to_f32((uint8_t)x);
    default:
        return (float)(int8_t)x; /* bytes and their 32 products are exact in f32 */
    }
}

static void load(struct sim_wave *w, const struct sim_opnd *o, enum element e,
                 const struct mfma_shape *s, float *out)
{
    const unsigned bits = e == ELEM_F16 || e == ELEM_BF16 ? 16 : 8;
    for (unsigned item = 0; item < mfma_k_per_lane(s); item++) {
        const uint32_t *row = sim_vrow(w, o, item * bits / 32);
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            out[mfma_dense_index(s, lane) + item * s->m] =
                decode(e, row[lane] >> item * bits % 32);
        }
    }
}

/*
 * Which dense k each packed element of A stands for.  CBSZ = 0: ABID chooses one
 * of the index sets of the register; else the first is taken.
 */
static void load_indices(struct sim_wave *w, const struct sim_inst *i,
                         const struct mfma_shape *packed, uint8_t *dense_k)
{
    const uint32_t *row = sim_vrow(w, &i->src[2], 0);
    const unsigned items = mfma_k_per_lane(packed);
    const unsigned sets = 16 / items;
    const unsigned set = (i->cbsz & 3) == 0 ? i->abid % sets : 0;
    bool bad = false;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        const uint32_t index = row[lane] >> set * items * 2;
        const unsigned group = lane / packed->m;
        for (unsigned t = 0; t < items; t++) {
            const unsigned base = group * items * 2 + t / 2 * 4;
            dense_k[mfma_dense_index(packed, lane) + t * packed->m] =
                (uint8_t)(base + (index >> 2 * t & 3));
            bad = bad || (t % 2 && (index >> 2 * t & 3) <= (index >> (2 * t - 2) & 3));
        }
    }
    if (bad) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1,
                 "%s: an index pair is not ascending; the ISA text allows no other",
                 i->op->name);
    }
}

/* Operands and checks; false: the kernel has been stopped. */
static bool prepare(struct sim_wave *w, const struct sim_inst *i, enum element ea,
                    enum element eb, struct job *j)
{
    j->s = (struct mfma_shape){ i->op->p[0], i->op->p[1], i->op->p[2], 4 };
    const struct mfma_shape packed = { j->s.m, j->s.k / 2, 1, 4 };
    const unsigned bits = ea == ELEM_F16 || ea == ELEM_BF16 ? 16 : 8;
    const unsigned a_regs = mfma_k_per_lane(&packed) * bits / 32;
    if (a_regs > 2) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
                 "%s: the register layout of its sparse operand is not known", i->op->name);
        return false;
    }
    const unsigned d_regs = j->s.m * j->s.m / SIM_LANES;
    if (!mfma_check_tuple(w, &i->src[0], a_regs, "A") ||
        !mfma_check_tuple(w, &i->src[1], 2 * a_regs, "B") ||
        !mfma_check_tuple(w, &i->src[2], 1, "index") ||
        !mfma_check_tuple(w, &i->dst[0], d_regs, "D")) {
        return false;
    }
    mfma_check_modifiers(w, i);
    load(w, &i->src[0], ea, &packed, j->a);
    load(w, &i->src[1], eb, &j->s, j->b);
    load_indices(w, i, &packed, j->dense_k);
    return true;
}

/* As in the dense forms, the order of the sum is a choice: C first, k ascending, fused. */
static void smfmac_f32(struct sim_wave *w, const struct sim_inst *i, enum element ea,
                       enum element eb)
{
    struct job j;
    if (!prepare(w, i, ea, eb, &j)) {
        return;
    }
    const unsigned m = j.s.m;
    float c[32 * 32], d[32 * 32], dense_a[2 * MAX_PACKED] = { 0 };
    mfma_load_c(w, i, &i->dst[0], &j.s, c);
    for (unsigned n = 0; n < m * m; n++) {
        d[n] = c[n];
        for (unsigned k = 0; k < j.s.k / 2; k++) {
            const unsigned at = k * m + n / m;
            d[n] = fmaf(j.a[at], j.b[j.dense_k[at] * m + n % m], d[n]);
            dense_a[j.dense_k[at] * m + n / m] = j.a[at];
        }
    }
    mfma_clamp_overflow(w, &j.s, dense_a, j.b, c, d);
    uint32_t bits[32 * 32];
    mfma_result_bits(&j.s, d, bits);
    mfma_store_d(w, &i->dst[0], &j.s, bits);
}

void sim_x_smfmac_f32_f16(struct sim_wave *w, const struct sim_inst *i)
{
    smfmac_f32(w, i, ELEM_F16, ELEM_F16);
}

void sim_x_smfmac_f32_bf16(struct sim_wave *w, const struct sim_inst *i)
{
    smfmac_f32(w, i, ELEM_BF16, ELEM_BF16);
}

void sim_x_smfmac_f32_fp8(struct sim_wave *w, const struct sim_inst *i)
{
    smfmac_f32(w, i, i->op->p[3] & SIM_P_A_BF8 ? ELEM_BF8 : ELEM_FP8,
               i->op->p[3] & SIM_P_B_BF8 ? ELEM_BF8 : ELEM_FP8);
}

void sim_x_smfmac_i32_i8(struct sim_wave *w, const struct sim_inst *i)
{
    struct job j;
    if (!prepare(w, i, ELEM_I8, ELEM_I8, &j)) {
        return;
    }
    const unsigned m = j.s.m;
    uint32_t d[32 * 32];
    for (unsigned n = 0; n < m * m; n++) {
        float dot = 0;
        for (unsigned k = 0; k < j.s.k / 2; k++) {
            const unsigned at = k * m + n / m;
            dot += j.a[at] * j.b[j.dense_k[at] * m + n % m];
        }
        const struct mfma_loc at = mfma_output(&j.s, 0, n / m, n % m);
        const uint32_t c = sim_vrow(w, &i->dst[0], at.item)[at.lane];
        d[n] = mfma_int_result(w, (int64_t)(int32_t)c + (int64_t)dot);
    }
    mfma_store_d(w, &i->dst[0], &j.s, d);
}
