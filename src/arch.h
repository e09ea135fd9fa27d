/* SPDX-License-Identifier: MIT */
/*
 * Architectures: what the chooser must know of one, a row each.  A new one is
 * a file with a row, an entry in select.c's table, kernel sources that compile
 * for it, and tests.
 */
#ifndef MXG_ARCH_H
#define MXG_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel_config.h"

struct arch {
    const char *name;           /* as the device says it, without features */
    uint32_t compute_units;     /* of a whole device; device_facts has the real number */
    uint32_t simds;             /* of a compute unit */
    uint32_t waves_per_simd;    /* most that one SIMD holds */
    uint32_t workgroups_per_cu; /* of more than one wave */
    uint32_t vgprs_per_simd;    /* registers a lane, shared by a SIMD's waves */
    uint32_t vgpr_granule;      /* allocation unit of a wave */
    uint32_t lds_bytes;         /* of a compute unit */
    uint32_t lds_granule;       /* allocation unit of a workgroup */

    double clock_ghz;
    double memory_gb_s;        /* HBM */
    double cu_bytes_per_clock; /* into a compute unit, through its vector cache */
    double mfma_clocks;        /* of one step: 16x16x128, FP4 */
    double valu_clocks;        /* of one wave64 VALU instruction */
    double quantize_valu;      /* VALU instructions for one MX block a lane */
    double launch_us;          /* an empty timed launch */
    double next_launch_us;     /* each further launch of a call */
    double latency_us;         /* a load that misses every cache */
    double barrier_us;         /* write partial sums to LDS, meet, add and store */

    /*
     * Steps of K that a wave of this config keeps in flight, and registers a
     * lane that it takes.  False if the kernel would spill: the chooser never
     * picks such a config.
     */
    bool (*figures)(const struct kernel_config *config, uint32_t *depth, uint32_t *vgprs);
};

extern const struct arch arch_gfx950;

#endif
