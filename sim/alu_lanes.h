/* SPDX-License-Identifier: MIT */
/* Single-precision arithmetic on 64 lanes at once: d = a + b, a * b, a * b + c. */
#ifndef SIM_ALU_LANES_H
#define SIM_ALU_LANES_H

#include <stdint.h>

/* One rounding each, in MODE's rounding mode; NaNs by the rule of alu_float.h. */
void sim_f32_add_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, unsigned round);
void sim_f32_mul_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, unsigned round);
void sim_f32_fma_lanes(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                       unsigned round);

#endif
