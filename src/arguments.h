/* SPDX-License-Identifier: MIT */
/* Checking mxg_gemm's arguments: every rule of the header, each with its own sentence. */
#ifndef MXG_ARGUMENTS_H
#define MXG_ARGUMENTS_H

#include "kernel_config.h"
#include "mxgemm.h"

/* A checked copy with leading dimensions filled in. */
struct gemm_call {
    struct gemm_shape shape;
    int64_t lda, ldb, ldc;
    const void *a, *a_scale, *b, *b_scale;
    void *c, *workspace;
    size_t workspace_size;
};

/* Sizes, types, layouts and leading dimensions only: for calls that ignore pointers. */
mxg_status arguments_check_shape(const mxg_gemm_args *args, struct gemm_call *call);

/* All of them. */
mxg_status arguments_check(const mxg_gemm_args *args, struct gemm_call *call);

#endif
