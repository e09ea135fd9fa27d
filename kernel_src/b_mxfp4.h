/* SPDX-License-Identifier: MIT */
/*
 * B and its scales, lane by lane.  The two layouts differ in the address
 * function only:
 *   shuffled   [N/16][K/32][16 rows][16 bytes]: a step of a 16-row tile is
 *              1 KiB, lane L's 16 bytes at L*16
 *   row-major  [N, ldb/2]
 * Rows past N read the last live row instead.
 */
constexpr bool MXG_IS_B_SHUFFLED = MXG_BAKE_B_SHUFFLED == 1;
constexpr mxg_i64 MXG_B_TILE_BYTES = (mxg_i64)MXG_BAKE_K * 8;
constexpr int MXG_B_STEP_BYTES = MXG_IS_B_SHUFFLED ? 1024 : 64;
constexpr int MXG_B_BLOCK_BYTES = MXG_IS_B_SHUFFLED ? 256 : 16;

typedef mxg_scales<MXG_N_TILES, MXG_BAKE_B_SCALE_SHUFFLED == 1, (MXG_BAKE_N > 16),
                   MXG_IS_N_RAGGED>
    mxg_b_scales;

/* Whole shuffled tiles differ in their base only. */
constexpr int MXG_B_OFFSETS = MXG_IS_B_SHUFFLED && !MXG_IS_N_RAGGED ? 1 : MXG_N_TILES;

struct mxg_b_operand {
    mxg_src data[MXG_N_TILES];
    mxg_u32 offset[MXG_B_OFFSETS];
    mxg_b_scales scales;
};

struct mxg_b_step {
    mxg_u32x4 data[MXG_N_TILES];
};

/* Registers of a step's elements and of a chunk's scales, for the depth of the pipeline. */
constexpr int MXG_B_STEP_REGS = 4 * MXG_N_TILES;
constexpr int MXG_B_CHUNK_REGS = mxg_b_scales::chunk_regs;

MXG_FN void mxg_b_open(mxg_b_operand &b, const mxg_tile &tile, mxg_src data, mxg_src scale,
                       mxg_i64 ldb)
{
    int live = MXG_IS_N_RAGGED ? mxg_min(MXG_BAKE_N - tile.first_n, MXG_TILE_COLUMNS)
                               : MXG_TILE_COLUMNS;
    MXG_UNROLL
    for (int i = 0; i < MXG_N_TILES; i++) {
        int row = mxg_min(i * 16 + tile.row, live - 1);
        if (!MXG_IS_B_SHUFFLED) {
            b.data[i] = data + (mxg_u32)tile.first_n * (ldb >> 1);
            b.offset[i % MXG_B_OFFSETS] =
                mxg_multiply_apart(row, (mxg_u32)(ldb >> 1)) + tile.block * MXG_B_BLOCK_BYTES;
            continue;
        }
        /*
         * A tile that has no live row reads the last one that has; first_n is a multiple
         * of 16.
         */
        int n_tile = mxg_min(i, (mxg_u32)(live - 1) / 16);
        b.data[i] = data + ((mxg_u32)tile.first_n / 16 + n_tile) * MXG_B_TILE_BYTES;
        b.offset[i % MXG_B_OFFSETS] =
            mxg_min(tile.row, live - 1 - n_tile * 16) * 16 + tile.block * MXG_B_BLOCK_BYTES;
    }
    mxg_scales_open(b.scales, tile, scale, (mxg_u32)tile.first_n, live);
}

MXG_FN void mxg_b_advance(mxg_b_operand &b, mxg_i64 chunks)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_N_TILES; i++) {
        b.data[i] += chunks * (2 * MXG_B_STEP_BYTES);
    }
    mxg_scales_advance(b.scales, chunks);
}

MXG_FN void mxg_b_pin(mxg_b_operand &b)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_B_OFFSETS; i++) {
        MXG_PIN(b.offset[i]);
    }
    mxg_scales_pin(b.scales);
}

/* Step `at`, counted from the bases; the lane's block moved by block_shift. */
MXG_FN void mxg_b_load(const mxg_b_operand &b, int at, int block_shift, mxg_b_step &out)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_N_TILES; i++) {
        /* An address mode reaches 4 KiB; what is beyond is added to the uniform base. */
        mxg_src base = b.data[i] + at * MXG_B_STEP_BYTES / 4096 * 4096;
        if (at * MXG_B_STEP_BYTES >= 4096) {
            MXG_PIN_UNIFORM(base);
        }
        out.data[i] = mxg_load16(base + at * MXG_B_STEP_BYTES % 4096,
                                 b.offset[i % MXG_B_OFFSETS] + block_shift * MXG_B_BLOCK_BYTES);
    }
}
