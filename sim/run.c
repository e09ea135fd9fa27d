/* SPDX-License-Identifier: MIT */
/*
 * Running one workgroup: its waves take turns on one host thread, each until it ends,
 * waits at a barrier, or its turn is over.
 */
#include "group.h"
#include "loader_priv.h"
#include "run.h"
#include "wave_check.h"

#include <stdlib.h>
#include <string.h>

/* Instructions of one turn; long, for the caches' sake. */
#define TURN 20000
/* Instructions of one slice, after which another workgroup may get the thread. */
#define SLICE 4000000

struct sim_context {
    struct sim_group g;
    uint64_t insts[SIM_WAVES_MAX];
    size_t scratch_room;
    struct sim_context *next; /* for lists of the owner */
};

struct sim_context *sim_context_create(void)
{
    struct sim_context *c = calloc(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    struct sim_group *g = &c->g;
    g->waves = aligned_alloc(64, SIM_WAVES_MAX * sizeof *g->waves);
    g->checks = calloc(SIM_WAVES_MAX, sizeof *g->checks);
    g->lds = malloc(SIM_LDS_MAX + 64);
    bool has_shadow = sim_lds_shadow_create(&g->shadow, SIM_LDS_MAX);
    if (!g->waves || !g->checks || !g->lds || !has_shadow) {
        sim_context_destroy(c);
        return NULL;
    }
    return c;
}

void sim_context_destroy(struct sim_context *c)
{
    if (!c) {
        return;
    }
    free(c->g.waves);
    free(c->g.checks);
    free(c->g.lds);
    free(c->g.scratch);
    free(c->g.scratch_defined);
    sim_lds_shadow_destroy(&c->g.shadow);
    free(c);
}

struct sim_context **sim_context_link(struct sim_context *c)
{
    return &c->next;
}

static bool grow_scratch(struct sim_context *c, size_t bytes)
{
    if (bytes <= c->scratch_room) {
        return true;
    }
    free(c->g.scratch);
    free(c->g.scratch_defined);
    c->g.scratch = malloc(bytes);
    c->g.scratch_defined = malloc(bytes);
    c->scratch_room = c->g.scratch && c->g.scratch_defined ? bytes : 0;
    return c->scratch_room != 0;
}

bool sim_group_begin(struct sim_context *c, struct sim_dispatch *d, uint64_t linear)
{
    struct sim_group *g = &c->g;
    const struct sim_launch *l = d->launch;
    g->dispatch = d;
    g->linear = linear;
    g->id[0] = (uint32_t)(linear % l->grid[0]);
    g->id[1] = (uint32_t)(linear / l->grid[0] % l->grid[1]);
    g->id[2] = (uint32_t)(linear / l->grid[0] / l->grid[1]);
    uint32_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t left = d->total_items[i] - (uint64_t)g->id[i] * l->block[i];
        g->size[i] = left < l->block[i] ? (uint32_t)left : l->block[i];
        items *= g->size[i];
    }
    g->wave_count = (items + SIM_LANES - 1) / SIM_LANES;
    g->ended = g->at_barrier = 0;
    g->clock = 0;
    g->lds_size = d->lds_size;
    memset(g->lds, 0xa5, d->lds_size);
    sim_lds_shadow_reset(&g->shadow, d->lds_size);
    g->cache.generation = 0;
    g->scratch_size = d->scratch_size;
    size_t scratch = (size_t)d->scratch_size * SIM_LANES * g->wave_count;
    if (!grow_scratch(c, scratch)) {
        return false;
    }
    if (scratch) {
        memset(g->scratch, 0xa5, scratch);
        memset(g->scratch_defined, 0, scratch);
    }
    for (uint32_t i = 0; i < g->wave_count; i++) {
        sim_wave_init(g, &g->waves[i], i);
        c->insts[i] = 0;
    }
    g->counts.c.workgroups++;
    g->counts.c.waves += g->wave_count;
    return true;
}

void sim_barrier_release(struct sim_group *g)
{
    if (g->at_barrier == 0 || g->at_barrier + g->ended < g->wave_count) {
        return;
    }
    sim_lds_barrier(g);
    g->at_barrier = 0;
    for (uint32_t i = 0; i < g->wave_count; i++) {
        if (g->waves[i].state == SIM_WAVE_BARRIER) {
            g->waves[i].state = SIM_WAVE_RUNNING;
        }
    }
}

/* Decode the instruction at the wave's pc, or stop the kernel. */
static const struct sim_dec *fetch_slow(struct sim_wave *w)
{
    enum sim_fetch why;
    const struct sim_dec *d = sim_icache_decode(w->dispatch->code, w->pc, &why);
    if (d) {
        return d;
    }
    struct sim_code *code = w->dispatch->code;
    struct sim_inst bad = { .pc = w->pc };
    w->inst = &bad;
    if (why == SIM_FETCH_UNKNOWN) {
        sim_decode(code->image + w->pc, code->image_size - w->pc, w->pc, &bad);
        bad.op = NULL;
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1, "not an instruction that the simulator knows");
    } else if (why == SIM_FETCH_NO_MEMORY) {
        sim_dispatch_stop(w->dispatch, SIM_E_HOST_MEMORY, "no host memory to decode a kernel");
        w->state = SIM_WAVE_FAULTED;
    } else {
        bad.op = NULL;
        sim_find(w, SIM_FIND_TRAP, -1, "pc 0x%llx is outside the code object's code",
                 (unsigned long long)w->pc);
    }
    w->inst = NULL;
    return NULL;
}

static const struct sim_dec *fetch(struct sim_wave *w, const struct sim_icache *cache)
{
    uint64_t slot = w->pc / 4;
    if (w->pc % 4 == 0 && slot < cache->slots) {
        const struct sim_dec *d = atomic_load_explicit(&cache->at[slot], memory_order_acquire);
        if (d) {
            return d;
        }
    }
    return fetch_slow(w);
}

/* Run one wave for a turn; returns the instructions it ran. */
static uint64_t run_turn(struct sim_wave *w)
{
    const struct sim_icache *cache = &w->dispatch->code->icache;
    uint64_t *by_class = w->group->counts.by_class;
    uint64_t n = 0;
    w->yield = 0;
    while (n < TURN && w->state == SIM_WAVE_RUNNING && !w->yield) {
        const struct sim_dec *d = fetch(w, cache);
        if (!d) {
            break;
        }
        w->inst = &d->inst;
        if (!d->exec) {
            sim_find(w, SIM_FIND_UNKNOWN_INST, -1,
                     "the simulator decodes this instruction but does not execute it");
            break;
        }
        uint64_t exec = sim_exec_mask(w);
        sim_check_before(w, d);
        w->pc += d->inst.size;
        by_class[d->counter]++;
        w->group->counts.c.mfma_passes += d->passes;
        n++;
        d->exec(w, &d->inst);
        if (w->state == SIM_WAVE_FAULTED) {
            break;
        }
        sim_check_after(w, d, exec);
    }
    w->group->clock += n;
    return n;
}

enum sim_slice sim_group_slice(struct sim_context *c)
{
    struct sim_group *g = &c->g;
    struct sim_dispatch *d = g->dispatch;
    const volatile int *cancel = d->launch->cancel;
    uint64_t budget = 0;
    bool has_yielded = false;
    while (g->ended < g->wave_count) {
        for (uint32_t i = 0; i < g->wave_count; i++) {
            struct sim_wave *w = &g->waves[i];
            if (w->state != SIM_WAVE_RUNNING) {
                continue;
            }
            uint64_t n = run_turn(w);
            budget += n;
            c->insts[i] += n;
            has_yielded |= w->yield;
            if (w->state == SIM_WAVE_RUNNING && c->insts[i] > d->max_insts) {
                sim_find(
                    w, SIM_FIND_TRAP, -1,
                    "the wave has run %llu instructions (MXGSIM_MAX_INSTS): endless kernel",
                    (unsigned long long)c->insts[i]);
            }
            if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) {
                sim_dispatch_stop(d, SIM_E_CANCELLED, "the launch was cancelled");
            }
            if (atomic_load_explicit(&d->stop, memory_order_relaxed)) {
                return SIM_SLICE_DONE;
            }
        }
        if ((has_yielded || budget > SLICE) && g->ended < g->wave_count) {
            return SIM_SLICE_YIELDED;
        }
    }
    return SIM_SLICE_DONE;
}

void sim_group_end(struct sim_context *c)
{
    sim_counts_flush(&c->g.counts);
}
