/* SPDX-License-Identifier: MIT */
/*
 * The reference that kernels are judged by, written from OCP MX v1.0 and the
 * library's stated rule, in double precision, sharing no code with src/: own
 * decoding, own quantiser, own layouts of the result; plus the error bound and
 * the data that tests feed.
 */
#ifndef MXG_TEST_ORACLE_H
#define MXG_TEST_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mxgemm.h"

#define ORACLE_BLOCK 32

/* -------------------------------------------------------------- formats */
double oracle_e2m1(unsigned code);  /* low four bits */
double oracle_e8m0(unsigned scale); /* NaN for 255 */
double oracle_bf16(uint16_t bits);
double oracle_f16(uint16_t bits);
uint16_t oracle_to_bf16(double value); /* nearest even; a NaN stays one */

/* One MX block of finite or other values by the rule at mxg_gemm.  q: 16 bytes. */
void oracle_quantize_block(const double x[ORACLE_BLOCK], uint8_t q[16], uint8_t *scale);
/* bf16 [rows, ld] to row-major elements [rows, k/2] and scales [rows, k/32]. */
void oracle_quantize_bf16(size_t rows, size_t k, const uint16_t *src, size_t ld, uint8_t *q,
                          uint8_t *scale);

/* ------------------------------------------------------------- products */

/*
 * C = A * B^T of dequantised operands and Σ|a*b|, both [m, n].  Freed by
 * oracle_product_free.
 */
struct oracle_product {
    size_t m, n, k;
    double *sum, *magnitude;
};

/* Elements [rows, k/2] row-major, scales [rows, k/32] row-major.  False if out of memory. */
bool oracle_multiply(struct oracle_product *product, size_t m, size_t n, size_t k,
                     const uint8_t *a, const uint8_t *a_scale, const uint8_t *b,
                     const uint8_t *b_scale);
void oracle_product_free(struct oracle_product *product);

/* Half an ulp of `type` at `value`, subnormals included. */
double oracle_half_ulp(double value, mxg_type type);

struct oracle_verdict {
    size_t bad; /* elements beyond the bound */
    size_t first_m, first_n;
    double got, want, bound; /* of the first bad one */
    double worst;            /* largest |got - want| / bound */
    double mean_ratio;       /* mean|got - want| / mean|want| over finite elements */
};

/*
 * |c - ref| <= half an ulp + k * 2^-24 * Σ|a*b|; NaN where and only where the
 * reference is NaN; Inf only where the bound reaches the type's largest value.
 * c: [m, ldc] elements of `type`.
 */
struct oracle_verdict oracle_check(const struct oracle_product *product, const void *c,
                                   size_t ldc, mxg_type type);

/* ----------------------------------------------------------------- data */

uint64_t oracle_random(uint64_t *state); /* splitmix64 */
double oracle_gaussian(uint64_t *state);

/* Activations: gaussian, with about one channel in 64 that is 30 times as large. */
void oracle_fill_activations(uint16_t *a, size_t rows, size_t k, size_t ld, uint64_t seed);
/* Weights, MXFP4 row-major: every code, scales around 2^-8. */
void oracle_fill_weights(uint8_t *b, uint8_t *scale, size_t rows, size_t k, uint64_t seed);

/*
 * Edge blocks of bf16: zeros of both signs, one outlier, largest finite values,
 * subnormals, ties at every E2M1 boundary, amax at 1.75*2^e and one ulp either
 * side for exponents over the whole range, NaN and both infinities in each position.
 */
size_t oracle_edge_count(void);
const char *oracle_edge_block(size_t index, uint16_t x[ORACLE_BLOCK]);

#endif
