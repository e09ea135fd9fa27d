/* SPDX-License-Identifier: MIT */
/*
 * Shuffled scales: rows padded to a whole group of 32 and more, columns to 8.
 * In bytes, (r, c) is at
 *   (r/32)*GROUP + (c/8)*256 + (c%4)*64 + (r%16)*4 + ((c/4)%2)*2 + (r/16)%2.
 */
constexpr mxg_i64 MXG_SCALE_GROUP_BYTES = (mxg_i64)((MXG_BLOCKS + 7) / 8) * 256;

/* Place of (row, column) in its group of 32 rows. */
MXG_FN mxg_u32 mxg_scale_place(mxg_u32 row, mxg_u32 column)
{
    return column / 8 * 256 + column % 4 * 64 + row % 16 * 4 + column / 4 % 2 * 2 +
           row / 16 % 2;
}
