/* SPDX-License-Identifier: MIT */
/*
 * A as bf16 [M, lda], lane by lane: a lane's MX block is 64 bytes, quantised
 * in registers when its step is multiplied.  Rows past M read the last live
 * row of the tile instead; their results are not stored.
 */
struct mxg_a_operand {
    mxg_src data;
    mxg_u32 offset[MXG_M_TILES];
};

struct mxg_a_step {
    mxg_u32x4 data[MXG_M_TILES][4];
};

/* Some blocks need the careful path. */
constexpr bool MXG_A_CAN_FAIL = true;

/* Scales are made, not loaded. */
struct mxg_a_chunk {
};

/* Registers of a step's elements and of a chunk's scales, for the depth of the pipeline. */
constexpr int MXG_A_STEP_REGS = 16 * MXG_M_TILES;
constexpr int MXG_A_CHUNK_REGS = 0;

MXG_FN void mxg_a_open(mxg_a_operand &a, const mxg_tile &tile, mxg_src data, mxg_src scale,
                       mxg_i64 lda)
{
    (void)scale;
    a.data = data + tile.first_m * lda * 2;
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        mxg_u32 row = mxg_min(i * 16 + tile.row, tile.load_rows - 1);
        a.offset[i] = mxg_multiply_apart(row, (mxg_u32)lda * 2) + tile.block * 64;
    }
}

MXG_FN void mxg_a_advance(mxg_a_operand &a, mxg_i64 chunks)
{
    a.data += chunks * 512;
}

MXG_FN void mxg_a_pin(mxg_a_operand &a)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        MXG_PIN(a.offset[i]);
    }
}

MXG_FN void mxg_a_load_chunk(const mxg_a_operand &a, int at, const int *block_shift,
                             mxg_a_chunk &out)
{
    (void)a;
    (void)at;
    (void)block_shift;
    (void)out;
}

/* Step `at`, counted from the bases; the lane's block moved by block_shift. */
MXG_FN void mxg_a_load(const mxg_a_operand &a, int at, int block_shift, mxg_a_step &out)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        mxg_u32 offset = a.offset[i] + block_shift * 64;
        MXG_UNROLL
        for (int j = 0; j < 4; j++) {
            out.data[i][j] = mxg_load16(a.data + at * 256 + j * 16, offset);
        }
    }
}

/*
 * Row tile i as the multiplication takes it.  False, for the whole wave, if a block needs
 * the careful path.
 */
template <int parity>
MXG_FN bool mxg_a_finish(const mxg_a_operand &a, const mxg_a_step &step,
                         const mxg_a_chunk &chunk, int i, mxg_u32x4 &data, mxg_u32 &scale)
{
    (void)a;
    (void)chunk;
    mxg_block block;
    if (!mxg_block_quantize(step.data[i], block)) {
        return false;
    }
    data = block.q;
    scale = block.e8;
    return true;
}

/* Byte of `scale` that counts. */
constexpr int mxg_a_scale_byte(int odd, int parity)
{
    (void)odd;
    (void)parity;
    return 0;
}

MXG_FN void mxg_a_finish_careful(const mxg_a_step &step, int i, mxg_u32x4 &data, mxg_u32 &scale)
{
    mxg_block block;
    mxg_block_quantize_careful(step.data[i], block);
    data = block.q;
    scale = block.e8;
}
