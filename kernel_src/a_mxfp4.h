/* SPDX-License-Identifier: MIT */
/*
 * A as MXFP4 [M, lda/2] with its scales, lane by lane.  Rows past M read the
 * last live row of the tile instead; their results are not stored.  Shuffled
 * scales come from family 1, which clears those of rows past M up to a whole
 * group of 32, so they need no mask.
 */
typedef mxg_scales<MXG_M_TILES, MXG_BAKE_A_SCALE_SHUFFLED == 1, true, false> mxg_a_scales;

constexpr bool MXG_A_CAN_FAIL = false;

struct mxg_a_operand {
    mxg_src data;
    mxg_u32 offset[MXG_M_TILES];
    mxg_a_scales scales;
};

struct mxg_a_step {
    mxg_u32x4 data[MXG_M_TILES];
};

struct mxg_a_chunk {
    mxg_u32 scale[mxg_a_scales::chunk_regs];
};

/* Registers of a step's elements and of a chunk's scales, for the depth of the pipeline. */
constexpr int MXG_A_STEP_REGS = 4 * MXG_M_TILES;
constexpr int MXG_A_CHUNK_REGS = mxg_a_scales::chunk_regs;

MXG_FN void mxg_a_open(mxg_a_operand &a, const mxg_tile &tile, mxg_src data, mxg_src scale,
                       mxg_i64 lda)
{
    a.data = data + tile.first_m * (lda >> 1);
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        mxg_u32 row = mxg_min(i * 16 + tile.row, tile.load_rows - 1);
        a.offset[i] = mxg_multiply_apart(row, (mxg_u32)(lda >> 1)) + tile.block * 16;
    }
    mxg_scales_open(a.scales, tile, scale, tile.first_m, tile.load_rows);
}

MXG_FN void mxg_a_advance(mxg_a_operand &a, mxg_i64 chunks)
{
    a.data += chunks * 128;
    mxg_scales_advance(a.scales, chunks);
}

MXG_FN void mxg_a_pin(mxg_a_operand &a)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        MXG_PIN(a.offset[i]);
    }
    mxg_scales_pin(a.scales);
}

MXG_FN void mxg_a_load_chunk(const mxg_a_operand &a, int at, const int *block_shift,
                             mxg_a_chunk &out)
{
    mxg_scales_load(a.scales, at, block_shift, out.scale);
}

/* Step `at`, counted from the bases; the lane's block moved by block_shift. */
MXG_FN void mxg_a_load(const mxg_a_operand &a, int at, int block_shift, mxg_a_step &out)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        out.data[i] = mxg_load16(a.data + at * 64, a.offset[i] + block_shift * 16);
    }
}

/* Row tile i as the multiplication takes it.  Never false. */
template <int parity>
MXG_FN bool mxg_a_finish(const mxg_a_operand &a, const mxg_a_step &step,
                         const mxg_a_chunk &chunk, int i, mxg_u32x4 &data, mxg_u32 &scale)
{
    data = step.data[i];
    scale = mxg_scales_get(a.scales, chunk.scale, i, parity);
    return true;
}

/* Byte of `scale` that counts, for an even or odd row tile. */
constexpr int mxg_a_scale_byte(int odd, int parity)
{
    return mxg_scales_byte<mxg_a_scales>(odd, parity);
}
