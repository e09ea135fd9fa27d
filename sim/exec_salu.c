/* SPDX-License-Identifier: MIT */
/*
 * Scalar ALU: arithmetic, logic, bit fields, moves and compares (ISA text,
 * sections 12.1 to 12.4).  Each function follows the text of its opcode.
 */
#include "exec_salu.h"

#include "alu_scalar.h"

uint64_t sim_scalar_read(const struct sim_wave *w, const struct sim_opnd *o)
{
    switch (o->kind) {
    case SIM_OPND_SGPR:
        return o->ndw == 2 ? sim_sgpr64(w, o->reg) : w->sgpr[o->reg];
    case SIM_OPND_SCC:
        return w->scc;
    case SIM_OPND_VCCZ:
        return sim_vcc(w) == 0;
    case SIM_OPND_EXECZ:
        return sim_exec_mask(w) == 0;
    case SIM_OPND_APERTURE: {
        static const uint64_t apertures[] = { SIM_SHARED_BASE, SIM_SHARED_LIMIT,
                                              SIM_PRIVATE_BASE, SIM_PRIVATE_LIMIT };
        /* The segment number is in the upper half; a 32-bit read sees the lower one. */
        return o->ndw == 2 ? apertures[o->reg - 235] : (uint32_t)apertures[o->reg - 235];
    }
    default:
        return o->imm;
    }
}

/* Operands and results by width. */
#define A32 sim_scalar_read32(w, &in->src[0])
#define B32 sim_scalar_read32(w, &in->src[1])
#define A64 sim_scalar_read(w, &in->src[0])
#define B64 sim_scalar_read(w, &in->src[1])
#define D32(v) sim_scalar_write32(w, &in->dst[0], v)
#define D64(v) sim_scalar_write64(w, &in->dst[0], v)

#define EXEC_FN(name) void sim_x_##name(struct sim_wave *w, const struct sim_inst *in)

/* d = expression of a and b; SCC as given, or left alone. */
#define SOP2_32(name, expr, scc_expr)                                                          \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        const uint32_t a = A32;                                                                \
        const uint32_t b = B32;                                                                \
        const uint32_t d = (expr);                                                             \
        D32(d);                                                                                \
        w->scc = (scc_expr);                                                                   \
    }
#define SOP2_32_NOSCC(name, expr)                                                              \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        const uint32_t a = A32;                                                                \
        const uint32_t b = B32;                                                                \
        D32(expr);                                                                             \
    }
#define SOP2_64(name, expr)                                                                    \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        const uint64_t a = A64;                                                                \
        const uint64_t b = B64;                                                                \
        const uint64_t d = (expr);                                                             \
        D64(d);                                                                                \
        w->scc = d != 0;                                                                       \
    }

#define SIGNED(x) ((int32_t)(x))

SOP2_32(s_add_u32, a + b, d < a)
SOP2_32(s_sub_u32, a - b, b > a)
SOP2_32(s_add_i32, a + b, (~(a ^ b) & (a ^ d)) >> 31)
SOP2_32(s_sub_i32, a - b, ((a ^ b) & (a ^ d)) >> 31)
SOP2_32(s_addc_u32, a + b + w->scc, (uint64_t)a + b + w->scc >= 0x100000000ull)
SOP2_32(s_subb_u32, a - b - w->scc, (uint64_t)b + w->scc > a)
SOP2_32(s_min_i32, SIGNED(a) < SIGNED(b) ? a : b, SIGNED(a) < SIGNED(b))
SOP2_32(s_min_u32, a < b ? a : b, a < b)
SOP2_32(s_max_i32, SIGNED(a) >= SIGNED(b) ? a : b, SIGNED(a) >= SIGNED(b))
SOP2_32(s_max_u32, a >= b ? a : b, a >= b)
SOP2_32_NOSCC(s_cselect_b32, w->scc != 0 ? a : b)

EXEC_FN(s_cselect_b64)
{
    const uint64_t a = A64;
    const uint64_t b = B64;
    D64(w->scc != 0 ? a : b);
}

SOP2_32(s_and_b32, a & b, d != 0)
SOP2_32(s_or_b32, a | b, d != 0)
SOP2_32(s_xor_b32, a ^ b, d != 0)
SOP2_32(s_andn2_b32, a & ~b, d != 0)
SOP2_32(s_orn2_b32, a | ~b, d != 0)
SOP2_32(s_nand_b32, ~(a & b), d != 0)
SOP2_32(s_nor_b32, ~(a | b), d != 0)
SOP2_32(s_xnor_b32, ~(a ^ b), d != 0)
SOP2_64(s_and_b64, a & b)
SOP2_64(s_or_b64, a | b)
SOP2_64(s_xor_b64, a ^ b)
SOP2_64(s_andn2_b64, a & ~b)
SOP2_64(s_orn2_b64, a | ~b)
SOP2_64(s_nand_b64, ~(a & b))
SOP2_64(s_nor_b64, ~(a | b))
SOP2_64(s_xnor_b64, ~(a ^ b))

/* Shift counts use the low five or six bits. */
SOP2_32(s_lshl_b32, a << (b & 31), d != 0)
SOP2_32(s_lshr_b32, a >> (b & 31), d != 0)
SOP2_32(s_ashr_i32, (uint32_t)(SIGNED(a) >> (b & 31)), d != 0)
SOP2_64(s_lshl_b64, a << (b & 63))
SOP2_64(s_lshr_b64, a >> (b & 63))
SOP2_64(s_ashr_i64, (uint64_t)((int64_t)a >> (b & 63)))

SOP2_32_NOSCC(s_bfm_b32, ((1u << (a & 31)) - 1) << (b & 31))

EXEC_FN(s_bfm_b64)
{
    const uint32_t a = A32;
    const uint32_t b = B32;
    D64(((1ull << (a & 63)) - 1) << (b & 63));
}

SOP2_32_NOSCC(s_mul_i32, a *b)
SOP2_32_NOSCC(s_mul_hi_u32, (uint32_t)((uint64_t)a * b >> 32))
SOP2_32_NOSCC(s_mul_hi_i32, (uint32_t)((int64_t)SIGNED(a) * SIGNED(b) >> 32))

/* The field of `width` bits from `offset`, sign-extended from its top bit where asked. */
static uint64_t bit_field(uint64_t v, unsigned offset, unsigned width, bool sign)
{
    if (width == 0) {
        return 0;
    }
    /* An arithmetic shift first: a field may reach beyond the source's sign. */
    uint64_t f = sign ? (uint64_t)((int64_t)v >> offset) : v >> offset;
    if (width >= 64) {
        return f;
    }
    f &= (1ull << width) - 1;
    return sign && (f >> (width - 1) & 1) != 0 ? f | ~0ull << width : f;
}

SOP2_32(s_bfe_u32, (uint32_t)bit_field(a, b & 31, b >> 16 & 0x7f, false), d != 0)
SOP2_32(s_bfe_i32,
        (uint32_t)bit_field((uint64_t)(int64_t)SIGNED(a), b & 31, b >> 16 & 0x7f, true), d != 0)

EXEC_FN(s_bfe_u64)
{
    const uint32_t b = B32;
    const uint64_t d = bit_field(A64, b & 63, b >> 16 & 0x7f, false);
    D64(d);
    w->scc = d != 0;
}

EXEC_FN(s_bfe_i64)
{
    const uint32_t b = B32;
    const uint64_t d = bit_field(A64, b & 63, b >> 16 & 0x7f, true);
    D64(d);
    w->scc = d != 0;
}

/* The difference wraps before its sign is looked at, as the ISA text says. */
SOP2_32(s_absdiff_i32, SIGNED(a - b) < 0 ? b - a : a - b, d != 0)

SOP2_32(s_lshl1_add_u32, (a << 1) + b, ((uint64_t)a << 1) + b >= 0x100000000ull)
SOP2_32(s_lshl2_add_u32, (a << 2) + b, ((uint64_t)a << 2) + b >= 0x100000000ull)
SOP2_32(s_lshl3_add_u32, (a << 3) + b, ((uint64_t)a << 3) + b >= 0x100000000ull)
SOP2_32(s_lshl4_add_u32, (a << 4) + b, ((uint64_t)a << 4) + b >= 0x100000000ull)
SOP2_32_NOSCC(s_pack_ll_b32_b16, (a & 0xffff) | b << 16)
SOP2_32_NOSCC(s_pack_lh_b32_b16, (a & 0xffff) | (b & 0xffff0000))
SOP2_32_NOSCC(s_pack_hh_b32_b16, a >> 16 | (b & 0xffff0000))

/* One source; `a` is its value, the widths are those of source and destination. */
#define SOP1(name, asize, dsize, expr)                                                         \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        const uint##asize##_t a = A##asize;                                                    \
        D##dsize(expr);                                                                        \
    }
#define SOP1_SCC(name, asize, dsize, expr)                                                     \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        const uint##asize##_t a = A##asize;                                                    \
        const uint##dsize##_t d = (expr);                                                      \
        D##dsize(d);                                                                           \
        w->scc = d != 0;                                                                       \
    }

static uint64_t reverse64(uint64_t v)
{
    v = (v >> 1 & 0x5555555555555555ull) | (v & 0x5555555555555555ull) << 1;
    v = (v >> 2 & 0x3333333333333333ull) | (v & 0x3333333333333333ull) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0full) | (v & 0x0f0f0f0f0f0f0f0full) << 4;
    return __builtin_bswap64(v);
}

/* Whole quad mode: every group of four bits becomes ones if any of them is set. */
static uint64_t whole_quads(uint64_t v)
{
    uint64_t any = (v | v >> 1 | v >> 2 | v >> 3) & 0x1111111111111111ull;
    return any * 15;
}

/* One bit per group of four. */
static uint64_t quad_bits(uint64_t v)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 16; i++) {
        r |= (uint64_t)((v >> 4 * i & 15) != 0) << i;
    }
    return r;
}

static uint32_t first_one(uint64_t v)
{
    return v == 0 ? UINT32_MAX : (uint32_t)__builtin_ctzll(v);
}

static uint32_t leading_zeros(uint64_t v, unsigned bits)
{
    return v == 0 ? UINT32_MAX : (uint32_t)__builtin_clzll(v) - (64 - bits);
}

/* Position from the top of the first bit that differs from the sign. */
static uint32_t leading_signs(uint64_t v, unsigned bits)
{
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    return leading_zeros(((v >> (bits - 1) & 1) != 0 ? ~v : v) & mask, bits);
}

static uint64_t replicate_bits(uint32_t v)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 32; i++) {
        r |= (uint64_t)(v >> i & 1) * 3 << 2 * i;
    }
    return r;
}

SOP1(s_mov_b32, 32, 32, a)
SOP1(s_mov_b64, 64, 64, a)
SOP1_SCC(s_not_b32, 32, 32, ~a)
SOP1_SCC(s_not_b64, 64, 64, ~a)
SOP1_SCC(s_wqm_b32, 32, 32, (uint32_t)whole_quads(a))
SOP1_SCC(s_wqm_b64, 64, 64, whole_quads(a))
SOP1(s_brev_b32, 32, 32, (uint32_t)(reverse64(a) >> 32))
SOP1(s_brev_b64, 64, 64, reverse64(a))
SOP1_SCC(s_bcnt0_i32_b32, 32, 32, 32u - (uint32_t)__builtin_popcount(a))
SOP1_SCC(s_bcnt0_i32_b64, 64, 32, 64u - (uint32_t)__builtin_popcountll(a))
SOP1_SCC(s_bcnt1_i32_b32, 32, 32, (uint32_t)__builtin_popcount(a))
SOP1_SCC(s_bcnt1_i32_b64, 64, 32, (uint32_t)__builtin_popcountll(a))
SOP1(s_ff0_i32_b32, 32, 32, first_one((uint32_t)~a))
SOP1(s_ff0_i32_b64, 64, 32, first_one(~a))
SOP1(s_ff1_i32_b32, 32, 32, first_one(a))
SOP1(s_ff1_i32_b64, 64, 32, first_one(a))
SOP1(s_flbit_i32_b32, 32, 32, leading_zeros(a, 32))
SOP1(s_flbit_i32_b64, 64, 32, leading_zeros(a, 64))
SOP1(s_flbit_i32, 32, 32, leading_signs(a, 32))
SOP1(s_flbit_i32_i64, 64, 32, leading_signs(a, 64))
SOP1(s_sext_i32_i8, 32, 32, (uint32_t)(int32_t)(int8_t)a)
SOP1(s_sext_i32_i16, 32, 32, (uint32_t)(int32_t)(int16_t)a)
SOP1_SCC(s_quadmask_b32, 32, 32, (uint32_t)quad_bits(a))
SOP1_SCC(s_quadmask_b64, 64, 64, quad_bits(a))
SOP1_SCC(s_abs_i32, 32, 32, SIGNED(a) < 0 ? 0 - a : a)
SOP1(s_bitreplicate_b64_b32, 32, 64, replicate_bits(a))

EXEC_FN(s_cmov_b32)
{
    if (w->scc != 0) {
        D32(A32);
    }
}

EXEC_FN(s_cmov_b64)
{
    if (w->scc != 0) {
        D64(A64);
    }
}

EXEC_FN(s_bitset0_b32)
{
    D32(w->sgpr[in->dst[0].reg] & ~(1u << (A32 & 31)));
}

EXEC_FN(s_bitset1_b32)
{
    D32(w->sgpr[in->dst[0].reg] | 1u << (A32 & 31));
}

EXEC_FN(s_bitset0_b64)
{
    D64(sim_sgpr64(w, in->dst[0].reg) & ~(1ull << (A32 & 63)));
}

EXEC_FN(s_bitset1_b64)
{
    D64(sim_sgpr64(w, in->dst[0].reg) | 1ull << (A32 & 63));
}

/* EXEC = expression of the source s and the old EXEC x; the old EXEC is saved. */
#define SAVEEXEC(name, expr)                                                                   \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        const uint64_t s = A64;                                                                \
        const uint64_t x = sim_exec_mask(w);                                                   \
        const uint64_t d = (expr);                                                             \
        D64(x);                                                                                \
        sim_exec_write(w, d);                                                                  \
        w->scc = d != 0;                                                                       \
    }

SAVEEXEC(s_and_saveexec_b64, s &x)
SAVEEXEC(s_or_saveexec_b64, s | x)
SAVEEXEC(s_xor_saveexec_b64, s ^ x)
SAVEEXEC(s_andn2_saveexec_b64, s & ~x)
SAVEEXEC(s_orn2_saveexec_b64, s | ~x)
SAVEEXEC(s_nand_saveexec_b64, ~(s & x))
SAVEEXEC(s_nor_saveexec_b64, ~(s | x))
SAVEEXEC(s_xnor_saveexec_b64, ~(s ^ x))
SAVEEXEC(s_andn1_saveexec_b64, ~s &x)
SAVEEXEC(s_orn1_saveexec_b64, ~s | x)

/* The same, but the destination gets the new EXEC. */
static void write_exec_and_dst(struct sim_wave *w, const struct sim_inst *in, uint64_t d)
{
    sim_exec_write(w, d);
    D64(d);
    w->scc = d != 0;
}

EXEC_FN(s_andn1_wrexec_b64)
{
    write_exec_and_dst(w, in, ~A64 & sim_exec_mask(w));
}

EXEC_FN(s_andn2_wrexec_b64)
{
    write_exec_and_dst(w, in, A64 & ~sim_exec_mask(w));
}

#define SOPC(name, size, expr)                                                                 \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        const uint##size##_t a = A##size;                                                      \
        const uint##size##_t b = B##size;                                                      \
        w->scc = (expr);                                                                       \
    }

SOPC(s_cmp_eq_i32, 32, a == b)
SOPC(s_cmp_lg_i32, 32, a != b)
SOPC(s_cmp_gt_i32, 32, SIGNED(a) > SIGNED(b))
SOPC(s_cmp_ge_i32, 32, SIGNED(a) >= SIGNED(b))
SOPC(s_cmp_lt_i32, 32, SIGNED(a) < SIGNED(b))
SOPC(s_cmp_le_i32, 32, SIGNED(a) <= SIGNED(b))
SOPC(s_cmp_eq_u32, 32, a == b)
SOPC(s_cmp_lg_u32, 32, a != b)
SOPC(s_cmp_gt_u32, 32, a > b)
SOPC(s_cmp_ge_u32, 32, a >= b)
SOPC(s_cmp_lt_u32, 32, a < b)
SOPC(s_cmp_le_u32, 32, a <= b)
SOPC(s_bitcmp0_b32, 32, (a >> (b & 31) & 1) == 0)
SOPC(s_bitcmp1_b32, 32, (a >> (b & 31) & 1) != 0)
SOPC(s_bitcmp0_b64, 64, (a >> (b & 63) & 1) == 0)
SOPC(s_bitcmp1_b64, 64, (a >> (b & 63) & 1) != 0)
SOPC(s_cmp_eq_u64, 64, a == b)
SOPC(s_cmp_lg_u64, 64, a != b)

/* SOPK: k is the sign-extended immediate, u the zero-extended one. */
#define SOPK_CMP(name, expr)                                                                   \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        const uint32_t a = A32;                                                                \
        const uint32_t u = (uint32_t)in->imm & 0xffff;                                         \
        const int32_t k = in->imm;                                                             \
        (void)u;                                                                               \
        (void)k;                                                                               \
        w->scc = (expr);                                                                       \
    }

SOPK_CMP(s_cmpk_eq_i32, SIGNED(a) == k)
SOPK_CMP(s_cmpk_lg_i32, SIGNED(a) != k)
SOPK_CMP(s_cmpk_gt_i32, SIGNED(a) > k)
SOPK_CMP(s_cmpk_ge_i32, SIGNED(a) >= k)
SOPK_CMP(s_cmpk_lt_i32, SIGNED(a) < k)
SOPK_CMP(s_cmpk_le_i32, SIGNED(a) <= k)
SOPK_CMP(s_cmpk_eq_u32, a == u)
SOPK_CMP(s_cmpk_lg_u32, a != u)
SOPK_CMP(s_cmpk_gt_u32, a > u)
SOPK_CMP(s_cmpk_ge_u32, a >= u)
SOPK_CMP(s_cmpk_lt_u32, a < u)
SOPK_CMP(s_cmpk_le_u32, a <= u)

EXEC_FN(s_movk_i32)
{
    D32((uint32_t)in->imm);
}

EXEC_FN(s_cmovk_i32)
{
    if (w->scc != 0) {
        D32((uint32_t)in->imm);
    }
}

EXEC_FN(s_addk_i32)
{
    const uint32_t a = w->sgpr[in->dst[0].reg];
    const uint32_t b = (uint32_t)in->imm;
    const uint32_t d = a + b;
    D32(d);
    w->scc = (~(a ^ b) & (a ^ d)) >> 31;
}

EXEC_FN(s_mulk_i32)
{
    D32(w->sgpr[in->dst[0].reg] * (uint32_t)in->imm);
}
