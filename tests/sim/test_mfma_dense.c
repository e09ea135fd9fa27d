/* SPDX-License-Identifier: MIT */
/*
 * Dense MFMA on f32, f16, bf16, fp8/bf8, i8 and f64, and the sparse forms:
 * every shape of gfx950 against the layout formulas of the ISA text (7.1.4).
 */
#include <math.h>

#include "exec_mfma.h"
#include "test_lowp_ref.h"
#include "test_mfma_wave.h"

enum kind { F32, F16, BF16, FP8, I8, F64 };

static const struct row {
    enum kind kind;
    uint8_t m, k, blocks;
} rows[] = {
    { F32, 32, 1, 2 },   { F32, 16, 1, 4 },   { F32, 4, 1, 16 },   { F32, 32, 2, 1 },
    { F32, 16, 4, 1 },   { F16, 32, 4, 2 },   { F16, 16, 4, 4 },   { F16, 4, 4, 16 },
    { F16, 32, 8, 1 },   { F16, 16, 16, 1 },  { F16, 16, 32, 1 },  { F16, 32, 16, 1 },
    { BF16, 32, 4, 2 },  { BF16, 16, 4, 4 },  { BF16, 4, 4, 16 },  { BF16, 32, 8, 1 },
    { BF16, 16, 16, 1 }, { BF16, 16, 32, 1 }, { BF16, 32, 16, 1 }, { FP8, 16, 32, 1 },
    { FP8, 32, 16, 1 },  { I8, 32, 4, 2 },    { I8, 16, 4, 4 },    { I8, 4, 4, 16 },
    { I8, 32, 16, 1 },   { I8, 16, 32, 1 },   { I8, 16, 64, 1 },   { I8, 32, 32, 1 },
    { F64, 16, 4, 1 },   { F64, 4, 4, 4 },
};
#define ROWS ((int)(sizeof rows / sizeof *rows))

static const unsigned width[] = { 32, 16, 16, 8, 8, 64 };
static sim_exec_fn *const dense[] = { sim_x_mfma_f32_f32,  sim_x_mfma_f32_f16,
                                      sim_x_mfma_f32_bf16, sim_x_mfma_f32_fp8,
                                      sim_x_mfma_i32_i8,   sim_x_mfma_f64_f64 };

static struct sim_op op = { .name = "v_mfma_under_test" };
static struct sim_inst inst;
static struct row r;

/* Registers: A from 0, B from 8, C from 16, D from 64. */
static void setup(struct row row, unsigned flags)
{
    r = row;
    wave_reset();
    memset(&inst, 0, sizeof inst);
    op.p[0] = r.m;
    op.p[1] = r.k;
    op.p[2] = r.blocks;
    op.p[3] = (uint8_t)flags;
    inst.op = &op;
    inst.src[0] = vgpr(0, 1);
    inst.src[1] = vgpr(8, 1);
    inst.src[2] = vgpr(16, 1);
    inst.dst[0] = vgpr(64, 1);
}

static unsigned file(const struct sim_opnd *o)
{
    return (o->kind == SIM_OPND_AGPR ? 256u : 0u) + o->reg;
}

static uint64_t get(const struct sim_opnd *o, unsigned bits, unsigned item, unsigned lane)
{
    const unsigned base = file(o) + item * bits / 32;
    const uint64_t x = wave.vgpr[base][lane];
    if (bits == 64) {
        return x | (uint64_t)wave.vgpr[base + 1][lane] << 32;
    }
    return x >> item * bits % 32 & (0xFFFFFFFFu >> (32 - bits));
}

static void put(const struct sim_opnd *o, unsigned bits, unsigned item, unsigned lane,
                uint64_t v)
{
    const unsigned base = file(o) + item * bits / 32;
    const unsigned shift = item * bits % 32;
    const uint32_t mask = 0xFFFFFFFFu >> (bits < 32 ? 32 - bits : 0);
    wave.vgpr[base][lane] = (wave.vgpr[base][lane] & ~(mask << shift)) | (uint32_t)v << shift;
    if (bits == 64) {
        wave.vgpr[base + 1][lane] = (uint32_t)(v >> 32);
    }
}

/* ISA text 7.1.4.1, with the broadcasts of 7.1.6. */
static uint64_t in(unsigned which, unsigned b, unsigned i, unsigned k)
{
    const unsigned kl = r.k / (64 / (r.m * r.blocks));
    unsigned lane = i + r.m * (b + r.blocks * (k / kl));
    if (r.kind != F64 && which == 0) {
        const unsigned s = 64 >> inst.cbsz;
        lane = lane % s + s * inst.abid;
    } else if (r.kind != F64) {
        const unsigned g = inst.blgp;
        lane = g == 0   ? lane
               : g == 1 ? lane % 32
               : g == 2 ? lane % 32 + 32
               : g == 3 ? (lane + 16) % 64
                        : lane % 16 + 16 * (g - 4);
    }
    return get(&inst.src[which], width[r.kind], k % kl, lane);
}

/* ISA text 7.1.4.2. */
static uint64_t out(const struct sim_opnd *o, unsigned b, unsigned i, unsigned j)
{
    const unsigned h = r.kind == F64 ? 1 : 4;
    const unsigned bi = (unsigned)ceil(64.0 / (r.m * r.m / (double)h));
    const unsigned mi = 64 / bi / r.m;
    const unsigned g = r.m / (h * mi);
    const unsigned item = i % h + h * (i / (h * mi) + g * (b / bi));
    const unsigned lane = j + r.m * (i / h % mi + mi * (b % bi));
    if (o->kind == SIM_OPND_CONST) {
        return o->imm;
    }
    return get(o, r.kind == F64 ? 64 : 32, item, lane);
}

static double from64(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static float ref_f16(uint64_t h)
{
    const int e = (int)(h >> 10 & 31), m = (int)(h & 1023);
    const float v = e == 31 ? m ? NAN : INFINITY
                    : e     ? ldexpf((float)(1024 + m), e - 25)
                            : ldexpf((float)m, -24);
    return h & 0x8000 ? -v : v;
}

static double value(unsigned which, uint64_t x)
{
    switch (r.kind) {
    case F32:
        return (double)f32((uint32_t)x);
    case F16:
        return (double)ref_f16(x);
    case BF16:
        return (double)f32((uint32_t)x << 16);
    case FP8:
        return ref_widen(op.p[3] >> which & 1 ? &ref_bf8 : &ref_fp8, (unsigned)x);
    case I8:
        return (int8_t)x;
    default:
        return from64(x);
    }
}

static uint64_t want(unsigned b, unsigned i, unsigned j)
{
    const uint64_t c = out(&inst.src[2], b, i, j);
    if (r.kind == I8) {
        int64_t s = (int32_t)c;
        for (unsigned k = 0; k < r.k; k++) {
            s += (int)value(0, in(0, b, i, k)) * (int)value(1, in(1, b, j, k));
        }
        return (uint32_t)s;
    }
    if (r.kind == F64) {
        double d = inst.neg & 4 ? -from64(c) : from64(c);
        for (unsigned k = 0; k < r.k; k++) {
            const double x = value(0, in(0, b, i, k)), y = value(1, in(1, b, j, k));
            d = fma(inst.neg & 1 ? -x : x, inst.neg & 2 ? -y : y, d);
        }
        uint64_t u;
        memcpy(&u, &d, sizeof u);
        return isnan(d) ? 0x7FF8000000000000u : u;
    }
    float d = f32((uint32_t)c);
    for (unsigned k = 0; k < r.k; k++) {
        d = fmaf((float)value(0, in(0, b, i, k)), (float)value(1, in(1, b, j, k)), d);
    }
    return isnan(d) ? 0x7FC00000u : bits32(d);
}

static void run_and_compare(void)
{
    static uint64_t w[16 * 32 * 32];
    unsigned n = 0;
    for (unsigned b = 0; b < r.blocks; b++) {
        for (unsigned i = 0; i < r.m; i++) {
            for (unsigned j = 0; j < r.m; j++) {
                w[n++] = want(b, i, j);
            }
        }
    }
    dense[r.kind](&wave, &inst);
    n = 0;
    for (unsigned b = 0; b < r.blocks; b++) {
        for (unsigned i = 0; i < r.m; i++) {
            for (unsigned j = 0; j < r.m; j++, n++) {
                const uint64_t got = out(&inst.dst[0], b, i, j);
                EXPECT(got == w[n], "kind %d %ux%ux%u_%uB (%u,%u,%u): %llx want %llx", r.kind,
                       r.m, r.m, r.k, r.blocks, b, i, j, (unsigned long long)got,
                       (unsigned long long)w[n]);
            }
        }
    }
    EXPECT(found_any() == 0, "%s", found.text);
}

static void init_refs(void)
{
    ref_init(&ref_fp8);
    ref_init(&ref_bf8);
}

/* Any bits, NaN and infinities among them, and all mixes of FP8 and BF8. */
START_TEST(test_mfma_dense_random_bits)
{
    init_refs();
    for (unsigned flags = 0; flags < (rows[_i].kind == FP8 ? 4u : 1u); flags++) {
        for (unsigned trial = 0; trial < 6; trial++) {
            setup(rows[_i], flags);
            run_and_compare();
        }
    }
}
END_TEST

/* Moderate values, so that sums and their rounding are what is compared. */
START_TEST(test_mfma_dense_moderate_values)
{
    init_refs();
    for (unsigned trial = 0; trial < 6; trial++) {
        setup(rows[_i], 0);
        for (unsigned reg = 0; reg < 64; reg++) {
            for (unsigned lane = 0; lane < 64; lane++) {
                uint32_t x = rnd();
                switch (r.kind) {
                case F32:
                    x = (x & 0x807FFFFF) | (120 + rnd() % 16) << 23;
                    break;
                case F16:
                    x = (x & 0x83FF83FF) | 0x3C003800;
                    break;
                case BF16:
                    x = (x & 0x807F807F) | 0x3F803F00;
                    break;
                case FP8:
                    x &= 0xBFBFBFBF;
                    break;
                case F64:
                    x = reg % 2 ? (x & 0x800FFFFF) | (1020 + rnd() % 8) << 20 : x;
                    break;
                default:
                    break;
                }
                if (reg >= 16 && r.kind != F64 && r.kind != I8) {
                    x = (x & 0x807FFFFF) | (124 + rnd() % 8) << 23;
                }
                wave.vgpr[reg][lane] = x;
            }
        }
        if (trial & 1) { /* other register file, D over C */
            memcpy(wave.vgpr[256], wave.vgpr[0], 64 * sizeof wave.vgpr[0]);
            for (unsigned s = 0; s < 3; s++) {
                inst.src[s].kind = SIM_OPND_AGPR;
            }
            inst.dst[0] = agpr(trial == 1 ? 16 : 0, 1);
        }
        wave.sgpr[SIM_SGPR_EXEC] = trial & 2 ? 5 : 0xFFFFFFFF;
        run_and_compare();
    }
}
END_TEST

START_TEST(test_mfma_dense_constant_c)
{
    init_refs();
    setup(rows[_i], 0);
    inst.src[2] = r.kind == F64  ? konst(0x3FF0000000000000u)
                  : r.kind == I8 ? konst(0xFFFFFFF0u)
                                 : konst(bits32(-4.0f));
    run_and_compare();
}
END_TEST

START_TEST(test_mfma_dense_broadcasts)
{
    init_refs();
    if (rows[_i].kind == F64) {
        for (unsigned neg = 0; neg < 8; neg++) {
            setup(rows[_i], 0);
            inst.neg = (uint8_t)neg;
            inst.cbsz = 1; /* ignored */
            run_and_compare();
        }
        return;
    }
    for (unsigned blgp = 0; blgp < 8; blgp++) {
        for (unsigned cbsz = 0; cbsz < 5 && 1u << cbsz <= rows[_i].blocks; cbsz++) {
            setup(rows[_i], 0);
            inst.blgp = (uint8_t)blgp;
            inst.cbsz = (uint8_t)cbsz;
            inst.abid = (uint8_t)(rnd() % (1u << cbsz));
            run_and_compare();
        }
    }
    setup(rows[_i], 0);
    inst.cbsz = 4;
    inst.abid = 3;
    dense[r.kind](&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNPREDICTABLE], rows[_i].blocks < 16);
}
END_TEST

/* Tables of the ISA text, cell by cell: {shape, register and lane of A, row, k}. */
START_TEST(test_mfma_dense_layout_tables)
{
    static const struct {
        struct row row;
        unsigned item, lane, b, i, k;
    } cells[] = {
        { { F32, 32, 1, 2 }, 0, 63, 1, 31, 0 },    { { F32, 32, 2, 1 }, 0, 63, 0, 31, 1 },
        { { F16, 4, 4, 16 }, 3, 0, 0, 0, 3 },      { { F16, 4, 4, 16 }, 2, 63, 15, 3, 2 },
        { { F64, 16, 4, 1 }, 0, 63, 0, 15, 3 },    { { BF16, 16, 32, 1 }, 0, 16, 0, 0, 8 },
        { { BF16, 16, 32, 1 }, 7, 63, 0, 15, 31 }, { { I8, 16, 64, 1 }, 4, 33, 0, 1, 36 },
        { { I8, 32, 32, 1 }, 15, 63, 0, 31, 31 },  { { I8, 32, 32, 1 }, 0, 32, 0, 0, 16 },
    };
    for (unsigned n = 0; n < sizeof cells / sizeof *cells; n++) {
        setup(cells[n].row, 0);
        memset(wave.vgpr, 0, sizeof wave.vgpr);
        static const uint64_t two[] = {
            0x40000000, 0x4000, 0x4000, 0x40, 2, 0x4000000000000000
        };
        put(&inst.src[0], width[r.kind], cells[n].item, cells[n].lane, two[r.kind]);
        /* All of B is 2: row i of block b of D is 4, all else 0. */
        for (unsigned item = 0; item < 256 / width[r.kind]; item++) {
            for (unsigned lane = 0; lane < 64; lane++) {
                put(&inst.src[1], width[r.kind], item, lane, two[r.kind]);
            }
        }
        dense[r.kind](&wave, &inst);
        for (unsigned b = 0; b < r.blocks; b++) {
            for (unsigned i = 0; i < r.m; i++) {
                for (unsigned j = 0; j < r.m; j++) {
                    static const uint64_t four[] = {
                        0x40800000, 0x40800000, 0x40800000, 0x40800000, 4, 0x4010000000000000
                    };
                    const bool hit = b == cells[n].b && i == cells[n].i;
                    EXPECT(out(&inst.dst[0], b, i, j) == (hit ? four[r.kind] : 0),
                           "cell %u: (%u,%u,%u)", n, b, i, j);
                }
            }
        }
        ck_assert_uint_eq(in(0, cells[n].b, cells[n].i, cells[n].k), two[r.kind]);
    }
}
END_TEST

/* D[b,i,j] of V_MFMA_F32_32X32X1_2B_F32 and V_MFMA_F64_16X16X4_F64 as 7.1.3 tabulates them. */
START_TEST(test_mfma_dense_output_tables)
{
    setup((struct row){ F32, 32, 1, 2 }, 0);
    memset(wave.vgpr, 0, 16 * sizeof wave.vgpr[0]);
    for (unsigned reg = 0; reg < 32; reg++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            const unsigned b = reg / 16, i = reg % 16 / 4 * 8 + lane / 32 * 4 + reg % 4;
            wave.vgpr[16 + reg][lane] = bits32((float)(b * 1024 + i * 32 + lane % 32));
        }
    }
    for (unsigned lane = 0; lane < 64; lane++) {
        wave.vgpr[0][lane] = bits32((float)(lane + 1));
        wave.vgpr[8][lane] = bits32(4096.0f);
    }
    dense[F32](&wave, &inst);
    for (unsigned reg = 0; reg < 32; reg++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            const unsigned b = reg / 16, i = reg % 16 / 4 * 8 + lane / 32 * 4 + reg % 4;
            const unsigned w = b * 1024 + i * 32 + lane % 32 + 4096 * (32 * b + i + 1);
            EXPECT_EQ(wave.vgpr[64 + reg][lane], bits32((float)w));
        }
    }
    setup((struct row){ F64, 16, 4, 1 }, 0);
    memset(wave.vgpr, 0, 64 * sizeof wave.vgpr[0]);
    for (unsigned lane = 0; lane < 16; lane++) { /* k = 0 only: A[i] = i + 1, B = 1 */
        const double x = lane + 1;
        uint64_t u;
        memcpy(&u, &x, sizeof u);
        put(&inst.src[0], 64, 0, lane, u);
        put(&inst.src[1], 64, 0, lane, 0x3FF0000000000000u);
    }
    dense[F64](&wave, &inst);
    for (unsigned item = 0; item < 4; item++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            EXPECT(from64(get(&inst.dst[0], 64, item, lane)) == 4 * item + lane / 16 + 1,
                   "item %u lane %u", item, lane);
        }
    }
}
END_TEST

START_TEST(test_mfma_dense_f32_denorm_mode)
{
    for (unsigned keep = 0; keep < 2; keep++) {
        setup((struct row){ F32, 16, 4, 1 }, 0);
        memset(wave.vgpr, 0, sizeof wave.vgpr);
        wave.mode = keep ? 0xF0 : 0;
        for (unsigned lane = 0; lane < 64; lane++) {
            wave.vgpr[0][lane] = 0x00400000; /* 2^-127 */
            wave.vgpr[8][lane] = bits32(0x1p100f);
            wave.vgpr[16][lane] = 1; /* C and D keep subnormals in both modes */
        }
        dense[F32](&wave, &inst);
        ck_assert_uint_eq(wave.vgpr[64][7], keep ? bits32(0x1p-25f) : 1u);
    }
}
END_TEST

START_TEST(test_mfma_dense_fp16_ovfl)
{
    for (unsigned clamp = 0; clamp < 2; clamp++) {
        setup((struct row){ I8, 16, 32, 1 }, 0);
        memset(wave.vgpr, 0x7F, sizeof wave.vgpr);
        wave.vgpr[16][0] = 0x7FFFFFF0; /* and 127 * 127 * 32 onto it */
        wave.mode |= clamp ? SIM_MODE_FP16_OVFL : 0;
        dense[I8](&wave, &inst);
        ck_assert_uint_eq(wave.vgpr[64][0], clamp ? 0x7FFFFFFF : 0x7FFFFFF0u + 127 * 127 * 32);
        setup((struct row){ BF16, 16, 16, 1 }, 0);
        wave.mode |= clamp ? SIM_MODE_FP16_OVFL : 0;
        for (unsigned lane = 0; lane < 64; lane++) {
            for (unsigned reg = 0; reg < 64; reg++) {
                wave.vgpr[reg][lane] = reg < 16 ? 0x7F007F00 : 0; /* 2^127 */
            }
            wave.vgpr[16][lane] = lane == 2 ? 0xFF800000 : 0;
        }
        wave.vgpr[8][3] = 0x7F807F80; /* infinite column 3 */
        dense[BF16](&wave, &inst);
        ck_assert_uint_eq(wave.vgpr[64][1], clamp ? 0x7F7FFFFF : 0x7F800000);
        ck_assert_uint_eq(wave.vgpr[64][2], 0xFF800000); /* -inf + finite products */
        ck_assert_uint_eq(wave.vgpr[64][3], 0x7F800000);
    }
}
END_TEST

START_TEST(test_mfma_dense_refuses_bad_tuples)
{
    setup((struct row){ F32, 32, 1, 2 }, 0);
    inst.dst[0] = vgpr(226, 32);
    dense[F32](&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
    setup((struct row){ F16, 16, 16, 1 }, 0);
    inst.src[1].reg = 9;
    dense[F16](&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
    setup((struct row){ F64, 16, 4, 1 }, 0);
    inst.src[0] = (struct sim_opnd){ .kind = SIM_OPND_SGPR };
    dense[F64](&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
}
END_TEST

/* ---- sparse ---- */

static const struct row sparse_rows[] = {
    { F16, 16, 32, 1 }, { F16, 32, 16, 1 }, { BF16, 16, 32, 1 }, { BF16, 32, 16, 1 },
    { FP8, 16, 64, 1 }, { FP8, 32, 32, 1 }, { I8, 16, 64, 1 },   { I8, 32, 32, 1 },
};
static sim_exec_fn *const sparse[] = { NULL, sim_x_smfmac_f32_f16, sim_x_smfmac_f32_bf16,
                                       sim_x_smfmac_f32_fp8, sim_x_smfmac_i32_i8 };

/* Index bits of a lane with every pair ascending. */
static uint32_t random_indices(void)
{
    static const uint32_t pair[] = { 0x4, 0x8, 0xC, 0x9, 0xD, 0xE };
    uint32_t x = 0;
    for (unsigned n = 0; n < 8; n++) {
        x |= pair[rnd() % 6] << 4 * n;
    }
    return x;
}

/* Expand A by hand, then the dense sum over the elements that are there. */
static void run_sparse(struct row row, unsigned cbsz, unsigned abid)
{
    setup(row, 0);
    inst.src[2] = vgpr(16, 1);
    inst.cbsz = (uint8_t)cbsz;
    inst.abid = (uint8_t)abid;
    const unsigned w = width[r.kind], items = w == 16 ? 4 : 8;
    const unsigned sets = 16 / items, set = cbsz ? 0 : abid % sets;
    for (unsigned lane = 0; lane < 64; lane++) {
        wave.vgpr[16][lane] = random_indices();
        for (unsigned reg = 64; reg < 80 && r.kind != I8; reg++) {
            wave.vgpr[reg][lane] = bits32((float)(rnd() % 64));
        }
    }
    static uint64_t wanted[32 * 32];
    for (unsigned n = 0; n < r.m * r.m; n++) {
        const unsigned i = n / r.m, j = n % r.m;
        const uint64_t c = out(&inst.dst[0], 0, i, j);
        float d = f32((uint32_t)c);
        int64_t sum = (int32_t)c;
        for (unsigned g = 0; g < 64 / r.m; g++) {
            const unsigned lane = i + r.m * g;
            for (unsigned t = 0; t < items; t++) {
                const unsigned idx = wave.vgpr[16][lane] >> (set * items + t) * 2 & 3;
                const unsigned item = t / 2 * 4 + idx; /* of B's lane in the same group */
                const double a = value(0, get(&inst.src[0], w, t, lane));
                const double b = value(1, get(&inst.src[1], w, item, j + r.m * g));
                d = fmaf((float)a, (float)b, d);
                sum += r.kind == I8 ? (int)a * (int)b : 0;
            }
        }
        wanted[n] = r.kind == I8 ? (uint32_t)sum : isnan(d) ? 0x7FC00000u : bits32(d);
    }
    sparse[r.kind](&wave, &inst);
    for (unsigned n = 0; n < r.m * r.m; n++) {
        EXPECT_EQ(out(&inst.dst[0], 0, n / r.m, n % r.m), wanted[n]);
    }
    EXPECT(found_any() == 0, "%s", found.text);
}

START_TEST(test_mfma_sparse_forms)
{
    init_refs();
    for (unsigned n = 0; n < sizeof sparse_rows / sizeof *sparse_rows; n++) {
        for (unsigned set = 0; set < 4; set++) {
            run_sparse(sparse_rows[n], 0, set);
        }
        run_sparse(sparse_rows[n], 1, 3);
    }
}
END_TEST

START_TEST(test_mfma_sparse_reports)
{
    setup((struct row){ F16, 16, 32, 1 }, 0);
    memset(wave.vgpr[16], 0, sizeof wave.vgpr[16]); /* pairs 0, 0 */
    sparse[F16](&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNPREDICTABLE], 1);
    setup((struct row){ F16, 16, 64, 1 }, 0);
    sparse[F16](&wave, &inst);
    ck_assert_uint_eq(found.count[SIM_FIND_UNKNOWN_INST], 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mfma_dense");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_mfma_dense_random_bits, 0, ROWS);
    tcase_add_loop_test(t, test_mfma_dense_moderate_values, 0, ROWS);
    tcase_add_loop_test(t, test_mfma_dense_constant_c, 0, ROWS);
    tcase_add_loop_test(t, test_mfma_dense_broadcasts, 0, ROWS);
    tcase_add_test(t, test_mfma_dense_layout_tables);
    tcase_add_test(t, test_mfma_dense_output_tables);
    tcase_add_test(t, test_mfma_dense_f32_denorm_mode);
    tcase_add_test(t, test_mfma_dense_fp16_ovfl);
    tcase_add_test(t, test_mfma_dense_refuses_bad_tuples);
    tcase_add_test(t, test_mfma_sparse_forms);
    tcase_add_test(t, test_mfma_sparse_reports);
    suite_add_tcase(s, t);
    return run_suite(s);
}
