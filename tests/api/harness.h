/* SPDX-License-Identifier: MIT */
/*
 * What API tests share: a context on the simulator with a cache folder of its
 * own, a small product with known data, and the simulator's controls.  Library
 * functions come from mxgemm.h only.
 */
#ifndef API_HARNESS_H
#define API_HARNESS_H

#include <mxgemm.h>
#include <stdbool.h>
#include <stdint.h>

#include "mxgsim.h"

/* Skip the whole program (exit 77) where there is no compiler to test with. */
void harness_need_compiler(void);

/* A new empty folder below $TMPDIR, removed with all in it by harness_remove_folder. */
char *harness_make_folder(void);
void harness_remove_folder(char *folder);
/* Files below a folder; names that contain `part` only, NULL = all. */
int harness_count_files(const char *folder, const char *part);

/* Context on the simulator; `cache_dir` NULL = none.  Fails the test if it cannot be made. */
mxg_context *harness_context(const char *cache_dir);

/* The simulator's control functions, looked up in the HIP library that the context uses. */
struct sim_controls {
    int (*inject)(const char *name, unsigned long nth, int onward, int error);
    int (*delay)(const char *name, unsigned microseconds);
    unsigned long (*call_count)(const char *name);
    void (*clear_faults)(void);
    int (*reset_device)(int device);
    size_t (*reports_count)(void);
    size_t (*report_text)(size_t i, char *buf, size_t size);
    const char *(*report_kind)(size_t i);
    void (*reports_reset)(void);
    void (*counters)(struct mxgsim_counters *out);
    void (*shutdown)(void);
};
const struct sim_controls *harness_sim(void);
/*
 * A checked fixture's setup: without forks (CK_FORK=no) one test's devices and variables would
 * be the next one's.
 */
void harness_fresh_sim(void);
/* Fails the test with the first report's text if there is one. */
void harness_no_reports(void);

/* A product on the device, its data random from `seed`; buffers are padded as the header says,
 * all padding is 0xFF. */
struct product {
    mxg_context *context;
    mxg_gemm_args args;
    int64_t m, n, k;
    uint16_t *a;               /* host copies: bf16 [m,k]; row-major MXFP4 B and scales */
    uint8_t *b, *b_scale;
    uint8_t *a4, *a4_scale;    /* row-major MXFP4 A, when args.a_type is MXFP4 */
    unsigned char *c;          /* [m, ldc] of c_type */
    size_t c_bytes;
    void *device[6];           /* to free */
};

struct product_form {
    mxg_type a_type, c_type;
    mxg_layout b_layout, b_scale_layout;
    mxg_variant variant;
    int64_t extra_lda, extra_ldb, extra_ldc; /* elements beyond a dense row */
};

#define PRODUCT_FORM_INIT                                                                 \
    { MXG_TYPE_BF16, MXG_TYPE_BF16, MXG_LAYOUT_SHUFFLED, MXG_LAYOUT_SHUFFLED,             \
      MXG_VARIANT_AUTO, 0, 0, 0 }

void product_make(struct product *product, mxg_context *context, int64_t m, int64_t n, int64_t k,
                  const struct product_form *form, uint64_t seed);
/* Poison C, call, wait, copy C back. */
mxg_status product_run(struct product *product, void *stream);
/* Every element within the header's bound of the fp64 oracle; nothing written outside C's rows. */
void product_check(const struct product *product);
void product_free(struct product *product);

#endif
