/* SPDX-License-Identifier: MIT */
/*
 * State of one launch and of one running workgroup, shared by dispatch, memory
 * instructions and checks.
 */
#ifndef SIM_GROUP_H
#define SIM_GROUP_H

#include "check_lds.h"
#include "counters.h"
#include "devmem.h"
#include "dispatch.h"
#include "wave.h"

#include <stdatomic.h>

#define SIM_LDS_MAX 163840u /* ISA text, 3.6.5: 160 KiB for one workgroup */
#define SIM_WAVES_MAX 16

struct sim_dispatch {
    const struct sim_launch *launch;
    struct sim_code *code;
    const struct sim_kernel *kernel;
    uint64_t kernarg; /* device address of the argument segment */
    size_t kernarg_size;
    uint64_t packet, queue; /* device addresses of the AQL packet and of a zeroed queue */
    uint64_t total_items[3];
    uint64_t groups; /* in the grid */
    uint32_t waves_per_group;
    uint32_t lds_size;               /* static + dynamic */
    uint32_t scratch_size;           /* bytes a lane */
    uint32_t vgpr_limit, agpr_limit; /* registers that the descriptor allocates */
    uint64_t max_insts;              /* of one wave */
    uint64_t dispatch_id;

    _Atomic uint64_t next_group;
    _Atomic int stop;                 /* a group faulted or the launch was cancelled */
    _Atomic int result;               /* enum sim_result of the first fault */
    char text[512];                   /* written by the thread that set result first */
    struct sim_dispatch *next_queued; /* pool.c */
    unsigned users;                   /* pool.c: threads working on it */
};

/* The allocations that this workgroup touched last, valid for one heap generation. */
#define SIM_MEM_CACHE 4
struct sim_mem_cache {
    uint64_t generation;
    unsigned next;
    struct sim_mem_info entry[SIM_MEM_CACHE];
};

struct sim_group {
    struct sim_dispatch *dispatch;
    uint32_t id[3];
    uint64_t linear;  /* number of the workgroup in the grid, x fastest */
    uint32_t size[3]; /* work-items; fewer in a partial last group */
    uint32_t wave_count;
    uint32_t ended, at_barrier;
    struct sim_wave *waves; /* wave_count of them */
    struct sim_check *checks;
    uint8_t *lds;
    uint32_t lds_size;
    uint8_t *scratch; /* wave-major, then lane-major: scratch_size bytes a lane */
    uint8_t *scratch_defined;
    uint32_t scratch_size;
    uint64_t clock; /* wave instructions run: what s_memtime reads */
    struct sim_lds_shadow shadow;
    struct sim_mem_cache cache;
    struct sim_counts counts;
};

/* End the launch with a result and a text; the first caller wins. */
void sim_dispatch_stop(struct sim_dispatch *d, enum sim_result result, const char *text);

/* wave_init.c: initial registers of a wave, from the kernel descriptor. */
void sim_wave_init(struct sim_group *g, struct sim_wave *w, uint32_t index);

/* kernarg.c: the argument segment with its hidden arguments, and the AQL packet. */
bool sim_kernarg_create(struct sim_dispatch *d);
void sim_kernarg_destroy(struct sim_dispatch *d);

/* pool.c: run all groups of a dispatch on the caller and the pool. */
void sim_pool_run(struct sim_dispatch *d);

/* run.c: waves that wait at a barrier go on when all live ones are there. */
void sim_barrier_release(struct sim_group *g);

#endif
