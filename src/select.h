/* SPDX-License-Identifier: MIT */
/* The chooser: a shape to the kernels that compute it, and why.  Pure; no HIP, no I/O. */
#ifndef MXG_SELECT_H
#define MXG_SELECT_H

#include "kernel_config.h"

/* Facts of a device that the chooser uses; filled from HIP attributes. */
struct device_facts {
    char arch[64]; /* "gfx950:sramecc+:xnack-" */
    uint32_t compute_units;
    uint32_t lds_per_cu; /* bytes */
};

struct select_plan {
    uint32_t variant; /* mxg_variant, never AUTO */
    uint32_t num_kernels;
    struct kernel_config kernels[MXG_PLAN_MAX_KERNELS]; /* in launch order */
    int64_t m_min, m_max; /* the M class; m_max INT64_MAX = open */
    char reason[512];
};

/* M classes are few, fixed and enumerable: class index of m (m >= 1), and its range. */
uint32_t select_m_class(int64_t m);
uint32_t select_m_class_count(void);
void select_m_class_range(uint32_t m_class, int64_t *min, int64_t *max);

/*
 * The plan for a shape.  It depends on m only through its class: every m of a
 * class gets the same kernels.  E_UNSUPPORTED when a forced variant does not
 * apply.
 */
mxg_status select_choose(const struct device_facts *device, const struct gemm_shape *shape,
                         struct select_plan *plan);

/* 1 if kernels exist for this architecture name ("gfx950", with or without features). */
int select_arch_supported(const char *arch);

/*
 * Bytes of the quantised A and, from *scale_offset on, its scales; 0 for one-launch
 * variants.
 */
mxg_status select_workspace(const struct select_plan *plan, const struct gemm_shape *shape,
                            size_t *bytes, size_t *scale_offset);

/*
 * Waves a CU can hold at once, from registers, LDS and the workgroup's size (ISA text,
 * gfx950 limits).
 */
uint32_t select_waves_per_cu(uint32_t vgprs_total, uint32_t lds_bytes, uint32_t threads);

#endif
