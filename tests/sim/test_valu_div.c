/* SPDX-License-Identifier: MIT */
/*
 * The division macro as compilers emit it: for any operands, the quotient must
 * be the correctly rounded one, in single and in double precision.
 */
#include <math.h>

#include "isa_vec.h"

/* v40 = v10 / v20 (LLVM's expansion of a float division; denormals are on). */
static const struct {
    const char *text;
    uint32_t words[2];
} div32[] = {
    { "v_div_scale_f32 v41, vcc, v20, v20, v10", { 0xd1e06a29, 0x042a2914 } },
    { "v_div_scale_f32 v42, vcc, v10, v20, v10", { 0xd1e06a2a, 0x042a290a } },
    { "v_rcp_f32_e32 v43, v41", { 0x7e564529 } },
    { "v_fma_f32 v44, -v41, v43, 1.0", { 0xd1cb002c, 0x23ca5729 } },
    { "v_fma_f32 v43, v44, v43, v43", { 0xd1cb002b, 0x04ae572c } },
    { "v_mul_f32_e32 v44, v42, v43", { 0x0a58572a } },
    { "v_fma_f32 v45, -v41, v44, v42", { 0xd1cb002d, 0x24aa5929 } },
    { "v_fma_f32 v44, v45, v43, v44", { 0xd1cb002c, 0x04b2572d } },
    { "v_fma_f32 v41, -v41, v44, v42", { 0xd1cb0029, 0x24aa5929 } },
    { "v_div_fmas_f32 v41, v41, v43, v44", { 0xd1e20029, 0x04b25729 } },
    { "v_div_fixup_f32 v40, v41, v20, v10", { 0xd1de0028, 0x042a2929 } },
};

static const struct {
    const char *text;
    uint32_t words[2];
} div64[] = {
    { "v_div_scale_f64 v[42:43], s[4:5], v[20:21], v[20:21], v[10:11]",
      { 0xd1e1042a, 0x042a2914 } },
    { "v_rcp_f64_e32 v[44:45], v[42:43]", { 0x7e584b2a } },
    { "v_fma_f64 v[46:47], -v[42:43], v[44:45], 1.0", { 0xd1cc002e, 0x23ca592a } },
    { "v_fma_f64 v[44:45], v[44:45], v[46:47], v[44:45]", { 0xd1cc002c, 0x04b25d2c } },
    { "v_fma_f64 v[46:47], -v[42:43], v[44:45], 1.0", { 0xd1cc002e, 0x23ca592a } },
    { "v_fma_f64 v[44:45], v[44:45], v[46:47], v[44:45]", { 0xd1cc002c, 0x04b25d2c } },
    { "v_div_scale_f64 v[46:47], vcc, v[10:11], v[20:21], v[10:11]",
      { 0xd1e16a2e, 0x042a290a } },
    { "v_mul_f64 v[48:49], v[46:47], v[44:45]", { 0xd2810030, 0x0002592e } },
    { "v_fma_f64 v[42:43], -v[42:43], v[48:49], v[46:47]", { 0xd1cc002a, 0x24ba612a } },
    { "v_div_fmas_f64 v[42:43], v[42:43], v[44:45], v[48:49]", { 0xd1e3002a, 0x04c2592a } },
    { "v_div_fixup_f64 v[40:41], v[42:43], v[20:21], v[10:11]", { 0xd1df0028, 0x042a292a } },
};

static uint64_t state = 88172645463325252ull;

static uint64_t random64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static const uint32_t special32[] = { 0,          0x80000000, 0x3f800000, 0x00000001,
                                      0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
                                      0xff800000, 0x7fc00000, 0x7e800001, 0x7f000000,
                                      0x01000000, 0x3eaaaaab, 0x4b000001, 0x80400000 };

static uint32_t operand32(void)
{
    const uint64_t r = random64();
    return r % 4 == 0 ? special32[r >> 8 & 15] : (uint32_t)(r >> 32);
}

START_TEST(test_valu_div_single)
{
    struct sim_inst in[11];
    for (unsigned i = 0; i < 11; i++) {
        isa_decode(div32[i].text, div32[i].words, 2, &in[i]);
    }
    for (unsigned round = 0; round < 2000; round++) {
        struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
        w->sgpr[SIM_SGPR_EXEC + 1] = UINT32_MAX;
        for (unsigned l = 0; l < SIM_LANES; l++) {
            w->vgpr[10][l] = operand32();
            w->vgpr[20][l] = operand32();
        }
        for (unsigned i = 0; i < 11; i++) {
            isa_exec(w, &in[i]);
        }
        for (unsigned l = 0; l < SIM_LANES; l++) {
            float n;
            float d;
            float got;
            memcpy(&n, &w->vgpr[10][l], 4);
            memcpy(&d, &w->vgpr[20][l], 4);
            memcpy(&got, &w->vgpr[40][l], 4);
            const float want = n / d;
            ck_assert_msg(isnan(want) ? isnan(got) : memcmp(&want, &got, 4) == 0,
                          "%a / %a = %a, got %a", n, d, want, got);
        }
    }
}
END_TEST

static const uint64_t special64[] = {
    0,
    1ull << 63,
    0x3ff0000000000000,
    1,
    0x000fffffffffffff,
    0x0010000000000000,
    0x7fefffffffffffff,
    0x7ff0000000000000,
    0x7ff8000000000000,
    0x7fd0000000000001,
    0x7fe0000000000000,
    0x0020000000000000,
    0x3fd5555555555555,
    0x8008000000000000,
    0x4330000000000001,
    0x7fc123456789abcd,
};

static uint64_t operand64(void)
{
    const uint64_t r = random64();
    return r % 4 == 0 ? special64[r >> 8 & 15] : random64();
}

START_TEST(test_valu_div_double)
{
    struct sim_inst in[11];
    for (unsigned i = 0; i < 11; i++) {
        isa_decode(div64[i].text, div64[i].words, 2, &in[i]);
    }
    for (unsigned round = 0; round < 500; round++) {
        struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
        w->sgpr[SIM_SGPR_EXEC + 1] = UINT32_MAX;
        uint64_t n[SIM_LANES];
        uint64_t d[SIM_LANES];
        for (unsigned l = 0; l < SIM_LANES; l++) {
            n[l] = operand64();
            d[l] = operand64();
            isa_put(w, &in[6].src[0], l, n[l]);
            isa_put(w, &in[6].src[1], l, d[l]);
        }
        for (unsigned i = 0; i < 11; i++) {
            isa_exec(w, &in[i]);
        }
        for (unsigned l = 0; l < SIM_LANES; l++) {
            double x;
            double y;
            double got;
            const uint64_t bits = isa_get(w, &in[10].dst[0], l);
            memcpy(&x, &n[l], 8);
            memcpy(&y, &d[l], 8);
            memcpy(&got, &bits, 8);
            const double want = x / y;
            ck_assert_msg(isnan(want) ? isnan(got) : memcmp(&want, &got, 8) == 0,
                          "%a / %a = %a, got %a", x, y, want, got);
        }
    }
}
END_TEST

/* The fix-up step alone: what it answers for special operands whatever the estimate is. */
static const struct isa_vec fixup[] = {
    { "v_div_fixup_f32 v40, v41, v20, v10",
      { 0xd1de0028, 0x042a2929 },
      MODE_DEFAULT,
      0xbadc0de5,
      0,
      0,
      10,
      { { 0x3f800000, 0, 0, 0xffc00000 },
        { 0x3f800000, 0x7f800000, 0xff800000, 0xffc00000 },
        { 0x3f800000, 0x80000000, 0x3f800000, 0xff800000 },
        { 0x3f800000, 0x3f800000, 0xff800000, 0xff800000 },
        { 0x3f800000, 0xff800000, 0x3f800000, 0x80000000 },
        { 0x3f800000, 0xbf800000, 0, 0x80000000 },
        { 0x3f800000, 0x7f812345, 0x3f800000, 0x7fc12345 },
        { 0x3f800000, 0x7f812345, 0xffc00001, 0xffc00001 },
        { 0x40400000, 0xbf800000, 0x40400000, 0xc0400000 },
        { 0x40400000, 0x7f000000, 0x00800000, 0 } } },
};

START_TEST(test_valu_div_fixup)
{
    ISA_RUN(fixup);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { test_valu_div_single, test_valu_div_double,
                                   test_valu_div_fixup, NULL };
    return isa_main("valu_div", tests);
}
