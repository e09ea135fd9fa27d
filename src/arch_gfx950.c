/* SPDX-License-Identifier: MIT */
/*
 * gfx950 (MI350 series): the chooser's figures, and the registers that the kernels take
 * there.
 */
#include "arch.h"

/*
 * Registers a lane that the compiler may use: 512 a SIMD, shared by the waves a workgroup
 * puts on it.
 */
static uint32_t register_limit(uint32_t waves)
{
    return waves == 16 ? 128 : waves == 8 ? 256 : 512;
}

/*
 * Tilings that were seen to compile without spills, over shapes with and
 * without ragged edges (`kernel_sweep figures` compiles every one).
 */
static bool is_spill_free(const struct kernel_config *config)
{
    if (config->family == FAMILY_GEMM_FUSED) {
        /* Sixteen waves leave 128 registers, which two tiles by two overflow. */
        return config->waves < 16 || config->m_rep == 1 || config->n_rep == 1;
    }
    /*
     * Eight waves leave 256 registers: 16 tiles of sums and their operands, if scales come
     * in dwords.
     */
    bool is_shuffled = config->a_scale_layout == MXG_LAYOUT_SHUFFLED &&
                       config->b_scale_layout == MXG_LAYOUT_SHUFFLED;
    uint32_t most = config->waves < 8 ? 32 : is_shuffled ? 16 : 8;
    return config->m_rep * config->n_rep <= most;
}

/*
 * Depth of the ring, as kernel_src/pipeline.h computes it: the largest of 8, 4,
 * 2, 1 whose registers fit.
 */
static bool figures(const struct kernel_config *config, uint32_t *depth, uint32_t *vgprs)
{
    bool fused = config->family == FAMILY_GEMM_FUSED;
    uint32_t m = config->m_rep, n = config->n_rep;
    uint32_t limit = config->waves == 16 ? 128 : 240;
    uint32_t fixed = 4 * m * n + m + (!fused ? 32 : config->waves == 16 ? 48 : 104);
    uint32_t step = (fused ? 16 : 4) * m + 4 * n;
    uint32_t a_chunk = fused                                           ? 0
                       : config->a_scale_layout == MXG_LAYOUT_SHUFFLED ? (m + 1) / 2
                                                                       : 2 * m;
    uint32_t b_chunk = config->b_scale_layout == MXG_LAYOUT_SHUFFLED ? (n + 1) / 2 : 2 * n;

    uint32_t d = 8;
    while (d > 1 && fixed + d * step + (d + 1) / 2 * (a_chunk + b_chunk) > limit) {
        d /= 2;
    }
    *depth = d;
    *vgprs = fixed + d * step + (d + 1) / 2 * (a_chunk + b_chunk);
    if (*vgprs > register_limit(config->waves)) {
        *vgprs = register_limit(config->waves);
    }
    return is_spill_free(config);
}

const struct arch arch_gfx950 = {
    .name = "gfx950",
    /*
     * CDNA4 whitepaper: 8 dies of 32 compute units, 4 matrix cores each, 160 KiB of LDS,
     * 2.4 GHz, 8 TB/s.
     */
    .compute_units = 256,
    .simds = 4,
    .lds_bytes = KERNEL_LDS_MAX,
    .clock_ghz = 2.4,
    .memory_gb_s = 8000.0,
    /*
     * CDNA4 ISA text, "VGPRs" and "LDS": 512 registers a lane and SIMD, shared by the two
     * register files.
     */
    .vgprs_per_simd = 512,
    .vgpr_granule = 8,
    .waves_per_simd = 8,
    /* LLVM's AMDGPU target: 320-dword LDS granule, 16 barriers a compute unit. */
    .lds_granule = 1280,
    .workgroups_per_cu = 16,
    /* CDNA3 and CDNA4 whitepapers: 64 bytes a clock from the 32 KiB vector cache. */
    .cu_bytes_per_clock = 64.0,
    /* ISA text, "MFMA passes": four passes of four clocks without FP8. */
    .mfma_clocks = 16.0,
    /* A wave64 instruction takes a 16-lane SIMD four clocks. */
    .valu_clocks = 4.0,
    /*
     * Counted in the compiled fused kernel: 17 for amax, 16 conversions, 8 for the scale
     * and the loop.
     */
    .quantize_valu = 41.0,
    /* Timed on MI355X: an empty launch, and each further one. */
    .launch_us = 4.2,
    .next_launch_us = 1.5,
    /* Assumed: no document gives it; published pointer chases on MI300X see 0.7 to 0.9 us. */
    .latency_us = 0.8,
    /* Assumed: about 500 clocks for the write, the barrier, the reads and the sum. */
    .barrier_us = 0.2,
    .figures = figures,
};
