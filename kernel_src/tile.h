/* SPDX-License-Identifier: MIT */
/*
 * Which part of the product a wave computes.
 *
 * One v_mfma_scale_f32_16x16x128 is a step: 128 elements of K.  Lane L holds
 * row L%16 and MX block L/16 of both operands (CDNA4 ISA text, "Dense matrix
 * layouts").  Two steps are a chunk, the unit in which waves share K: the
 * shuffled scales keep both steps of a chunk in one dword.
 *
 * K that is no whole number of chunks ends in a tail of MXG_TAIL_BLOCKS
 * blocks.  The blocks behind it are dead: zero elements and a zero (finite)
 * scale, whatever memory holds there.
 */
constexpr int MXG_M_TILES = MXG_BAKE_M_REP;
constexpr int MXG_N_TILES = MXG_BAKE_N_REP;
constexpr int MXG_WAVES = MXG_BAKE_WAVES;
constexpr bool MXG_IS_SPLIT_K = MXG_BAKE_SPLIT_K == 1;
constexpr int MXG_TILE_ROWS = 16 * MXG_M_TILES;    /* of A, a workgroup */
constexpr int MXG_TILE_COLUMNS = 16 * MXG_N_TILES; /* of C, a wave */
constexpr bool MXG_IS_N_RAGGED = MXG_BAKE_N % MXG_TILE_COLUMNS != 0;

constexpr int MXG_STEP_BLOCKS = 4;
constexpr int MXG_CHUNK_BLOCKS = 8;
constexpr int MXG_CHUNKS = MXG_BLOCKS / MXG_CHUNK_BLOCKS; /* whole ones */
constexpr int MXG_TAIL_BLOCKS = MXG_BLOCKS % MXG_CHUNK_BLOCKS;

/*
 * Every wave multiplies MXG_WAVE_CHUNKS chunks; the first MXG_EXTRA_WAVES waves
 * one more, and the last wave the tail.  Nobody has both, so "one odd chunk,
 * perhaps with dead blocks" covers either.
 */
constexpr int MXG_SHARERS = MXG_IS_SPLIT_K ? MXG_WAVES : 1;
constexpr int MXG_WAVE_CHUNKS = MXG_CHUNKS / MXG_SHARERS;
constexpr int MXG_EXTRA_WAVES = MXG_CHUNKS % MXG_SHARERS;
constexpr bool MXG_HAS_TAIL = MXG_TAIL_BLOCKS != 0;

struct mxg_tile {
    int lane, wave;
    int row;         /* lane's row inside a 16-row tile */
    int block;       /* lane's block inside a step */
    mxg_i64 first_m; /* workgroup's first row of C */
    int live_rows;   /* rows of the tile that exist, 0..MXG_TILE_ROWS */
    int load_rows;   /* rows that may be read: 1, row 0 of A, for an empty tile */
    int first_n;     /* wave's first column of C */
    int first_chunk; /* wave's first chunk */
    int odd_chunk;   /* wave's odd chunk, if has_odd */
    int odd_blocks;  /* live blocks of it */
    bool has_odd;
};

/* Columns of C that a workgroup computes; without SPLIT-K the last waves may have none. */
constexpr int MXG_GROUP_COLUMNS =
    MXG_IS_SPLIT_K ? MXG_TILE_COLUMNS : MXG_TILE_COLUMNS * MXG_WAVES;
constexpr int MXG_TILED_COLUMNS =
    (MXG_BAKE_N + MXG_TILE_COLUMNS - 1) / MXG_TILE_COLUMNS * MXG_TILE_COLUMNS;
constexpr bool MXG_HAS_IDLE_WAVES = MXG_TILED_COLUMNS % MXG_GROUP_COLUMNS != 0;

/* False if the wave has no column to compute; it then leaves (no barrier in that mode). */
MXG_FN bool mxg_tile_find(mxg_tile &tile, mxg_i64 m)
{
    mxg_u32 thread = __builtin_amdgcn_workitem_id_x();
    tile.lane = thread % 64;
    tile.wave = __builtin_amdgcn_readfirstlane(thread / 64);
    tile.row = tile.lane % 16;
    tile.block = tile.lane / 16;

    tile.first_m = mxg_grid_yz() * MXG_TILE_ROWS;
    mxg_i64 rows = m - tile.first_m;
    tile.live_rows = rows < MXG_TILE_ROWS ? (int)rows : MXG_TILE_ROWS;
    tile.load_rows = tile.live_rows;
    if (rows <= 0) {
        tile.first_m = 0;
        tile.live_rows = 0;
        tile.load_rows = 1;
    }
    int n_tile = __builtin_amdgcn_workgroup_id_x();
    if (!MXG_IS_SPLIT_K) {
        n_tile = n_tile * MXG_WAVES + tile.wave;
    }
    tile.first_n = n_tile * MXG_TILE_COLUMNS;

    int sharer = MXG_IS_SPLIT_K ? tile.wave : 0;
    tile.first_chunk = sharer * MXG_WAVE_CHUNKS + mxg_min(sharer, MXG_EXTRA_WAVES);
    tile.odd_chunk = tile.first_chunk + MXG_WAVE_CHUNKS;
    bool is_extra = sharer < MXG_EXTRA_WAVES;
    tile.odd_blocks = is_extra ? MXG_CHUNK_BLOCKS : MXG_TAIL_BLOCKS;
    tile.has_odd = is_extra || (MXG_HAS_TAIL && sharer == MXG_SHARERS - 1);
    return !MXG_HAS_IDLE_WAVES || tile.first_n < MXG_BAKE_N;
}
