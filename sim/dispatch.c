/* SPDX-License-Identifier: MIT */
/*
 * Kernel launch: validate, set the dispatch up, run it, say how it ended.
 */
#include "dispatch.h"

#include "group.h"
#include "loader_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Instructions one wave may run before the kernel counts as endless. */
#define MAX_INSTS_DEFAULT 200000000ull
#define SCRATCH_MAX (1u << 20)
/* Bytes a lane for calls that the compiler could not bound (as the HIP runtime does). */
#define DYNAMIC_STACK 16384u
#define VGPRS_PER_SIMD 512u

static enum sim_result refuse(char *text, size_t size, enum sim_result result, const char *fmt,
                              ...) __attribute__((format(printf, 4, 5)));

static enum sim_result refuse(char *text, size_t size, enum sim_result result, const char *fmt,
                              ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (text && size) {
        vsnprintf(text, size, fmt, ap);
    }
    va_end(ap);
    return result;
}

static uint64_t max_insts(void)
{
    const char *v = getenv("MXGSIM_MAX_INSTS");
    char *end = NULL;
    unsigned long long n = v ? strtoull(v, &end, 10) : 0;
    return v && end != v && *end == 0 && n > 0 ? n : MAX_INSTS_DEFAULT;
}

static enum sim_result check_shape(const struct sim_launch *l, char *text, size_t size)
{
    const struct sim_kernel *k = l->kernel;
    uint64_t flat = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->block[i] == 0 || l->block[i] > 1024) {
            return refuse(text, size, SIM_E_BAD_LAUNCH,
                          "grid[%u] = %u, block[%u] = %u: both at least 1, block at most 1024",
                          i, l->grid[i], i, l->block[i]);
        }
        if ((uint64_t)l->grid[i] * l->block[i] > UINT32_MAX) {
            return refuse(text, size, SIM_E_BAD_LAUNCH,
                          "grid[%u] * block[%u] = %llu work-items, more than 2^32 - 1", i, i,
                          (unsigned long long)l->grid[i] * l->block[i]);
        }
        uint64_t full = (uint64_t)l->grid[i] * l->block[i];
        if (l->items[i] && (l->items[i] > full || l->items[i] <= full - l->block[i])) {
            return refuse(text, size, SIM_E_BAD_LAUNCH,
                          "%llu work-items in dimension %u do not fill %u groups of %u",
                          (unsigned long long)l->items[i], i, l->grid[i], l->block[i]);
        }
        flat *= l->block[i];
    }
    uint32_t most = k->max_flat_group_size ? k->max_flat_group_size : 1024;
    if (flat > most || flat > 1024) {
        return refuse(text, size, SIM_E_BAD_LAUNCH,
                      "%llu work-items in a group: kernel %s was compiled for at most %u",
                      (unsigned long long)flat, k->name, most);
    }
    const uint32_t *r = k->reqd_group_size;
    if (r[0] && (r[0] != l->block[0] || r[1] != l->block[1] || r[2] != l->block[2])) {
        return refuse(text, size, SIM_E_BAD_LAUNCH,
                      "block (%u,%u,%u): kernel %s was compiled for exactly (%u,%u,%u)",
                      l->block[0], l->block[1], l->block[2], k->name, r[0], r[1], r[2]);
    }
    if (l->kernarg_size < k->kernarg_explicit || (k->kernarg_explicit && !l->kernarg)) {
        return refuse(text, size, SIM_E_BAD_LAUNCH,
                      "%zu bytes of arguments: kernel %s takes %u", l->kernarg_size, k->name,
                      k->kernarg_explicit);
    }
    return SIM_OK;
}

static enum sim_result check_resources(struct sim_dispatch *d, char *text, size_t size)
{
    const struct sim_launch *l = d->launch;
    const struct sim_kernel *k = d->kernel;
    uint64_t lds = (uint64_t)k->lds_size + l->dynamic_lds;
    uint32_t items = l->block[0] * l->block[1] * l->block[2];
    d->waves_per_group = (items + SIM_LANES - 1) / SIM_LANES;
    if (lds > SIM_LDS_MAX) {
        return refuse(
            text, size, SIM_E_RESOURCES,
            "kernel %s needs %llu bytes of LDS (%u static + %u dynamic), more than %u", k->name,
            (unsigned long long)lds, k->lds_size, l->dynamic_lds, SIM_LDS_MAX);
    }
    /* A compute unit has four SIMDs; a group's waves spread evenly over them. */
    uint32_t on_one = (d->waves_per_group + 3) / 4;
    if (on_one * k->vgpr_count > VGPRS_PER_SIMD) {
        return refuse(text, size, SIM_E_RESOURCES,
                      "kernel %s: %u waves with %u VGPRs each do not fit four SIMDs of %u",
                      k->name, d->waves_per_group, k->vgpr_count, VGPRS_PER_SIMD);
    }
    uint64_t scratch = (uint64_t)k->scratch_size + (k->dynamic_stack ? DYNAMIC_STACK : 0);
    scratch = (scratch + 15) & ~(uint64_t)15;
    if (scratch > SCRATCH_MAX) {
        return refuse(text, size, SIM_E_RESOURCES,
                      "kernel %s needs %llu bytes of scratch a lane, more than %u", k->name,
                      (unsigned long long)scratch, SCRATCH_MAX);
    }
    d->lds_size = (uint32_t)lds;
    d->scratch_size = (uint32_t)scratch;
    d->vgpr_limit = k->vgpr_count < k->accum_offset ? k->vgpr_count : k->accum_offset;
    d->vgpr_limit = d->vgpr_limit < 256 ? d->vgpr_limit : 256;
    d->agpr_limit = k->vgpr_count > k->accum_offset ? k->vgpr_count - k->accum_offset : 0;
    d->agpr_limit = d->agpr_limit < 256 ? d->agpr_limit : 256;
    return SIM_OK;
}

void sim_dispatch_stop(struct sim_dispatch *d, enum sim_result result, const char *text)
{
    int expected = SIM_OK;
    if (atomic_compare_exchange_strong(&d->result, &expected, (int)result)) {
        snprintf(d->text, sizeof d->text, "%s", text);
    }
    atomic_store(&d->stop, 1);
}

static void set_grid(struct sim_dispatch *d)
{
    const struct sim_launch *l = d->launch;
    d->groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    for (unsigned i = 0; i < 3; i++) {
        d->total_items[i] = l->items[i] ? l->items[i] : (uint64_t)l->grid[i] * l->block[i];
    }
}

enum sim_result sim_launch(const struct sim_launch *launch, char *text, size_t textsize)
{
    static _Atomic uint64_t launches;
    if (text && textsize) {
        text[0] = 0;
    }
    enum sim_result result = check_shape(launch, text, textsize);
    if (result != SIM_OK) {
        return result;
    }
    struct sim_dispatch *d = calloc(1, sizeof *d);
    if (!d) {
        return refuse(text, textsize, SIM_E_HOST_MEMORY, "no host memory for a launch");
    }
    d->launch = launch;
    /* The cache of decoded instructions is filled through the caller's const object. */
    d->code = (struct sim_code *)launch->code;
    d->kernel = launch->kernel;
    d->max_insts = max_insts();
    d->dispatch_id = atomic_fetch_add(&launches, 1);
    set_grid(d);
    result = check_resources(d, text, textsize);
    if (result == SIM_OK && !sim_kernarg_create(d)) {
        result = refuse(text, textsize, SIM_E_HOST_MEMORY, "no host memory to run kernel %s",
                        d->kernel->name);
    }
    if (result == SIM_OK) {
        sim_pool_run(d);
        result = (enum sim_result)atomic_load(&d->result);
        if (result != SIM_OK && text) {
            snprintf(text, textsize, "%s", d->text);
        }
        struct sim_counts counts = { .c.launches = 1 };
        sim_counts_flush(&counts);
    }
    sim_kernarg_destroy(d);
    free(d);
    return result;
}
