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
/* Sums and lane offsets, and what addresses, quantising and the end of the kernel take. */
constexpr int MXG_WORK_REGS = MXG_BAKE_FAMILY != 3 ? 32 : MXG_WAVES == 16 ? 48 : 104;
constexpr int MXG_FIXED_REGS = 4 * MXG_M_TILES * MXG_N_TILES + MXG_M_TILES + MXG_WORK_REGS;

constexpr int mxg_steps_regs(int steps)
{
    return steps * (MXG_A_STEP_REGS + MXG_B_STEP_REGS) +
           (steps + 1) / 2 * (MXG_A_CHUNK_REGS + MXG_B_CHUNK_REGS);
}

constexpr bool mxg_depth_fits(int depth)
{
    return MXG_FIXED_REGS + mxg_steps_regs(depth) <= MXG_REGS;
}

constexpr int MXG_DEPTH = mxg_depth_fits(8)   ? 8
                          : mxg_depth_fits(4) ? 4
                          : mxg_depth_fits(2) ? 2
                                              : 1;
constexpr int MXG_CHUNK_DEPTH = (MXG_DEPTH + 1) / 2;
/* Phases of one turn of the loop: whole chunks. */
constexpr int MXG_TURN = 2 * MXG_CHUNK_DEPTH;

/* Weights are SrcA, so that a lane ends with four consecutive n of one m. */
template <int b_byte, int a_byte>
MXG_FN mxg_f32x4 mxg_mfma(mxg_u32x4 b, mxg_u32 b_scale, mxg_u32x4 a, mxg_u32 a_scale,
                          mxg_f32x4 c)
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

/* A statement through which all sums of a row of tiles pass: nothing of them moves across it. */
#define MXG_ROW_STATEMENT(text, row)                                                     \
    if constexpr (MXG_N_TILES == 1) {                                                    \
        __asm__ volatile(text : "+v"(row[0]));                                           \
    } else if constexpr (MXG_N_TILES == 2) {                                             \
        __asm__ volatile(text : "+v"(row[0]), "+v"(row[1]));                             \
    } else {                                                                             \
        __asm__ volatile(text : "+v"(row[0]), "+v"(row[1]), "+v"(row[2]), "+v"(row[3])); \
    }

/*
 * Eight wait states between a row tile's last matrix instruction and whatever
 * reads or copies its sums.  LLVM 22 counts them along the paths that lead to a
 * use, but walks each block once: where paths join, a short one can hide behind
 * a longer one that it took first.  So no matrix instruction is left in flight
 * where a path joins another.
 */
MXG_FN void mxg_row_settle(mxg_f32x4 *row)
{
    MXG_ROW_STATEMENT("s_nop 7", row);
}

/* All sums, at the end of a path, unless each row has seen to its own. */
MXG_FN void mxg_path_settle(mxg_sums &sums)
{
    if (!MXG_A_CAN_FAIL) {
        MXG_UNROLL
        for (int i = 0; i < MXG_M_TILES; i++) {
            mxg_row_settle(sums.tile[i]);
        }
    }
}

/*
 * One product of tiles; where a register holds the scales of two tiles, odd tiles have
 * the odd bytes.
 */
template <int parity, int m_odd, int n_odd>
MXG_FN void mxg_multiply_tile(const mxg_operands &ops, const mxg_step &step,
                              const mxg_chunk &chunk, mxg_u32x4 a, mxg_u32 a_scale, int j,
                              bool is_live, mxg_f32x4 &sum)
{
    mxg_u32x4 b = is_live ? step.b.data[j] : (mxg_u32x4)0u;
    mxg_u32 b_scale = mxg_scales_get(ops.b.scales, chunk.b_scale, j, parity);
    b_scale = is_live ? b_scale : 0u;
    constexpr int b_byte = mxg_scales_byte<mxg_b_scales>(n_odd, parity);
    constexpr int a_byte = mxg_a_scale_byte(m_odd, parity);
    sum = mxg_mfma<b_byte, a_byte>(b, b_scale, a, a_scale, sum);
}

template <int parity, int m_odd>
MXG_FN bool mxg_multiply_row(const mxg_operands &ops, const mxg_step &step,
                             const mxg_chunk &chunk, int i, bool is_live, mxg_sums &sums)
{
    mxg_u32x4 a;
    mxg_u32 a_scale;
    if (!mxg_a_finish<parity>(ops.a, step.a, chunk.a, i, a, a_scale)) {
        return false;
    }
    a = is_live ? a : (mxg_u32x4)0u;
    a_scale = is_live ? a_scale : 0u;
    MXG_UNROLL
    for (int j = 0; j < MXG_N_TILES; j += 2) {
        mxg_multiply_tile<parity, m_odd, 0>(ops, step, chunk, a, a_scale, j, is_live,
                                            sums.tile[i][j]);
        if constexpr (MXG_N_TILES > 1) {
            mxg_multiply_tile<parity, m_odd, 1>(ops, step, chunk, a, a_scale, j + 1, is_live,
                                                sums.tile[i][j + 1]);
        }
    }
    if (MXG_A_CAN_FAIL) {
        mxg_row_settle(sums.tile[i]);
    }
    return true;
}

/*
 * Lanes that are not live contribute zero: zero elements, zero (finite) scales.
 * False if A needs the careful path; the sums are then of no use.
 */
template <int parity>
MXG_FN bool mxg_multiply(const mxg_operands &ops, const mxg_step &step, const mxg_chunk &chunk,
                         bool is_live, mxg_sums &sums)
{
    MXG_UNROLL
    for (int i = 0; i < MXG_M_TILES; i += 2) {
        if (!mxg_multiply_row<parity, 0>(ops, step, chunk, i, is_live, sums)) {
            return false;
        }
        if constexpr (MXG_M_TILES > 1) {
            if (!mxg_multiply_row<parity, 1>(ops, step, chunk, i + 1, is_live, sums)) {
                return false;
            }
        }
    }
    return true;
}

MXG_FN void mxg_load_step(const mxg_operands &ops, int at, int block_shift, mxg_step &out)
{
    mxg_b_load(ops.b, at, block_shift, out.b);
    mxg_a_load(ops.a, at, block_shift, out.a);
    MXG_KEEP_LOAD_ORDER();
}

MXG_FN void mxg_load_chunk(const mxg_operands &ops, int at, const int *block_shift,
                           mxg_chunk &out)
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
template <int parity>
MXG_FN bool mxg_phase(mxg_operands &ops, int at, int count, mxg_ring &ring, mxg_sums &sums)
{
    const mxg_step &step = ring.step[at % MXG_DEPTH];
    const mxg_chunk &chunk = ring.chunk[at / 2 % MXG_CHUNK_DEPTH];
    if (!mxg_multiply<parity>(ops, step, chunk, true, sums)) {
        return false;
    }
    mxg_pin(ops);
    if (parity == 1 && at / 2 + MXG_CHUNK_DEPTH < count / 2) {
        mxg_ring_load_chunk(ops, at / 2 + MXG_CHUNK_DEPTH, ring);
    }
    if (at + MXG_DEPTH < count) {
        mxg_ring_load(ops, at + MXG_DEPTH, ring);
    }
    return true;
}

/* Phases 0 to phases - 1, an even number, of `count` steps. */
template <int phases>
MXG_FN bool mxg_phases(mxg_operands &ops, int count, mxg_ring &ring, mxg_sums &sums)
{
    MXG_UNROLL
    for (int i = 0; i < phases; i += 2) {
        if (!mxg_phase<0>(ops, i, count, ring, sums) ||
            !mxg_phase<1>(ops, i + 1, count, ring, sums)) {
            return false;
        }
    }
    return true;
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
        block_shift[i] =
            mxg_min(i * MXG_STEP_BLOCKS + tile.block, tile.odd_blocks - 1) - tile.block;
    }
    mxg_load_chunk(ops, 0, block_shift, odd.chunk);
    mxg_load_step(ops, 0, block_shift[0], odd.step[0]);
    mxg_load_step(ops, 0, block_shift[1], odd.step[1]);
}

MXG_FN bool mxg_odd_multiply(const mxg_operands &ops, const mxg_tile &tile, const mxg_odd &odd,
                             mxg_sums &sums)
{
    bool first = !MXG_HAS_TAIL || tile.block < tile.odd_blocks;
    bool second = !MXG_HAS_TAIL || tile.block + MXG_STEP_BLOCKS < tile.odd_blocks;
    return mxg_multiply<0>(ops, odd.step[0], odd.chunk, first, sums) &&
           mxg_multiply<1>(ops, odd.step[1], odd.chunk, second, sums);
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
    for (int i = 0; i < MXG_M_TILES; i++) {
        mxg_f32x4 *row = sums.tile[i];
        MXG_ROW_STATEMENT("", row);
    }
}

/*
 * All of the wave's K.  The odd chunk comes first: its loads overlap the first
 * ones of the ring where registers allow it, else it is over before they start.
 * False if A needs the careful path; the sums are then of no use.
 */
MXG_FN bool mxg_wave_multiply(const mxg_operands &bases, const mxg_tile &tile, mxg_sums &sums)
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
            if (!mxg_odd_multiply(odd_ops, tile, odd, sums)) {
                return false;
            }
            mxg_path_settle(sums);
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
        if (!mxg_odd_multiply(odd_ops, tile, odd, sums)) {
            return false;
        }
        mxg_path_settle(sums);
    }

    /* Not even compiled where there is no whole turn: the text of a phase is long. */
    if constexpr (turns > 0) {
        MXG_ROLLED
        for (int turn = 0; turn < turns; turn++) {
            if (!mxg_phases<MXG_TURN>(ops, steps, ring, sums)) {
                return false;
            }
            mxg_advance(ops, MXG_TURN / 2);
        }
    }
    if (!mxg_phases<rest>(ops, rest, ring, sums)) {
        return false;
    }
    mxg_path_settle(sums);
    return true;
}
