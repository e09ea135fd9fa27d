/* SPDX-License-Identifier: MIT */
/*
 * Every baked constant, its meaning and its range.  The host writes them as
 * #define lines in front of this text; a missing or impossible one stops the
 * compile with a sentence instead of making a kernel that computes nonsense.
 */

/* Name of the kernel, the symbol that the host looks up. */
#ifndef MXG_BAKE_NAME
#error "MXG_BAKE_NAME: the kernel's symbol is missing"
#endif

/* Family: 1 quantise, 2 GEMM on quantised A, 3 GEMM that quantises A. */
#ifndef MXG_BAKE_FAMILY
#error "MXG_BAKE_FAMILY is missing"
#elif MXG_BAKE_FAMILY < 1 || MXG_BAKE_FAMILY > 3
#error "MXG_BAKE_FAMILY must be 1, 2 or 3"
#endif

/* K, in elements: whole MX blocks. */
#ifndef MXG_BAKE_K
#error "MXG_BAKE_K is missing"
#elif MXG_BAKE_K < 32 || MXG_BAKE_K % 32 != 0 || MXG_BAKE_K > 16777216
#error "MXG_BAKE_K must be a multiple of 32 in 32..16777216"
#endif

#if MXG_BAKE_FAMILY != 1

/* N, in elements: rows of B, columns of C. */
#ifndef MXG_BAKE_N
#error "MXG_BAKE_N is missing"
#elif MXG_BAKE_N < 1
#error "MXG_BAKE_N must be at least 1"
#endif

/* Waves of a workgroup. */
#ifndef MXG_BAKE_WAVES
#error "MXG_BAKE_WAVES is missing"
#elif MXG_BAKE_WAVES != 2 && MXG_BAKE_WAVES != 4 && MXG_BAKE_WAVES != 8 && MXG_BAKE_WAVES != 16
#error "MXG_BAKE_WAVES must be 2, 4, 8 or 16"
#endif

/* Tiles of 16 rows of A, and of 16 rows of B, that one wave multiplies. */
#ifndef MXG_BAKE_M_REP
#error "MXG_BAKE_M_REP is missing"
#elif MXG_BAKE_M_REP != 1 && MXG_BAKE_M_REP != 2 && MXG_BAKE_M_REP != 4 && \
    MXG_BAKE_M_REP != 8 && MXG_BAKE_M_REP != 16
#error "MXG_BAKE_M_REP must be 1, 2, 4, 8 or 16"
#endif
#ifndef MXG_BAKE_N_REP
#error "MXG_BAKE_N_REP is missing"
#elif MXG_BAKE_N_REP != 1 && MXG_BAKE_N_REP != 2 && MXG_BAKE_N_REP != 4
#error "MXG_BAKE_N_REP must be 1, 2 or 4"
#endif

/* 1: the waves split K of one tile.  0: each wave has its own N tile and all of K. */
#ifndef MXG_BAKE_SPLIT_K
#error "MXG_BAKE_SPLIT_K is missing"
#elif MXG_BAKE_SPLIT_K != 0 && MXG_BAKE_SPLIT_K != 1
#error "MXG_BAKE_SPLIT_K must be 0 or 1"
#endif

/* C's type: 1 bf16, 3 f16, 4 f32. */
#ifndef MXG_BAKE_C_TYPE
#error "MXG_BAKE_C_TYPE is missing"
#elif MXG_BAKE_C_TYPE != 1 && MXG_BAKE_C_TYPE != 3 && MXG_BAKE_C_TYPE != 4
#error "MXG_BAKE_C_TYPE must be 1, 3 or 4"
#endif

/* Layouts: 1 shuffled, 0 row-major. */
#ifndef MXG_BAKE_B_SHUFFLED
#error "MXG_BAKE_B_SHUFFLED is missing"
#elif MXG_BAKE_B_SHUFFLED != 0 && MXG_BAKE_B_SHUFFLED != 1
#error "MXG_BAKE_B_SHUFFLED must be 0 or 1"
#endif
#ifndef MXG_BAKE_B_SCALE_SHUFFLED
#error "MXG_BAKE_B_SCALE_SHUFFLED is missing"
#elif MXG_BAKE_B_SCALE_SHUFFLED != 0 && MXG_BAKE_B_SCALE_SHUFFLED != 1
#error "MXG_BAKE_B_SCALE_SHUFFLED must be 0 or 1"
#endif

#if MXG_BAKE_FAMILY == 2 && MXG_BAKE_WAVES == 16
#error "MXG_BAKE_WAVES 16 is for the fused family only"
#endif
#if MXG_BAKE_FAMILY == 3 && (MXG_BAKE_M_REP > 2 || MXG_BAKE_SPLIT_K == 0)
#error "the fused family has MXG_BAKE_M_REP 1 or 2 and MXG_BAKE_SPLIT_K 1"
#endif
/* Partial sums of all waves meet in LDS: 160 KiB a compute unit on gfx950. */
#if MXG_BAKE_SPLIT_K == 1 && MXG_BAKE_WAVES * MXG_BAKE_M_REP * MXG_BAKE_N_REP > 160
#error \
    "MXG_BAKE_WAVES * MXG_BAKE_M_REP * MXG_BAKE_N_REP KiB of partial sums pass 160 KiB of LDS"
#endif

#endif

/* Layout of A's scales, which family 1 writes and family 2 reads: 1 shuffled, 0 row-major. */
#if MXG_BAKE_FAMILY != 3
#ifndef MXG_BAKE_A_SCALE_SHUFFLED
#error "MXG_BAKE_A_SCALE_SHUFFLED is missing"
#elif MXG_BAKE_A_SCALE_SHUFFLED != 0 && MXG_BAKE_A_SCALE_SHUFFLED != 1
#error "MXG_BAKE_A_SCALE_SHUFFLED must be 0 or 1"
#endif
#endif
