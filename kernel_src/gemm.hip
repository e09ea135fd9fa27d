/* SPDX-License-Identifier: MIT */
/*
 * Families 2 and 3: C = A * B^T.  They differ in the text for A only, which
 * stands in front of this one: MXFP4 with scales, or bf16 that is quantised in
 * registers (a_scale is then not read).
 *
 * Arguments that some kernels do not read stand first and last, so that the
 * others are one scalar load.
 */
MXG_KERNEL(MXG_WAVES * 64, (MXG_WAVES + 3) / 4)
void MXG_BAKE_NAME(mxg_src a_scale, mxg_src a, mxg_src b, mxg_src b_scale, mxg_dst c, mxg_i64 m,
                   mxg_i64 lda, mxg_i64 ldc, mxg_i64 ldb)
{
    /* Read with the other arguments, not when the sums are done. */
    __asm__ volatile("" : "+s"(ldc), "+s"(c));
    mxg_tile tile;
    if (!mxg_tile_find(tile, m)) {
        return;
    }
    mxg_operands ops;
    mxg_a_open(ops.a, tile, a, a_scale, lda);
    mxg_b_open(ops.b, tile, b, b_scale, ldb);

    mxg_sums sums;
    if (!mxg_wave_multiply(ops, tile, sums)) {
#if MXG_BAKE_FAMILY == 3
        mxg_wave_multiply_careful(ops, tile, sums);
#endif
    }
    mxg_sums_fix(sums);

    mxg_c_operand out = mxg_c_open(tile, c, ldc);
    if (MXG_IS_SPLIT_K) {
        mxg_store_split_k(out, tile, sums);
    } else {
        mxg_store_split_n(out, tile, sums);
    }
}
