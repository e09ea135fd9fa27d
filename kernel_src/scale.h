/* SPDX-License-Identifier: MIT */
/*
 * E8M0 scales of `tiles` tiles of 16 rows, lane by lane, for either operand.
 *
 *   row-major  [rows, K/32]; a byte a tile, lane and step
 *   shuffled   a dword of lane L holds rows r and r+16 (bytes 0, 1) of the first
 *              step of a chunk and of its second step (bytes 2, 3): one load
 *              serves two tiles and two steps, and the multiplication picks
 *
 * The base is the same for the whole wave and 64-bit; a lane's offset inside its
 * tile is 32-bit.
 */

/*
 * is_shifted: a single tile may start in the middle of a group of 32 rows; its
 * bytes are then shifted down.  is_masked: the bytes of rows that do not exist
 * hold anything, and are cleared.
 */
template <int tiles_, bool is_shuffled_, bool is_shifted_, bool is_masked_> struct mxg_scales {
    static constexpr int tiles = tiles_;
    static constexpr bool is_shuffled = is_shuffled_;
    static constexpr bool is_shifted = is_shuffled_ && tiles_ == 1 && is_shifted_;
    static constexpr bool is_masked = is_shuffled_ && tiles_ > 1 && is_masked_;
    static constexpr int regs = is_shuffled_ ? (tiles_ + 1) / 2 : tiles_;
    static constexpr int chunk_regs = is_shuffled_ ? regs : 2 * regs;
    /* Groups of shuffled scales differ in their base only. */
    static constexpr int offsets = is_shuffled_ ? 1 : regs;
    mxg_src base[regs];
    mxg_u32 offset[offsets];
    mxg_u32 mask[regs];
    mxg_u32 shift;
};

/* `first` row of the tiles, of which `live` rows exist. */
template <class scales>
MXG_FN void mxg_scales_open(scales &s, const mxg_tile &tile, mxg_src src, mxg_u64 first,
                            int live)
{
    s.shift = scales::is_shifted ? (mxg_u32)first / 16 % 2 * 8 : 0;
    MXG_UNROLL
    for (int i = 0; i < scales::regs; i++) {
        s.mask[i] = 0xffffffffu;
        int row = mxg_min(i * 16 + tile.row, live - 1);
        if (!scales::is_shuffled) {
            s.base[i] = src + first * MXG_BLOCKS;
            s.offset[i] = mxg_multiply_apart(row, MXG_BLOCKS) + tile.block;
            continue;
        }
        mxg_u32 group = mxg_min(i, (mxg_u32)(live - 1) / 32);
        s.base[i] = src + (first / 32 + group) * MXG_SCALE_GROUP_BYTES;
        if (i == 0) {
            s.offset[0] = mxg_scale_place(scales::tiles == 1 ? row % 16 : tile.row, tile.block);
        }
        if (scales::is_masked) {
            int low = i * 32 + tile.row;
            s.mask[i] = (low < live ? 0x00ff00ffu : 0u) | (low + 16 < live ? 0xff00ff00u : 0u);
        }
    }
}

/* Move the bases on by whole chunks. */
template <class scales> MXG_FN void mxg_scales_advance(scales &s, mxg_i64 chunks)
{
    MXG_UNROLL
    for (int i = 0; i < scales::regs; i++) {
        s.base[i] += chunks * (scales::is_shuffled ? 256 : MXG_CHUNK_BLOCKS);
    }
}

template <class scales> MXG_FN void mxg_scales_pin(scales &s)
{
    MXG_UNROLL
    for (int i = 0; i < scales::offsets; i++) {
        MXG_PIN(s.offset[i]);
    }
}

/*
 * Load the registers of chunk `at`, counted from the bases.  `block_shift`, if
 * any, says for each step how far from its block of the chunk's first step the
 * lane reads instead.
 */
template <class scales>
MXG_FN void mxg_scales_load(const scales &s, int at, const int *block_shift,
                            mxg_u32 out[scales::chunk_regs])
{
    MXG_UNROLL
    for (int i = 0; i < scales::chunk_regs; i++) {
        if (scales::is_shuffled) {
            out[i] = mxg_load4(s.base[i] + at * 256, s.offset[0]);
        } else {
            int parity = i / scales::regs;
            int step = at * 2 + (block_shift ? 0 : parity);
            out[i] =
                mxg_load1(s.base[i % scales::regs] + step * MXG_STEP_BLOCKS,
                          s.offset[i % scales::regs] + (block_shift ? block_shift[parity] : 0));
        }
    }
}

/*
 * Register of tile i in a step of that parity, ready for a multiplication that takes byte
 * mxg_scales_byte.
 */
template <class scales>
MXG_FN mxg_u32 mxg_scales_get(const scales &s, const mxg_u32 regs[scales::chunk_regs], int i,
                              int parity)
{
    if (!scales::is_shuffled) {
        return regs[parity * scales::regs + i];
    }
    mxg_u32 value = regs[i / 2];
    if (scales::is_shifted) {
        value >>= s.shift;
    }
    if (scales::is_masked) {
        value &= s.mask[i / 2];
    }
    return value;
}

template <class scales> constexpr int mxg_scales_byte(int i, int parity)
{
    return scales::is_shuffled ? i % 2 + 2 * parity : 0;
}
