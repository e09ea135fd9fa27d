/* SPDX-License-Identifier: MIT */
/*
 * Types and small helpers that every family uses.  The text is freestanding:
 * no headers and no device libraries, so that comgr and hiprtc see the same.
 */
#define MXG_FN static __attribute__((device, always_inline)) inline
/*
 * `waves` a SIMD must be able to hold, for the registers a lane may take.  No
 * upper bound: LLVM enforces one by allocating registers that nothing uses.
 */
#define MXG_KERNEL(threads, waves)                                                   \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads), \
                              amdgpu_waves_per_eu(waves)))
#define MXG_UNROLL _Pragma("clang loop unroll(full)")
#define MXG_ROLLED _Pragma("clang loop unroll(disable)")
#define MXG_GLOBAL __attribute__((address_space(1)))

/*
 * A value that the optimiser cannot see through, at no cost.  On a lane offset
 * it keeps the 32-bit offset apart from its 64-bit base, as the load's address
 * mode wants them; otherwise their sum is formed once per lane, in VALU code.
 */
#define MXG_PIN(value) __asm__("" : "+v"(value))
/* The same for a wave-uniform value. */
#define MXG_PIN_UNIFORM(value) __asm__("" : "+s"(value))

/*
 * Loads stay in the order of the steps, and nothing that waits for one moves
 * ahead of an earlier step.  Mask: SALU and MFMA may cross.
 */
#define MXG_KEEP_LOAD_ORDER() __builtin_amdgcn_sched_barrier(0x000c)

typedef unsigned char mxg_u8;
typedef unsigned short mxg_u16;
typedef unsigned int mxg_u32;
typedef unsigned long long mxg_u64;
typedef long long mxg_i64;
typedef mxg_u16 mxg_u16x2 __attribute__((ext_vector_type(2)));
typedef mxg_u32 mxg_u32x4 __attribute__((ext_vector_type(4)));
typedef int mxg_i32x8 __attribute__((ext_vector_type(8)));
typedef float mxg_f32x4 __attribute__((ext_vector_type(4)));
typedef __bf16 mxg_bf16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 mxg_f16x4 __attribute__((ext_vector_type(4)));

/*
 * Byte pointers to global memory; a wave-uniform base plus a 32-bit lane offset is one
 * address mode.
 */
typedef const MXG_GLOBAL mxg_u8 *mxg_src;
typedef MXG_GLOBAL mxg_u8 *mxg_dst;

static_assert(sizeof(void *) == 8, "64-bit device pointers");

/* MX blocks of a row, and K of one v_mfma_scale_f32_16x16x128 in blocks. */
constexpr int MXG_BLOCKS = MXG_BAKE_K / 32;

MXG_FN mxg_u32x4 mxg_load16(mxg_src base, mxg_u32 offset)
{
    return *(const MXG_GLOBAL mxg_u32x4 *)(base + offset);
}

MXG_FN mxg_u32 mxg_load4(mxg_src base, mxg_u32 offset)
{
    return *(const MXG_GLOBAL mxg_u32 *)(base + offset);
}

MXG_FN mxg_u32 mxg_load1(mxg_src base, mxg_u32 offset)
{
    return base[offset];
}

/* grid.y and grid.z together count parts of M; the host cuts them the same way. */
MXG_FN mxg_i64 mxg_grid_yz()
{
    return (mxg_i64)__builtin_amdgcn_workgroup_id_z() * 32768 +
           __builtin_amdgcn_workgroup_id_y();
}

MXG_FN int mxg_min(int a, int b)
{
    return a < b ? a : b;
}

/*
 * a * b that is not merged with an addition: LLVM would take v_mad_u64_u32,
 * whose addend's upper half it leaves uninitialised where only the lower half
 * of the result counts.
 */
MXG_FN mxg_u32 mxg_multiply_apart(mxg_u32 a, mxg_u32 b)
{
    mxg_u32 product = a * b;
    MXG_PIN(product);
    return product;
}

/* row * row_bytes in 64 bits, for a stride that may pass 4 GiB. */
MXG_FN mxg_u64 mxg_row_offset(mxg_u32 row, mxg_u64 row_bytes)
{
    mxg_u32 high = mxg_multiply_apart(row, (mxg_u32)(row_bytes >> 32));
    return (mxg_u64)row * (mxg_u32)row_bytes + ((mxg_u64)high << 32);
}
