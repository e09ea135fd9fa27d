/* SPDX-License-Identifier: MIT */
/*
 * Byte layouts of MXFP4 operands, one function each (mxgemm.h, mxg_gemm_args).
 * Callers have checked that sizes fit: every function is plain arithmetic.
 */
#ifndef MXG_MX_LAYOUT_H
#define MXG_MX_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define MX_B_TILE_ROWS 16      /* rows of a shuffled B tile */
#define MX_BLOCK_BYTES 16      /* 32 elements */
#define MX_SCALE_ROW_PAD 256   /* rows of shuffled scales are padded to this */
#define MX_SCALE_COLUMN_PAD 8  /* and columns to this */
#define MX_SCALE_GROUP_ROWS 32 /* rows whose scales are interleaved */

static inline size_t mx_round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* Shuffled B: byte j of block kb of row n; `blocks` = K/32. */
static inline size_t mx_b_shuffled(size_t n, size_t kb, size_t j, size_t blocks)
{
    size_t tile = n / MX_B_TILE_ROWS * blocks * (MX_B_TILE_ROWS * MX_BLOCK_BYTES);
    return tile + kb * (MX_B_TILE_ROWS * MX_BLOCK_BYTES) + n % MX_B_TILE_ROWS * MX_BLOCK_BYTES +
           j;
}

/* Shuffled scales: row r, column c; `blocks` = K/32, padded here. */
static inline size_t mx_scale_shuffled(size_t r, size_t c, size_t blocks)
{
    size_t columns = mx_round_up(blocks, MX_SCALE_COLUMN_PAD);
    return r / MX_SCALE_GROUP_ROWS * columns * MX_SCALE_GROUP_ROWS + c / 8 * 256 + c % 4 * 64 +
           r % 16 * 4 + c / 4 % 2 * 2 + r / 16 % 2;
}

#endif
