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
    mxg_u32x4 q;  /* 32 elements, lower K in the low nibble */
    mxg_u32 e8;
};

/* max|x| of the block as a bf16 bit pattern: with the sign cleared, bf16 order is integer order. */
MXG_FN mxg_u32 mxg_block_amax(const mxg_u32x4 x[4])
{
    mxg_u16x2 amax = 0;
    MXG_UNROLL
    for (int i = 0; i < 16; i++) {
        mxg_u16x2 mag = __builtin_bit_cast(mxg_u16x2, x[i / 4][i % 4] & 0x7fff7fffu);
        amax = i == 0 ? mag : __builtin_elementwise_max(amax, mag);
    }
    return amax.x > amax.y ? amax.x : amax.y;
}

MXG_FN mxg_block mxg_block_quantize(const mxg_u32x4 src[4])
{
    mxg_u32x4 x[4] = { src[0], src[1], src[2], src[3] };
    mxg_u32 amax = mxg_block_amax(x);
    /* The exponent field is e8; what lies below it is ignored by the conversion and shifted out. */
    mxg_u32 scale = __builtin_elementwise_sub_sat((amax << 16) + 0x00200000u, 0x01000000u);
    mxg_u32 e8 = scale >> 23;

    /* 0x7f60 is 1.75 * 2^127, 0x7f80 Inf.  The branch is the same for the whole wave. */
    if (__builtin_expect(__builtin_amdgcn_ballot_w64(amax >= 0x7f60u) != 0, 0)) {
        bool is_special = amax >= 0x7f60u;
        bool is_nonfinite = amax >= 0x7f80u;
        MXG_UNROLL
        for (int i = 0; i < 4; i++) {
            x[i] = is_nonfinite ? (mxg_u32x4)0u : x[i];
        }
        scale = is_special ? 0x7f000000u : scale;
        e8 = is_nonfinite ? 255u : is_special ? 254u : e8;
    }

    mxg_block block;
    block.e8 = e8;
    /*
     * A conversion writes one byte and keeps the other three, so each result
     * starts as a value that amax left in a register: nothing uninitialised is
     * read and nothing is copied.  Bytes of one register are four conversions
     * apart, because back-to-back writes of the same register need a wait state.
     */
    mxg_u32x4 q;
    MXG_UNROLL
    for (int i = 0; i < 4; i++) {
        q[i] = src[i][0] & 0x7fff7fffu;
    }
    float divisor = __builtin_bit_cast(float, scale);
    /* The copy matters: clang's bit_cast of a vector element reads element 0 of the vector. */
#define MXG_CONVERT(byte)                                                             \
    MXG_UNROLL                                                                        \
    for (int i = 0; i < 4; i++) {                                                     \
        mxg_u32 pair = x[i][byte];                                                    \
        q[i] = __builtin_amdgcn_cvt_scalef32_pk_fp4_bf16(                             \
            q[i], __builtin_bit_cast(mxg_bf16x2, pair), divisor, byte);               \
    }
    MXG_CONVERT(0)
    MXG_CONVERT(1)
    MXG_CONVERT(2)
    MXG_CONVERT(3)
#undef MXG_CONVERT
    block.q = q;
    return block;
}
