/* SPDX-License-Identifier: MIT */
/*
 * Sweeps over kernel configs, longer than a unit test should be.
 *   kernel_sweep figures [N K]...     compile every tiling that the chooser may pick, in every
 *                                     layout: no spills, no scratch, code below 32 KiB
 *   kernel_sweep random SEED COUNT    random configs on random problems, against the oracle
 *   kernel_sweep choice M N K...      what the chooser picks, every variant, against the oracle
 * Exit status: 0 all right, 1 something is wrong, 77 no compiler or device.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "kernel_run.h"

#define CODE_MAX 32768

static void set_layouts(struct kernel_config *config, uint64_t bits)
{
    config->b_layout = bits & 1 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
    config->b_scale_layout = bits & 2 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
    if (config->family != FAMILY_GEMM_FUSED) {
        config->a_scale_layout = bits & 4 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
    }
}

/* Tiling number `index`, or false behind the last. */
static bool tiling(struct kernel_config *config, unsigned index)
{
    config->family = index % 2 ? FAMILY_GEMM_FUSED : FAMILY_GEMM;
    index /= 2;
    config->waves = 2u << index % 4;
    index /= 4;
    config->m_rep = 1u << index % 5;
    index /= 5;
    config->n_rep = 1u << index % 3;
    index /= 3;
    config->split_k = index % 2;
    return index < 2;
}

static bool check_figures(struct kernel_bench *bench, const struct kernel_config *config)
{
    struct kernel *kernel;
    char name[64];
    kernel_config_name(config, name, sizeof(name));
    if (!kernel_build(bench, config, &kernel)) {
        printf("%s: %s\n", name, mxg_last_error());
        return false;
    }
    const struct codeobj_kernel *f = &kernel->figures;
    bool ok = f->vgpr_spills == 0 && f->sgpr_spills == 0 && f->scratch_bytes == 0 &&
              f->code_bytes < CODE_MAX;
    if (!ok) {
        printf("%s: %" PRIu32 " VGPRs, %" PRIu32 " and %" PRIu32 " spilled, %" PRIu32
               " bytes of scratch, %" PRIu32 " of code\n",
               name, f->vgprs, f->vgpr_spills, f->sgpr_spills, f->scratch_bytes, f->code_bytes);
    }
    kernel_unload(&bench->hip, &mem_default, kernel);
    return ok;
}

static unsigned sweep_figures(struct kernel_bench *bench, int64_t n, int64_t k, unsigned *done)
{
    unsigned bad = 0;
    struct kernel_config config;
    memset(&config, 0, sizeof(config));
    config.n = n;
    config.k = k;
    config.c_type = MXG_TYPE_BF16;
    for (unsigned i = 0; tiling(&config, i); i++) {
        for (unsigned layouts = 0; layouts < 8;
             layouts += config.family == FAMILY_GEMM ? 3 : 1) {
            uint32_t depth, vgprs;
            config.a_scale_layout = 0;
            set_layouts(&config, layouts);
            if ((config.family == FAMILY_GEMM_FUSED && layouts > 3) ||
                kernel_config_check(&config) != MXG_OK ||
                !arch_gfx950.figures(&config, &depth, &vgprs)) {
                continue;
            }
            bad += !check_figures(bench, &config);
            ++*done;
        }
    }
    return bad;
}

static uint64_t pick(uint64_t *state, uint64_t count)
{
    return (oracle_random(state) >> 16) % count;
}

static struct kernel_case random_case(uint64_t *state)
{
    static const mxg_type types[] = { MXG_TYPE_BF16, MXG_TYPE_F16, MXG_TYPE_F32 };
    struct kernel_case test;
    do {
        memset(&test, 0, sizeof(test));
        struct kernel_config *config = &test.config;
        if (pick(state, 12) == 0) {
            config->family = FAMILY_QUANTIZE;
        } else {
            tiling(config, (unsigned)pick(state, 2 * 4 * 5 * 3 * 2));
            config->n = (int64_t)(1 + pick(state, pick(state, 2) ? 40 : 300));
            config->c_type = types[pick(state, 3)];
        }
        config->k = (int64_t)(32 * (1 + pick(state, pick(state, 2) ? 20 : 100)));
        set_layouts(config,
                    config->family == FAMILY_QUANTIZE ? 4 * pick(state, 2) : pick(state, 8));
        if (config->family == FAMILY_QUANTIZE) {
            config->b_layout = config->b_scale_layout = 0;
        }
        test.m = (int64_t)(1 + pick(state, pick(state, 2) ? 34 : 150));
        test.a_gap = (int64_t)(32 * pick(state, 3));
        test.b_gap =
            config->b_layout == MXG_LAYOUT_ROW_MAJOR ? (int64_t)(32 * pick(state, 3)) : 0;
        test.c_gap = (int64_t)pick(state, 6);
        test.c_shift = pick(state, 4);
        test.seed = oracle_random(state);
    } while (kernel_config_check(&test.config) != MXG_OK);
    return test;
}

static unsigned sweep_random(struct kernel_bench *bench, uint64_t seed, unsigned count)
{
    unsigned bad = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t state = seed + i;
        struct kernel_case test = random_case(&state);
        char name[64], why[1536];
        if (!kernel_case_run(bench, &test, why, sizeof(why))) {
            kernel_config_name(&test.config, name, sizeof(name));
            printf("seed %" PRIu64 ": %s, M %" PRId64 ": %s\n", seed + i, name, test.m, why);
            bad++;
        }
    }
    return bad;
}

static unsigned sweep_choice(struct kernel_bench *bench, int64_t m, int64_t n, int64_t k,
                             unsigned *done)
{
    unsigned bad = 0;
    for (uint32_t variant = MXG_VARIANT_FUSED; variant <= MXG_VARIANT_QUANTIZED; variant++) {
        struct gemm_shape shape = { m,
                                    n,
                                    k,
                                    variant == MXG_VARIANT_QUANTIZED ? MXG_TYPE_MXFP4
                                                                     : MXG_TYPE_BF16,
                                    MXG_TYPE_BF16,
                                    MXG_LAYOUT_SHUFFLED,
                                    MXG_LAYOUT_SHUFFLED,
                                    variant };
        struct select_plan plan;
        if (select_choose(&bench->facts, &shape, &plan) != MXG_OK) {
            printf("%s\n", mxg_last_error());
            bad++;
            continue;
        }
        printf("%s\n", plan.reason);
        for (uint32_t i = 0; i < plan.num_kernels; i++) {
            struct kernel_case test = { plan.kernels[i], m, 0, 0, 0, 0, 1, NULL };
            char name[64], why[1536];
            bool ok = kernel_case_run(bench, &test, why, sizeof(why));
            kernel_config_name(&test.config, name, sizeof(name));
            printf("  %s: %s\n", name, ok ? "right" : why);
            bad += !ok;
            ++*done;
        }
    }
    return bad;
}

int main(int argc, char **argv)
{
    struct kernel_bench bench;
    unsigned bad = 0, done = 0;
    if (argc < 2) {
        fprintf(stderr,
                "usage: kernel_sweep figures [N K]... | random SEED COUNT | choice M N K...\n");
        return 2;
    }
    if (!kernel_bench_open(&bench)) {
        fprintf(stderr, "skipped: %s\n", mxg_last_error());
        return 77;
    }
    if (strcmp(argv[1], "random") == 0 && argc == 4) {
        done = (unsigned)strtoul(argv[3], NULL, 10);
        bad = sweep_random(&bench, strtoull(argv[2], NULL, 10), done);
    } else if (strcmp(argv[1], "choice") == 0) {
        for (int i = 2; i + 2 < argc; i += 3) {
            bad +=
                sweep_choice(&bench, strtoll(argv[i], NULL, 10), strtoll(argv[i + 1], NULL, 10),
                             strtoll(argv[i + 2], NULL, 10), &done);
        }
    } else if (argc == 2) {
        bad =
            sweep_figures(&bench, 2112, 7168, &done) + sweep_figures(&bench, 100, 1696, &done);
    } else {
        for (int i = 2; i + 1 < argc; i += 2) {
            bad += sweep_figures(&bench, strtoll(argv[i], NULL, 10),
                                 strtoll(argv[i + 1], NULL, 10), &done);
        }
    }
    kernel_bench_close(&bench);
    printf("%u of %u wrong\n", bad, done);
    return bad == 0 ? 0 : 1;
}
