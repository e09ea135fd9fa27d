/* SPDX-License-Identifier: MIT */
/*
 * The chooser.  It lists every config of a family, estimates each one's time
 * with a small model, and takes the fastest.  The model knows what the figures
 * of struct arch say and no more: launches, bytes, waves over compute units,
 * latency against what is in flight, and the cost of quantising A again for
 * every tile of N.
 *
 * M enters through its class only: costs are taken at the class's largest M.
 */
#include "select.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch.h"
#include "mx_format.h"
#include "mx_layout.h"
#include "status.h"

static const struct arch *const archs[] = { &arch_gfx950 };

/*
 * M classes.  Up to 32 rows one fused launch wins, from 65 on two launches do
 * (figures from MI355X); between, both are costed.  The last class is open and
 * is costed at OPEN_CLASS_M.
 */
static const int64_t class_max[] = { 16, 32, 64, 128, 256, INT64_MAX };
#define CLASS_COUNT (sizeof(class_max) / sizeof(class_max[0]))
#define OPEN_CLASS_M 1024
#define FUSED_UP_TO 32
#define PREQUANT_FROM 65

/* A grid thinner or thicker than this is taken only if nothing else is there. */
#define WORKGROUPS_MIN 16
#define WORKGROUPS_MAX 8192

uint32_t select_m_class(int64_t m)
{
    uint32_t m_class = 0;
    while (m_class + 1 < CLASS_COUNT && m > class_max[m_class]) {
        m_class++;
    }
    return m_class;
}

uint32_t select_m_class_count(void)
{
    return CLASS_COUNT;
}

void select_m_class_range(uint32_t m_class, int64_t *min, int64_t *max)
{
    if (m_class >= CLASS_COUNT) {
        m_class = CLASS_COUNT - 1;
    }
    *min = m_class == 0 ? 1 : class_max[m_class - 1] + 1;
    *max = class_max[m_class];
}

static const struct arch *find_arch(const char *name)
{
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        size_t length = strlen(archs[i]->name);
        if (strncmp(name, archs[i]->name, length) == 0 && (name[length] == '\0' || name[length] == ':')) {
            return archs[i];
        }
    }
    return NULL;
}

int select_arch_supported(const char *arch)
{
    return find_arch(arch) != NULL;
}

/* One candidate's estimated microseconds, launches left out. */
struct estimate {
    double memory, cache, latency, matrix, quantize, total;
    int64_t workgroups;
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static double max_of(double a, double b)
{
    return a > b ? a : b;
}

/* Workgroups that one compute unit holds at once. */
static uint32_t resident_workgroups(const struct arch *arch, uint32_t vgprs, uint32_t lds, uint32_t threads)
{
    uint32_t granules = (vgprs > 0 ? vgprs + arch->vgpr_granule - 1 : arch->vgpr_granule) / arch->vgpr_granule;
    uint32_t per_simd = arch->vgprs_per_simd / (granules * arch->vgpr_granule);
    per_simd = per_simd < arch->waves_per_simd ? per_simd : arch->waves_per_simd;
    uint32_t waves = threads > 0 ? (threads + 63) / 64 : 1;
    uint32_t groups = per_simd * arch->simds / waves;
    if (waves > 1 && groups > arch->workgroups_per_cu) {
        groups = arch->workgroups_per_cu;
    }
    if (lds > 0) {
        uint32_t by_lds = arch->lds_bytes / ((lds + arch->lds_granule - 1) / arch->lds_granule * arch->lds_granule);
        groups = by_lds < groups ? by_lds : groups;
    }
    return groups;
}

uint32_t select_waves_per_cu(uint32_t vgprs_total, uint32_t lds_bytes, uint32_t threads)
{
    uint32_t waves = threads > 0 ? (threads + 63) / 64 : 1;
    return resident_workgroups(&arch_gfx950, vgprs_total, lds_bytes, threads) * waves;
}

/* False if the config spills or does not fit a compute unit. */
static bool estimate_gemm(const struct arch *arch, uint32_t compute_units, const struct kernel_config *c,
                          int64_t m, struct estimate *e)
{
    uint32_t depth, vgprs;
    if (!arch->figures(c, &depth, &vgprs)) {
        return false;
    }
    uint32_t lds = c->split_k * c->waves * c->m_rep * c->n_rep * 1024;
    uint32_t resident = resident_workgroups(arch, vgprs, lds, c->waves * 64);
    if (resident == 0) {
        return false;
    }
    bool fused = c->family == FAMILY_GEMM_FUSED;
    double mx_row = (double)c->k / 2 + (double)c->k / MX_BLOCK;
    double a_row = fused ? 2.0 * (double)c->k : mx_row;
    double rows = 16.0 * c->m_rep, columns = 16.0 * c->n_rep;
    uint32_t n_waves = c->split_k ? 1 : c->waves;
    int64_t m_tiles = divide_up(m, 16 * (int64_t)c->m_rep);
    int64_t n_tiles = divide_up(c->n, 16 * (int64_t)c->n_rep * n_waves);
    e->workgroups = m_tiles * n_tiles;
    double per_cu = (double)divide_up(e->workgroups, compute_units);

    /* Steps of the wave that has most, and all steps of a workgroup's waves. */
    double k_steps = (double)divide_up(c->k, 128);
    double wave_steps = c->split_k ? (double)(2 * divide_up(divide_up(c->k, 256), c->waves)) : k_steps;
    double all_steps = k_steps * n_waves;
    double simds = c->waves < arch->simds ? c->waves : arch->simds;
    double clocks_per_us = arch->clock_ghz * 1e3;

    e->memory = ((double)m * a_row + (double)c->n * mx_row) / arch->memory_gb_s * 1e-3;
    /* Waves of SPLIT-N read the same rows of A, each for itself. */
    e->cache = per_cu * n_waves * (rows * a_row + columns * mx_row) / arch->cu_bytes_per_clock / clocks_per_us;
    e->latency = ceil(per_cu / resident) * ceil(wave_steps / depth) * arch->latency_us;
    e->matrix = per_cu * all_steps * c->m_rep * c->n_rep * arch->mfma_clocks / simds / clocks_per_us;
    e->quantize = fused ? per_cu * all_steps * c->m_rep * arch->quantize_valu * arch->valu_clocks / simds /
                              clocks_per_us
                        : 0.0;
    /*
     * The first load overlaps nothing.  While a wave waits, others of its SIMD
     * compute; a wave that is alone there does one after the other.
     */
    double work = max_of(max_of(e->memory, e->cache), max_of(e->matrix, e->quantize));
    double sharing = max_of(1.0, (per_cu < resident ? per_cu : resident) * c->waves / arch->simds);
    double alone = e->latency + (e->matrix + e->quantize) / sharing;
    e->total = max_of(alone, arch->latency_us + work) + (c->split_k ? arch->barrier_us : 0.0);
    return true;
}

/* Quantising A once: bytes in and out, and one load's latency. */
static double estimate_quantize(const struct arch *arch, int64_t m, int64_t k)
{
    double bytes = (double)m * (double)k * (2.0 + 0.5 + 1.0 / MX_BLOCK);
    return arch->latency_us + bytes / arch->memory_gb_s * 1e-3;
}

static bool is_grid_good(const struct estimate *e)
{
    return e->workgroups >= WORKGROUPS_MIN && e->workgroups <= WORKGROUPS_MAX;
}

/* Does candidate a beat b?  Ties go to the one listed first, so that the choice never depends on rounding luck. */
static bool is_better(const struct estimate *a, const struct estimate *b)
{
    if (is_grid_good(a) != is_grid_good(b)) {
        return is_grid_good(a);
    }
    return a->total < b->total * (1.0 - 1e-9);
}

/* Fill the tiling of *config, whose family, sizes, types and layouts are set. */
static bool choose_tiling(const struct arch *arch, uint32_t compute_units, struct kernel_config *config,
                          int64_t m, struct estimate *best)
{
    bool fused = config->family == FAMILY_GEMM_FUSED;
    uint32_t m_rep_max = fused ? 2 : 16;
    uint32_t waves_max = fused ? 16 : 8;
    struct kernel_config c = *config;
    bool found = false;

    /* Rows beyond M are work for nothing, so a tile is at most one power of two above it. */
    for (c.m_rep = 1; c.m_rep <= m_rep_max && (c.m_rep == 1 || 8 * (int64_t)c.m_rep < m); c.m_rep *= 2) {
        for (c.n_rep = 1; c.n_rep <= 4; c.n_rep *= 2) {
            for (c.waves = 2; c.waves <= waves_max; c.waves *= 2) {
                for (c.split_k = fused ? 1 : 0; c.split_k <= 1; c.split_k++) {
                    struct estimate e;
                    if (c.split_k * c.waves * c.m_rep * c.n_rep * 1024 > KERNEL_LDS_MAX ||
                        !estimate_gemm(arch, compute_units, &c, m, &e)) {
                        continue;
                    }
                    if (!found || is_better(&e, best)) {
                        *best = e;
                        *config = c;
                        found = true;
                    }
                }
            }
        }
    }
    return found;
}

struct choice {
    struct kernel_config gemm;
    struct estimate estimate;
    double total; /* launches and quantising included */
};

static bool choose_family(const struct arch *arch, const struct device_facts *device,
                          const struct gemm_shape *shape, int64_t m, uint32_t variant, struct choice *choice)
{
    struct kernel_config *c = &choice->gemm;
    memset(c, 0, sizeof(*c));
    c->n = shape->n;
    c->k = shape->k;
    c->family = variant == MXG_VARIANT_FUSED ? FAMILY_GEMM_FUSED : FAMILY_GEMM;
    c->c_type = shape->c_type;
    c->b_layout = shape->b_layout;
    c->b_scale_layout = shape->b_scale_layout;
    c->a_scale_layout = variant == MXG_VARIANT_PREQUANT    ? MXG_LAYOUT_SHUFFLED
                        : variant == MXG_VARIANT_QUANTIZED ? MXG_LAYOUT_ROW_MAJOR
                                                           : 0;
    uint32_t compute_units = device->compute_units > 0 ? device->compute_units : arch->compute_units;
    if (!choose_tiling(arch, compute_units, c, m, &choice->estimate)) {
        return false;
    }
    choice->total = arch->launch_us + choice->estimate.total;
    if (variant == MXG_VARIANT_PREQUANT) {
        choice->total += arch->next_launch_us + estimate_quantize(arch, m, shape->k);
    }
    return true;
}

static const char *variant_word(uint32_t variant)
{
    return variant == MXG_VARIANT_FUSED      ? "fused"
           : variant == MXG_VARIANT_PREQUANT ? "prequant"
                                             : "quantized";
}

/* What the estimate is made of: its largest part in words. */
static const char *bound_word(const struct estimate *e)
{
    double work = max_of(max_of(e->memory, e->cache), max_of(e->matrix, e->quantize));
    if (e->latency > work) {
        return "latency";
    }
    return work == e->quantize ? "quantising" : work == e->memory ? "memory" : work == e->cache ? "cache" : "MFMA";
}

static void append(struct select_plan *plan, size_t *at, const char *text)
{
    int size = snprintf(plan->reason + *at, sizeof(plan->reason) - *at, "%s", text);
    *at += (size_t)size;
    if (*at >= sizeof(plan->reason)) {
        *at = sizeof(plan->reason) - 1;
    }
}

static void explain(struct select_plan *plan, const struct gemm_shape *shape, int64_t m, const char *rule,
                    const struct choice *taken, const struct choice *other)
{
    const struct kernel_config *c = &taken->gemm;
    const struct estimate *e = &taken->estimate;
    char text[256];
    size_t at = 0;

    snprintf(text, sizeof(text), "%s: %s; costed at M = %" PRId64 ": %.2f us, ", variant_word(plan->variant),
             rule, m, taken->total);
    append(plan, &at, text);
    snprintf(text, sizeof(text), "%" PRId64 " workgroups of %" PRIu32 " waves, %" PRIu32 "x%" PRIu32
             " tiles a wave, %s, bound by %s (memory %.2f, latency %.2f, MFMA %.2f, quantising %.2f us)",
             e->workgroups, c->waves, c->m_rep, c->n_rep, c->split_k ? "K split over waves" : "N split over waves",
             bound_word(e), e->memory, e->latency, e->matrix, e->quantize);
    append(plan, &at, text);
    if (other != NULL) {
        snprintf(text, sizeof(text), "; %s would take %.2f us",
                 plan->variant == MXG_VARIANT_FUSED ? "prequant" : "fused", other->total);
        append(plan, &at, text);
    }
    (void)shape;
}

static void fill_plan(struct select_plan *plan, const struct kernel_config *gemm)
{
    plan->num_kernels = 0;
    if (plan->variant == MXG_VARIANT_PREQUANT) {
        struct kernel_config *q = &plan->kernels[plan->num_kernels++];
        memset(q, 0, sizeof(*q));
        q->family = FAMILY_QUANTIZE;
        q->k = gemm->k;
        q->a_scale_layout = gemm->a_scale_layout;
    }
    plan->kernels[plan->num_kernels++] = *gemm;
}

/* The variant asked for must fit A's type. */
static mxg_status check_variant(const struct gemm_shape *shape)
{
    bool quantized = shape->a_type == MXG_TYPE_MXFP4;
    switch (shape->variant) {
    case MXG_VARIANT_AUTO:
        return MXG_OK;
    case MXG_VARIANT_FUSED:
    case MXG_VARIANT_PREQUANT:
        return !quantized ? MXG_OK
                          : status_set(MXG_E_UNSUPPORTED, "variant %s quantises a bf16 A, but a_type is MXFP4",
                                       variant_word(shape->variant));
    case MXG_VARIANT_QUANTIZED:
        return quantized ? MXG_OK
                         : status_set(MXG_E_UNSUPPORTED,
                                      "variant quantized needs a_type MXFP4, but a_type is bf16");
    default:
        return status_set(MXG_E_ENUM, "variant = %" PRIu32 ": 0 to 3 is needed", shape->variant);
    }
}

static mxg_status check_limits(const struct gemm_shape *shape)
{
    if (shape->m < 1 || shape->n < 1 || shape->k < 32 || shape->k % 32 != 0) {
        return status_set(MXG_E_SHAPE, "m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64
                          ": m and n of at least 1 and a positive multiple of 32 are needed",
                          shape->m, shape->n, shape->k);
    }
    if (shape->n > KERNEL_N_MAX || shape->k > KERNEL_K_MAX) {
        return status_set(MXG_E_UNSUPPORTED, "n = %" PRId64 ", k = %" PRId64 ": kernels serve n up to %" PRId64
                          " and k up to %" PRId64, shape->n, shape->k, KERNEL_N_MAX, KERNEL_K_MAX);
    }
    return MXG_OK;
}

mxg_status select_choose(const struct device_facts *device, const struct gemm_shape *shape,
                         struct select_plan *plan)
{
    memset(plan, 0, sizeof(*plan));
    const struct arch *arch = find_arch(device->arch);
    if (arch == NULL) {
        return status_set(MXG_E_ARCH, "no kernels for architecture %s", device->arch);
    }
    mxg_status status = check_limits(shape);
    if (status == MXG_OK) {
        status = check_variant(shape);
    }
    if (status != MXG_OK) {
        return status;
    }
    select_m_class_range(select_m_class(shape->m), &plan->m_min, &plan->m_max);
    int64_t m = plan->m_max == INT64_MAX ? OPEN_CLASS_M : plan->m_max;

    struct choice fused, prequant, quantized;
    const struct choice *taken = NULL, *other = NULL;
    const char *rule = "asked for";
    if (shape->a_type == MXG_TYPE_MXFP4) {
        plan->variant = MXG_VARIANT_QUANTIZED;
        if (shape->variant == MXG_VARIANT_AUTO) {
            rule = "A is MXFP4 already";
        }
        taken = choose_family(arch, device, shape, m, plan->variant, &quantized) ? &quantized : NULL;
    } else {
        bool has_fused = choose_family(arch, device, shape, m, MXG_VARIANT_FUSED, &fused);
        bool has_prequant = choose_family(arch, device, shape, m, MXG_VARIANT_PREQUANT, &prequant);
        plan->variant = shape->variant;
        if (shape->variant == MXG_VARIANT_AUTO) {
            bool by_cost = plan->m_max > FUSED_UP_TO && plan->m_min < PREQUANT_FROM;
            bool take_fused = by_cost ? fused.total <= prequant.total : plan->m_max <= FUSED_UP_TO;
            rule = by_cost                 ? "M 33 to 64 goes by cost"
                   : take_fused            ? "up to M 32 one launch wins"
                                           : "from M 65 on quantising once wins";
            plan->variant = take_fused ? MXG_VARIANT_FUSED : MXG_VARIANT_PREQUANT;
        }
        bool is_fused = plan->variant == MXG_VARIANT_FUSED;
        taken = is_fused ? (has_fused ? &fused : NULL) : (has_prequant ? &prequant : NULL);
        other = is_fused ? (has_prequant ? &prequant : NULL) : (has_fused ? &fused : NULL);
    }
    if (taken == NULL) {
        return status_set(MXG_E_UNSUPPORTED, "no %s kernel fits %s", variant_word(plan->variant), arch->name);
    }
    fill_plan(plan, &taken->gemm);
    explain(plan, shape, m, rule, taken, other);
    return MXG_OK;
}

mxg_status select_workspace(const struct select_plan *plan, const struct gemm_shape *shape, size_t *bytes,
                            size_t *scale_offset)
{
    *bytes = 0;
    *scale_offset = 0;
    if (plan->variant != MXG_VARIANT_PREQUANT) {
        return MXG_OK;
    }
    int64_t rows, data, scales, total;
    int64_t columns = (int64_t)mx_round_up((size_t)(shape->k / 32), MX_SCALE_COLUMN_PAD);
    bool fits = !__builtin_add_overflow(shape->m, MX_SCALE_GROUP_ROWS - 1, &rows);
    rows = fits ? rows / MX_SCALE_GROUP_ROWS * MX_SCALE_GROUP_ROWS : 0;
    fits = fits && !__builtin_mul_overflow(shape->m, shape->k / 2, &data) &&
           !__builtin_add_overflow(data, 255, &data) && !__builtin_mul_overflow(rows, columns, &scales) &&
           !__builtin_add_overflow(data / 256 * 256, scales, &total) && (uint64_t)total <= SIZE_MAX;
    if (!fits) {
        return status_set(MXG_E_OVERFLOW, "the quantised A of m = %" PRId64 ", k = %" PRId64
                          " does not fit 63 bits", shape->m, shape->k);
    }
    *scale_offset = (size_t)(data / 256 * 256);
    *bytes = (size_t)total;
    return MXG_OK;
}
