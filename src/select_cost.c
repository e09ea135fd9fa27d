/* SPDX-License-Identifier: MIT */
/*
 * The chooser's cost model.  It knows what the figures of struct arch say and
 * no more: launches, bytes, waves over compute units, latency against what is
 * in flight, and the cost of quantising A again for every tile of N.
 */
#include "select_cost.h"

#include <math.h>

#include "mx_format.h"
#include "select.h"

/* A grid thinner or thicker than this is taken only if nothing else is there. */
#define WORKGROUPS_MIN 16
#define WORKGROUPS_MAX 8192

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static double max_of(double a, double b)
{
    return a > b ? a : b;
}

double cost_work(const struct estimate *e)
{
    return max_of(max_of(e->memory, e->cache), max_of(e->matrix, e->quantize));
}

/* Workgroups that one compute unit holds at once. */
static uint32_t resident_workgroups(const struct arch *arch, uint32_t vgprs, uint32_t lds,
                                    uint32_t threads)
{
    uint32_t granules =
        (vgprs > 0 ? vgprs + arch->vgpr_granule - 1 : arch->vgpr_granule) / arch->vgpr_granule;
    uint32_t per_simd = arch->vgprs_per_simd / (granules * arch->vgpr_granule);
    per_simd = per_simd < arch->waves_per_simd ? per_simd : arch->waves_per_simd;
    uint32_t waves = threads > 0 ? (threads + 63) / 64 : 1;
    uint32_t groups = per_simd * arch->simds / waves;
    if (waves > 1 && groups > arch->workgroups_per_cu) {
        groups = arch->workgroups_per_cu;
    }
    if (lds > 0) {
        uint32_t by_lds = arch->lds_bytes / ((lds + arch->lds_granule - 1) / arch->lds_granule *
                                             arch->lds_granule);
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
static bool estimate_gemm(const struct arch *arch, uint32_t compute_units,
                          const struct kernel_config *c, int64_t m, struct estimate *e)
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
    double wave_steps =
        c->split_k ? (double)(2 * divide_up(divide_up(c->k, 256), c->waves)) : k_steps;
    double all_steps = k_steps * n_waves;
    double simds = c->waves < arch->simds ? c->waves : arch->simds;
    double clocks_per_us = arch->clock_ghz * 1e3;

    e->memory = ((double)m * a_row + (double)c->n * mx_row) / arch->memory_gb_s * 1e-3;
    /* Waves of SPLIT-N read the same rows of A, each for itself. */
    e->cache = per_cu * n_waves * (rows * a_row + columns * mx_row) / arch->cu_bytes_per_clock /
               clocks_per_us;
    e->latency = ceil(per_cu / resident) * ceil(wave_steps / depth) * arch->latency_us;
    e->matrix =
        per_cu * all_steps * c->m_rep * c->n_rep * arch->mfma_clocks / simds / clocks_per_us;
    e->quantize = fused ? per_cu * all_steps * c->m_rep * arch->quantize_valu *
                              arch->valu_clocks / simds / clocks_per_us
                        : 0.0;
    /*
     * The first load overlaps nothing.  While a wave waits, others of its SIMD
     * compute; a wave that is alone there does one after the other.
     */
    double work = cost_work(e);
    double sharing =
        max_of(1.0, (per_cu < resident ? per_cu : resident) * c->waves / arch->simds);
    double alone = e->latency + (e->matrix + e->quantize) / sharing;
    e->total = max_of(alone, arch->latency_us + work) + (c->split_k ? arch->barrier_us : 0.0);
    return true;
}

double cost_quantize(const struct arch *arch, int64_t m, int64_t k)
{
    double bytes = (double)m * (double)k * (2.0 + 0.5 + 1.0 / MX_BLOCK);
    return arch->latency_us + bytes / arch->memory_gb_s * 1e-3;
}

static bool is_grid_good(const struct estimate *e)
{
    return e->workgroups >= WORKGROUPS_MIN && e->workgroups <= WORKGROUPS_MAX;
}

/*
 * Does candidate a beat b?  Ties go to the one listed first, so that the choice never
 * depends on rounding luck.
 */
static bool is_better(const struct estimate *a, const struct estimate *b)
{
    if (is_grid_good(a) != is_grid_good(b)) {
        return is_grid_good(a);
    }
    return a->total < b->total * (1.0 - 1e-9);
}

bool cost_choose_tiling(const struct arch *arch, uint32_t compute_units, int64_t m,
                        struct kernel_config *config, struct estimate *best)
{
    bool fused = config->family == FAMILY_GEMM_FUSED;
    uint32_t m_rep_max = fused ? 2 : 16;
    uint32_t waves_max = fused ? 16 : 8;
    struct kernel_config c = *config;
    bool found = false;

    /* Rows beyond M are work for nothing, so a tile is at most one power of two above it. */
    for (c.m_rep = 1; c.m_rep <= m_rep_max && (c.m_rep == 1 || 8 * (int64_t)c.m_rep < m);
         c.m_rep *= 2) {
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
