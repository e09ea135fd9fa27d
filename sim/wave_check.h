/* SPDX-License-Identifier: MIT */
/*
 * The sanitizer's state of one wave: which registers hold defined data, which wait for
 * a load, and when they were last written, for wait-state hazards.
 */
#ifndef SIM_WAVE_CHECK_H
#define SIM_WAVE_CHECK_H

#include "icache.h"
#include "wave.h"

/* What a pending register waits for. */
enum sim_pending { SIM_PEND_NONE, SIM_PEND_VM, SIM_PEND_DS, SIM_PEND_FLAT, SIM_PEND_SMEM };

struct sim_vstate {
    uint64_t defined;  /* lanes all of whose bytes are defined */
    uint32_t pending;  /* sequence number of the load that writes it, in the counter of kind */
    uint32_t written;  /* tick after the last writer */
    uint32_t busy;     /* tick from which no consumer can be too early */
    uint32_t war;      /* tick from which it may be overwritten by a VALU */
    uint8_t kind;      /* enum sim_pending */
    uint8_t writer;    /* enum sim_hazard_class of the last writer */
    uint8_t passes;    /* of the last writer, MFMA */
    uint8_t war_needs; /* wait states behind `war`, for the report */
    uint8_t war_kind;  /* 0 MFMA reads SrcC, 1 wide store reads data */
    uint8_t has_parts; /* parts[] holds bytes */
    uint8_t base_gap;  /* register's place in the writer's destination */
    uint8_t span;      /* registers of the writer's destination */
};

struct sim_sstate {
    uint32_t pending;
    uint32_t written; /* tick after the last VALU (or, for M0, SALU) writer */
    uint8_t kind;
    uint8_t is_defined;
    uint8_t writer; /* enum sim_hazard_class */
};

/* One outstanding-operation counter: operations issued, and how many are known done. */
struct sim_queue {
    uint32_t issued, done, published;
};

struct sim_check {
    struct sim_vstate v[512];
    struct sim_sstate s[SIM_SGPR_COUNT + 1];
    uint64_t parts[512][4]; /* lanes whose byte i is defined, where vstate.has_parts */
    uint32_t tick;          /* wait states issued so far */
    uint32_t exec_written;  /* tick after the last VALU that wrote EXEC */
    uint32_t setreg_written; /* tick after the last s_setreg */
    uint16_t setreg_id;      /* hardware register that it wrote */
    struct sim_queue vm, ds, smem;
    struct sim_queue flat_vm, flat_lgkm; /* FLAT counts in both */
    uint64_t undefined[16]; /* set by a load: lanes of each result dword without defined data */
    bool has_undefined;
    uint8_t scc_defined;
};

void sim_check_reset(struct sim_wave *w, uint32_t vgprs, uint32_t agprs);

/* Before an instruction runs: everything about the registers it reads and overwrites. */
void sim_check_before(struct sim_wave *w, const struct sim_dec *d);

/* After it ran: what it wrote is defined, pending or fresh; time advances. */
void sim_check_after(struct sim_wave *w, const struct sim_dec *d, uint64_t exec_before);

/* s_waitcnt with raw counter values. */
void sim_check_waitcnt(struct sim_wave *w, unsigned vmcnt, unsigned lgkmcnt);

/* True while the load behind a register with this mark may still be under way. */
bool sim_check_is_pending(const struct sim_check *c, unsigned kind, uint32_t pending);

/* Lanes that are defined in VGPR row r (bytes in mask). */
uint64_t sim_check_defined(const struct sim_check *c, unsigned r, unsigned bytes);

/* First register of a span, as VGPR indexing moves it. */
unsigned sim_span_base(const struct sim_wave *w, const struct sim_dec *d,
                       const struct sim_span *s);

/* Lanes whose sources the instruction reads. */
uint64_t sim_lanes_read(const struct sim_wave *w, const struct sim_dec *d, uint64_t exec);

/* check_hazard.c: called where a tick test says that there may be a hazard. */
void sim_hazard_vread(struct sim_wave *w, const struct sim_dec *d, const struct sim_span *s,
                      unsigned r);
void sim_hazard_vwrite(struct sim_wave *w, const struct sim_dec *d, const struct sim_span *s,
                       unsigned r);
void sim_hazard_sread(struct sim_wave *w, const struct sim_dec *d, const struct sim_span *s,
                      unsigned r);
void sim_hazard_exec(struct sim_wave *w, const struct sim_dec *d);
void sim_hazard_hwreg(struct sim_wave *w, const struct sim_dec *d);

/* Role of a matrix instruction's SrcC: SMFMAC accumulates into its destination. */
unsigned sim_hazard_srcc(const struct sim_dec *d);

/* The longest wait that any consumer of this writer needs. */
unsigned sim_hazard_longest(unsigned writer, unsigned passes);

/* Name of a register for reports: "v3", "a7", "s12", "vcc_lo", ... */
const char *sim_vreg_name(unsigned r, char *buf, size_t size);
const char *sim_sreg_name(unsigned r, char *buf, size_t size);

#endif
