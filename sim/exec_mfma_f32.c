/* SPDX-License-Identifier: MIT */
/*
 * MFMA with f32 results on f32, f16, bf16 and unscaled 8-bit operands (ISA text,
 * 7.1.2 to 7.1.6).  All operands are read before the first register is written.
 */
#include <math.h>

#include "exec_mfma.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SIM_NO_AVX2)
#define HAVE_FMA_BUILD 1
#endif

#define INLINE static inline __attribute__((always_inline))

/* 64 lanes of at most 16 bytes, in elements of a byte at least. */
#define MAX_OPERAND 1024

struct job {
    struct mfma_shape s;
    _Alignas(64) float a[MAX_OPERAND];
    _Alignas(64) float b[MAX_OPERAND];
    _Alignas(64) float d[MFMA_MAX_D];
};

/*
 * The sum over K.  Neither its order nor its precision is documented.  Here: C
 * first, K ascending, each step one fused multiply-add rounded to nearest even.
 */
INLINE float accumulate(float d, float a, float b)
{
    return fmaf(a, b, d);
}

INLINE void multiply(struct job *j, unsigned m)
{
    for (unsigned r = 0; r < j->s.blocks * m; r++) {
        const unsigned block = r / m * j->s.k * m;
        float *d = j->d + r * m;
        for (unsigned k = 0; k < j->s.k; k++) {
            const float a = j->a[block + k * m + r % m];
            const float *b = j->b + block + k * m;
            for (unsigned n = 0; n < m; n++) {
                d[n] = accumulate(d[n], a, b[n]);
            }
        }
    }
}

INLINE void multiply_shape(struct job *j)
{
    switch (j->s.m) {
    case 4:
        multiply(j, 4);
        break;
    case 16:
        multiply(j, 16);
        break;
    default:
        multiply(j, 32);
        break;
    }
}

static void multiply_any(struct job *j)
{
    multiply_shape(j);
}

#ifdef HAVE_FMA_BUILD
/* Without the instruction, fmaf is a slow library call. */
__attribute__((target("avx2,fma"))) static void multiply_fma(struct job *j)
{
    multiply_shape(j);
}
#endif

static void run(struct job *j)
{
#ifdef HAVE_FMA_BUILD
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        multiply_fma(j);
        return;
    }
#endif
    multiply_any(j);
}

/* What the elements of an operand are. */
enum element { ELEM_F32, ELEM_F16, ELEM_BF16, ELEM_FP8, ELEM_BF8 };

static unsigned element_bits(enum element e)
{
    return e == ELEM_F32 ? 32 : e == ELEM_FP8 || e == ELEM_BF8 ? 8 : 16;
}

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
        return sim_f32_from_bits(x);
    }
}

/*
 * One operand into out[(b * K + k) * m + i].  Of the formats only f32 honours
 * MODE.denorm (ISA text, 7.4), and only on input.
 */
static void load(struct sim_wave *w, const struct sim_opnd *o, enum element e,
                 const struct mfma_shape *s, const uint8_t lanes[SIM_LANES], float *out)
{
    const unsigned bits = element_bits(e);
    const unsigned items = mfma_k_per_lane(s);
    const bool flush = e == ELEM_F32 && !(w->mode & 0x10);
    float table[256];
    for (unsigned c = 0; c < 256 && bits == 8; c++) {
        table[c] = decode(e, c);
    }
    for (unsigned item = 0; item < items; item++) {
        const uint32_t *row = sim_vrow(w, o, item * bits / 32);
        const unsigned shift = item * bits % 32;
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            uint32_t x = row[lanes[lane]] >> shift;
            if (flush && (x & 0x7F800000u) == 0) {
                x &= 0x80000000u;
            }
            out[mfma_dense_index(s, lane) + item * s->m] =
                bits == 8 ? table[x & 0xFF] : decode(e, x);
        }
    }
}

static void mfma(struct sim_wave *w, const struct sim_inst *i, enum element ea, enum element eb)
{
    struct job j;
    j.s = (struct mfma_shape){ i->op->p[0], i->op->p[1], i->op->p[2], 4 };
    const unsigned ab = j.s.k * j.s.m * j.s.blocks * element_bits(ea) / 32 / SIM_LANES;
    const unsigned cd = j.s.m * j.s.m * j.s.blocks / SIM_LANES;
    if (!mfma_check_tuple(w, &i->src[0], ab, "A") ||
        !mfma_check_tuple(w, &i->src[1], ab, "B") || !mfma_check_c(w, &i->src[2], cd) ||
        !mfma_check_tuple(w, &i->dst[0], cd, "D")) {
        return;
    }
    mfma_check_modifiers(w, i);
    struct mfma_lanes lanes;
    mfma_broadcast(w, i, j.s.blocks, &lanes);
    load(w, &i->src[0], ea, &j.s, lanes.a, j.a);
    load(w, &i->src[1], eb, &j.s, lanes.b, j.b);
    float c[MFMA_MAX_D];
    mfma_load_c(w, i, &i->src[2], &j.s, c);
    memcpy(j.d, c, cd * SIM_LANES * sizeof *c);
    run(&j);
    mfma_clamp_overflow(w, &j.s, j.a, j.b, c, j.d);
    uint32_t bits[MFMA_MAX_D];
    mfma_result_bits(&j.s, j.d, bits);
    mfma_store_d(w, &i->dst[0], &j.s, bits);
}

void sim_x_mfma_f32_f32(struct sim_wave *w, const struct sim_inst *i)
{
    mfma(w, i, ELEM_F32, ELEM_F32);
}

void sim_x_mfma_f32_f16(struct sim_wave *w, const struct sim_inst *i)
{
    mfma(w, i, ELEM_F16, ELEM_F16);
}

void sim_x_mfma_f32_bf16(struct sim_wave *w, const struct sim_inst *i)
{
    mfma(w, i, ELEM_BF16, ELEM_BF16);
}

void sim_x_mfma_f32_fp8(struct sim_wave *w, const struct sim_inst *i)
{
    mfma(w, i, i->op->p[3] & SIM_P_A_BF8 ? ELEM_BF8 : ELEM_FP8,
         i->op->p[3] & SIM_P_B_BF8 ? ELEM_BF8 : ELEM_FP8);
}
