/* SPDX-License-Identifier: MIT */
/*
 * Kernels broken on purpose, to see that somebody notices: the library's own
 * kernel of a config, with its source or its machine code changed, run on the
 * simulator; and what the simulator found.
 */
#ifndef MXG_TEST_MUTANT_H
#define MXG_TEST_MUTANT_H

#include "../kernels/kernel_run.h"

/* One finding of the simulator. */
struct mutant_finding {
    char kind[32];  /* "waitcnt", "hazard", ... */
    uint64_t pc;    /* bytes from the image's start, as in the text */
    char inst[160]; /* the instruction that the finding names */
    char text[1024];
};

#define MUTANT_FINDINGS_MAX 64

/* Opened once a process: compiler, device and the findings of the last run. */
struct mutant_bench {
    struct kernel_bench kernel;
    size_t count;
    struct mutant_finding findings[MUTANT_FINDINGS_MAX];
    char why[1536]; /* why the last run failed */
};

extern struct mutant_bench mutants;

/* False if there is no compiler or no device: why is in mxg_last_error(). */
bool mutants_open(void);
void mutants_close(void);

/* A GEMM config on shuffled weights and bf16 C; the quantise kernel with shuffled scales. */
struct kernel_config mutant_gemm(int64_t n, int64_t k, uint32_t family, uint32_t waves,
                                 uint32_t m_rep, uint32_t n_rep, uint32_t split_k);
struct kernel_config mutant_quantize(int64_t k);

/* The library's source for a config; free() it. */
char *mutant_source(const struct kernel_config *config);

/* Compile a source as the library does.  False with the compiler's log in mxg_last_error(). */
bool mutant_compile(const struct kernel_config *config, const char *source,
                    struct compile_result *result);

/*
 * Load a code object and run the case.  True if all is right and nothing was found;
 * else mutants.why says what is wrong, and mutants.findings what the simulator found.
 */
bool mutant_run(const struct kernel_case *test, const void *code, size_t size);

/* The first finding of a kind, or NULL. */
const struct mutant_finding *mutant_find(const char *kind);

/* kernel_case.edit: edge blocks, one after the other, over the whole of A. */
void mutant_edit_edges(const struct kernel_case *test, uint16_t *a, uint8_t *b,
                       uint8_t *b_scale);

#endif
