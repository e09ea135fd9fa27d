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

/*
 * Formats of 6 and 8 bits, through a table of their codes.  A lane of 6-bit
 * elements holds 32 consecutive k; one of 8-bit elements two runs of 16, K / 2
 * apart (ISA text, 7.1.5.1).
 */
MFMA_INLINE void load_by_table(struct sim_wave *w, const struct sim_opnd *o, unsigned fmt,
                               unsigned mn, float *out)
{
    const unsigned bits = fmt_bits[fmt];
    float table[256];
    for (unsigned c = 0; c < 1u << bits; c++) {
        table[c] = decode(fmt, (uint8_t)c);
    }
    for (unsigned item = 0; item < MX_BLOCK; item++) {
        const unsigned bit = item * bits;
        const uint32_t *row = sim_vrow(w, o, bit / 32);
        const uint32_t *next = bit % 32 + bits > 32 ? sim_vrow(w, o, bit / 32 + 1) : row;
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            const uint64_t x = row[lane] | (uint64_t)next[lane] << 32;
            const unsigned group = lane / mn;
            const unsigned k = bits == 8 ? item / 16 * (1024 / mn) + group * 16 + item % 16
                                         : group * MX_BLOCK + item;
            out[k * mn + lane % mn] = table[x >> bit % 32 & ((1u << bits) - 1)];
        }
    }
}

static void load_operand(struct sim_wave *w, const struct sim_opnd *o, unsigned fmt,
                         unsigned mn, float *out)
{
    if (fmt != FMT_FP4) {
        load_by_table(w, o, fmt, mn, out);
        return;
    }
    for (unsigned kb = 0; kb < 64 / mn; kb++) {
        for (unsigned v = 0; v < 4; v++) {
            mx_decode_fp4(sim_vrow(w, o, v) + kb * mn, mn, out + (kb * MX_BLOCK + 8 * v) * mn);
        }
    }
}

/* Products with an 8-bit format go through double, see mx_dot_row_double. */
MFMA_INLINE void multiply_8bit(const struct sim_inst *i, struct mx_job *j, unsigned mn)
{
    const bool both = fmt_bits[i->cbsz] == 8 && fmt_bits[i->blgp] == 8;
    if (both && (i->cbsz == FMT_BF8 || i->blgp == FMT_BF8)) {
        mx_multiply_double(j, mn, true);
    } else {
        mx_multiply_double(j, mn, false);
    }
}

static bool has_8bit(const struct sim_inst *i)
{
    return fmt_bits[i->cbsz] == 8 || fmt_bits[i->blgp] == 8;
}

static void run_any(struct sim_wave *w, const struct sim_inst *i, struct mx_job *j, unsigned mn)
{
    load_operand(w, &i->src[0], i->cbsz, mn, j->a);
    load_operand(w, &i->src[1], i->blgp, mn, j->b);
    if (has_8bit(i)) {
        multiply_8bit(i, j, mn);
        return;
    }
    const bool tame = mx_scales_are_tame(j->scale_a, j->scale_b);
    float fa[64], fb[64];
    _Alignas(32) float dot[2 * 16];
    mx_scales_f32(j->scale_a, fa);
    mx_scales_f32(j->scale_b, fb);
    for (unsigned kb = 0; kb < 64 / mn; kb++) {
        const unsigned base = kb * MX_BLOCK * mn;
        for (unsigned m = 0; m < mn; m += 2) {
            for (unsigned n = 0; n < mn; n += 16) {
                mx_dot_2x16(j->a + base + m, j->b + base + n, mn, dot);
                mx_add_tile(j, mn, kb, m, n, 2, dot, tame ? fa : NULL, fb);
            }
        }
    }
}

#ifdef MX_HAVE_AVX2
MX_AVX2 void load_operand_avx2(struct sim_wave *w, const struct sim_opnd *o, unsigned fmt,
                               unsigned mn, float *out)
{
    if (fmt != FMT_FP4) {
        load_by_table(w, o, fmt, mn, out);
        return;
    }
    for (unsigned kb = 0; kb < 64 / mn; kb++) {
        for (unsigned v = 0; v < 4; v++) {
            mx_decode_fp4_avx2(sim_vrow(w, o, v) + kb * mn, mn,
                               out + (kb * MX_BLOCK + 8 * v) * mn);
        }
    }
}

/* The same for CPUs with AVX2 and FMA; not an ifunc, which sanitizers and musl lack. */
MX_AVX2 void run_avx2(struct sim_wave *w, const struct sim_inst *i, struct mx_job *j,
                      unsigned mn)
{
    load_operand_avx2(w, &i->src[0], i->cbsz, mn, j->a);
    load_operand_avx2(w, &i->src[1], i->blgp, mn, j->b);
    if (has_8bit(i)) {
        multiply_8bit(i, j, mn);
        return;
    }
    const bool tame = mx_scales_are_tame(j->scale_a, j->scale_b);
    float fa[64], fb[64];
    _Alignas(32) float dot[4 * 16];
    mx_scales_f32(j->scale_a, fa);
    mx_scales_f32(j->scale_b, fb);
    for (unsigned kb = 0; kb < 64 / mn; kb++) {
        const unsigned base = kb * MX_BLOCK * mn;
        for (unsigned m = 0; m < mn; m += 4) {
            for (unsigned n = 0; n < mn; n += 16) {
                mx_dot_4x16_avx2(j->a + base + m, j->b + base + n, mn, dot);
                mx_add_tile(j, mn, kb, m, n, 4, dot, tame ? fa : NULL, fb);
            }
        }
    }
}
#endif

static void run(struct sim_wave *w, const struct sim_inst *i, struct mx_job *j)
{
#ifdef MX_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        run_avx2(w, i, j, j->mn);
        return;
    }
#endif
    run_any(w, i, j, j->mn);
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
                 "%s: matrix format code cbsz %u, blgp %u: only 0 to 4 are defined",
                 i->op->name, i->cbsz, i->blgp);
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
    mx_canonical_nan(j.d, j.mn * j.mn);
    mfma_store_d(w, &i->dst[0], &s, j.d);
}
