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

/* A block's 16 pairs as operands of machine code: x0 to x15. */
#define MXG_PAIRS(x)                                                                  \
    [x0] "v"(x[0][0]), [x1] "v"(x[0][1]), [x2] "v"(x[0][2]), [x3] "v"(x[0][3]),       \
        [x4] "v"(x[1][0]), [x5] "v"(x[1][1]), [x6] "v"(x[1][2]), [x7] "v"(x[1][3]),   \
        [x8] "v"(x[2][0]), [x9] "v"(x[2][1]), [x10] "v"(x[2][2]), [x11] "v"(x[2][3]), \
        [x12] "v"(x[3][0]), [x13] "v"(x[3][1]), [x14] "v"(x[3][2]), [x15] "v"(x[3][3])

/*
 * The two functions that every step of a fused kernel quantises with are machine
 * code: there are up to ten copies of them in a kernel, and as C++ they are a
 * tenth of the first call's compile time.  The compiler adds no wait states inside
 * them, and they write registers that a matrix instruction may have in use; being
 * volatile they stay behind mxg_row_settle, which leaves none in flight.
 */

/*
 * max|x| as a bf16 bit pattern: patterns up to 0x7c00 (2^121) order like the
 * f16 numbers of the same bits, and gfx950 has packed three-operand maximum and
 * minimum of f16 that pass NaN on.  A result above 0x7c00 says only that some
 * magnitude may be above it.  `partial` gets four values that are of no more use.
 */
MXG_FN mxg_u32 mxg_block_amax(const mxg_u32x4 x[4], mxg_u32x4 &partial)
{
    mxg_u32 amax, high, low, other_high, other_low;
    __asm__ volatile(
        "v_pk_maximum3_f16 %[h], %[x0], %[x1], %[x2]\n\t"
        "v_pk_minimum3_f16 %[l], %[x0], %[x1], %[x2]\n\t"
        "v_pk_maximum3_f16 %[h2], %[x3], %[x4], %[x5]\n\t"
        "v_pk_minimum3_f16 %[l2], %[x3], %[x4], %[x5]\n\t"
        "v_pk_maximum3_f16 %[h], %[h], %[x6], %[x7]\n\t"
        "v_pk_minimum3_f16 %[l], %[l], %[x6], %[x7]\n\t"
        "v_pk_maximum3_f16 %[h2], %[h2], %[x8], %[x9]\n\t"
        "v_pk_minimum3_f16 %[l2], %[l2], %[x8], %[x9]\n\t"
        "v_pk_maximum3_f16 %[h], %[h], %[x10], %[x11]\n\t"
        "v_pk_minimum3_f16 %[l], %[l], %[x10], %[x11]\n\t"
        "v_pk_maximum3_f16 %[h2], %[h2], %[x12], %[x13]\n\t"
        "v_pk_minimum3_f16 %[l2], %[l2], %[x12], %[x13]\n\t"
        "v_pk_maximum3_f16 %[h], %[h], %[h2], %[x14]\n\t"
        "v_pk_minimum3_f16 %[l], %[l], %[l2], %[x14]\n\t"
        "v_pk_minimum3_f16 %[l], %[l], %[x15], %[x15]\n\t"
        "v_pk_maximum3_f16 %[a], %[h], %[x15], %[l] neg_lo:[0,0,1] neg_hi:[0,0,1]\n\t"
        /* The larger of the pair: magnitudes and NaN patterns order as integers. */
        "v_max_u16_sdwa %[a], %[a], %[a] dst_sel:DWORD dst_unused:UNUSED_PAD "
        "src0_sel:WORD_0 src1_sel:WORD_1"
        : [a] "=&v"(amax), [h] "=&v"(high), [l] "=&v"(low), [h2] "=&v"(other_high),
          [l2] "=&v"(other_low)
        : MXG_PAIRS(x));
    partial = mxg_u32x4{ high, low, other_high, other_low };
    return amax;
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
 * Elements by the exponent of `divisor_bits`.  A conversion writes one byte, which
 * op_sel picks, and keeps the other three, so each result starts as a value that is
 * in a register already: nothing uninitialised is read and nothing is copied.  Bytes
 * of one register are four conversions apart, and two wait states follow, because
 * whoever reads a register that was written in part must wait.
 */
MXG_FN mxg_u32x4 mxg_block_convert(const mxg_u32x4 x[4], mxg_u32x4 q, mxg_u32 divisor_bits)
{
    mxg_u32 q0 = q[0], q1 = q[1], q2 = q[2], q3 = q[3];
    __asm__ volatile("v_cvt_scalef32_pk_fp4_bf16 %[q0], %[x0], %[d]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q1], %[x4], %[d]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q2], %[x8], %[d]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q3], %[x12], %[d]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q0], %[x1], %[d] op_sel:[0,0,1,0]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q1], %[x5], %[d] op_sel:[0,0,1,0]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q2], %[x9], %[d] op_sel:[0,0,1,0]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q3], %[x13], %[d] op_sel:[0,0,1,0]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q0], %[x2], %[d] op_sel:[0,0,0,1]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q1], %[x6], %[d] op_sel:[0,0,0,1]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q2], %[x10], %[d] op_sel:[0,0,0,1]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q3], %[x14], %[d] op_sel:[0,0,0,1]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q0], %[x3], %[d] op_sel:[0,0,1,1]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q1], %[x7], %[d] op_sel:[0,0,1,1]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q2], %[x11], %[d] op_sel:[0,0,1,1]\n\t"
                     "v_cvt_scalef32_pk_fp4_bf16 %[q3], %[x15], %[d] op_sel:[0,0,1,1]\n\t"
                     "s_nop 1"
                     : [q0] "+v"(q0), [q1] "+v"(q1), [q2] "+v"(q2), [q3] "+v"(q3)
                     : [d] "v"(divisor_bits), MXG_PAIRS(x));
    return mxg_u32x4{ q0, q1, q2, q3 };
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
