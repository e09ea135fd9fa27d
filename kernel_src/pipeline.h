/* SPDX-License-Identifier: MIT */
/*
 * The K loop of a wave.  Steps stand in a ring of MXG_DEPTH register sets:
 * the set that a multiplication has just freed is loaded with the step that is
 * MXG_DEPTH further on, so that many loads are in flight.  Scales stand in a
 * ring of chunks beside it, each reloaded after its chunk's second step, so
 * that no value has to move from one register to another.  A slice of no more
 * than MXG_DEPTH steps becomes straight code with every load issued ahead.
 */
struct mxg_operands {
    mxg_a_operand a;
    mxg_b_operand b;
};

struct mxg_step {
    mxg_a_step a;
    mxg_b_step b;
};

struct mxg_chunk {
    mxg_a_chunk a;
    mxg_u32 b_scale[mxg_b_scales::chunk_regs];
};

struct mxg_sums {
    mxg_f32x4 tile[MXG_M_TILES][MXG_N_TILES];
};

/* 16 waves leave 128 registers a lane, 8 leave 256. */
constexpr int MXG_REGS = MXG_WAVES == 16 ? 128 : 240;
constexpr int MXG_FIXED_REGS = 4 * MXG_M_TILES * MXG_N_TILES + MXG_M_TILES +
                               (MXG_BAKE_FAMILY != 3 ? 32 : MXG_WAVES == 16 ? 48 : 72);

constexpr int mxg_steps_regs(int steps)
{
    return steps * (MXG_A_STEP_REGS + MXG_B_STEP_REGS) +
           (steps + 1) / 2 * (MXG_A_CHUNK_REGS + MXG_B_CHUNK_REGS);
}

constexpr bool mxg_depth_fits(int depth)
{
    return MXG_FIXED_REGS + mxg_steps_regs(depth) <= MXG_REGS;
}

constexpr int MXG_DEPTH = mxg_depth_fits(8) ? 8 : mxg_depth_fits(4) ? 4 : mxg_depth_fits(2) ? 2 : 1;
constexpr int MXG_CHUNK_DEPTH = (MXG_DEPTH + 1) / 2;
/* Phases of one turn of the loop: whole chunks. */
constexpr int MXG_TURN = 2 * MXG_CHUNK_DEPTH;

/* Weights are SrcA, so that a lane ends with four consecutive n of one m. */
template <int b_byte, int a_byte>
MXG_FN mxg_f32x4 mxg_mfma(mxg_u32x4 b, mxg_u32 b_scale, mxg_u32x4 a, mxg_u32 a_scale, mxg_f32x4 c)
{
    constexpr int e2m1 = 4;
    /* E2M1 operands are four registers; the builtin's other four are left open. */
    mxg_i32x8 wide_b = __builtin_bit_cast(
        mxg_i32x8, __builtin_shufflevector(b, b, 0, 1, 2, 3, -1, -1, -1, -1));
    mxg_i32x8 wide_a = __builtin_bit_cast(
        mxg_i32x8, __builtin_shufflevector(a, a, 0, 1, 2, 3, -1, -1, -1, -1));
    return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
        wide_b, wide_a, c, e2m1, e2m1, b_byte, (int)b_scale, a_byte, (int)a_scale);
}

/* The builtin takes scale bytes as constants only; after unrolling one case is left. */
template <int b_byte>
MXG_FN mxg_f32x4 mxg_mfma_a(mxg_u32x4 b, mxg_u32 b_scale, mxg_u32x4 a, mxg_u32 a_scale, int a_byte,
                            mxg_f32x4 c)
{
    return a_byte == 0   ? mxg_mfma<b_byte, 0>(b, b_scale, a, a_scale, c)
           : a_byte == 1 ? mxg_mfma<b_byte, 1>(b, b_scale, a, a_scale, c)
           : a_byte == 2 ? mxg_mfma<b_byte, 2>(b, b_scale, a, a_scale, c)
                         : mxg_mfma<b_byte, 3>(b, b_scale, a, a_scale, c);
}

/* Lanes that are not live contribute zero: zero elements, zero (finite) scales. */
template <int parity>
MXG_FN void mxg_multiply(const mxg_operands &ops, const mxg_step &step, const mxg_chunk &chunk,
                         bool is_live, mxg_sums &sums)
{
    constexpr int even = mxg_scales_byte<mxg_b_scales>(0, parity);
    constexpr int odd = mxg_scales_byte<mxg_b_scales>(1, parity);
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i++) {
        mxg_u32x4 a;
        mxg_u32 a_scale;
        int a_byte = mxg_a_finish<parity>(ops.a, step.a, chunk.a, i, a, a_scale);
        a = is_live ? a : (mxg_u32x4)0u;
        a_scale = is_live ? a_scale : 0u;
        MXG_UNROLL
        for (int j = 0; j < MXG_N_TILES; j++) {
            mxg_u32x4 b = is_live ? step.b.data[j] : (mxg_u32x4)0u;
            mxg_u32 b_scale = mxg_scales_get(ops.b.scales, chunk.b_scale, j, parity);
            b_scale = is_live ? b_scale : 0u;
            mxg_f32x4 &sum = sums.tile[i][j];
            sum = j % 2 == 0 ? mxg_mfma_a<even>(b, b_scale, a, a_scale, a_byte, sum)
                             : mxg_mfma_a<odd>(b, b_scale, a, a_scale, a_byte, sum);
        }
    }
}

MXG_FN void mxg_load_step(const mxg_operands &ops, int at, int block_shift, mxg_step &out)
{
    mxg_b_load(ops.b, at, block_shift, out.b);
    mxg_a_load(ops.a, at, block_shift, out.a);
    MXG_KEEP_LOAD_ORDER();
}

MXG_FN void mxg_load_chunk(const mxg_operands &ops, int at, const int *block_shift, mxg_chunk &out)
{
    mxg_scales_load(ops.b.scales, at, block_shift, out.b_scale);
    mxg_a_load_chunk(ops.a, at, block_shift, out.a);
}

MXG_FN void mxg_advance(mxg_operands &ops, mxg_i64 chunks)
{
    mxg_a_advance(ops.a, chunks);
    mxg_b_advance(ops.b, chunks);
}

MXG_FN void mxg_pin(mxg_operands &ops)
{
    mxg_a_pin(ops.a);
    mxg_b_pin(ops.b);
}

struct mxg_ring {
    mxg_step step[MXG_DEPTH];
    mxg_chunk chunk[MXG_CHUNK_DEPTH];
};

MXG_FN void mxg_ring_load(const mxg_operands &ops, int at, mxg_ring &ring)
{
    mxg_load_step(ops, at, 0, ring.step[at % MXG_DEPTH]);
}

MXG_FN void mxg_ring_load_chunk(const mxg_operands &ops, int at, mxg_ring &ring)
{
    mxg_load_chunk(ops, at, nullptr, ring.chunk[at % MXG_CHUNK_DEPTH]);
}

/* One phase: multiply step `at`, then load what takes its place if `count` steps have it. */
MXG_FN void mxg_phase(mxg_operands &ops, int at, int count, mxg_ring &ring, mxg_sums &sums)
{
    const mxg_step &step = ring.step[at % MXG_DEPTH];
    const mxg_chunk &chunk = ring.chunk[at / 2 % MXG_CHUNK_DEPTH];
    if (at % 2 == 0) {
        mxg_multiply<0>(ops, step, chunk, true, sums);
    } else {
        mxg_multiply<1>(ops, step, chunk, true, sums);
    }
    mxg_pin(ops);
    if (at % 2 == 1) {
        if (at / 2 + MXG_CHUNK_DEPTH < count / 2) {
            mxg_ring_load_chunk(ops, at / 2 + MXG_CHUNK_DEPTH, ring);
        }
    }
    if (at + MXG_DEPTH < count) {
        mxg_ring_load(ops, at + MXG_DEPTH, ring);
    }
}

/* The wave's odd chunk: two steps, of which blocks from tile.odd_blocks on are dead. */
struct mxg_odd {
    mxg_step step[2];
    mxg_chunk chunk;
};

MXG_FN void mxg_odd_load(const mxg_operands &ops, const mxg_tile &tile, mxg_odd &odd)
{
    if (!MXG_HAS_TAIL) {
        mxg_load_chunk(ops, 0, nullptr, odd.chunk);
        mxg_load_step(ops, 0, 0, odd.step[0]);
        mxg_load_step(ops, 1, 0, odd.step[1]);
        return;
    }
    /*
     * Lanes of dead blocks read the last live one, which is then not used.
     * Shifts count from the first step, so that no lane offset becomes negative.
     */
    int block_shift[2];
    MXG_UNROLL
    for (int i = 0; i < 2; i++) {
        block_shift[i] = mxg_min(i * MXG_STEP_BLOCKS + tile.block, tile.odd_blocks - 1) - tile.block;
    }
    mxg_load_chunk(ops, 0, block_shift, odd.chunk);
    mxg_load_step(ops, 0, block_shift[0], odd.step[0]);
    mxg_load_step(ops, 0, block_shift[1], odd.step[1]);
}

MXG_FN void mxg_odd_multiply(const mxg_operands &ops, const mxg_tile &tile, const mxg_odd &odd,
                             mxg_sums &sums)
{
    bool is_live = !MXG_HAS_TAIL || tile.block < tile.odd_blocks;
    mxg_multiply<0>(ops, odd.step[0], odd.chunk, is_live, sums);
    is_live = !MXG_HAS_TAIL || tile.block + MXG_STEP_BLOCKS < tile.odd_blocks;
    mxg_multiply<1>(ops, odd.step[1], odd.chunk, is_live, sums);
}

MXG_FN void mxg_sums_clear(mxg_sums &sums)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES * MXG_N_TILES; i++) {
        sums.tile[i / MXG_N_TILES][i % MXG_N_TILES] = (mxg_f32x4)0.0f;
    }
}

/*
 * An MFMA works on all lanes whatever EXEC says, but the optimiser may move it,
 * and what feeds it, into a branch that only some lanes take (LLVM 22 does).
 * After this point the sums exist for every lane.
 */
MXG_FN void mxg_sums_fix(mxg_sums &sums)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES * MXG_N_TILES; i++) {
        __asm__ volatile("" : "+v"(sums.tile[i / MXG_N_TILES][i % MXG_N_TILES]));
    }
}

/*
 * All of the wave's K.  The odd chunk comes first: its loads overlap the first
 * ones of the ring where registers allow it, else it is over before they start.
 */
MXG_FN void mxg_wave_multiply(const mxg_operands &bases, const mxg_tile &tile, mxg_sums &sums)
{
    constexpr int steps = 2 * MXG_WAVE_CHUNKS;
    constexpr int ahead = steps < MXG_DEPTH ? steps : MXG_DEPTH;
    constexpr int turns = (steps - ahead) / MXG_TURN;
    constexpr int rest = steps - turns * MXG_TURN;
    constexpr bool may_have_odd = MXG_EXTRA_WAVES != 0 || MXG_HAS_TAIL;
    constexpr bool is_odd_ahead =
        MXG_FIXED_REGS + mxg_steps_regs(2) + mxg_steps_regs(ahead) <= MXG_REGS;

    mxg_sums_clear(sums);
    mxg_operands odd_ops = bases;
    mxg_odd odd;
    if (may_have_odd && tile.has_odd) {
        mxg_advance(odd_ops, tile.odd_chunk);
        mxg_pin(odd_ops);
        mxg_odd_load(odd_ops, tile, odd);
        if (!is_odd_ahead) {
            mxg_odd_multiply(odd_ops, tile, odd, sums);
        }
    }

    mxg_operands ops = bases;
    mxg_advance(ops, tile.first_chunk);
    mxg_pin(ops);
    mxg_ring ring;
    MXG_UNROLL
    for (int i = 0; i < ahead; i++) {
        if (i % 2 == 0) {
            mxg_ring_load_chunk(ops, i / 2, ring);
        }
        mxg_ring_load(ops, i, ring);
    }

    if (may_have_odd && is_odd_ahead && tile.has_odd) {
        mxg_odd_multiply(odd_ops, tile, odd, sums);
    }

    _Pragma("clang loop unroll(disable)")
    for (int turn = 0; turn < turns; turn++) {
        MXG_UNROLL
        for (int i = 0; i < MXG_TURN; i++) {
            mxg_phase(ops, i, steps, ring, sums);
        }
        mxg_advance(ops, MXG_TURN / 2);
    }
    MXG_UNROLL
    for (int i = 0; i < rest; i++) {
        mxg_phase(ops, i, rest, ring, sums);
    }
    mxg_sums_fix(sums);
}
