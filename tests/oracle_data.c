/* SPDX-License-Identifier: MIT */
/* Data for the oracle's tests: random activations and weights, and edge blocks. */
#include "oracle.h"

#include <math.h>
#include <string.h>

uint64_t oracle_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Sum of twelve uniforms less six: close enough to a normal, with no libm in the loop. */
double oracle_gaussian(uint64_t *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i += 2) {
        uint64_t bits = oracle_random(state);
        sum += ldexp((double)(bits >> 32), -32) + ldexp((double)(bits & 0xffffffff), -32);
    }
    return sum;
}

void oracle_fill_activations(uint16_t *a, size_t rows, size_t k, size_t ld, uint64_t seed)
{
    for (size_t r = 0; r < rows; r++) {
        uint64_t state = seed + r * UINT64_C(0x100000001b3);
        for (size_t i = 0; i < k; i++) {
            /* The outlier channels are the same ones in every row, as in real models. */
            uint64_t channel = seed ^ i;
            double scale = oracle_random(&channel) % 64 == 0 ? 30.0 : 1.0;
            a[r * ld + i] = oracle_to_bf16(scale * oracle_gaussian(&state));
        }
    }
}

void oracle_fill_weights(uint8_t *b, uint8_t *scale, size_t rows, size_t k, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < rows * k / 2; i++) {
        b[i] = (uint8_t)(oracle_random(&state) >> 20);
    }
    for (size_t i = 0; i < rows * k / ORACLE_BLOCK; i++) {
        scale[i] = (uint8_t)(119 + (oracle_random(&state) >> 20) % 7 - 3);
    }
}

#define BF16_MAX 0x7f7f
#define BF16_INF 0x7f80
#define BF16_NAN 0x7fc1

/* amax patterns: 1.75 * 2^e one ulp below, at and above, for exponent fields 0..254. */
#define AMAX_EXPONENTS 255
#define AMAX_BLOCKS (AMAX_EXPONENTS * 3)
/* E2M1's boundaries between neighbours, and the values themselves, in quarters. */
static const int tie_quarters[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24 };
#define TIE_COUNT (sizeof(tie_quarters) / sizeof(tie_quarters[0]))
/* Exponents at which ties are tried: both ends of the range and the middle. */
static const int tie_powers[] = { -127, -126, -125, -20, 0, 1, 20, 100, 124 };
#define TIE_BLOCKS (sizeof(tie_powers) / sizeof(tie_powers[0]))
#define SPECIAL_BLOCKS (ORACLE_BLOCK * 4)
#define FIXED_BLOCKS 8

size_t oracle_edge_count(void)
{
    return FIXED_BLOCKS + TIE_BLOCKS + AMAX_BLOCKS + SPECIAL_BLOCKS;
}

static const char *fixed_block(size_t index, uint16_t x[ORACLE_BLOCK])
{
    static const char *const names[FIXED_BLOCKS] = { "zeros",
                                                     "negative zeros",
                                                     "zeros of both signs",
                                                     "one outlier",
                                                     "largest values of both signs",
                                                     "subnormals",
                                                     "smallest subnormal alone",
                                                     "one outlier among subnormals" };
    for (size_t i = 0; i < ORACLE_BLOCK; i++) {
        uint16_t sign = i % 2 ? 0x8000 : 0;
        switch (index) {
        case 0:
            x[i] = 0;
            break;
        case 1:
            x[i] = 0x8000;
            break;
        case 2:
            x[i] = sign;
            break;
        case 3:
            x[i] = i == 17 ? oracle_to_bf16(-3000.0) : oracle_to_bf16(0.01 * (double)i);
            break;
        case 4:
            x[i] = (uint16_t)(sign | (BF16_MAX - i / 4));
            break;
        case 5:
            x[i] = (uint16_t)(sign | (i * 4 + 1));
            break;
        case 6:
            x[i] = i == 31 ? 1 : 0;
            break;
        default:
            x[i] = (uint16_t)(i == 0 ? 0x3f80 : sign | i);
            break;
        }
    }
    return names[index];
}

/*
 * All ties of both signs under the scale 2^power: the largest element, 6 * 2^power, fixes
 * it.
 */
static const char *tie_block(size_t index, uint16_t x[ORACLE_BLOCK])
{
    for (size_t i = 0; i < ORACLE_BLOCK; i++) {
        double value = 0.25 * tie_quarters[i / 2 % TIE_COUNT];
        x[i] = oracle_to_bf16(ldexp(i % 2 ? -value : value, tie_powers[index]));
    }
    return "ties";
}

static const char *amax_block(size_t index, uint16_t x[ORACLE_BLOCK])
{
    /* Mantissa 0x60 is 1.75; the last exponent field is that of the largest finite values. */
    uint16_t amax = (uint16_t)((index / 3 << 7 | 0x60) + index % 3 - 1);
    for (size_t i = 0; i < ORACLE_BLOCK; i++) {
        /* The amax itself, negative, then magnitudes down from it by one pattern in eight. */
        uint16_t magnitude = (uint16_t)(amax > i * 8 ? amax - i * 8 : 0);
        x[i] = (uint16_t)(magnitude | (i % 3 == 0 ? 0x8000 : 0));
    }
    return "amax about 1.75 * 2^e";
}

static const char *special_block(size_t index, uint16_t x[ORACLE_BLOCK])
{
    static const uint16_t specials[] = { BF16_NAN, BF16_NAN | 0x8000, BF16_INF,
                                         BF16_INF | 0x8000 };
    static const char *const names[] = { "NaN", "negative NaN", "Inf", "negative Inf" };
    for (size_t i = 0; i < ORACLE_BLOCK; i++) {
        x[i] = oracle_to_bf16((double)i - 11.0);
    }
    x[index / 4] = specials[index % 4];
    return names[index % 4];
}

const char *oracle_edge_block(size_t index, uint16_t x[ORACLE_BLOCK])
{
    if (index < FIXED_BLOCKS) {
        return fixed_block(index, x);
    }
    index -= FIXED_BLOCKS;
    if (index < TIE_BLOCKS) {
        return tie_block(index, x);
    }
    index -= TIE_BLOCKS;
    if (index < AMAX_BLOCKS) {
        return amax_block(index, x);
    }
    return special_block((index - AMAX_BLOCKS) % SPECIAL_BLOCKS, x);
}
