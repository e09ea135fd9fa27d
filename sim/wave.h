/* SPDX-License-Identifier: MIT */
/*
 * State of one wave, one workgroup and one dispatch, and the services that
 * instruction semantics may use: register access, memory access, reports.
 */
#ifndef SIM_WAVE_H
#define SIM_WAVE_H

#include "inst.h"

#define SIM_LANES 64

struct sim_code;     /* decoded code object, loader.h */
struct sim_dispatch; /* one kernel launch, group.h */
struct sim_group;    /* one running workgroup, group.h */
struct sim_check;    /* per-wave checker state: waits, hazards, definedness; wave_check.h */

enum sim_wave_state {
    SIM_WAVE_RUNNING,
    SIM_WAVE_BARRIER, /* waits at s_barrier */
    SIM_WAVE_ENDED,
    SIM_WAVE_FAULTED /* stopped by a fault that hardware would raise too */
};

struct sim_wave {
    /* Vector registers: 0..255 architectural, 256..511 accumulation. */
    _Alignas(64) uint32_t vgpr[512][SIM_LANES];
    uint32_t sgpr[SIM_SGPR_COUNT]; /* includes VCC, M0 and EXEC at their operand numbers */
    uint64_t pc;        /* image offset of the next instruction; a branch writes it */
    uint64_t code_base; /* device address of image offset 0: s_getpc = code_base + pc */
    uint32_t mode;      /* MODE register; FP_ROUND [3:0], FP_DENORM [7:4], ... */
    uint8_t scc;
    uint8_t state;  /* enum sim_wave_state */
    uint8_t yield;  /* let other waves run before the next instruction */
    uint32_t index; /* number of this wave in its workgroup */
    struct sim_group *group;
    struct sim_dispatch *dispatch;
    struct sim_check *check;
    const struct sim_inst *inst; /* the instruction being executed */
};

/*
 * Flat address apertures.  A flat address whose upper half equals that of a base lies
 * in the aperture; the lower half is the LDS or scratch offset.
 */
#define SIM_SHARED_BASE 0x0001000000000000ull
#define SIM_SHARED_LIMIT 0x00010000ffffffffull
#define SIM_PRIVATE_BASE 0x0002000000000000ull
#define SIM_PRIVATE_LIMIT 0x00020000ffffffffull

/* s_sleep and the like: other waves of the workgroup, and other workgroups, run first. */
static inline void sim_wave_yield(struct sim_wave *w)
{
    w->yield = 1;
}

static inline uint64_t sim_exec_mask(const struct sim_wave *w)
{
    return w->sgpr[SIM_SGPR_EXEC] | (uint64_t)w->sgpr[SIM_SGPR_EXEC + 1] << 32;
}

static inline uint64_t sim_vcc(const struct sim_wave *w)
{
    return w->sgpr[SIM_SGPR_VCC] | (uint64_t)w->sgpr[SIM_SGPR_VCC + 1] << 32;
}

/* A scalar register pair at operand number `reg`. */
static inline uint64_t sim_sgpr64(const struct sim_wave *w, unsigned reg)
{
    return w->sgpr[reg] | (uint64_t)w->sgpr[reg + 1] << 32;
}

/* The register file row of a vector operand's dword `i`. */
static inline uint32_t *sim_vrow(struct sim_wave *w, const struct sim_opnd *o, unsigned i)
{
    return w->vgpr[(o->kind == SIM_OPND_AGPR ? 256u : 0u) + o->reg + i];
}

/*
 * Kinds of finding.  A fault stops the kernel as hardware would (or because
 * going on would be a guess); a report is recorded and execution goes on.
 */
enum sim_finding {
    SIM_FIND_UNKNOWN_INST,  /* fault: not in the table, or a form not implemented */
    SIM_FIND_MEM_BOUNDS,    /* fault: access outside a live allocation */
    SIM_FIND_MEM_ALIGN,     /* report; atomics: fault */
    SIM_FIND_LDS_BOUNDS,    /* report: hardware drops or returns 0 */
    SIM_FIND_WAITCNT,       /* report: register used before its s_waitcnt */
    SIM_FIND_HAZARD,        /* report: wait states that hardware does not interlock */
    SIM_FIND_BARRIER,       /* report: a wave ended before a barrier that others wait at */
    SIM_FIND_UNINIT_REG,    /* report: register read before any write */
    SIM_FIND_UNINIT_LDS,    /* report */
    SIM_FIND_UNINIT_MEM,    /* report, only where the runtime was asked to track it */
    SIM_FIND_UNPREDICTABLE, /* report: no AMD document defines the result */
    SIM_FIND_LDS_RACE,      /* report: two waves touch an LDS byte with no barrier between */
    SIM_FIND_TRAP,          /* fault: s_trap, illegal pc, endless kernel */
    SIM_FIND_COUNT
};

/*
 * Record a finding at the wave's current instruction.  `lane` is -1 when it
 * concerns the whole wave; fmt describes register, address and value.  Faults
 * set state = SIM_WAVE_FAULTED; the executor must then return at once.
 */
void sim_find(struct sim_wave *w, enum sim_finding what, int lane, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
