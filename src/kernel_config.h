/* SPDX-License-Identifier: MIT */
/*
 * A kernel config: family, tiling and every baked constant.  It is a pure
 * value: zeroed first, then filled, so that its bytes are its identity in the
 * in-memory table.
 */
#ifndef MXG_KERNEL_CONFIG_H
#define MXG_KERNEL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "mxgemm.h"

enum kernel_family {
    FAMILY_QUANTIZE = 1,  /* bf16 A to MXFP4 A and scales */
    FAMILY_GEMM = 2,      /* MXFP4 A times MXFP4 B */
    FAMILY_GEMM_FUSED = 3 /* bf16 A quantised in the K loop */
};

/* Members that a family does not use are 0 (see kernel_config_check). */
struct kernel_config {
    int64_t n; /* 0 for FAMILY_QUANTIZE */
    int64_t k;
    uint32_t family;   /* enum kernel_family */
    uint32_t waves;    /* per workgroup */
    uint32_t m_rep;    /* 16-row tiles of A that a wave multiplies */
    uint32_t n_rep;    /* 16-row tiles of B that a wave multiplies */
    uint32_t split_k;  /* 1: waves split K of one tile; 0: each wave has its own N tile */
    uint32_t c_type;   /* mxg_type */
    uint32_t b_layout; /* mxg_layout */
    uint32_t b_scale_layout;
    uint32_t a_scale_layout; /* what FAMILY_QUANTIZE writes and FAMILY_GEMM reads */
    uint32_t reserved;
};

/* One problem after its arguments were checked; leading dimensions are filled in. */
struct gemm_shape {
    int64_t m, n, k;
    uint32_t a_type, c_type, b_layout, b_scale_layout;
    uint32_t variant; /* mxg_variant asked for */
};

struct kernel_geometry {
    uint32_t grid[3];     /* workgroups */
    uint32_t threads;     /* per workgroup, one-dimensional */
    uint32_t dynamic_lds; /* bytes */
};

/* Run-time arguments of a launch; packing is the family's business. */
struct kernel_operands {
    const void *a, *a_scale, *b, *b_scale;
    void *c;
    void *q, *q_scale;        /* FAMILY_QUANTIZE's outputs */
    int64_t m, lda, ldb, ldc; /* elements */
};

#define KERNEL_ARGS_MAX 128

/* K and offsets inside a tile are 32-bit numbers in the kernels; bases are 64-bit. */
#define KERNEL_K_MAX (INT64_C(1) << 24)
#define KERNEL_N_MAX (INT64_C(1) << 30)
#define KERNEL_LDS_MAX 163840u /* bytes of a gfx950 compute unit */

/* E_UNSUPPORTED, naming the member and its rule, unless a kernel can be made of it. */
mxg_status kernel_config_check(const struct kernel_config *config);

/*
 * "gemm_fused_n2112_k7168_w8_m1n1_splitk_bf16_ss": unique per config; also the kernel's
 * symbol name.
 */
void kernel_config_name(const struct kernel_config *config, char *name, size_t size);

/* Geometry for M rows.  E_UNSUPPORTED if the grid would pass HIP's limits. */
mxg_status kernel_config_geometry(const struct kernel_config *config, int64_t m,
                                  struct kernel_geometry *geometry);

/*
 * Write the kernel-argument block; returns its size in bytes.  0, with a
 * detail text (E_UNSUPPORTED), if a leading dimension puts the rows of one
 * tile more than 4 GiB apart, which offsets inside a tile cannot express.
 */
size_t kernel_config_pack(const struct kernel_config *config,
                          const struct kernel_operands *operands,
                          unsigned char args[KERNEL_ARGS_MAX]);

#endif
