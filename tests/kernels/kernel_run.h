/* SPDX-License-Identifier: MIT */
/*
 * One kernel config on the device, without the chooser: compile, load, launch
 * on poisoned buffers, and compare with the oracle.  So tests reach every
 * config, not only those that the chooser picks.
 */
#ifndef MXG_TEST_KERNEL_RUN_H
#define MXG_TEST_KERNEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../oracle.h"
#include "codeobj.h"
#include "compiler.h"
#include "hiprt.h"
#include "kernel.h"
#include "kernel_config.h"

/* Compiler and device, opened once a process. */
struct kernel_bench {
    struct compiler *compiler;
    struct hiprt hip;
    struct device_facts facts;
    size_t (*reports_count)(void); /* the simulator's; NULL on a real device */
    size_t (*report_text)(size_t index, char *text, size_t size);
    void (*reports_reset)(void);
};

/* False if there is no compiler or no device: why is in mxg_last_error(). */
bool kernel_bench_open(struct kernel_bench *bench);
void kernel_bench_close(struct kernel_bench *bench);

/* A config, a problem for it, and where leading dimensions exceed their rows. */
struct kernel_case {
    struct kernel_config config;
    int64_t m;
    int64_t a_gap, b_gap, c_gap; /* elements beyond a row */
    size_t c_shift;              /* C starts so many elements behind an aligned address */
    uint64_t seed;
    /* Replace some of the generated data; NULL = none. */
    void (*edit)(const struct kernel_case *test, uint16_t *a, uint8_t *b, uint8_t *b_scale);
};

/* Compile, with the option in MXG_TEST_OPTIMIZE ("-O1") behind the library's own. */
bool kernel_compile(struct kernel_bench *bench, const struct kernel_config *config,
                    struct compile_result *result);

/*
 * Compile and load; the caller unloads with kernel_unload(&bench->hip, &mem_default,
 * kernel).
 */
bool kernel_build(struct kernel_bench *bench, const struct kernel_config *config,
                  struct kernel **kernel);

/*
 * Run a GEMM config (either family) or, for FAMILY_QUANTIZE, the quantise
 * kernel; twice, on poisoned outputs.  True if every element is within the
 * bound (or, quantising, every bit is right), nothing else was written, both
 * runs agree bit for bit, and the simulator has no finding.  Else `why` says
 * what is wrong.
 */
bool kernel_case_run(struct kernel_bench *bench, const struct kernel_case *test, char *why,
                     size_t size);

/* The same with a kernel that is loaded already: made for test->config, perhaps changed. */
bool kernel_case_run_on(struct kernel_bench *bench, const struct kernel_case *test,
                        const struct kernel *kernel, char *why, size_t size);

#endif
