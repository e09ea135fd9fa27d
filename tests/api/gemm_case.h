/* SPDX-License-Identifier: MIT */
/*
 * Products that are right: a shape in a list of forms (variants, layouts, types,
 * leading dimensions), each judged by one fp64 reference, called twice for the
 * same bits, with no finding of the simulator.
 */
#ifndef API_GEMM_CASE_H
#define API_GEMM_CASE_H

#include "harness.h"

struct gemm_case {
    int64_t m, n, k;
    struct product_form form;
};

/* "33x100x416 fused f16 B r S s": for messages; the caller's buffer. */
const char *gemm_case_text(const struct gemm_case *test, char *text, size_t size);

/*
 * Compile every kernel of these cases into the disk cache, with one helper
 * process per CPU; the contexts that run the cases then find them there.
 */
void gemm_cases_warm(const char *cache_dir, const struct gemm_case *cases, size_t count);

/*
 * Run cases of one shape, all on the same data.  Fails the test at the first
 * element beyond the bound, byte written outside C, finding, or changed bit.
 */
void gemm_cases_check(mxg_context *context, const struct gemm_case *cases, size_t count,
                      uint64_t seed);

/* The same for one case; *digest is a hash of C's bytes. */
void gemm_case_digest(mxg_context *context, const struct gemm_case *test, uint64_t seed,
                      uint64_t *digest);

/* The folder that runs of the tests share: $MXG_CACHE_DIR, NULL = none. */
const char *gemm_case_cache_dir(void);

#endif
