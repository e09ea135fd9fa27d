/* SPDX-License-Identifier: MIT */
/*
 * Sums to C.  In SPLIT-K the waves' partial sums meet in LDS and are added in
 * the order of the waves, whoever adds them, so that bits never change.
 *
 * Lane L of a tile holds n = 4*(L/16) .. +3 of m = L%16.  C's rows are stored
 * four elements at once where ldc and C's address keep every such group
 * aligned, else one by one.
 */
#if MXG_BAKE_C_TYPE == 1
typedef __bf16 mxg_c;
typedef mxg_bf16x4 mxg_c4;
#elif MXG_BAKE_C_TYPE == 3
typedef _Float16 mxg_c;
typedef mxg_f16x4 mxg_c4;
#else
typedef float mxg_c;
typedef mxg_f32x4 mxg_c4;
#endif

struct mxg_c_operand {
    mxg_dst base; /* element (first_m, first_n) */
    mxg_i64 row_bytes;
    bool is_packed; /* same for the whole wave */
};

MXG_FN mxg_c_operand mxg_c_open(const mxg_tile &tile, mxg_dst c, mxg_i64 ldc)
{
    mxg_c_operand out;
    out.row_bytes = ldc * (mxg_i64)sizeof(mxg_c);
    out.base = c + tile.first_m * out.row_bytes + (mxg_u32)tile.first_n * sizeof(mxg_c);
    out.is_packed = (((mxg_u64)c | (mxg_u64)out.row_bytes) & (sizeof(mxg_c4) - 1)) == 0;
    return out;
}

/* Store one tile: its place is (m_tile, n_tile) in tiles from the wave's corner. */
MXG_FN void mxg_c_store(const mxg_c_operand &c, const mxg_tile &tile, int m_tile, int n_tile,
                        mxg_f32x4 sum)
{
    int row = m_tile * 16 + tile.row;
    int column = n_tile * 16 + tile.block * 4;
    /* Columns left from here on; only a ragged N makes this less than four. */
    int live = MXG_IS_N_RAGGED ? MXG_BAKE_N - tile.first_n - column : 4;
    if (row >= tile.live_rows || live <= 0) {
        return;
    }
    mxg_c4 value = __builtin_convertvector(sum, mxg_c4);
    mxg_dst at = c.base + mxg_row_offset(row, c.row_bytes) + column * (int)sizeof(mxg_c);
    if (c.is_packed && live >= 4) {
        *(MXG_GLOBAL mxg_c4 *)at = value;
        return;
    }
    MXG_UNROLL
    for (int i = 0; i < 4; i++) {
        if (i < live) {
            ((MXG_GLOBAL mxg_c *)at)[i] = value[i];
            /* Four stores, not one of twice the alignment that the address has. */
            MXG_PIN(at);
        }
    }
}

/* Partial sums of every wave: 1 KiB a tile, one b128 a lane, free of bank conflicts. */
extern __attribute__((shared)) mxg_f32x4 mxg_partials[];

MXG_FN void mxg_store_split_k(const mxg_c_operand &c, const mxg_tile &tile,
                              const mxg_sums &sums)
{
    constexpr int tiles = MXG_M_TILES * MXG_N_TILES;
    MXG_UNROLL
    for (int i = 0; i < tiles; i++) {
        mxg_partials[(tile.wave * tiles + i) * 64 + tile.lane] =
            sums.tile[i / MXG_N_TILES][i % MXG_N_TILES];
    }
    /* Every partial is read by another wave than wrote it. */
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");

    MXG_ROLLED
    for (int i = tile.wave; i < tiles; i += MXG_WAVES) {
        mxg_f32x4 sum = mxg_partials[i * 64 + tile.lane];
        MXG_UNROLL
        for (int wave = 1; wave < MXG_WAVES; wave++) {
            sum += mxg_partials[(wave * tiles + i) * 64 + tile.lane];
        }
        mxg_c_store(c, tile, i / MXG_N_TILES, i % MXG_N_TILES, sum);
    }
}

MXG_FN void mxg_store_split_n(const mxg_c_operand &c, const mxg_tile &tile,
                              const mxg_sums &sums)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        MXG_UNROLL
        for (int j = 0; j < MXG_N_TILES; j++) {
            mxg_c_store(c, tile, i, j, sums.tile[i][j]);
        }
    }
}
