/* SPDX-License-Identifier: MIT */
/*
 * Runs kernels of core_kernels.s on the simulator's core, with an input and an output
 * buffer, and looks at what was reported.
 */
#ifndef CORE_HARNESS_H
#define CORE_HARNESS_H

#include "code_builder.h"
#include "dispatch.h"
#include "mxgsim.h"
#include "wave.h"

#include <stdbool.h>

#define CORE_IN_BYTES 4096
#define CORE_OUT_BYTES 8192

struct core_run {
    const char *kernel;
    uint32_t grid[3], block[3]; /* zeros count as 1; block[0] 0 = 64 */
    uint64_t items[3];
    uint32_t lds;
    size_t in_bytes, out_bytes; /* 0 = the sizes above */
    unsigned in_flags;          /* SIM_ALLOC_* of the input */
    uint64_t extra[4];          /* arguments behind the two pointers */
};

/* What core_launch left: copies of the buffers and the launch's answer. */
struct core_result {
    enum sim_result result;
    char text[512];
    uint8_t in[CORE_IN_BYTES], out[CORE_OUT_BYTES];
    uint64_t in_addr, out_addr;
};

/* Word i of the input is core_input(i). */
uint32_t core_input(uint32_t i);

/* Launch with fresh buffers: input as above, output all zeros.  Findings start empty. */
void core_launch(const struct core_run *run, struct core_result *out);

static inline uint32_t core_out(const struct core_result *r, size_t byte)
{
    uint32_t v;
    __builtin_memcpy(&v, r->out + byte, sizeof v);
    return v;
}

/* The number of findings of a kind, and of all kinds. */
size_t core_findings(enum sim_finding kind);
size_t core_findings_all(void);

#endif
