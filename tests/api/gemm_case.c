/* SPDX-License-Identifier: MIT */
/* Products that are right: references, repeats, and kernels compiled ahead; see gemm_case.h. */
#include "gemm_case.h"

#include <check.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oracle.h"

#define HELPERS_MAX 8

static const char *variant_name(mxg_variant variant)
{
    return variant == MXG_VARIANT_FUSED       ? "fused"
           : variant == MXG_VARIANT_PREQUANT  ? "prequant"
           : variant == MXG_VARIANT_QUANTIZED ? "quantized"
                                              : "auto";
}

const char *gemm_case_text(const struct gemm_case *test, char *text, size_t size)
{
    const struct product_form *f = &test->form;
    snprintf(text, size,
             "%" PRId64 "x%" PRId64 "x%" PRId64 " %s %s B %c S %c, gaps %" PRId64 " %" PRId64
             " %" PRId64,
             test->m, test->n, test->k, variant_name(f->variant),
             f->c_type == MXG_TYPE_F32   ? "f32"
             : f->c_type == MXG_TYPE_F16 ? "f16"
                                         : "bf16",
             f->b_layout == MXG_LAYOUT_SHUFFLED ? 's' : 'r',
             f->b_scale_layout == MXG_LAYOUT_SHUFFLED ? 's' : 'r', f->extra_lda, f->extra_ldb,
             f->extra_ldc);
    return text;
}

const char *gemm_case_cache_dir(void)
{
    const char *dir = getenv("MXG_CACHE_DIR");
    return dir != NULL && *dir != '\0' ? dir : NULL;
}

/* ----------------------------------------------------- compiling ahead */

/* One thread's share: cases first, first + step, ... */
struct share {
    const char *cache_dir;
    const struct gemm_case *cases;
    size_t first, step, count;
    char error[512]; /* a failed assertion must happen on the test's own thread */
};

static void *compile_share(void *argument)
{
    struct share *s = argument;
    mxg_context_options options = MXG_CONTEXT_OPTIONS_INIT;
    mxg_context *context = NULL;
    options.cache_dir = s->cache_dir;
    mxg_status status = mxg_context_create(&options, &context);
    for (size_t i = s->first; status == MXG_OK && i < s->count; i += s->step) {
        const struct gemm_case *c = &s->cases[i];
        mxg_gemm_args args = MXG_GEMM_ARGS_INIT;
        args.m = c->m, args.n = c->n, args.k = c->k;
        args.a_type = c->form.a_type;
        args.c_type = c->form.c_type;
        args.b_layout = c->form.b_layout;
        args.b_scale_layout = c->form.b_scale_layout;
        args.variant = c->form.variant;
        status = mxg_prepare(context, &args);
    }
    if (status != MXG_OK) {
        snprintf(s->error, sizeof s->error, "%s: %s", mxg_status_name(status),
                 mxg_last_error());
    }
    mxg_context_destroy(context);
    return NULL;
}

void gemm_cases_warm(const char *cache_dir, const struct gemm_case *cases, size_t count)
{
    pthread_t threads[HELPERS_MAX];
    struct share shares[HELPERS_MAX];
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t helpers = cpus < 1 ? 1 : cpus > HELPERS_MAX ? HELPERS_MAX : (size_t)cpus;
    if (cache_dir == NULL) {
        return;
    }
    for (size_t i = 0; i < helpers; i++) {
        shares[i] = (struct share){ cache_dir, cases, i, helpers, count, "" };
        ck_assert_int_eq(pthread_create(&threads[i], NULL, compile_share, &shares[i]), 0);
    }
    for (size_t i = 0; i < helpers; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    for (size_t i = 0; i < helpers; i++) {
        ck_assert_msg(shares[i].error[0] == '\0', "%s", shares[i].error);
    }
}

/* -------------------------------------------------------------- checks */

static void make_reference(const struct product *p, struct oracle_product *reference)
{
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    uint8_t *q = malloc(m * k / 2), *scale = malloc(m * k / ORACLE_BLOCK);
    ck_assert(q != NULL && scale != NULL);
    oracle_quantize_bf16(m, k, p->a, k, q, scale);
    ck_assert(oracle_multiply(reference, m, n, k, q, scale, p->b, p->b_scale));
    free(q);
    free(scale);
}

static void check_c(const struct product *p, const struct oracle_product *reference,
                    const char *name)
{
    const size_t element = p->args.c_type == MXG_TYPE_F32 ? 4 : 2;
    const size_t pitch = (size_t)p->args.ldc * element, row = (size_t)p->n * element;
    const struct oracle_verdict v =
        oracle_check(reference, p->c, (size_t)p->args.ldc, p->args.c_type);
    ck_assert_msg(v.bad == 0, "%s: %zu wrong, first (%zu, %zu): %g instead of %g +- %g", name,
                  v.bad, v.first_m, v.first_n, v.got, v.want, v.bound);
    /* A passed assertion is a write to Check's pipe: none for every byte. */
    for (size_t at = row; pitch > row && at < p->c_bytes; at++) {
        if (at % pitch >= row && p->c[at] != 0xFF) {
            ck_abort_msg("%s: byte %zu between C's rows was written", name, at);
        }
    }
}

static void run(struct product *p, const char *name)
{
    const mxg_status status = product_run(p, NULL);
    char text[2048];
    if (harness_sim()->reports_count() > 0) {
        harness_sim()->report_text(0, text, sizeof text);
        ck_abort_msg("%s: %zu simulator reports, the first: %s", name,
                     harness_sim()->reports_count(), text);
    }
    ck_assert_msg(status == MXG_OK, "%s: %s: %s", name, mxg_status_name(status),
                  mxg_last_error());
}

/* Right, and the same bits when called again; *reference is made when it is still empty. */
static void check_twice(struct product *p, struct oracle_product *reference, const char *name)
{
    run(p, name);
    if (reference->sum == NULL) {
        make_reference(p, reference);
    }
    check_c(p, reference, name);
    unsigned char *first = malloc(p->c_bytes);
    ck_assert_ptr_nonnull(first);
    memcpy(first, p->c, p->c_bytes);
    run(p, name);
    ck_assert_msg(memcmp(first, p->c, p->c_bytes) == 0, "%s: other bits in the second call",
                  name);
    free(first);
}

void gemm_cases_check(mxg_context *context, const struct gemm_case *cases, size_t count,
                      uint64_t seed)
{
    struct oracle_product reference = { 0 };
    for (size_t i = 0; i < count; i++) {
        char name[128];
        struct product p;
        ck_assert(cases[i].m == cases[0].m && cases[i].n == cases[0].n &&
                  cases[i].k == cases[0].k);
        product_make(&p, context, cases[i].m, cases[i].n, cases[i].k, &cases[i].form, seed);
        check_twice(&p, &reference, gemm_case_text(&cases[i], name, sizeof name));
        product_free(&p);
    }
    oracle_product_free(&reference);
}

/* FNV-1a. */
static uint64_t hash(const unsigned char *bytes, size_t size)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) {
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

void gemm_case_digest(mxg_context *context, const struct gemm_case *test, uint64_t seed,
                      uint64_t *digest)
{
    struct oracle_product reference = { 0 };
    struct product p;
    char name[128];
    product_make(&p, context, test->m, test->n, test->k, &test->form, seed);
    check_twice(&p, &reference, gemm_case_text(test, name, sizeof name));
    *digest = hash(p.c, p.c_bytes);
    product_free(&p);
    oracle_product_free(&reference);
}
