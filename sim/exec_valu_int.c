/* SPDX-License-Identifier: MIT */
/* Vector ALU: 32-bit integers, bits and bytes (ISA text, 12.7, 12.8, 12.11). */
#include "exec_valu.h"

#define S(x) ((int32_t)(x))

static inline int32_t sext24(uint32_t v)
{
    return (int32_t)(v << 8) >> 8;
}

static inline uint32_t zext24(uint32_t v)
{
    return v & 0xffffff;
}

EXEC_FN(v_nop)
{
    (void)w;
    (void)in;
}

VALU1_32(v_mov_b32, a)
VALU1_32(v_not_b32, ~a)
VALU2_32(v_and_b32, a &b)
VALU2_32(v_or_b32, a | b)
VALU2_32(v_xor_b32, a ^ b)
VALU2_32(v_xnor_b32, ~(a ^ b))
VALU2_32(v_lshrrev_b32, b >> (a & 31))
VALU2_32(v_lshlrev_b32, b << (a & 31))
VALU2_32(v_ashrrev_i32, (uint32_t)(S(b) >> (a & 31)))
VALU2_32(v_min_i32, S(a) < S(b) ? a : b)
VALU2_32(v_max_i32, S(a) >= S(b) ? a : b)
VALU2_32(v_min_u32, a < b ? a : b)
VALU2_32(v_max_u32, a >= b ? a : b)
VALU2_32(v_mul_hi_i32_i24, (uint32_t)((int64_t)sext24(a) * sext24(b) >> 32))
VALU2_32(v_mul_hi_u32_u24, (uint32_t)((uint64_t)zext24(a) * zext24(b) >> 32))
VALU2_32(v_mul_lo_u32, a *b)
VALU2_32(v_mul_hi_u32, (uint32_t)((uint64_t)a * b >> 32))
VALU2_32(v_mul_hi_i32, (uint32_t)((int64_t)S(a) * S(b) >> 32))
VALU2_32(v_bfm_b32, ((1u << (a & 31)) - 1) << (b & 31))

VALU3_32(v_bfi_b32, (a & b) | (~a & c))
VALU3_32(v_lshl_add_u32, (a << (b & 31)) + c)
VALU3_32(v_add_lshl_u32, (a + b) << (c & 31))
VALU3_32(v_add3_u32, a + b + c)
VALU3_32(v_lshl_or_b32, a << (b & 31) | c)
VALU3_32(v_and_or_b32, (a & b) | c)
VALU3_32(v_or3_b32, a | b | c)
VALU3_32(v_xad_u32, (a ^ b) + c)
VALU3_32(v_bfe_u32, a >> (b & 31) & ((1u << (c & 31)) - 1))

/* The field's sign bit is its top bit; a field of width 0 is 0. */
static inline uint32_t bfe_signed(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t width = c & 31;
    const uint32_t field = (uint32_t)(S(a) >> (b & 31)) & ((1u << width) - 1);
    const uint32_t sign = width == 0 ? 0 : 1u << (width - 1);
    return (field ^ sign) - sign;
}

VALU3_32(v_bfe_i32, bfe_signed(a, b, c))

static inline uint32_t align(uint32_t hi, uint32_t lo, uint32_t shift)
{
    return (uint32_t)(((uint64_t)hi << 32 | lo) >> shift);
}

/* The shift count is c & mask units; no document says what op_sel would do here. */
static void align_lanes(struct sim_wave *w, const struct sim_inst *in, uint32_t mask,
                        uint32_t unit)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *pa = sim_v32(w, in, 0, ba);
    const uint32_t *pb = sim_v32(w, in, 1, bb);
    const uint32_t *pc = sim_v32(w, in, 2, bc);
    if (in->opsel != 0) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "op_sel on a 32-bit source");
    }
    SIM_FOR_LANES(l) {
        d[l] = align(pa[l], pb[l], (pc[l] & mask) * unit);
    }
    sim_vstore32(w, in, d);
}

EXEC_FN(v_alignbit_b32)
{
    align_lanes(w, in, 31, 1);
}

EXEC_FN(v_alignbyte_b32)
{
    align_lanes(w, in, 3, 8);
}

#define MIN_U(x, y) ((x) < (y) ? (x) : (y))
#define MAX_U(x, y) ((x) < (y) ? (y) : (x))
#define MIN_I(x, y) (S(x) < S(y) ? (x) : (y))
#define MAX_I(x, y) (S(x) < S(y) ? (y) : (x))

VALU3_32(v_min3_i32, MIN_I(MIN_I(a, b), c))
VALU3_32(v_max3_i32, MAX_I(MAX_I(a, b), c))
VALU3_32(v_med3_i32, MAX_I(MIN_I(a, b), MIN_I(MAX_I(a, b), c)))
VALU3_32(v_min3_u32, MIN_U(MIN_U(a, b), c))
VALU3_32(v_max3_u32, MAX_U(MAX_U(a, b), c))
VALU3_32(v_med3_u32, MAX_U(MIN_U(a, b), MIN_U(MAX_U(a, b), c)))

/* Bit b of the table is the result where (s0, s1, s2) spell b. */
static inline uint32_t bitop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t r = 0;
    for (unsigned i = 0; i < 8; i++) {
        const uint32_t on = 0 - (table >> i & 1);
        r |= on & (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
    return r;
}

EXEC_FN(v_bitop3_b32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *pa = sim_v32(w, in, 0, ba);
    const uint32_t *pb = sim_v32(w, in, 1, bb);
    const uint32_t *pc = sim_v32(w, in, 2, bc);
    const uint32_t table = in->bitop3;
    SIM_FOR_LANES(l) {
        d[l] = bitop3(pa[l], pb[l], pc[l], table);
    }
    sim_vstore32(w, in, d);
}

EXEC_FN(v_bitop3_b16)
{
    uint32_t a[SIM_LANES], b[SIM_LANES], c[SIM_LANES], d[SIM_LANES];
    sim_v16(w, in, 0, a);
    sim_v16(w, in, 1, b);
    sim_v16(w, in, 2, c);
    SIM_FOR_LANES(l) {
        d[l] = bitop3(a[l], b[l], c[l], in->bitop3) & 0xffff;
    }
    sim_vstore16(w, in, d);
}

/* Additions whose clamp bit saturates. */
#define VALU2_CLAMP(name, expr, lo, hi)                                                        \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];                                   \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        const uint32_t *pb = sim_v32(w, in, 1, bb);                                            \
        VALU_CLAMPED(expr, lo, hi)                                                             \
        sim_vstore32(w, in, d);                                                                \
    }
#define VALU3_CLAMP(name, expr, lo, hi)                                                        \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];                    \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        const uint32_t *pb = sim_v32(w, in, 1, bb);                                            \
        const uint32_t *pc = sim_v32(w, in, 2, bc);                                            \
        VALU_CLAMPED(expr, lo, hi)                                                             \
        sim_vstore32(w, in, d);                                                                \
    }

/* Without clamp these are by far the most frequent: they get their own loop. */
#define VALU2_ADD(name, plain, exact, lo, hi)                                                  \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];                                   \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        const uint32_t *pb = sim_v32(w, in, 1, bb);                                            \
        if (in->clamp == 0) {                                                                  \
            SIM_FOR_LANES(l) {                                                                 \
                const uint32_t a = pa[l];                                                      \
                const uint32_t b = pb[l];                                                      \
                d[l] = (plain);                                                                \
            }                                                                                  \
        } else {                                                                               \
            VALU_CLAMPED(exact, lo, hi)                                                        \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }

VALU2_ADD(v_add_u32, a + b, (int64_t)pa[l] + pb[l], 0, (int64_t)UINT32_MAX)
VALU2_ADD(v_sub_u32, a - b, (int64_t)pa[l] - pb[l], 0, (int64_t)UINT32_MAX)
VALU2_ADD(v_subrev_u32, b - a, (int64_t)pb[l] - pa[l], 0, (int64_t)UINT32_MAX)
VALU2_ADD(v_add_i32, a + b, (int64_t)S(pa[l]) + S(pb[l]), INT32_MIN, INT32_MAX)
VALU2_ADD(v_sub_i32, a - b, (int64_t)S(pa[l]) - S(pb[l]), INT32_MIN, INT32_MAX)
VALU2_CLAMP(v_mul_i32_i24, (int64_t)sext24(pa[l]) * sext24(pb[l]), INT32_MIN, INT32_MAX)
VALU2_CLAMP(v_mul_u32_u24, (int64_t)zext24(pa[l]) * zext24(pb[l]), 0, (int64_t)UINT32_MAX)
VALU3_CLAMP(v_mad_i32_i24, (int64_t)sext24(pa[l]) * sext24(pb[l]) + S(pc[l]), INT32_MIN,
            INT32_MAX)
VALU3_CLAMP(v_mad_u32_u24, (int64_t)zext24(pa[l]) * zext24(pb[l]) + pc[l], 0,
            (int64_t)UINT32_MAX)

static inline uint32_t absdiff(uint32_t x, uint32_t y)
{
    return x > y ? x - y : y - x;
}

static inline uint32_t sad_bytes(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        sum += absdiff(a >> i & 0xff, b >> i & 0xff);
    }
    return sum;
}

/* Bytes of the reference that are zero do not count. */
static inline uint32_t msad_bytes(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        sum += (b >> i & 0xff) == 0 ? 0 : absdiff(a >> i & 0xff, b >> i & 0xff);
    }
    return sum;
}

static inline int64_t sad_halves(uint32_t a, uint32_t b)
{
    return (int64_t)absdiff(a & 0xffff, b & 0xffff) + absdiff(a >> 16, b >> 16);
}

#define U32_MAX_I64 ((int64_t)UINT32_MAX)
VALU3_CLAMP(v_sad_u8, (int64_t)sad_bytes(pa[l], pb[l]) + pc[l], 0, U32_MAX_I64)
VALU3_CLAMP(v_msad_u8, (int64_t)msad_bytes(pa[l], pb[l]) + pc[l], 0, U32_MAX_I64)
VALU3_CLAMP(v_sad_hi_u8, ((int64_t)sad_bytes(pa[l], pb[l]) << 16) + pc[l], 0, U32_MAX_I64)
VALU3_CLAMP(v_sad_u16, sad_halves(pa[l], pb[l]) + pc[l], 0, U32_MAX_I64)
VALU3_CLAMP(v_sad_u32, (int64_t)absdiff(pa[l], pb[l]) + pc[l], 0, U32_MAX_I64)

/* Four sums over sliding slices of the first source, each with its 16-bit addend. */
static void quad_sad(struct sim_wave *w, const struct sim_inst *in,
                     uint32_t (*sad)(uint32_t, uint32_t))
{
    uint64_t ba[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    uint32_t bb[SIM_LANES];
    const uint64_t *pa = sim_v64(w, in, 0, ba);
    const uint32_t *pb = sim_v32(w, in, 1, bb);
    const uint64_t *pc = sim_v64(w, in, 2, bc);
    SIM_FOR_LANES(l) {
        d[l] = 0;
        for (unsigned i = 0; i < 4; i++) {
            const uint32_t sum = sad((uint32_t)(pa[l] >> 8 * i), pb[l]) +
                                 (uint32_t)(pc[l] >> 16 * i & 0xffff);
            const uint32_t v = in->clamp != 0 && sum > 0xffff ? 0xffff : sum & 0xffff;
            d[l] |= (uint64_t)v << 16 * i;
        }
    }
    sim_vstore64(w, in, d);
}

EXEC_FN(v_qsad_pk_u16_u8)
{
    quad_sad(w, in, sad_bytes);
}

EXEC_FN(v_mqsad_pk_u16_u8)
{
    quad_sad(w, in, msad_bytes);
}

/* Average of bytes, rounding up where bit 0 of c's byte is set. */
static inline uint32_t lerp_bytes(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        r |= ((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) >> 1 << i;
    }
    return r;
}

VALU3_32(v_lerp_u8, lerp_bytes(a, b, c))

/* Selectors 0..7 name a byte of {a, b}, 8..11 the sign of an odd byte, 12 is 0, else 0xff. */
static uint32_t permuted_byte(uint64_t data, uint32_t sel)
{
    if (sel >= 13) {
        return 0xff;
    }
    if (sel == 12) {
        return 0;
    }
    if (sel >= 8) {
        return (data >> (16 * (sel - 8) + 15) & 1) != 0 ? 0xff : 0;
    }
    return (uint32_t)(data >> 8 * sel) & 0xff;
}

static uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t c)
{
    const uint64_t data = (uint64_t)a << 32 | b;
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        r |= permuted_byte(data, c >> i & 0xff) << i;
    }
    return r;
}

VALU3_32(v_perm_b32, permute_bytes(a, b, c))

static uint32_t reverse_bits(uint32_t v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}

static uint32_t first_high(uint32_t v)
{
    return v == 0 ? UINT32_MAX : (uint32_t)__builtin_clz(v);
}

static uint32_t first_low(uint32_t v)
{
    return v == 0 ? UINT32_MAX : (uint32_t)__builtin_ctz(v);
}

VALU1_32(v_bfrev_b32, reverse_bits(a))
VALU1_32(v_ffbh_u32, first_high(a))
VALU1_32(v_ffbl_b32, first_low(a))
VALU1_32(v_ffbh_i32, first_high(S(a) < 0 ? ~a : a))
VALU2_32(v_bcnt_u32_b32, (uint32_t)__builtin_popcount(a) + b)
/* Bits of the mask that belong to lanes below this one. */
VALU2_32(v_mbcnt_lo_u32_b32,
         (uint32_t)__builtin_popcount(l >= 32 ? a : a & ((1u << l) - 1)) + b)
VALU2_32(v_mbcnt_hi_u32_b32,
         (uint32_t)__builtin_popcount(l < 32 ? 0 : a & ((1u << (l - 32)) - 1)) + b)
VALU1_32(v_prng_b32, a << 1 ^ ((a >> 31) != 0 ? 197u : 0u))

static inline uint32_t sat_u8(int32_t v)
{
    return v <= 0 ? 0 : v >= 255 ? 255 : (uint32_t)v;
}

static inline uint32_t sat_i8(int32_t v)
{
    return (uint32_t)(v <= -128 ? -128 : v >= 127 ? 127 : v) & 0xff;
}

VALU1_32(v_sat_pk_u8_i16, sat_u8((int16_t)a) | sat_u8((int16_t)(a >> 16)) << 8)

static inline uint32_t sat_u16(uint32_t v)
{
    return v > 0xffff ? 0xffff : v;
}

static inline uint32_t sat_i16(int32_t v)
{
    return (uint32_t)(v < -32768 ? -32768 : v > 32767 ? 32767 : v) & 0xffff;
}

VALU2_32(v_cvt_pk_u16_u32, sat_u16(a) | sat_u16(b) << 16)
VALU2_32(v_cvt_pk_i16_i32, sat_i16(S(a)) | sat_i16(S(b)) << 16)

/* Two shifted and saturated bytes into the half that op_sel[3] names. */
#define ASHR_PK(name, sat)                                                                     \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];                    \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        const uint32_t *pb = sim_v32(w, in, 1, bb);                                            \
        const uint32_t *pc = sim_v32(w, in, 2, bc);                                            \
        if ((in->opsel & 7) != 0) {                                                            \
            sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "op_sel on a 32-bit source");              \
        }                                                                                      \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t n = pc[l] & 31;                                                     \
            d[l] = sat(S(pa[l]) >> n) | sat(S(pb[l]) >> n) << 8;                               \
        }                                                                                      \
        sim_vstore16(w, in, d);                                                                \
    }

ASHR_PK(v_ashr_pk_i8_i32, sat_i8)
ASHR_PK(v_ashr_pk_u8_i32, sat_u8)

/* Lanes of the mask select the second source. */
EXEC_FN(v_cndmask_b32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    const uint32_t *pa = sim_vf32_raw(w, in, 0, ba);
    const uint32_t *pb = sim_vf32_raw(w, in, 1, bb);
    const uint64_t mask = sim_vmask(w, in, 2);
    SIM_FOR_LANES(l) {
        d[l] = (mask >> l & 1) != 0 ? pb[l] : pa[l];
    }
    sim_vstore32(w, in, d);
}

/*
 * Carry arithmetic: s is the exact result as int64_t, carry the lane's bit of
 * the carry-in mask.  A carry or borrow out is a result outside 32 bits.
 */
#define VALU_CARRY(name, has_carry_in, expr)                                                   \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];                                   \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        const uint32_t *pb = sim_v32(w, in, 1, bb);                                            \
        const uint64_t carry_in = has_carry_in ? sim_vmask(w, in, 2) : 0;                      \
        uint64_t carry_out = 0;                                                                \
        SIM_FOR_LANES(l) {                                                                     \
            const int64_t a = pa[l];                                                           \
            const int64_t b = pb[l];                                                           \
            const int64_t carry = (int64_t)(carry_in >> l & 1);                                \
            const int64_t s = (expr);                                                          \
            const bool out = s < 0 || s > U32_MAX_I64;                                         \
            (void)carry;                                                                       \
            carry_out |= (uint64_t)out << l;                                                   \
            d[l] = in->clamp != 0 && out ? (s < 0 ? 0 : UINT32_MAX) : (uint32_t)s;             \
        }                                                                                      \
        sim_vstore_mask(w, in, 1, carry_out);                                                  \
        sim_vstore32(w, in, d);                                                                \
    }

VALU_CARRY(v_add_co_u32, false, a + b)
VALU_CARRY(v_sub_co_u32, false, a - b)
VALU_CARRY(v_subrev_co_u32, false, b - a)
VALU_CARRY(v_addc_co_u32, true, a + b + carry)
VALU_CARRY(v_subb_co_u32, true, a - b - carry)
VALU_CARRY(v_subbrev_co_u32, true, b - a - carry)
