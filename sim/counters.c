/* SPDX-License-Identifier: MIT */
/*
 * The process's totals of all counters.
 */
#include "counters.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mxgsim_counters totals; /* Guarded by lock. */

/* The struct is uint64_t fields throughout, so that it adds as an array. */
#define FIELDS (sizeof(struct mxgsim_counters) / sizeof(uint64_t))

void sim_counts_flush(struct sim_counts *counts)
{
    struct mxgsim_counters *c = &counts->c;
    const uint64_t *by = counts->by_class;
    c->salu += by[SIM_COUNT_SALU];
    c->valu += by[SIM_COUNT_VALU];
    c->trans += by[SIM_COUNT_TRANS];
    c->mfma += by[SIM_COUNT_MFMA];
    c->smem += by[SIM_COUNT_SMEM];
    c->vmem += by[SIM_COUNT_VMEM];
    c->ds += by[SIM_COUNT_DS];
    c->branch += by[SIM_COUNT_BRANCH];
    c->other += by[SIM_COUNT_OTHER];
    for (unsigned i = 0; i < SIM_COUNT_CLASSES; i++) {
        c->instructions += by[i];
    }
    uint64_t add[FIELDS], sum[FIELDS];
    memcpy(add, c, sizeof add);
    pthread_mutex_lock(&lock);
    memcpy(sum, &totals, sizeof sum);
    for (size_t i = 0; i < FIELDS; i++) {
        sum[i] += add[i];
    }
    memcpy(&totals, sum, sizeof sum);
    pthread_mutex_unlock(&lock);
    memset(counts, 0, sizeof *counts);
}

void mxgsim_counters(struct mxgsim_counters *out)
{
    pthread_mutex_lock(&lock);
    *out = totals;
    pthread_mutex_unlock(&lock);
}

void mxgsim_counters_reset(void)
{
    pthread_mutex_lock(&lock);
    memset(&totals, 0, sizeof totals);
    pthread_mutex_unlock(&lock);
}
