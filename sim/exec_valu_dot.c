/* SPDX-License-Identifier: MIT */
/* Vector ALU: dot products of packed elements (ISA text, 12.7, 12.10). */
#include "alu_float.h"
#include "exec_valu.h"
#include "optable.h"

/*
 * Float dot products flush denormals and round to nearest even whatever MODE
 * says (ISA text, section 6.4).  Products of 16-bit floats are exact in f32;
 * the sums are made in the order of the opcode text.
 */
static inline uint32_t flush32(uint32_t v)
{
    return (v & 0x7f800000) == 0 ? v & 0x80000000 : v;
}

static uint32_t f32_of(uint32_t half, bool bf16)
{
    if (bf16) {
        return flush32(half << 16);
    }
    return (half & 0x7c00) == 0 ? (half & 0x8000) << 16 : sim_f16_to_f32((uint16_t)half);
}

static uint32_t sum(uint32_t a, uint32_t b)
{
    return flush32(sim_f32_add(a, b, 0));
}

static uint32_t product(uint32_t a, uint32_t b)
{
    return flush32(sim_f32_mul(a, b, 0));
}

/* acc + a.lo * b.lo + a.hi * b.hi; bf16 with its own addend adds the addend last. */
static uint32_t dot2(uint32_t a, uint32_t b, uint32_t acc, bool bf16, bool addend_last)
{
    const uint32_t lo = product(f32_of(a & 0xffff, bf16), f32_of(b & 0xffff, bf16));
    const uint32_t hi = product(f32_of(a >> 16, bf16), f32_of(b >> 16, bf16));
    acc = flush32(acc);
    return addend_last ? sum(sum(lo, hi), acc) : sum(sum(acc, lo), hi);
}

/*
 * Packed halves by op_sel with neg; the flush above replaces MODE's.  sim_vpk16
 * would flush f16 by MODE, so it is asked for bits and neg is applied here.
 */
static void dot_source(struct sim_wave *w, const struct sim_inst *in, unsigned i, uint32_t *buf)
{
    struct sim_inst plain = *in;
    const bool packed = in->enc == SIM_ENC_VOP3P;
    const uint32_t lo = (in->neg >> i & 1) != 0 ? 0x8000 : 0;
    const uint32_t hi = ((packed ? in->abs : in->neg) >> i & 1) != 0 ? 0x80000000 : 0;
    const uint32_t keep = !packed && (in->abs >> i & 1) != 0 ? 0x7fff7fff : 0xffffffff;
    plain.neg = plain.abs = 0;
    sim_vpk16(w, &plain, i, false, buf);
    SIM_FOR_LANES(l) {
        buf[l] = (buf[l] & keep) ^ (lo | hi);
    }
}

/* ISA text, section 6.2.1: "DOT instructions must not use SDWA or OPSEL". */
static void check_op_sel(struct sim_wave *w, const struct sim_inst *in)
{
    const bool selects = sim_op_allows(in->op, 's');
    if (in->enc == SIM_ENC_VOP3P && (in->opsel != 0 || (selects && in->opsel_hi != 7))) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "op_sel on a dot product");
    }
}

static void dot2_float(struct sim_wave *w, const struct sim_inst *in, bool bf16,
                       bool accumulate)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    dot_source(w, in, 0, a);
    dot_source(w, in, 1, b);
    const uint32_t *c = accumulate ? sim_vdst32(w, in) : sim_v32(w, in, 2, bc);
    const uint32_t flip = !accumulate && (in->neg & 4) != 0 ? 0x80000000 : 0;
    check_op_sel(w, in);
    if (!accumulate && (in->abs & 4) != 0) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "neg_hi on a 32-bit addend");
    }
    SIM_FOR_LANES(l) {
        d[l] = dot2(a[l], b[l], c[l] ^ flip, bf16, bf16 && !accumulate);
    }
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_dot2_f32_f16)
{
    dot2_float(w, in, false, false);
}

EXEC_FN(v_dot2_f32_bf16)
{
    dot2_float(w, in, true, false);
}

EXEC_FN(v_dot2c_f32_f16)
{
    dot2_float(w, in, false, true);
}

EXEC_FN(v_dot2c_f32_bf16)
{
    dot2_float(w, in, true, true);
}

/* Exact sum of products of elements of `bits` bits. */
static int64_t dot_int(uint32_t a, uint32_t b, unsigned bits, bool sign)
{
    int64_t total = 0;
    for (unsigned s = 0; s < 32; s += bits) {
        const uint32_t x = a >> s << (32 - bits);
        const uint32_t y = b >> s << (32 - bits);
        const unsigned down = 32 - bits;
        total += sign ? (int64_t)((int32_t)x >> down) * ((int32_t)y >> down)
                      : (int64_t)(x >> down) * (y >> down);
    }
    return total;
}

static void dot_ints(struct sim_wave *w, const struct sim_inst *in, unsigned bits, bool sign,
                     bool accumulate)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const bool halves = bits == 16;
    const uint32_t *a = halves ? sim_vpk16(w, in, 0, false, ba) : sim_v32(w, in, 0, ba);
    const uint32_t *b = halves ? sim_vpk16(w, in, 1, false, bb) : sim_v32(w, in, 1, bb);
    const uint32_t *c = accumulate ? sim_vdst32(w, in) : sim_v32(w, in, 2, bc);
    const int64_t lo = sign ? INT32_MIN : 0;
    const int64_t hi = sign ? INT32_MAX : (int64_t)UINT32_MAX;
    check_op_sel(w, in);
    if ((!halves && (in->neg | in->abs) != 0) || ((in->neg | in->abs) & 4) != 0) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "neg on an integer source");
    }
    SIM_FOR_LANES(l) {
        const int64_t acc = sign ? (int64_t)(int32_t)c[l] : (int64_t)c[l];
        const int64_t v = acc + dot_int(a[l], b[l], bits, sign);
        d[l] = (uint32_t)(in->clamp == 0 ? v : v < lo ? lo : v > hi ? hi : v);
    }
    sim_vstore32(w, in, d);
}

#define DOT_INT(name, bits, sign, accumulate)                                                  \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        dot_ints(w, in, bits, sign, accumulate);                                               \
    }

DOT_INT(v_dot2_i32_i16, 16, true, false)
DOT_INT(v_dot2_u32_u16, 16, false, false)
DOT_INT(v_dot4_i32_i8, 8, true, false)
DOT_INT(v_dot4_u32_u8, 8, false, false)
DOT_INT(v_dot8_i32_i4, 4, true, false)
DOT_INT(v_dot8_u32_u4, 4, false, false)
DOT_INT(v_dot2c_i32_i16, 16, true, true)
DOT_INT(v_dot4c_i32_i8, 8, true, true)
DOT_INT(v_dot8c_i32_i4, 4, true, true)
