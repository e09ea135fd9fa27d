/* SPDX-License-Identifier: MIT */
/* One kernel config on the device; see kernel_run.h. */
#include "kernel_run.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bake.h"
#include "mx_layout.h"
#include "status.h"

#define POISON 0xff

static const struct log quiet = { 0, NULL, NULL };

static bool fail(char *why, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(char *why, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, size, fmt, args);
    va_end(args);
    return false;
}

bool kernel_bench_open(struct kernel_bench *bench)
{
    const char *choice = getenv("MXG_COMPILER");
    struct compiler_config config = { choice != NULL ? choice : "auto",
                                      getenv("ROCM_PATH"),
                                      getenv("MXG_TEST_ROCM_PREFIX"),
                                      getenv("MXG_WORKER"),
                                      120000,
                                      &mem_default,
                                      &quiet };
    memset(bench, 0, sizeof(*bench));
    if (compiler_open(&config, &bench->compiler) != MXG_OK) {
        return false;
    }
    if (hiprt_open(getenv("MXG_HIP_LIBRARY"), NULL, &bench->hip) != MXG_OK ||
        hiprt_device_facts(&bench->hip, 0, &bench->facts) != MXG_OK) {
        compiler_close(bench->compiler);
        return false;
    }
    /* ISO C has no cast from object to function pointer; POSIX's dlsym means this one. */
    *(void **)&bench->reports_count = dlsym(bench->hip.handle, "mxgsim_reports_count");
    *(void **)&bench->report_text = dlsym(bench->hip.handle, "mxgsim_report_text");
    *(void **)&bench->reports_reset = dlsym(bench->hip.handle, "mxgsim_reports_reset");
    return true;
}

void kernel_bench_close(struct kernel_bench *bench)
{
    compiler_close(bench->compiler);
    hiprt_close(&bench->hip);
}

bool kernel_compile(struct kernel_bench *bench, const struct kernel_config *config,
                    struct compile_result *result)
{
    char *source = NULL, name[64];
    size_t source_size, num_options;
    const char *const *options = bake_options(&num_options);
    const char *with_level[8];
    if (getenv("MXG_TEST_OPTIMIZE") != NULL) {
        memcpy(with_level, options, num_options * sizeof(*options));
        with_level[num_options++] = getenv("MXG_TEST_OPTIMIZE");
        options = with_level;
    }
    mxg_status status = bake_source(&mem_default, config, &source, &source_size);

    kernel_config_name(config, name, sizeof(name));
    if (status == MXG_OK) {
        struct compile_request request = { name,        bench->facts.arch, source,
                                           source_size, options,           num_options };
        status = compiler_compile(bench->compiler, &request, result);
    }
    mem_free(&mem_default, source);
    return status == MXG_OK;
}

bool kernel_build(struct kernel_bench *bench, const struct kernel_config *config,
                  struct kernel **kernel)
{
    struct compile_result result = { 0 };
    bool ok = kernel_compile(bench, config, &result) &&
              kernel_load(&bench->hip, &mem_default, bench->facts.arch, config, result.code,
                          result.code_size, kernel) == MXG_OK;
    compile_result_free(&mem_default, &result);
    return ok;
}

/* ------------------------------------------------------------ one problem */

/* Host and device copy of one buffer. */
struct buffer {
    uint8_t *host;
    void *device;
    size_t size;
};

/* Slots of a problem. */
enum { A, A_SCALE, B, B_SCALE, C, BUFFERS };

struct problem {
    struct kernel_bench *bench;
    const struct kernel_case *test;
    size_t m, n, k, blocks;
    size_t c_bytes;       /* of an element */
    uint16_t *a;          /* [m, k] */
    uint8_t *q, *q_scale; /* the oracle's quantised A, row-major */
    uint8_t *b, *b_scale; /* row-major */
    struct buffer buffer[BUFFERS];
    struct kernel_operands operands;
    uint8_t *first; /* outputs of the first run */
};

static bool buffer_make(struct buffer *buffer, size_t size)
{
    buffer->size = size;
    buffer->host = malloc(size);
    if (buffer->host != NULL) {
        memset(buffer->host, POISON, size);
    }
    return buffer->host != NULL;
}

static bool buffer_upload(const struct hiprt *hip, struct buffer *buffer)
{
    return (buffer->device != NULL ||
            hip->hipMalloc(&buffer->device, buffer->size) == HIP_SUCCESS) &&
           hip->hipMemcpy(buffer->device, buffer->host, buffer->size,
                          HIP_MEMCPY_HOST_TO_DEVICE) == HIP_SUCCESS;
}

static bool buffer_download(const struct hiprt *hip, struct buffer *buffer)
{
    return hip->hipMemcpy(buffer->host, buffer->device, buffer->size,
                          HIP_MEMCPY_DEVICE_TO_HOST) == HIP_SUCCESS;
}

static size_t scale_size(size_t rows, size_t blocks, uint32_t layout, size_t row_pad)
{
    return layout == MXG_LAYOUT_SHUFFLED
               ? mx_round_up(rows, row_pad) * mx_round_up(blocks, MX_SCALE_COLUMN_PAD)
               : rows * blocks;
}

static void place_scales(uint8_t *to, const uint8_t *from, size_t rows, size_t blocks,
                         uint32_t layout)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < blocks; c++) {
            size_t at = layout == MXG_LAYOUT_SHUFFLED ? mx_scale_shuffled(r, c, blocks)
                                                      : r * blocks + c;
            to[at] = from[r * blocks + c];
        }
    }
}

static bool make_data(struct problem *p)
{
    const struct kernel_case *test = p->test;
    p->a = malloc(p->m * p->k * sizeof(*p->a));
    p->q = malloc(p->m * p->k / 2);
    p->q_scale = malloc(p->m * p->blocks);
    p->b = malloc(p->n * p->k / 2);
    p->b_scale = malloc(p->n * p->blocks);
    if (p->a == NULL || p->q == NULL || p->q_scale == NULL || p->b == NULL ||
        p->b_scale == NULL) {
        return false;
    }
    oracle_fill_activations(p->a, p->m, p->k, p->k, test->seed);
    oracle_fill_weights(p->b, p->b_scale, p->n, p->k, test->seed + 1);
    if (test->edit != NULL) {
        test->edit(test, p->a, p->b, p->b_scale);
    }
    oracle_quantize_bf16(p->m, p->k, p->a, p->k, p->q, p->q_scale);
    return true;
}

/* Rows of `row` bytes at a distance of `pitch`; the last one ends the buffer. */
static bool place_rows(struct buffer *buffer, const void *from, size_t rows, size_t row,
                       size_t pitch)
{
    if (!buffer_make(buffer, (rows - 1) * pitch + row)) {
        return false;
    }
    for (size_t r = 0; r < rows; r++) {
        memcpy(buffer->host + r * pitch, (const uint8_t *)from + r * row, row);
    }
    return true;
}

static bool make_a(struct problem *p)
{
    const struct kernel_config *config = &p->test->config;
    size_t lda = p->k + (size_t)p->test->a_gap;
    p->operands.lda = (int64_t)lda;
    if (config->family != FAMILY_GEMM) {
        return place_rows(&p->buffer[A], p->a, p->m, p->k * 2, lda * 2);
    }
    /*
     * Shuffled scales of A come from the quantise kernel: rows up to a whole group of 32
     * are cleared.
     */
    size_t size = scale_size(p->m, p->blocks, config->a_scale_layout, MX_SCALE_GROUP_ROWS);
    if (!place_rows(&p->buffer[A], p->q, p->m, p->k / 2, lda / 2) ||
        !buffer_make(&p->buffer[A_SCALE], size)) {
        return false;
    }
    if (config->a_scale_layout == MXG_LAYOUT_SHUFFLED) {
        size_t rows = mx_round_up(p->m, MX_SCALE_GROUP_ROWS);
        for (size_t r = p->m; r < rows; r++) {
            for (size_t c = 0; c < p->blocks; c++) {
                p->buffer[A_SCALE].host[mx_scale_shuffled(r, c, p->blocks)] = 0;
            }
        }
    }
    place_scales(p->buffer[A_SCALE].host, p->q_scale, p->m, p->blocks, config->a_scale_layout);
    return true;
}

static bool make_b(struct problem *p)
{
    const struct kernel_config *config = &p->test->config;
    size_t ldb = p->k + (size_t)p->test->b_gap;
    p->operands.ldb = (int64_t)ldb;
    if (config->b_layout == MXG_LAYOUT_ROW_MAJOR) {
        if (!place_rows(&p->buffer[B], p->b, p->n, p->k / 2, ldb / 2)) {
            return false;
        }
    } else {
        if (!buffer_make(&p->buffer[B], mx_round_up(p->n, MX_B_TILE_ROWS) * p->k / 2)) {
            return false;
        }
        for (size_t r = 0; r < p->n; r++) {
            for (size_t c = 0; c < p->blocks; c++) {
                memcpy(p->buffer[B].host + mx_b_shuffled(r, c, 0, p->blocks),
                       p->b + (r * p->blocks + c) * MX_BLOCK_BYTES, MX_BLOCK_BYTES);
            }
        }
    }
    size_t size = scale_size(p->n, p->blocks, config->b_scale_layout, MX_SCALE_ROW_PAD);
    if (!buffer_make(&p->buffer[B_SCALE], size)) {
        return false;
    }
    place_scales(p->buffer[B_SCALE].host, p->b_scale, p->n, p->blocks, config->b_scale_layout);
    return true;
}

/* C, or the two outputs of the quantise kernel in the slots of B. */
static bool make_outputs(struct problem *p)
{
    const struct kernel_config *config = &p->test->config;
    if (config->family == FAMILY_QUANTIZE) {
        size_t size = scale_size(p->m, p->blocks, config->a_scale_layout, MX_SCALE_GROUP_ROWS);
        return buffer_make(&p->buffer[B], p->m * p->k / 2) &&
               buffer_make(&p->buffer[B_SCALE], size);
    }
    size_t ldc = p->n + (size_t)p->test->c_gap;
    p->operands.ldc = (int64_t)ldc;
    return buffer_make(&p->buffer[C],
                       (p->test->c_shift + (p->m - 1) * ldc + p->n) * p->c_bytes);
}

static bool problem_make(struct problem *p, struct kernel_bench *bench,
                         const struct kernel_case *test)
{
    memset(p, 0, sizeof(*p));
    p->bench = bench;
    p->test = test;
    p->m = (size_t)test->m;
    p->n = test->config.family == FAMILY_QUANTIZE ? 1 : (size_t)test->config.n;
    p->k = (size_t)test->config.k;
    p->blocks = p->k / 32;
    p->c_bytes = test->config.c_type == MXG_TYPE_F32 ? 4 : 2;
    p->operands.m = test->m;
    if (!make_data(p) || !make_a(p) || !make_outputs(p) ||
        (test->config.family != FAMILY_QUANTIZE && !make_b(p))) {
        return false;
    }
    for (int i = 0; i < BUFFERS; i++) {
        if (p->buffer[i].host != NULL && !buffer_upload(&bench->hip, &p->buffer[i])) {
            return false;
        }
    }
    struct kernel_operands *o = &p->operands;
    o->a = p->buffer[A].device;
    o->a_scale = p->buffer[A_SCALE].device;
    o->b = p->buffer[B].device;
    o->b_scale = p->buffer[B_SCALE].device;
    o->q = p->buffer[B].device;
    o->q_scale = p->buffer[B_SCALE].device;
    o->c = p->buffer[C].device != NULL
               ? (uint8_t *)p->buffer[C].device + test->c_shift * p->c_bytes
               : NULL;
    return true;
}

static void problem_free(struct problem *p)
{
    for (int i = 0; i < BUFFERS; i++) {
        if (p->buffer[i].device != NULL) {
            p->bench->hip.hipFree(p->buffer[i].device);
        }
        free(p->buffer[i].host);
    }
    free(p->a);
    free(p->q);
    free(p->q_scale);
    free(p->b);
    free(p->b_scale);
    free(p->first);
}

/* ---------------------------------------------------------------- checks */

static bool check_quantized(const struct problem *p, char *why, size_t size)
{
    const struct kernel_config *config = &p->test->config;
    const uint8_t *q = p->buffer[B].host, *scale = p->buffer[B_SCALE].host;
    bool is_shuffled = config->a_scale_layout == MXG_LAYOUT_SHUFFLED;
    size_t rows = is_shuffled ? mx_round_up(p->m, MX_SCALE_GROUP_ROWS) : p->m;

    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < p->blocks; c++) {
            size_t at = r * p->blocks + c;
            uint8_t got = scale[is_shuffled ? mx_scale_shuffled(r, c, p->blocks) : at];
            uint8_t want = r < p->m ? p->q_scale[at] : 0;
            if (got != want) {
                return fail(why, size, "scale of row %zu, block %zu is %d, not %d", r, c, got,
                            want);
            }
            if (r < p->m && memcmp(q + at * 16, p->q + at * 16, 16) != 0) {
                return fail(why, size,
                            "elements of row %zu, block %zu differ (first byte %02x, not %02x)",
                            r, c, q[at * 16], p->q[at * 16]);
            }
        }
    }
    return true;
}

/* C's own elements within the bound, everything else still poison. */
static bool check_product(const struct problem *p, char *why, size_t size)
{
    struct oracle_product product;
    size_t ldc = (size_t)p->operands.ldc, shift = p->test->c_shift * p->c_bytes;
    if (!oracle_multiply(&product, p->m, p->n, p->k, p->q, p->q_scale, p->b, p->b_scale)) {
        return fail(why, size, "no memory for the oracle");
    }
    struct oracle_verdict v = oracle_check(&product, p->buffer[C].host + shift, ldc,
                                           (mxg_type)p->test->config.c_type);
    oracle_product_free(&product);
    if (v.bad != 0) {
        return fail(why, size,
                    "%zu elements beyond the bound; (%zu, %zu) is %g, not %g within %g", v.bad,
                    v.first_m, v.first_n, v.got, v.want, v.bound);
    }
    for (size_t i = 0; i < p->buffer[C].size; i++) {
        size_t element = (i - shift) / p->c_bytes;
        bool is_c = i >= shift && element % ldc < p->n;
        if (!is_c && p->buffer[C].host[i] != POISON) {
            return fail(why, size, "byte %zu beside C was written", i);
        }
    }
    return true;
}

static bool check_reports(struct kernel_bench *bench, char *why, size_t size)
{
    if (bench->reports_count == NULL || bench->reports_count() == 0) {
        return true;
    }
    char text[1024];
    bench->report_text(0, text, sizeof(text));
    bench->reports_reset();
    return fail(why, size, "simulator: %s", text);
}

static bool launch(struct problem *p, const struct kernel *kernel, char *why, size_t size)
{
    struct kernel_bench *bench = p->bench;
    mxg_status status = kernel_launch(&bench->hip, kernel, &p->operands, NULL);
    if (status != MXG_OK) {
        return fail(why, size, "launch: %s", mxg_last_error());
    }
    int error = bench->hip.hipStreamSynchronize(NULL);
    if (!check_reports(bench, why, size)) {
        return false;
    }
    if (error != HIP_SUCCESS) {
        return fail(why, size, "the kernel failed: %s", bench->hip.error_string(error));
    }
    return true;
}

static bool run_twice(struct problem *p, const struct kernel *kernel, char *why, size_t size)
{
    bool is_quantize = p->test->config.family == FAMILY_QUANTIZE;
    struct buffer *out = &p->buffer[is_quantize ? B : C];
    if (!launch(p, kernel, why, size) || !buffer_download(&p->bench->hip, out) ||
        (is_quantize && !buffer_download(&p->bench->hip, &p->buffer[B_SCALE]))) {
        return false;
    }
    if (!(is_quantize ? check_quantized(p, why, size) : check_product(p, why, size))) {
        return false;
    }
    p->first = malloc(out->size);
    if (p->first == NULL) {
        return fail(why, size, "no memory");
    }
    memcpy(p->first, out->host, out->size);
    memset(out->host, POISON, out->size);
    if (!buffer_upload(&p->bench->hip, out) || !launch(p, kernel, why, size) ||
        !buffer_download(&p->bench->hip, out)) {
        return false;
    }
    return memcmp(p->first, out->host, out->size) == 0 ||
           fail(why, size, "the second run's bits differ");
}

bool kernel_case_run_on(struct kernel_bench *bench, const struct kernel_case *test,
                        const struct kernel *kernel, char *why, size_t size)
{
    struct problem problem;
    snprintf(why, size, "a HIP call or an allocation failed");
    bool ok = problem_make(&problem, bench, test) && run_twice(&problem, kernel, why, size);
    problem_free(&problem);
    return ok;
}

bool kernel_case_run(struct kernel_bench *bench, const struct kernel_case *test, char *why,
                     size_t size)
{
    struct kernel *kernel = NULL;
    if (!kernel_build(bench, &test->config, &kernel)) {
        return fail(why, size, "build: %s", mxg_last_error());
    }
    bool ok = kernel_case_run_on(bench, test, kernel, why, size);
    kernel_unload(&bench->hip, &mem_default, kernel);
    return ok;
}
