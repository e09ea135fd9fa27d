/* SPDX-License-Identifier: MIT */
/*
 * The wave's product once more, from its first step, for an A that holds NaN,
 * Inf or magnitudes above 2^121: one step a turn, nothing in flight, every
 * block by the careful rules.  Rare, so it is small rather than fast.
 */
MXG_FN void mxg_careful_step(const mxg_operands &ops, const mxg_step &step,
                             const mxg_chunk &chunk, int parity, bool is_live, mxg_sums &sums)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        mxg_u32x4 a;
        mxg_u32 a_scale;
        mxg_a_finish_careful(step.a, i, a, a_scale);
        a = is_live ? a : (mxg_u32x4)0u;
        a_scale = is_live ? a_scale : 0u;
        MXG_UNROLL
        for (int j = 0; j < MXG_N_TILES; j++) {
            mxg_u32x4 b = is_live ? step.b.data[j] : (mxg_u32x4)0u;
            /*
             * The step's parity is known at run time only: its scale byte is moved to
             * byte 0.
             */
            mxg_u32 first = mxg_scales_get(ops.b.scales, chunk.b_scale, j, 0) >>
                            8 * mxg_scales_byte<mxg_b_scales>(j, 0);
            mxg_u32 second = mxg_scales_get(ops.b.scales, chunk.b_scale, j, 1) >>
                             8 * mxg_scales_byte<mxg_b_scales>(j, 1);
            mxg_u32 b_scale = parity == 0 ? first : second;
            b_scale = is_live ? b_scale : 0u;
            sums.tile[i][j] = mxg_mfma<0, 0>(b, b_scale, a, a_scale, sums.tile[i][j]);
        }
        mxg_row_settle(sums.tile[i]);
    }
}

MXG_FN void mxg_wave_multiply_careful(const mxg_operands &bases, const mxg_tile &tile,
                                      mxg_sums &sums)
{
    int blocks = MXG_WAVE_CHUNKS * MXG_CHUNK_BLOCKS + (tile.has_odd ? tile.odd_blocks : 0);
    mxg_operands ops = bases;
    mxg_advance(ops, tile.first_chunk);
    mxg_sums_clear(sums);

    MXG_ROLLED
    for (int block = 0; block < blocks; block += MXG_STEP_BLOCKS) {
        int parity = block / MXG_STEP_BLOCKS % 2;
        int live = blocks - block;
        /* Lanes of dead blocks read the last live one, which is then not used. */
        int in_step = mxg_min(tile.block, live - 1);
        int in_chunk = in_step + parity * MXG_STEP_BLOCKS - tile.block;
        int block_shift[2] = { in_chunk, in_chunk };
        mxg_step step;
        mxg_chunk chunk;
        mxg_pin(ops);
        mxg_load_chunk(ops, 0, block_shift, chunk);
        mxg_load_step(ops, 0, in_chunk, step);
        mxg_careful_step(ops, step, chunk, parity, tile.block < live, sums);
        mxg_advance(ops, parity);
    }
}
