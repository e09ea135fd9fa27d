/* SPDX-License-Identifier: MIT */
/* What tests of the compiler share: where it is on this machine, and sources to compile. */
#ifndef MXG_COMPILER_SETUP_H
#define MXG_COMPILER_SETUP_H

#include <stdbool.h>

#include "compiler.h"

/* MXG_TEST_ROCM_PREFIX, MXG_WORKER and ROCM_PATH, with a log that setup_log_text keeps. */
struct compiler_config setup_config(const char *choice);

/* Lines logged since the last call, joined by newlines; at most a few KiB. */
const char *setup_log_text(void);

/* The program that misbehaves on request (fake_worker.c). */
const char *setup_fake_worker(void);

/* Whether a compiler can be opened; if not, why is in mxg_last_error(). */
bool setup_has_compiler(const char *choice);

/* Freestanding sources: one multiply; LDS, MFMA, division and square root. */
extern const char setup_kernel_small[];
extern const char setup_kernel_large[];
extern const char *const setup_options[];
extern const size_t setup_num_options;

struct compile_request setup_request(const char *source, const char *arch);

/*
 * Open, compile, close.  false if the provider does not open; a failed compile
 * fails the test.
 */
bool setup_compile(const char *choice, const char *source, const char *arch,
                   struct compile_result *result);

#endif
