/* SPDX-License-Identifier: MIT */
/*
 * A wave's registers at its start (LLVM AMDGPUUsage, "Initial Kernel Execution State";
 * ISA text, 3.13 "GPR Initialization").
 */
#include "group.h"
#include "wave_check.h"

#include <string.h>

/* What unwritten registers hold: a NaN as f32 and as bf16, wrong for anything else too. */
#define POISON 0x7fc5a5a5u

/* kernel_code_properties */
enum {
    PRIVATE_SEGMENT_BUFFER = 1 << 0,
    DISPATCH_PTR = 1 << 1,
    QUEUE_PTR = 1 << 2,
    KERNARG_SEGMENT_PTR = 1 << 3,
    DISPATCH_ID = 1 << 4,
    FLAT_SCRATCH_INIT = 1 << 5,
    PRIVATE_SEGMENT_SIZE = 1 << 6
};

static void put(struct sim_wave *w, unsigned *at, uint32_t value)
{
    if (*at < SIM_SGPR_FLAT_SCRATCH) {
        w->sgpr[*at] = value;
        w->check->s[*at].is_defined = 1;
        (*at)++;
    }
}

static void put64(struct sim_wave *w, unsigned *at, uint64_t value)
{
    put(w, at, (uint32_t)value);
    put(w, at, (uint32_t)(value >> 32));
}

static void user_sgprs(struct sim_wave *w, unsigned *at)
{
    const struct sim_dispatch *d = w->dispatch;
    const struct sim_kernel *k = d->kernel;
    if (k->properties & PRIVATE_SEGMENT_BUFFER) {
        put64(w, at, 0);
        put64(w, at, 0);
    }
    if (k->properties & DISPATCH_PTR) {
        put64(w, at, d->packet);
    }
    if (k->properties & QUEUE_PTR) {
        put64(w, at, d->queue);
    }
    if (k->properties & KERNARG_SEGMENT_PTR) {
        put64(w, at, d->kernarg);
    }
    if (k->properties & DISPATCH_ID) {
        put64(w, at, d->dispatch_id);
    }
    if (k->properties & FLAT_SCRATCH_INIT) {
        put64(w, at, 0);
    }
    if (k->properties & PRIVATE_SEGMENT_SIZE) {
        put(w, at, d->scratch_size);
    }
    for (unsigned i = 0; i < k->preload_length; i++) {
        size_t offset = 4 * ((size_t)k->preload_offset + i);
        uint32_t value = 0;
        if (offset + 4 <= d->kernarg_size) {
            memcpy(&value, (const uint8_t *)(uintptr_t)d->kernarg + offset, sizeof value);
        }
        put(w, at, value);
    }
}

static void scalars(struct sim_group *g, struct sim_wave *w)
{
    const struct sim_kernel *k = w->dispatch->kernel;
    unsigned at = 0;
    for (unsigned i = 0; i < SIM_SGPR_COUNT; i++) {
        w->sgpr[i] = POISON;
    }
    user_sgprs(w, &at);
    /* COMPUTE_PGM_RSRC2.USER_SGPR counts what precedes the workgroup ids. */
    unsigned user = k->rsrc2 >> 1 & 31;
    at = at > user ? at : user;
    for (unsigned i = 0; i < 3; i++) {
        if (k->rsrc2 >> (7 + i) & 1) {
            put(w, &at, g->id[i]);
        }
    }
    if (k->rsrc2 >> 10 & 1) {
        put(w, &at, (uint32_t)(w->index == 0) << 31 | w->index << 20 | g->wave_count);
    }
    /* FLAT_SCRATCH is set up by hardware; trap temporaries read as zero. */
    for (unsigned i = SIM_SGPR_FLAT_SCRATCH; i < SIM_SGPR_VCC; i++) {
        w->sgpr[i] = 0;
        w->check->s[i].is_defined = 1;
    }
    for (unsigned i = SIM_SGPR_TTMP0; i < SIM_SGPR_M0; i++) {
        w->sgpr[i] = 0;
        w->check->s[i].is_defined = 1;
    }
    w->check->s[SIM_SGPR_EXEC].is_defined = w->check->s[SIM_SGPR_EXEC + 1].is_defined = 1;
}

static void vectors(struct sim_group *g, struct sim_wave *w)
{
    const struct sim_dispatch *d = w->dispatch;
    uint32_t total = g->size[0] * g->size[1] * g->size[2];
    uint32_t first = w->index * SIM_LANES;
    for (unsigned r = 0; r < 512; r++) {
        bool is_used = r < 256 ? r < d->vgpr_limit : r - 256 < d->agpr_limit;
        for (unsigned lane = 0; is_used && lane < SIM_LANES; lane++) {
            w->vgpr[r][lane] = POISON;
        }
    }
    uint64_t exec = 0;
    for (unsigned lane = 0; lane < SIM_LANES && first + lane < total; lane++) {
        uint32_t id = first + lane;
        uint32_t x = id % g->size[0], y = id / g->size[0] % g->size[1];
        uint32_t z = id / g->size[0] / g->size[1];
        exec |= (uint64_t)1 << lane;
        w->vgpr[0][lane] = x | y << 10 | z << 20;
    }
    w->check->v[0].defined = exec;
    w->sgpr[SIM_SGPR_EXEC] = (uint32_t)exec;
    w->sgpr[SIM_SGPR_EXEC + 1] = (uint32_t)(exec >> 32);
}

void sim_wave_init(struct sim_group *g, struct sim_wave *w, uint32_t index)
{
    const struct sim_kernel *k = g->dispatch->kernel;
    w->index = index;
    w->group = g;
    w->dispatch = g->dispatch;
    w->check = &g->checks[index];
    w->inst = NULL;
    w->state = SIM_WAVE_RUNNING;
    w->yield = 0;
    w->scc = 0;
    w->pc = k->entry;
    w->code_base = sim_code_base(g->dispatch->launch->code);
    /* MODE: rounding and denormals, then DX10_CLAMP, IEEE and FP16_OVFL. */
    w->mode = (k->rsrc1 >> 12 & 0xff) | (k->rsrc1 >> 21 & 1) << 8 | (k->rsrc1 >> 23 & 1) << 9 |
              (k->rsrc1 >> 26 & 1) << 23;
    sim_check_reset(w, g->dispatch->vgpr_limit, g->dispatch->agpr_limit);
    scalars(g, w);
    vectors(g, w);
}
