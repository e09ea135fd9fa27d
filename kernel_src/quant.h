/* SPDX-License-Identifier: MIT */
/*
 * One MX block of bf16 to MXFP4 in registers.
 *
 * amax = max|x| as fp32 bits; s = (amax + 0x00200000) >> 23; e8 = max(s - 2, 0);
 * elements x * 2^(127-e8) to E2M1, nearest even, saturating, sign of zero kept.
 * Two kinds of block leave that path, decided by integers and never by a
 * conversion, whose result for them no document defines:
 *   s = 255, finite    e8 = 254
 *   NaN or Inf inside  e8 = 255 (NaN) and zero elements
 */
struct mxg_block {
    mxg_u32x4 q; /* 32 elements, lower K in the low nibble */
    mxg_u32 e8;
};

/* 2^(e8-127) as fp32 bits, below them rounding's leftovers, which conversions ignore. */
MXG_FN mxg_u32 mxg_scale_bits(mxg_u32 amax)
{
    return __builtin_elementwise_sub_sat((amax << 16) + 0x00200000u, 0x01000000u);
}

MXG_FN mxg_f16x2 mxg_as_f16x2(mxg_u32 pair)
{
    return __builtin_bit_cast(mxg_f16x2, pair);
}

/*
 * max|x| as a bf16 bit pattern: patterns up to 0x7c00 (2^121) order like the
 * f16 numbers of the same bits, and gfx950 has packed three-operand maximum and
 * minimum of f16 that pass NaN on.  A result above 0x7c00 says only that some
 * magnitude may be above it.  `partial` gets four values that are of no more use.
 */
MXG_FN mxg_u32 mxg_block_amax(const mxg_u32x4 x[4], mxg_u32x4 &partial)
{
    mxg_f16x2 high = mxg_as_f16x2(x[0][0]), low = high;
    MXG_UNROLL
    for (int i = 0; i < 4; i++) {
        MXG_UNROLL
        for (int j = 0; j < 4; j++) {
            mxg_f16x2 pair = mxg_as_f16x2(x[i][j]);
            high = i + j == 0 ? high : __builtin_elementwise_maximum(high, pair);
            low = i + j == 0 ? low : __builtin_elementwise_minimum(low, pair);
        }
        partial[i] = __builtin_bit_cast(mxg_u32, high);
    }
    mxg_u16x2 amax = __builtin_bit_cast(mxg_u16x2, __builtin_elementwise_maximum(high, -low));
    return amax.x > amax.y ? amax.x : amax.y;
}

/* The same for every bf16: with the sign cleared, patterns order like integers. */
MXG_FN mxg_u32 mxg_block_amax_careful(const mxg_u32x4 x[4])
{
    mxg_u16x2 amax = 0;
    MXG_UNROLL
    for (int i = 0; i < 16; i++) {
        mxg_u32 magnitude = x[i / 4][i % 4] & 0x7fff7fffu;
        amax = __builtin_elementwise_max(amax, __builtin_bit_cast(mxg_u16x2, magnitude));
    }
    return amax.x > amax.y ? amax.x : amax.y;
}

/*
 * Elements by the exponent of `divisor_bits`.  A conversion writes one byte and
 * keeps the other three, so each result starts as a value that is in a register
 * already: nothing uninitialised is read and nothing is copied.  Bytes of one
 * register are four conversions apart, because back-to-back writes of the same
 * register need a wait state.  The copy of the pair matters: clang's bit_cast
 * of a vector element reads element 0 of the vector.
 */
MXG_FN mxg_u32x4 mxg_block_convert(const mxg_u32x4 x[4], mxg_u32x4 q, mxg_u32 divisor_bits)
{
    float divisor = __builtin_bit_cast(float, divisor_bits);
#define MXG_CONVERT(byte)                                               \
    MXG_UNROLL                                                          \
    for (int i = 0; i < 4; i++) {                                       \
        mxg_u32 pair = x[i][byte];                                      \
        q[i] = __builtin_amdgcn_cvt_scalef32_pk_fp4_bf16(               \
            q[i], __builtin_bit_cast(mxg_bf16x2, pair), divisor, byte); \
    }
    MXG_CONVERT(0)
    MXG_CONVERT(1)
    MXG_CONVERT(2)
    MXG_CONVERT(3)
#undef MXG_CONVERT
    return q;
}

/*
 * Quantise, unless some lane's block has magnitudes above 2^121: then false for
 * the whole wave, and nothing was converted.
 */
MXG_FN bool mxg_block_quantize(const mxg_u32x4 x[4], mxg_block &block)
{
    mxg_u32x4 partial;
    mxg_u32 amax = mxg_block_amax(x, partial);
    if (__builtin_expect(__builtin_amdgcn_ballot_w64(amax > 0x7c00u) != 0, 0)) {
        return false;
    }
    mxg_u32 scale = mxg_scale_bits(amax);
    block.e8 = scale >> 23;
    block.q = mxg_block_convert(x, partial, scale);
    return true;
}

/* Quantise any block. */
MXG_FN void mxg_block_quantize_careful(const mxg_u32x4 src[4], mxg_block &block)
{
    mxg_u32 amax = mxg_block_amax_careful(src);
    /* 0x7f60 is 1.75 * 2^127, 0x7f80 Inf. */
    bool is_nonfinite = amax >= 0x7f80u;
    mxg_u32 scale = amax >= 0x7f60u ? 0x7f000000u : mxg_scale_bits(amax);
    block.e8 = is_nonfinite ? 255u : scale >> 23;
    mxg_u32x4 x[4];
    MXG_UNROLL
    for (int i = 0; i < 4; i++) {
        x[i] = is_nonfinite ? (mxg_u32x4)0u : src[i];
    }
    block.q = mxg_block_convert(x, (mxg_u32x4)0u, scale);
}
