/* SPDX-License-Identifier: MIT */
/*
 * Family 1: bf16 A [M, lda] to MXFP4 [M, K/2], row-major and dense, and its
 * scales.  One thread, one MX block: four 16-byte loads, one 16-byte store, one
 * scale byte.
 *
 * Rows are cut into groups of MXG_GROUP_ROWS, one per step of grid.y and grid.z,
 * so that a block's index inside its group fits 28 bits and its row comes from
 * a 32-bit division by a constant.  Where scales are shuffled, their rows from
 * M up to a whole group of 32 are cleared: the GEMM reads them.
 */
constexpr bool MXG_IS_SCALE_SHUFFLED = MXG_BAKE_A_SCALE_SHUFFLED == 1;
constexpr mxg_u32 MXG_GROUP_ROWS = 0x10000000u / MXG_BLOCKS / 32 * 32;

MXG_KERNEL(256, 4)
void MXG_BAKE_NAME(mxg_src a, mxg_dst q, mxg_dst q_scale, mxg_i64 m, mxg_i64 lda)
{
    mxg_u32 index = __builtin_amdgcn_workgroup_id_x() * 256u + __builtin_amdgcn_workitem_id_x();
    mxg_u32 row = index / MXG_BLOCKS;
    mxg_u32 block = index % MXG_BLOCKS;
    mxg_i64 first_row = mxg_grid_yz() * MXG_GROUP_ROWS;
    mxg_i64 rows = m - first_row;
    mxg_i64 scale_rows = MXG_IS_SCALE_SHUFFLED ? (rows + 31) & ~31ll : rows;
    if (row >= MXG_GROUP_ROWS || row >= scale_rows) {
        return;
    }

    mxg_dst scale =
        q_scale + (MXG_IS_SCALE_SHUFFLED ? first_row / 32 * MXG_SCALE_GROUP_BYTES +
                                               row / 32 * (mxg_u32)MXG_SCALE_GROUP_BYTES +
                                               mxg_scale_place(row, block)
                                         : first_row * MXG_BLOCKS + index);
    if (MXG_IS_SCALE_SHUFFLED && row >= rows) {
        *scale = 0;
        return;
    }

    mxg_src src = a + first_row * lda * 2 + mxg_row_offset(row, lda * 2) + block * 64;
    mxg_u32x4 x[4];
    MXG_UNROLL
    for (int i = 0; i < 4; i++) {
        x[i] = mxg_load16(src, 16 * i);
    }
    mxg_block result;
    if (!mxg_block_quantize(x, result)) {
        mxg_block_quantize_careful(x, result);
    }
    *(MXG_GLOBAL mxg_u32x4 *)(q + first_row * MXG_BLOCKS * 16 + (mxg_u64)index * 16) = result.q;
    *scale = (mxg_u8)result.e8;
}
