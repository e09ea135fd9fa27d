/* SPDX-License-Identifier: MIT */
/*
 * Conversions from FP8, BF8, FP6, BF6 and FP4 to f32, f16 and bf16.  The scaled
 * ones multiply by 2^(exponent of the scale - 127); one rounding, to nearest
 * even, subnormals kept, overflow to infinity.
 */
#include "exec_cvt.h"

#include "exec_mfma.h"

typedef float decode_fn(uint8_t code);

struct source {
    decode_fn *decode;
    unsigned bits;
};

static const struct source source[] = {
    [SIM_FMT_FP8] = { sim_fp8_to_f32, 8 }, [SIM_FMT_BF8] = { sim_bf8_to_f32, 8 },
    [SIM_FMT_FP6] = { sim_fp6_to_f32, 6 }, [SIM_FMT_BF6] = { sim_bf6_to_f32, 6 },
    [SIM_FMT_FP4] = { sim_fp4_to_f32, 4 },
};

/*
 * Bit where the elements start: a byte chosen by OP_SEL[1:0], or a word by
 * OP_SEL[0] for two 8-bit elements.  SDWA forms have had their SRC0_SEL applied.
 */
static unsigned first_bit(const struct sim_inst *i, unsigned bits)
{
    const unsigned count = i->op->p[2];
    if (count > 2 || i->has_sdwa) {
        return 0;
    }
    return count * bits == 16 ? 16 * (i->opsel & 1u) : 8 * (i->opsel & 3u);
}

/*
 * The value with its scale as f32 bits.  The product is exact, but for overflow:
 * the smallest is 2^-16 * 2^-127.  A scale of 0xFF gives NaN; HIP's host
 * emulation and rocjitsu agree on that, AMD's text does not say, so it is reported.
 */
static uint32_t scaled_bits(float v, uint32_t scale)
{
    const uint32_t sign = sim_f32_bits(v) & 0x80000000u;
    return scale == 0xFF ? sign | SIM_F32_QNAN : sim_f32_scale(v, (uint8_t)scale);
}

static uint16_t to_f16(const struct sim_wave *w, uint32_t u, bool finite)
{
    const uint16_t h = sim_f16_from_f32(u);
    /* FP16_OVFL: an overflowing f16 result becomes the largest number. */
    const bool clamp = finite && (w->mode & SIM_MODE_FP16_OVFL) && (h & 0x7FFF) == 0x7C00;
    return clamp ? (uint16_t)(h - 1) : h;
}

static uint32_t convert(const struct sim_wave *w, const struct sim_inst *i, uint8_t code,
                        uint32_t scale)
{
    const float v = source[i->op->p[0]].decode(code);
    const uint32_t u = scaled_bits(v, scale);
    if (i->op->p[1] == SIM_FMT_F32) {
        return u;
    }
    const bool finite = (sim_f32_bits(v) & 0x7F800000u) != 0x7F800000u;
    return i->op->p[1] == SIM_FMT_F16 ? to_f16(w, u, finite) : sim_bf16_from_f32(u);
}

/*
 * Source dwords are copied first: D may overlap them.  32 dwords of result are
 * the most there is.
 */
static void widen(struct sim_wave *w, const struct sim_inst *i, const uint32_t *first_row,
                  const uint32_t scale[SIM_LANES])
{
    const unsigned bits = source[i->op->p[0]].bits;
    const unsigned count = i->op->p[2];
    const unsigned start = first_bit(i, bits);
    const bool half = i->op->p[1] != SIM_FMT_F32;
    const unsigned ndw = (count * bits + 31) / 32;
    uint32_t src[6][SIM_LANES];
    memcpy(src[0], first_row, sizeof src[0]);
    for (unsigned d = 1; d < ndw; d++) {
        memcpy(src[d], sim_vrow(w, &i->src[0], d), sizeof src[d]);
    }
    for (unsigned e = 0; e < count; e++) {
        const unsigned bit = start + e * bits;
        uint32_t r[SIM_LANES];
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            uint32_t x = src[bit / 32][lane] >> bit % 32;
            if (bit % 32 + bits > 32) {
                x |= src[bit / 32 + 1][lane] << (32 - bit % 32);
            }
            r[lane] = convert(w, i, (uint8_t)(x & ((1u << bits) - 1)), scale[lane]);
        }
        if (!half) {
            cvt_store(w, i, e, 0xFFFFFFFFu, r);
            continue;
        }
        /* A single f16 result goes to the half that OP_SEL[3] names; the other is kept. */
        const bool high = count == 1 ? i->opsel & 8 : e & 1;
        for (unsigned lane = 0; lane < SIM_LANES && high; lane++) {
            r[lane] <<= 16;
        }
        cvt_store(w, i, e / 2, high ? 0xFFFF0000u : 0x0000FFFFu, r);
    }
}

void sim_x_cvt_scale_widen(struct sim_wave *w, const struct sim_inst *i)
{
    uint32_t scale[SIM_LANES], tmp[SIM_LANES];
    cvt_load_scale(w, i, 1, scale);
    cvt_check_scale(w, i, scale);
    widen(w, i, cvt_row(w, i, 0, 0, tmp), scale);
}

void sim_x_cvt_fp8_widen(struct sim_wave *w, const struct sim_inst *i)
{
    uint32_t scale[SIM_LANES], tmp[SIM_LANES];
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        scale[lane] = 127;
    }
    widen(w, i, cvt_row(w, i, 0, 0, tmp), scale);
}
