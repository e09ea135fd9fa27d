/* SPDX-License-Identifier: MIT */
/* Which shapes and forms the products are tested on. */
#ifndef API_GEMM_SHAPES_H
#define API_GEMM_SHAPES_H

#include "gemm_case.h"

/* The ten shapes of AMD's developer contest for this problem. */
#define CONTEST_SHAPES 10
extern const int64_t contest_shapes[CONTEST_SHAPES][3];

/* FUSED, PREQUANT and QUANTIZED of a shape, otherwise as `base`. */
#define VARIANT_FORMS 3
void shapes_variants(const struct gemm_case *base, struct gemm_case cases[VARIANT_FORMS]);

/* The sweep's values of M, N and K; M in order of its classes. */
#define SWEEP_MS 42
#define SWEEP_NS 8
#define SWEEP_KS 10
extern const int64_t sweep_n[SWEEP_NS];
extern const int64_t sweep_k[SWEEP_KS];
int64_t sweep_m(size_t index);

/*
 * The quick sweep: one N for each M and K, chosen so that every pair of an M and
 * an N, an M and a K, an N and a K occurs.  The largest N meets large M with
 * small K only.
 */
#define SWEEP_CASES (SWEEP_MS * SWEEP_KS)
void sweep_case(size_t index, struct gemm_case *test);

/* Type, layouts, variant and gaps for these indices of values; the kernel depends on n and k. */
void sweep_form(size_t m, size_t n, size_t k, struct product_form *form);

#endif
