/* SPDX-License-Identifier: MIT */
/*
 * Family 1: bf16 A [M, lda] to MXFP4 [M, K/2] and scales [M, K/32], both
 * row-major and dense.  One thread, one MX block: four 16-byte loads, one
 * 16-byte store, one scale byte.
 *
 * Rows are cut into groups of MXG_GROUP_ROWS, one per grid.y, so that a block's
 * index inside its group fits 31 bits and its row comes from a 32-bit division
 * by a constant.
 */
constexpr mxg_u32 MXG_GROUP_ROWS = 0x40000000u / MXG_BLOCKS;

MXG_KERNEL(256, 4)
void MXG_BAKE_NAME(mxg_src a, mxg_dst q, mxg_dst q_scale, mxg_i64 m, mxg_i64 lda)
{
    mxg_u32 index = __builtin_amdgcn_workgroup_id_x() * 256u + __builtin_amdgcn_workitem_id_x();
    mxg_u32 row_in_group = index / MXG_BLOCKS;
    mxg_u32 block = index % MXG_BLOCKS;
    mxg_i64 first_row = (mxg_i64)__builtin_amdgcn_workgroup_id_y() * MXG_GROUP_ROWS;
    if (row_in_group >= MXG_GROUP_ROWS || first_row + row_in_group >= m) {
        return;
    }

    mxg_src src = a + (first_row + row_in_group) * lda * 2 + block * 64;
    mxg_u32x4 x[4];
    MXG_UNROLL
    for (int i = 0; i < 4; i++) {
        x[i] = mxg_load16(src, 16 * i);
    }
    mxg_block result = mxg_block_quantize(x);

    mxg_i64 first_block = first_row * MXG_BLOCKS;
    *(MXG_GLOBAL mxg_u32x4 *)(q + first_block * 16 + (mxg_u64)index * 16) = result.q;
    q_scale[first_block + index] = (mxg_u8)result.e8;
}
