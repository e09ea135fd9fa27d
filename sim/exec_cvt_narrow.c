/* SPDX-License-Identifier: MIT */
/*
 * Conversions to FP8, BF8, FP6, BF6 and FP4 (ISA text, 7.3 and the notes of the
 * V_CVT_* opcodes).  The scaled ones divide by 2^(exponent of the scale - 127)
 * first, exactly: there is one rounding.
 */
#include "exec_cvt.h"

#include "exec_mfma.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SIM_NO_AVX2)
#define HAVE_AVX2_BUILD 1
#endif

static const struct sim_lowp lowp[] = {
    [SIM_FMT_FP8] = SIM_LOWP_FP8, [SIM_FMT_BF8] = SIM_LOWP_BF8, [SIM_FMT_FP6] = SIM_LOWP_FP6,
    [SIM_FMT_BF6] = SIM_LOWP_BF6, [SIM_FMT_FP4] = SIM_LOWP_FP4,
};

/* Where the operands of a row are, and how its elements lie in them. */
struct plan {
    const struct sim_lowp *f;
    unsigned count;       /* elements */
    unsigned srcs;        /* operands that hold them, interleaved: 1 or 2 */
    unsigned seed, scale; /* operand numbers, 0 if there is none */
    bool half;            /* 16-bit source elements */
};

static struct plan make_plan(const struct sim_op *op, bool scaled)
{
    const bool sr = op->p[3] & SIM_P_SR;
    const bool two = op->p[0] == SIM_FMT_F32 && op->p[2] > 1 && !sr;
    const unsigned next = two ? 2 : 1;
    return (struct plan){
        .f = &lowp[op->p[1]],
        .count = op->p[2],
        .srcs = two ? 2 : 1,
        .seed = sr ? 1 : 0,
        .scale = !scaled ? 0
                 : sr    ? 2
                         : next,
        .half = op->p[0] != SIM_FMT_F32,
    };
}

/*
 * f32 bits of element e.  NEG and ABS are documented for f32 sources; on packed
 * 16-bit sources, where they are not, they are applied to both halves.
 */
static void load_element(struct sim_wave *w, const struct sim_inst *i, const struct plan *p,
                         unsigned e, uint32_t x[SIM_LANES])
{
    const unsigned s = e % p->srcs;
    const unsigned at = e / p->srcs;
    uint32_t tmp[SIM_LANES];
    const uint32_t *row = cvt_row(w, i, s, p->half ? at / 2 : at, tmp);
    /* A single 16-bit element is chosen by OP_SEL, as in other VOP3 instructions. */
    const bool high = p->count == 1 ? i->opsel & 1 : at & 1;
    const bool f16 = i->op->p[0] == SIM_FMT_F16;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        const uint32_t u = row[lane];
        /* A bf16 is the upper half of its f32. */
        x[lane] = !p->half ? u : high ? u & 0xFFFF0000u : u << 16;
    }
    for (unsigned lane = 0; lane < SIM_LANES && f16; lane++) {
        x[lane] = sim_f16_to_f32((uint16_t)(x[lane] >> 16));
    }
    /* MODE.denorm flushes f32 sources only; all other subnormals are kept. */
    const bool flush = !p->half && !(w->mode & 0x10);
    const uint32_t keep = i->abs >> s & 1 ? 0x7FFFFFFFu : 0xFFFFFFFFu;
    const uint32_t flip = i->neg >> s & 1 ? 0x80000000u : 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        uint32_t u = (x[lane] & keep) ^ flip;
        x[lane] = flush && (u & 0x7F800000u) == 0 ? u & 0x80000000u : u;
    }
}

/* Codes for all lanes, to nearest even: the loop that must be fast. */
static inline __attribute__((always_inline)) void
codes_rne(const struct sim_lowp *f, bool saturate, const uint32_t x[SIM_LANES],
          const uint32_t scale[SIM_LANES], uint32_t out[SIM_LANES])
{
    const struct sim_lowp fmt = *f;
    const int32_t nan = fmt.nan_code ? fmt.nan_code : fmt.max_code;
    const int32_t over = !fmt.nan_code || saturate ? fmt.max_code
                         : fmt.inf_code            ? fmt.inf_code
                                                   : fmt.nan_code;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        const uint32_t mag = x[lane] & 0x7FFFFFFFu;
        int32_t code = sim_lowp_code_rne(&fmt, x[lane], scale[lane]);
        code = ((code > fmt.max_code) | (mag >= SIM_F32_INF)) ? over : code;
        code = mag > SIM_F32_INF ? nan : code;
        out[lane] = (uint32_t)code | x[lane] >> 31 << (fmt.bits - 1);
    }
}

static void codes_rne_any(const struct sim_lowp *f, bool saturate, const uint32_t x[SIM_LANES],
                          const uint32_t scale[SIM_LANES], uint32_t out[SIM_LANES])
{
    codes_rne(f, saturate, x, scale, out);
}

#ifdef HAVE_AVX2_BUILD
__attribute__((target("avx2"))) static void
codes_rne_avx2(const struct sim_lowp *f, bool saturate, const uint32_t x[SIM_LANES],
               const uint32_t scale[SIM_LANES], uint32_t out[SIM_LANES])
{
    codes_rne(f, saturate, x, scale, out);
}
#endif

static uint8_t code_sr(unsigned fmt, uint32_t x, uint32_t scale, const struct sim_round *r)
{
    switch (fmt) {
    case SIM_FMT_FP8:
        return sim_fp8_from_f32(x, (uint8_t)scale, r);
    case SIM_FMT_BF8:
        return sim_bf8_from_f32(x, (uint8_t)scale, r);
    case SIM_FMT_FP6:
        return sim_fp6_from_f32(x, (uint8_t)scale, r);
    case SIM_FMT_BF6:
        return sim_bf6_from_f32(x, (uint8_t)scale, r);
    default:
        return sim_fp4_from_f32(x, (uint8_t)scale, r);
    }
}

static void codes(struct sim_wave *w, const struct sim_inst *i, const struct plan *p,
                  const uint32_t x[SIM_LANES], const uint32_t scale[SIM_LANES],
                  uint32_t seed[SIM_LANES], uint32_t out[SIM_LANES])
{
    const bool saturate = w->mode & SIM_MODE_FP16_OVFL;
    if (!p->seed) {
#ifdef HAVE_AVX2_BUILD
        if (__builtin_cpu_supports("avx2")) {
            codes_rne_avx2(p->f, saturate, x, scale, out);
            return;
        }
#endif
        codes_rne_any(p->f, saturate, x, scale, out);
        return;
    }
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        const struct sim_round r = { true, saturate, seed[lane] };
        out[lane] = code_sr(i->op->p[1], x[lane], scale[lane], &r);
        /* Every element of a packed conversion has its own random number. */
        seed[lane] = sim_prng_next(seed[lane]);
    }
}

/*
 * A scale of 0xFF: HIP's host emulation takes it as NaN, whatever the value;
 * rocjitsu leaves the destination alone.  Here it is the former, and reported.
 */
static void apply_bad_scale(const struct plan *p, const uint32_t x[SIM_LANES],
                            const uint32_t scale[SIM_LANES], uint32_t out[SIM_LANES])
{
    if (!cvt_any_bad_scale(scale)) {
        return;
    }
    const uint32_t nan = p->f->nan_code ? p->f->nan_code : p->f->max_code;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        if (scale[lane] == 0xFF) {
            out[lane] = nan | x[lane] >> 31 << (p->f->bits - 1);
        }
    }
}

/* Lanes whose source is a NaN although the target format has none. */
static uint64_t nan_lanes(const struct plan *p, const uint32_t x[SIM_LANES])
{
    uint32_t any = 0;
    uint64_t mask = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        any |= sim_f32_is_nan(x[lane]);
    }
    for (unsigned lane = 0; lane < SIM_LANES && any && !p->f->nan_code; lane++) {
        mask |= (uint64_t)sim_f32_is_nan(x[lane]) << lane;
    }
    return mask;
}

static void store(struct sim_wave *w, const struct sim_inst *i, const struct plan *p,
                  uint32_t r[6][SIM_LANES])
{
    const unsigned bits = p->count * p->f->bits;
    if (bits > 32) {
        for (unsigned d = 0; d < bits / 32; d++) {
            cvt_store(w, i, d, 0xFFFFFFFFu, r[d]);
        }
        return;
    }
    /* One byte at OP_SEL[3:2] or one word at OP_SEL[3]; the rest of D is kept. */
    const unsigned at = bits == 8 ? 8 * (i->opsel >> 2 & 3) : 16 * (i->opsel >> 3 & 1);
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        r[0][lane] <<= at;
    }
    cvt_store(w, i, 0, ((1u << bits) - 1) << at, r[0]);
}

static void narrow(struct sim_wave *w, const struct sim_inst *i, bool scaled)
{
    const struct plan p = make_plan(i->op, scaled);
    uint32_t scale[SIM_LANES], seed[SIM_LANES], x[SIM_LANES], code[SIM_LANES], tmp[SIM_LANES];
    uint32_t result[6][SIM_LANES] = { { 0 } };
    if (p.scale) {
        cvt_load_scale(w, i, p.scale, scale);
        cvt_check_scale(w, i, scale);
    } else {
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            scale[lane] = 127;
        }
    }
    if (p.seed) {
        memcpy(seed, cvt_row(w, i, p.seed, 0, tmp), sizeof seed);
    }
    uint64_t nans = 0;
    for (unsigned e = 0; e < p.count; e++) {
        load_element(w, i, &p, e, x);
        codes(w, i, &p, x, scale, seed, code);
        if (p.scale) {
            apply_bad_scale(&p, x, scale, code);
        }
        nans |= nan_lanes(&p, x);
        const unsigned bit = e * p.f->bits;
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            result[bit / 32][lane] |= code[lane] << bit % 32;
        }
        if (bit % 32 + p.f->bits > 32) {
            for (unsigned lane = 0; lane < SIM_LANES; lane++) {
                result[bit / 32 + 1][lane] |= code[lane] >> (32 - bit % 32);
            }
        }
    }
    nans &= sim_exec_mask(w);
    if (nans) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, __builtin_ctzll(nans),
                 "%s: NaN input, which the target format cannot hold; no document defines the "
                 "result",
                 i->op->name);
    }
    store(w, i, &p, result);
}

void sim_x_cvt_scale_narrow(struct sim_wave *w, const struct sim_inst *i)
{
    narrow(w, i, true);
}

void sim_x_cvt_fp8_narrow(struct sim_wave *w, const struct sim_inst *i)
{
    narrow(w, i, false);
}
