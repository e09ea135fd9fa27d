/* SPDX-License-Identifier: MIT */
/*
 * Where matrix elements of MFMA operands live: lane and item (ISA text, 7.1.4,
 * "General input and output layout").  An item is one element of the lane's
 * little-endian string of elements.
 */
#ifndef SIM_MFMA_LAYOUT_H
#define SIM_MFMA_LAYOUT_H

#include <stdint.h>

/* D[b] (m x m) = C[b] + A[b] (m x k) * B[b] (k x m); all gfx950 shapes have M = N. */
struct mfma_shape {
    unsigned m, k, blocks;
    unsigned h; /* rows of D in consecutive items: 1 for f64, else 4 */
};

struct mfma_loc {
    unsigned lane, item;
};

/* Consecutive K values in one lane. */
static inline unsigned mfma_k_per_lane(const struct mfma_shape *s)
{
    return s->k * s->m * s->blocks / 64;
}

/* A[b][i][k], and B[b][k][i]: the two inputs have the same layout. */
static inline struct mfma_loc mfma_input(const struct mfma_shape *s, unsigned b, unsigned i,
                                         unsigned k)
{
    const unsigned kl = mfma_k_per_lane(s);
    return (struct mfma_loc){ i + s->m * (b + s->blocks * (k / kl)), k % kl };
}

/*
 * The other way: where in a dense operand the first item of a lane goes, for
 * arrays with element (b, k, i) at (b * K + k) * m + i.  Each further item is m
 * elements on.
 */
static inline unsigned mfma_dense_index(const struct mfma_shape *s, unsigned lane)
{
    const unsigned i = lane % s->m;
    const unsigned b = lane / s->m % s->blocks;
    const unsigned group = lane / (s->m * s->blocks);
    return (b * s->k + group * mfma_k_per_lane(s)) * s->m + i;
}

/*
 * The F8F6F4 forms hold 32 elements a lane.  FP4 and FP6 follow the general
 * rule; of 8-bit elements a lane holds two runs of 16, K / 2 apart.
 */
static inline struct mfma_loc mfma_input_8bit(const struct mfma_shape *s, unsigned i,
                                              unsigned k)
{
    const unsigned groups = 64 / s->m;
    const unsigned run = k / 16;
    return (struct mfma_loc){ i + s->m * (run % groups), run / groups * 16 + k % 16 };
}

/* C[b][i][j] and D[b][i][j]. */
static inline struct mfma_loc mfma_output(const struct mfma_shape *s, unsigned b, unsigned i,
                                          unsigned j)
{
    const unsigned per_item = s->m * s->m / s->h; /* lanes that one block fills */
    const unsigned bi = (64 + per_item - 1) / per_item;
    const unsigned mi = 64 / bi / s->m;
    const unsigned g = s->m / (s->h * mi);
    return (struct mfma_loc){
        .lane = j + s->m * (i / s->h % mi + mi * (b % bi)),
        .item = i % s->h + s->h * (i / (s->h * mi) + g * (b / bi)),
    };
}

#endif
