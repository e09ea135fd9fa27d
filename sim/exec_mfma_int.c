/* SPDX-License-Identifier: MIT */
/* MFMA on signed bytes with i32 results, exact (ISA text, 7.1.2 and 7.4). */
#include "exec_mfma.h"

static void load(struct sim_wave *w, const struct sim_opnd *o, const struct mfma_shape *s,
                 const uint8_t lanes[SIM_LANES], int8_t *out)
{
    for (unsigned item = 0; item < mfma_k_per_lane(s); item++) {
        const uint32_t *row = sim_vrow(w, o, item / 4);
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            out[mfma_dense_index(s, lane) + item * s->m] =
                (int8_t)(row[lanes[lane]] >> item % 4 * 8);
        }
    }
}

void sim_x_mfma_i32_i8(struct sim_wave *w, const struct sim_inst *i)
{
    const struct mfma_shape s = { i->op->p[0], i->op->p[1], i->op->p[2], 4 };
    const unsigned ab = s.k * s.m * s.blocks / 4 / SIM_LANES;
    const unsigned cd = s.m * s.m * s.blocks / SIM_LANES;
    if (!mfma_check_tuple(w, &i->src[0], ab, "A") ||
        !mfma_check_tuple(w, &i->src[1], ab, "B") || !mfma_check_c(w, &i->src[2], cd) ||
        !mfma_check_tuple(w, &i->dst[0], cd, "D")) {
        return;
    }
    mfma_check_modifiers(w, i);
    struct mfma_lanes lanes;
    mfma_broadcast(w, i, s.blocks, &lanes);
    int8_t a[1024], b[1024];
    load(w, &i->src[0], &s, lanes.a, a);
    load(w, &i->src[1], &s, lanes.b, b);
    uint32_t d[MFMA_MAX_D];
    for (unsigned r = 0; r < s.blocks * s.m; r++) {
        const unsigned block = r / s.m * s.k * s.m;
        for (unsigned n = 0; n < s.m; n++) {
            int32_t dot = 0;
            for (unsigned k = 0; k < s.k; k++) {
                dot += a[block + k * s.m + r % s.m] * b[block + k * s.m + n];
            }
            uint32_t c = (uint32_t)i->src[2].imm;
            if (i->src[2].kind != SIM_OPND_CONST) {
                const struct mfma_loc at = mfma_output(&s, r / s.m, r % s.m, n);
                c = sim_vrow(w, &i->src[2], at.item)[at.lane];
            }
            d[r * s.m + n] = mfma_int_result(w, (int64_t)(int32_t)c + dot);
        }
    }
    mfma_store_d(w, &i->dst[0], &s, d);
}
