/* SPDX-License-Identifier: MIT */
/*
 * Vector ALU: conversions between integers, f16, bf16, f32 and f64 (ISA text,
 * 12.8, 12.11).  The small formats are in exec_cvt*.c.
 */
#include "alu_float.h"
#include "exec_valu.h"

#define F(x) ((double)sim_f32_from_bits(x))

/* Toward zero, saturating; NaN gives 0 (notes of V_CVT_U32_F32, V_CVT_I32_F32). */
static inline uint32_t to_u32(double x)
{
    return isnan(x) || x <= 0 ? 0 : x >= 4294967295.0 ? UINT32_MAX : (uint32_t)x;
}

static inline uint32_t to_i32(double x)
{
    if (isnan(x)) {
        return 0;
    }
    if (x <= -2147483648.0) {
        return 0x80000000;
    }
    return x >= 2147483647.0 ? 0x7fffffff : (uint32_t)(int32_t)x;
}

static inline uint32_t clamp_int(double x, double lo, double hi)
{
    return isnan(x) ? 0 : (uint32_t)(int32_t)(x < lo ? lo : x > hi ? hi : x);
}

/* f32 source x, integer result. */
#define INT_OF_F32(name, expr)                                                                 \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], d[SIM_LANES];                                                  \
        const uint32_t *pa = sim_vf32(w, in, 0, ba);                                           \
        SIM_FOR_LANES(l) {                                                                     \
            const double x = F(pa[l]);                                                         \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }

INT_OF_F32(v_cvt_u32_f32, to_u32(x))
INT_OF_F32(v_cvt_i32_f32, to_i32(x))
/* Rounding up from a half, exactly; and down. */
INT_OF_F32(v_cvt_rpi_i32_f32, to_i32(floor(x + 0.5)))
INT_OF_F32(v_cvt_flr_i32_f32, to_i32(floor(x)))

/* Integer source a as a 32-bit value, f32 result of the exact value expr. */
#define F32_OF_INT(name, expr)                                                                 \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], d[SIM_LANES];                                                  \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        const unsigned round = sim_round32(w);                                                 \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            const double v = (expr);                                                           \
            d[l] = round == 0 ? sim_f32_bits((float)v) : sim_f32_round(v, round);              \
        }                                                                                      \
        sim_vstoref32(w, in, d);                                                               \
    }

F32_OF_INT(v_cvt_f32_i32, (double)(int32_t)a)
F32_OF_INT(v_cvt_f32_u32, (double)a)
F32_OF_INT(v_cvt_f32_ubyte0, (double)(a & 0xff))
F32_OF_INT(v_cvt_f32_ubyte1, (double)(a >> 8 & 0xff))
F32_OF_INT(v_cvt_f32_ubyte2, (double)(a >> 16 & 0xff))
F32_OF_INT(v_cvt_f32_ubyte3, (double)(a >> 24))
/* Signed four bits in sixteenths. */
F32_OF_INT(v_cvt_off_f32_i4, (double)((int32_t)(a << 28) >> 28) / 16)

#define F64_OF_INT(name, expr)                                                                 \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES];                                                                \
        uint64_t d[SIM_LANES];                                                                 \
        const uint32_t *pa = sim_v32(w, in, 0, ba);                                            \
        SIM_FOR_LANES(l) {                                                                     \
            const uint32_t a = pa[l];                                                          \
            d[l] = sim_f64_bits(expr);                                                         \
        }                                                                                      \
        sim_vstoref64(w, in, d);                                                               \
    }

F64_OF_INT(v_cvt_f64_i32, (double)(int32_t)a)
F64_OF_INT(v_cvt_f64_u32, (double)a)

#define INT_OF_F64(name, fn)                                                                   \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint64_t a[SIM_LANES];                                                                 \
        uint32_t d[SIM_LANES];                                                                 \
        sim_vf64(w, in, 0, a);                                                                 \
        SIM_FOR_LANES(l) {                                                                     \
            d[l] = fn(sim_f64_from_bits(a[l]));                                                \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }

INT_OF_F64(v_cvt_i32_f64, to_i32)
INT_OF_F64(v_cvt_u32_f64, to_u32)

EXEC_FN(v_cvt_f32_f64)
{
    uint64_t a[SIM_LANES];
    uint32_t d[SIM_LANES];
    sim_vf64(w, in, 0, a);
    SIM_FOR_LANES(l) {
        d[l] = sim_f64_is_nan(a[l])
                   ? (uint32_t)(a[l] >> 32 & 0x80000000) | 0x7fc00000 |
                         (uint32_t)(a[l] >> 29 & 0x3fffff)
                   : sim_f32_round(sim_f64_from_bits(a[l]), sim_round32(w));
    }
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_cvt_f64_f32)
{
    uint32_t ba[SIM_LANES];
    uint64_t d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    SIM_FOR_LANES(l) {
        const uint64_t nan = (uint64_t)(a[l] & 0x80000000) << 32 | 0x7ff8000000000000ull |
                             (uint64_t)(a[l] & 0x3fffff) << 29;
        d[l] = sim_f32_is_nan(a[l]) ? nan : sim_f64_bits(F(a[l]));
    }
    sim_vstoref64(w, in, d);
}

/* f32 bits to f16 bits in a rounding mode. */
static inline uint32_t half_of(uint32_t v, unsigned round, bool ovfl)
{
    return sim_f32_is_nan(v) ? sim_f16_nan_from_f32(v) : sim_f16_round(F(v), round, ovfl);
}

EXEC_FN(v_cvt_f16_f32)
{
    uint32_t ba[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    const bool ovfl = (w->mode & SIM_MODE_FP16_OVFL) != 0;
    SIM_FOR_LANES(l) {
        d[l] = half_of(a[l], sim_round64(w), ovfl);
    }
    sim_vstoref16(w, in, d);
}

EXEC_FN(v_cvt_f32_f16)
{
    uint32_t a[SIM_LANES], d[SIM_LANES];
    sim_vf16(w, in, 0, a);
    SIM_FOR_LANES(l) {
        d[l] = sim_f16_is_nan(a[l]) ? sim_f32_nan_from_f16(a[l])
                                    : sim_f16_to_f32((uint16_t)a[l]);
    }
    sim_vstoref32(w, in, d);
}

EXEC_FN(v_cvt_f32_bf16)
{
    uint32_t a[SIM_LANES], d[SIM_LANES];
    const uint32_t keep = (in->abs & 1) != 0 ? 0x7fffffff : 0xffffffff;
    const uint32_t flip = (in->neg & 1) != 0 ? 0x80000000 : 0;
    sim_v16(w, in, 0, a);
    SIM_FOR_LANES(l) {
        d[l] = ((a[l] << 16) & keep) ^ flip;
    }
    sim_vstoref32(w, in, d);
}

/* Two f32 into packed halves; the mode is the instruction's own, whatever MODE says. */
static void pack_halves(struct sim_wave *w, const struct sim_inst *in, unsigned round)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    const uint32_t *b = sim_vf32(w, in, 1, bb);
    const bool ovfl = (w->mode & SIM_MODE_FP16_OVFL) != 0;
    if (in->omod != 0) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "omod on a packed conversion");
    }
    SIM_FOR_LANES(l) {
        d[l] = sim_f16_output(w, in, half_of(a[l], round, ovfl)) |
               sim_f16_output(w, in, half_of(b[l], round, ovfl)) << 16;
    }
    sim_vstore32(w, in, d);
}

EXEC_FN(v_cvt_pk_f16_f32)
{
    pack_halves(w, in, 0);
}

EXEC_FN(v_cvt_pkrtz_f16_f32)
{
    pack_halves(w, in, 3);
}

/* To nearest even, inline because epilogues convert every result; a NaN stays one, quiet. */
static inline uint32_t bf16_of(uint32_t v)
{
    const uint32_t rounded = (v + 0x7fff + (v >> 16 & 1)) >> 16;
    return (v & 0x7fffffff) > 0x7f800000 ? v >> 16 | 0x40 : rounded;
}

EXEC_FN(v_cvt_pk_bf16_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    const uint32_t *b = sim_vf32(w, in, 1, bb);
    if (in->omod != 0 || in->clamp != 0) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "omod or clamp on v_cvt_pk_bf16_f32");
    }
    SIM_FOR_LANES(l) {
        d[l] = bf16_of(a[l]) | bf16_of(b[l]) << 16;
    }
    sim_vstore32(w, in, d);
}

/* Stochastic rounding: the random bits are the second source; one half is written. */
#define CVT_SR(name, fn)                                                                       \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];                                   \
        const uint32_t *a = sim_vf32(w, in, 0, ba);                                            \
        const uint32_t *b = sim_v32(w, in, 1, bb);                                             \
        if ((in->opsel & 7) != 0) {                                                            \
            sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "op_sel on a 32-bit source");              \
        }                                                                                      \
        SIM_FOR_LANES(l) {                                                                     \
            d[l] = fn(a[l], b[l]);                                                             \
        }                                                                                      \
        sim_vstore16(w, in, d);                                                                \
    }

CVT_SR(v_cvt_sr_f16_f32, sim_f16_from_f32_sr)
CVT_SR(v_cvt_sr_bf16_f32, sim_bf16_from_f32_sr)

#define F16_OF_INT(name, type)                                                                 \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t a[SIM_LANES], d[SIM_LANES];                                                   \
        const bool ovfl = (w->mode & SIM_MODE_FP16_OVFL) != 0;                                 \
        sim_v16(w, in, 0, a);                                                                  \
        SIM_FOR_LANES(l) {                                                                     \
            d[l] = sim_f16_round((type)a[l], sim_round64(w), ovfl);                            \
        }                                                                                      \
        sim_vstoref16(w, in, d);                                                               \
    }

F16_OF_INT(v_cvt_f16_u16, uint16_t)
F16_OF_INT(v_cvt_f16_i16, int16_t)

/* Nearest integer of a clamped normalised value times its scale. */
static inline uint32_t snorm16(double x)
{
    const double v = x < -1 ? -1 : x > 1 ? 1 : x;
    return isnan(x) ? 0 : (uint32_t)(int32_t)rint(v * 32767) & 0xffff;
}

static inline uint32_t unorm16(double x)
{
    const double v = x < 0 ? 0 : x > 1 ? 1 : x;
    return isnan(x) ? 0 : (uint32_t)rint(v * 65535);
}

#define INT_OF_F16(name, expr)                                                                 \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t a[SIM_LANES], d[SIM_LANES];                                                   \
        sim_vf16(w, in, 0, a);                                                                 \
        SIM_FOR_LANES(l) {                                                                     \
            const double x = sim_f16_value(a[l]);                                              \
            d[l] = (expr);                                                                     \
        }                                                                                      \
        sim_vstore16(w, in, d);                                                                \
    }

INT_OF_F16(v_cvt_u16_f16, clamp_int(x, 0, 65535))
INT_OF_F16(v_cvt_i16_f16, clamp_int(x, -32768, 32767))
INT_OF_F16(v_cvt_norm_i16_f16, snorm16(x))
INT_OF_F16(v_cvt_norm_u16_f16, unorm16(x))

/* Two values of one fetch into two normalised halves. */
#define PKNORM(name, fetch, value, norm)                                                       \
    EXEC_FN(name)                                                                              \
    {                                                                                          \
        uint32_t ba[SIM_LANES], bb[SIM_LANES], d[SIM_LANES];                                   \
        const uint32_t *a = fetch(w, in, 0, ba);                                               \
        const uint32_t *b = fetch(w, in, 1, bb);                                               \
        SIM_FOR_LANES(l) {                                                                     \
            d[l] = norm(value(a[l])) | norm(value(b[l])) << 16;                                \
        }                                                                                      \
        sim_vstore32(w, in, d);                                                                \
    }

PKNORM(v_cvt_pknorm_i16_f32, sim_vf32, F, snorm16)
PKNORM(v_cvt_pknorm_u16_f32, sim_vf32, F, unorm16)
PKNORM(v_cvt_pknorm_i16_f16, sim_vf16, sim_f16_value, snorm16)
PKNORM(v_cvt_pknorm_u16_f16, sim_vf16, sim_f16_value, unorm16)

/* One byte of the third source replaced; no document says how fractions are rounded. */
EXEC_FN(v_cvt_pk_u8_f32)
{
    uint32_t ba[SIM_LANES], bb[SIM_LANES], bc[SIM_LANES], d[SIM_LANES];
    const uint32_t *a = sim_vf32(w, in, 0, ba);
    const uint32_t *b = sim_v32(w, in, 1, bb);
    const uint32_t *c = sim_v32(w, in, 2, bc);
    const uint64_t exec = sim_exec_mask(w);
    int fraction = -1;
    SIM_FOR_LANES(l) {
        const double x = F(a[l]);
        const uint32_t shift = 8 * (b[l] & 3);
        if (isfinite(x) && x > 0 && x < 255 && x != floor(x) && (exec >> l & 1) != 0) {
            fraction = (int)l;
        }
        d[l] = (c[l] & ~(0xffu << shift)) | clamp_int(rint(x), 0, 255) << shift;
    }
    if (fraction >= 0) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, fraction, "rounding of a fraction to u8");
    }
    sim_vstore32(w, in, d);
}
