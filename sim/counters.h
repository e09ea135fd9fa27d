/* SPDX-License-Identifier: MIT */
/*
 * Counters of what kernels did: kept by each workgroup, added to the process's totals
 * when it ends.
 */
#ifndef SIM_COUNTERS_H
#define SIM_COUNTERS_H

#include "mxgsim.h"

enum sim_count_class {
    SIM_COUNT_SALU,
    SIM_COUNT_VALU,
    SIM_COUNT_TRANS,
    SIM_COUNT_MFMA,
    SIM_COUNT_SMEM,
    SIM_COUNT_VMEM,
    SIM_COUNT_DS,
    SIM_COUNT_BRANCH,
    SIM_COUNT_OTHER,
    SIM_COUNT_CLASSES
};

struct sim_counts {
    uint64_t by_class[SIM_COUNT_CLASSES];
    struct mxgsim_counters c; /* fields that the classes do not give */
};

/* Add a workgroup's (or a launch's) counts to the totals and clear them. */
void sim_counts_flush(struct sim_counts *counts);

#endif
