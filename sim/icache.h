/* SPDX-License-Identifier: MIT */
/*
 * Decoded instructions of a code object, by pc: decoded when first reached, shared by
 * all threads, and classified for counters and checks once.
 */
#ifndef SIM_ICACHE_H
#define SIM_ICACHE_H

#include "inst.h"

#include <pthread.h>
#include <stdatomic.h>

struct sim_code;

/* How an instruction takes part in wait-state hazards (check_hazard.c). */
enum sim_hazard_class {
    SIM_HAZ_OTHER,
    SIM_HAZ_SALU,
    SIM_HAZ_SETREG,
    SIM_HAZ_GETREG,
    SIM_HAZ_VALU,
    SIM_HAZ_TRANS,
    SIM_HAZ_OPSEL, /* VALU that changes the bit position of its result: SDWA, byte != 0 */
    SIM_HAZ_DPP,   /* VALU that reads a source across lanes by DPP */
    SIM_HAZ_PERMLANE,
    SIM_HAZ_READLANE, /* v_readlane, v_readfirstlane, v_writelane */
    SIM_HAZ_MFMA,     /* XDL: the matrix unit proper */
    SIM_HAZ_SGEMM,    /* MFMA on f32 inputs */
    SIM_HAZ_DGEMM,    /* MFMA on f64 */
    SIM_HAZ_VMEM,
    SIM_HAZ_DS,
    SIM_HAZ_COUNT
};

enum {
    SIM_DEC_COPY = 1 << 0,       /* plain register copy: undefinedness goes along unreported */
    SIM_DEC_READS_M0 = 1 << 1,   /* M0 is really read (LDS-direct, sendmsg, ...) */
    SIM_DEC_LDS_DIRECT = 1 << 2, /* memory to LDS */
    SIM_DEC_SCRATCH = 1 << 3,    /* scratch segment */
    SIM_DEC_FLAT = 1 << 4,       /* flat segment: counts in vmcnt and lgkmcnt */
    SIM_DEC_WIDE_STORE = 1 << 5, /* store of 3 or 4 dwords, or a 64-bit compare-and-swap */
    SIM_DEC_ONE_LANE = 1 << 6,   /* writes one lane of its destination (v_writelane) */
    SIM_DEC_READS_ONE = 1 << 7,  /* reads one lane (v_readlane, v_readfirstlane) */
    SIM_DEC_CVT_BYTE = 1 << 8,   /* writes part of dst[0], keeping the rest */
    SIM_DEC_WHOLE = 1 << 9,      /* ignores EXEC: reads and writes all lanes */
    SIM_DEC_NO_COUNT = 1 << 11, /* memory family, but increments no counter (buffer_inv, ...) */
    SIM_DEC_PAIRS = 1 << 12,    /* two f32 operations side by side: dwords do not mix */
    SIM_DEC_LOW_ADD = 1 << 13,  /* 64-bit multiply-add: the low result needs no high addend */
    SIM_DEC_MASKS = 1 << 14,    /* logic on lane masks: one defined source is enough */
    SIM_DEC_CMPX = 1 << 10      /* VALU that writes EXEC */
};

/* A run of consecutive registers that an instruction reads or writes. */
struct sim_span {
    uint16_t first; /* VGPR space: 0..255 arch, 256..511 acc; SGPR space: operand number */
    uint8_t count;
    uint8_t role;  /* source index, or 8 + destination index */
    uint8_t bytes; /* bytes of each register that matter, bit mask */
};

#define SIM_SPANS 8

struct sim_dec {
    struct sim_inst inst;
    sim_exec_fn *exec;
    uint16_t flags;  /* SIM_DEC_* */
    uint8_t counter; /* index into the class counters */
    uint8_t hazard;  /* enum sim_hazard_class */
    uint8_t passes;  /* MFMA, adjusted for its formats */
    uint8_t vread_count, vwrite_count, sread_count, swrite_count;
    uint8_t states;              /* wait states that it amounts to: 1, or imm+1 for s_nop */
    uint16_t vgpr_top, agpr_top; /* registers needed: highest index + 1 */
    struct sim_span vread[SIM_SPANS], vwrite[3], sread[SIM_SPANS], swrite[3];
    struct sim_dec *next_owned;
};

struct sim_icache {
    _Atomic(struct sim_dec *) *at; /* by pc / 4; NULL = not decoded yet */
    size_t slots;
    pthread_mutex_t lock;  /* serialises decoding */
    struct sim_dec *owned; /* guarded by lock */
};

bool sim_icache_init(struct sim_icache *cache, size_t image_size);
void sim_icache_destroy(struct sim_icache *cache);

/*
 * The decoded instruction at image offset pc.  NULL when pc is misaligned, outside the
 * executable segments, undecodable or without memory; *why then tells which.
 */
enum sim_fetch { SIM_FETCH_OK, SIM_FETCH_BAD_PC, SIM_FETCH_UNKNOWN, SIM_FETCH_NO_MEMORY };
const struct sim_dec *sim_icache_decode(struct sim_code *code, uint64_t pc,
                                        enum sim_fetch *why);

/* classify.c: fill everything in *dec beyond inst. */
void sim_classify(struct sim_dec *dec);

#endif
