/* SPDX-License-Identifier: MIT */
/*
 * V_MFMA_F32_{16X16X128,32X32X64}_F8F6F4 and their scaled forms (ISA text,
 * 7.1.5 and 7.2.1): operands of FP8, BF8, FP6, BF6 or FP4, one E8M0 scale for
 * every 32 elements along K.
 *
 * All operands are read before the first register is written, so D may overlap
 * any of them.  EXEC, MODE.round and MODE.denorm are ignored, as documented.
 */
#include "exec_mfma.h"
#include "mfma_kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX2_BUILD 1
#endif

/* CBSZ and BLGP as formats; the other codes are undefined. */
enum { FMT_FP8, FMT_BF8, FMT_FP6, FMT_BF6, FMT_FP4, FMT_COUNT };

static const uint8_t fmt_bits[FMT_COUNT] = { 8, 8, 6, 6, 4 };
static const char *const fmt_name[FMT_COUNT] = { "fp8", "bf8", "fp6", "bf6", "fp4" };

static float decode(unsigned fmt, uint8_t code)
{
    switch (fmt) {
    case FMT_FP8:
        return sim_fp8_to_f32(code);
    case FMT_BF8:
        return sim_bf8_to_f32(code);
    case FMT_FP6:
        return sim_fp6_to_f32(code);
    case FMT_BF6:
        return sim_bf6_to_f32(code);
    default:
        return sim_fp4_to_f32(code);
    }
}

/* Formats of 6 and 8 bits, element by element through a table of their codes. */
static void load_by_table(struct sim_wave *w, const struct sim_opnd *o, unsigned fmt,
                          const struct mfma_shape *s, float *out)
{
    const unsigned bits = fmt_bits[fmt];
    float table[256];
    for (unsigned c = 0; c < 1u << bits; c++) {
        table[c] = decode(fmt, (uint8_t)c);
    }
    for (unsigned k = 0; k < s->k; k++) {
        for (unsigned r = 0; r < s->m; r++) {
            const struct mfma_loc at = bits == 8 ? mfma_input_8bit(s, r, k)
                                                 : mfma_input(s, 0, r, k);
            const unsigned bit = at.item * bits;
            uint32_t x = sim_vrow(w, o, bit / 32)[at.lane] >> bit % 32;
            if (bit % 32 + bits > 32) {
                x |= sim_vrow(w, o, bit / 32 + 1)[at.lane] << (32 - bit % 32);
            }
            out[k * s->m + r] = table[x & ((1u << bits) - 1)];
        }
    }
}

MFMA_INLINE void load_fp4(struct sim_wave *w, const struct sim_opnd *o, unsigned mn, float *out)
{
    for (unsigned kb = 0; kb < 64 / mn; kb++) {
        for (unsigned v = 0; v < 4; v++) {
            const unsigned k = kb * MX_BLOCK + 8 * v;
            mx_decode_fp4(sim_vrow(w, o, v) + kb * mn, mn, out + k * mn);
        }
    }
}

MFMA_INLINE void run_formats(struct sim_wave *w, const struct sim_inst *i, struct mx_job *j,
                             unsigned mn, bool wide)
{
    const struct mfma_shape s = { mn, 2048 / mn, 1, 4 };
    if (i->cbsz == FMT_FP4) {
        load_fp4(w, &i->src[0], mn, j->a);
    } else {
        load_by_table(w, &i->src[0], i->cbsz, &s, j->a);
    }
    if (i->blgp == FMT_FP4) {
        load_fp4(w, &i->src[1], mn, j->b);
    } else {
        load_by_table(w, &i->src[1], i->blgp, &s, j->b);
    }
    if (fmt_bits[i->cbsz] == 8 || fmt_bits[i->blgp] == 8) {
        mx_multiply_double(j, mn, j->split);
    } else {
        mx_multiply_f32(j, mn, wide);
    }
}

static void run_any(struct sim_wave *w, const struct sim_inst *i, struct mx_job *j)
{
    if (j->mn == 16) {
        run_formats(w, i, j, 16, false);
    } else {
        run_formats(w, i, j, 32, false);
    }
}

#ifdef HAVE_AVX2_BUILD
/* Called only where the CPU has both; not an ifunc, which sanitizers and musl lack. */
__attribute__((target("avx2,fma"))) static void
run_avx2(struct sim_wave *w, const struct sim_inst *i, struct mx_job *j)
{
    if (j->mn == 16) {
        run_formats(w, i, j, 16, true);
    } else {
        run_formats(w, i, j, 32, true);
    }
}
#endif

static void run(struct sim_wave *w, const struct sim_inst *i, struct mx_job *j)
{
#ifdef HAVE_AVX2_BUILD
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        run_avx2(w, i, j);
        return;
    }
#endif
    run_any(w, i, j);
}

/*
 * Scale bytes of one operand.  From a VGPR: byte op_sel + 2 * op_sel_hi of each
 * lane, and lane r + M * kb is row r, block kb.  From an inline constant: the
 * exponent field of the float.  Without a scale operand: 1.0.
 */
static bool load_scales(struct sim_wave *w, const struct sim_inst *i, unsigned which,
                        uint8_t out[64])
{
    const struct sim_opnd *o = &i->src[3 + which];
    if (o->kind == SIM_OPND_NONE || o->kind == SIM_OPND_CONST) {
        const uint8_t s = o->kind == SIM_OPND_NONE ? 127 : (uint8_t)(o->imm >> 23);
        memset(out, s, 64);
        return true;
    }
    if (!mfma_check_tuple(w, o, 1, which ? "scale of B" : "scale of A")) {
        return false;
    }
    const uint32_t *row = sim_vrow(w, o, 0);
    const unsigned byte = (i->opsel >> which & 1) + 2 * (i->opsel_hi >> which & 1);
    for (unsigned lane = 0; lane < 64; lane++) {
        out[lane] = (uint8_t)(row[lane] >> (8 * byte));
    }
    return true;
}

static bool check_operands(struct sim_wave *w, const struct sim_inst *i, unsigned mn)
{
    if (i->cbsz >= FMT_COUNT || i->blgp >= FMT_COUNT) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
                 "%s: matrix format code cbsz %u, blgp %u: only 0 to 4 are defined", i->op->name,
                 i->cbsz, i->blgp);
        return false;
    }
    mfma_check_modifiers(w, i);
    const unsigned cd = mn * mn / 64;
    return mfma_check_tuple(w, &i->src[0], fmt_bits[i->cbsz], fmt_name[i->cbsz]) &&
           mfma_check_tuple(w, &i->src[1], fmt_bits[i->blgp], fmt_name[i->blgp]) &&
           mfma_check_c(w, &i->src[2], cd) && mfma_check_tuple(w, &i->dst[0], cd, "D");
}

void sim_x_mfma_f32_f8f6f4(struct sim_wave *w, const struct sim_inst *i)
{
    struct mx_job j;
    j.mn = i->op->p[0];
    if (!check_operands(w, i, j.mn) || !load_scales(w, i, 0, j.scale_a) ||
        !load_scales(w, i, 1, j.scale_b)) {
        return;
    }
    j.split = fmt_bits[i->cbsz] == 8 && fmt_bits[i->blgp] == 8 &&
              (i->cbsz == FMT_BF8 || i->blgp == FMT_BF8);
    const struct mfma_shape s = { j.mn, 2048 / j.mn, 1, 4 };
    mfma_load_c(w, i, &i->src[2], &s, j.d);
    if (w->mode & SIM_MODE_FP16_OVFL) {
        float c[32 * 32];
        memcpy(c, j.d, j.mn * j.mn * sizeof *c);
        run(w, i, &j);
        mfma_clamp_overflow(w, &s, j.a, j.b, c, j.d);
    } else {
        run(w, i, &j);
    }
    uint32_t bits[32 * 32];
    mfma_result_bits(&s, j.d, bits);
    mfma_store_d(w, &i->dst[0], &s, bits);
}
