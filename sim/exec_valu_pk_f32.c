/* SPDX-License-Identifier: MIT */
/* Vector ALU: packed single precision and mixed precision (ISA text, 12.10). */
#include "alu_float.h"
#include "alu_lanes.h"
#include "exec_valu.h"

#define F(x) sim_f32_from_bits(x)

static inline uint32_t flush32(uint32_t v)
{
    return (v & 0x7f800000) == 0 ? v & 0x80000000 : v;
}

/* Dword of source i that the low (0) or high (1) half of a packed f32 instruction reads. */
static void packed_source(struct sim_wave *w, const struct sim_inst *in, unsigned i,
                          unsigned half, uint32_t *out)
{
    const bool high = ((half == 0 ? in->opsel : in->opsel_hi) >> i & 1) != 0;
    const uint32_t flip = ((half == 0 ? in->neg : in->abs) >> i & 1) != 0 ? 0x80000000 : 0;
    const bool flush = (sim_denorm32(w) & 1) == 0;
    if (high && in->src[i].kind == SIM_OPND_CONST) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "upper half of an inline constant");
    }
    /* The dword is an operand of its own: a register, or half of a scalar. */
    struct sim_inst one = *in;
    one.src[i].ndw = 1;
    if (in->src[i].kind == SIM_OPND_VGPR || in->src[i].kind == SIM_OPND_SGPR) {
        one.src[i].reg = (uint16_t)(in->src[i].reg + high);
    } else {
        one.src[i].kind = SIM_OPND_CONST;
        one.src[i].imm = sim_scalar_read(w, &in->src[i]) >> (high ? 32 : 0);
    }
    uint32_t buf[SIM_LANES];
    const uint32_t *v = sim_v32(w, &one, i, buf);
    SIM_FOR_LANES(l) {
        out[l] = v[l] ^ flip;
    }
    if (flush) {
        SIM_FOR_LANES(l) {
            out[l] = flush32(out[l]);
        }
    }
}

enum packed_op { PACKED_ADD, PACKED_MUL, PACKED_FMA };

/* Both halves of a packed f32 instruction; clamp and output flush per half. */
static void packed_f32(struct sim_wave *w, const struct sim_inst *in, enum packed_op op)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES], d[2][SIM_LANES];
    uint64_t out[SIM_LANES];
    const unsigned round = sim_round32(w);
    for (unsigned half = 0; half < 2; half++) {
        packed_source(w, in, 0, half, a);
        packed_source(w, in, 1, half, b);
        if (op == PACKED_ADD) {
            sim_f32_add_lanes(d[half], a, b, round);
        } else if (op == PACKED_MUL) {
            sim_f32_mul_lanes(d[half], a, b, round);
        } else {
            packed_source(w, in, 2, half, c);
            sim_f32_fma_lanes(d[half], a, b, c, round);
        }
        sim_f32_output(w, in, d[half]);
    }
    SIM_FOR_LANES(l) {
        out[l] = d[0][l] | (uint64_t)d[1][l] << 32;
    }
    sim_vstore64(w, in, out);
}

EXEC_FN(v_pk_add_f32)
{
    packed_f32(w, in, PACKED_ADD);
}

EXEC_FN(v_pk_mul_f32)
{
    packed_f32(w, in, PACKED_MUL);
}

EXEC_FN(v_pk_fma_f32)
{
    packed_f32(w, in, PACKED_FMA);
}

/*
 * Source of a mix instruction: f32, or the f16 half that op_sel names where
 * op_sel_hi is set; neg and abs work on the value (ISA text, V_MAD_MIX_F32).
 */
static void mix_source(struct sim_wave *w, const struct sim_inst *in, unsigned i, uint32_t *out)
{
    uint32_t buf[SIM_LANES];
    const uint32_t *v = sim_v32(w, in, i, buf);
    const bool half = (in->opsel_hi >> i & 1) != 0;
    const unsigned shift = (in->opsel >> i & 1) != 0 ? 16 : 0;
    const uint32_t keep = (in->abs >> i & 1) != 0 ? 0x7fffffff : 0xffffffff;
    const uint32_t flip = (in->neg >> i & 1) != 0 ? 0x80000000 : 0;
    const bool flush16 = (sim_denorm64(w) & 1) == 0;
    const bool flush = (sim_denorm32(w) & 1) == 0;
    SIM_FOR_LANES(l) {
        uint32_t x = v[l];
        if (half) {
            uint32_t h = x >> shift & 0xffff;
            h = flush16 && (h & 0x7c00) == 0 ? h & 0x8000 : h;
            x = sim_f16_to_f32((uint16_t)h);
        } else if (flush) {
            x = flush32(x);
        }
        out[l] = (x & keep) ^ flip;
    }
}

static void mix_lanes(struct sim_wave *w, const struct sim_inst *in, uint32_t *d)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES];
    mix_source(w, in, 0, a);
    mix_source(w, in, 1, b);
    mix_source(w, in, 2, c);
    sim_f32_fma_lanes(d, a, b, c, sim_round32(w));
}

EXEC_FN(v_fma_mix_f32)
{
    uint32_t d[SIM_LANES];
    mix_lanes(w, in, d);
    sim_vstoref32(w, in, d);
}

/* The f32 result rounded to f16 into one half; the other half is kept. */
static void mix_to_half(struct sim_wave *w, const struct sim_inst *in, unsigned shift)
{
    uint32_t d[SIM_LANES];
    const uint32_t *row = sim_vdst32(w, in);
    const bool ovfl = (w->mode & SIM_MODE_FP16_OVFL) != 0;
    mix_lanes(w, in, d);
    SIM_FOR_LANES(l) {
        uint32_t h = sim_f32_is_nan(d[l]) ? sim_f16_nan_from_f32(d[l])
                                          : sim_f16_round(F(d[l]), sim_round64(w), ovfl);
        h = sim_f16_output(w, in, h);
        d[l] = (row[l] & ~(0xffffu << shift)) | h << shift;
    }
    sim_vstore32(w, in, d);
}

EXEC_FN(v_fma_mixlo_f16)
{
    mix_to_half(w, in, 0);
}

EXEC_FN(v_fma_mixhi_f16)
{
    mix_to_half(w, in, 16);
}
