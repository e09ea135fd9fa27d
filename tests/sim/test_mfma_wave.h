/* SPDX-License-Identifier: MIT */
/*
 * What the MFMA and conversion tests share: a wave made by hand, random
 * numbers, and a sim_find that counts instead of stopping anything.
 */
#ifndef TEST_MFMA_WAVE_H
#define TEST_MFMA_WAVE_H

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "optable.h"
#include "wave.h"

/* Check writes to a pipe at each of its asserts; in loops of millions only failures may. */
#define EXPECT(cond, ...)                                                                      \
    do {                                                                                       \
        if (!(cond)) {                                                                         \
            ck_abort_msg(__VA_ARGS__);                                                         \
        }                                                                                      \
    } while (0)
#define EXPECT_EQ(got, want)                                                                   \
    EXPECT((got) == (want), "%s is %llx, want %llx", #got, (unsigned long long)(got),          \
           (unsigned long long)(want))

struct findings {
    unsigned count[SIM_FIND_COUNT];
    char text[256]; /* the last one */
};

static struct findings found;

void sim_find(struct sim_wave *w, enum sim_finding what, int lane, const char *fmt, ...)
{
    (void)w;
    (void)lane;
    found.count[what]++;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(found.text, sizeof found.text, fmt, ap);
    va_end(ap);
}

/* In place of the instruction table, which is asked about 16-bit results elsewhere. */
bool sim_op_allows(const struct sim_op *op, char letter)
{
    (void)op;
    (void)letter;
    return false;
}

static inline unsigned found_any(void)
{
    unsigned n = 0;
    for (int i = 0; i < SIM_FIND_COUNT; i++) {
        n += found.count[i];
    }
    return n;
}

static struct sim_wave wave;

static uint64_t rng_state = 0x9E3779B97F4A7C15u;

/* xorshift64*, the same numbers in every run. */
static inline uint32_t rnd(void)
{
    rng_state ^= rng_state >> 12;
    rng_state ^= rng_state << 25;
    rng_state ^= rng_state >> 27;
    return (uint32_t)(rng_state * 0x2545F4914F6CDD1Du >> 32);
}

static inline void wave_reset(void)
{
    memset(&found, 0, sizeof found);
    for (unsigned r = 0; r < 512; r++) {
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            wave.vgpr[r][lane] = rnd();
        }
    }
    for (unsigned i = 0; i < SIM_SGPR_COUNT; i++) {
        wave.sgpr[i] = rnd();
    }
    wave.sgpr[SIM_SGPR_EXEC] = wave.sgpr[SIM_SGPR_EXEC + 1] = 0xFFFFFFFFu;
    wave.mode = 0xF0; /* round to nearest even, all denormals kept */
}

static inline struct sim_opnd vgpr(unsigned reg, unsigned ndw)
{
    return (
        struct sim_opnd){ .kind = SIM_OPND_VGPR, .reg = (uint16_t)reg, .ndw = (uint8_t)ndw };
}

static inline struct sim_opnd agpr(unsigned reg, unsigned ndw)
{
    return (
        struct sim_opnd){ .kind = SIM_OPND_AGPR, .reg = (uint16_t)reg, .ndw = (uint8_t)ndw };
}

static inline struct sim_opnd konst(uint64_t imm)
{
    return (struct sim_opnd){ .kind = SIM_OPND_CONST, .imm = imm };
}

static inline float f32(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint32_t bits32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline int run_suite(Suite *s)
{
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}

#endif
