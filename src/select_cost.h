/* SPDX-License-Identifier: MIT */
/* The chooser's cost model: what a config costs, and the cheapest of a family. */
#ifndef MXG_SELECT_COST_H
#define MXG_SELECT_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"
#include "kernel_config.h"

/* One candidate's estimated microseconds, launches left out. */
struct estimate {
    double memory, cache, latency, matrix, quantize, total;
    int64_t workgroups;
};

/* The largest of an estimate's parts but latency. */
double cost_work(const struct estimate *estimate);

/* Quantising A once: bytes in and out, and one load's latency. */
double cost_quantize(const struct arch *arch, int64_t m, int64_t k);

/*
 * Fill the tiling of *config, whose family, sizes, types and layouts are set.  False if
 * none fits.
 */
bool cost_choose_tiling(const struct arch *arch, uint32_t compute_units, int64_t m,
                        struct kernel_config *config, struct estimate *best);

#endif
