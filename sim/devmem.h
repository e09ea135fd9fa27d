/* SPDX-License-Identifier: MIT */
/*
 * Device memory: allocations that kernels address directly.
 *
 * A device address is the host address of the same byte.  Every allocation lies
 * between guard gaps that are never mapped, so that an access past its end hits
 * no other allocation.  Freed address ranges stay reserved for a while: an access
 * to one is told apart from an access to nowhere.
 *
 * Threads: every function may be called from any thread.  sim_mem_free must not
 * run while a kernel may still touch the allocation (hipFree waits for the device).
 */
#ifndef SIM_DEVMEM_H
#define SIM_DEVMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MEM_ALIGN 256

/* Flags of an allocation. */
enum {
    SIM_ALLOC_HOST = 1 << 0,     /* pinned host memory: the host may touch it too */
    SIM_ALLOC_TRACK = 1 << 1,    /* remember which bytes have been written */
    SIM_ALLOC_INTERNAL = 1 << 2, /* the simulator's own: kernel arguments, code, packets */
    SIM_ALLOC_READONLY = 1 << 3, /* kernels may not write */
    SIM_ALLOC_ADOPTED = 1 << 4   /* registered host memory, set by sim_mem_adopt */
};

struct sim_mem_info {
    uint64_t base;
    uint64_t size; /* bytes asked for */
    uint32_t flags;
    int device;
    uint64_t serial;  /* number of the allocation since start, from 1 */
    void *user;       /* sim_mem_set_user */
    uint8_t *defined; /* SIM_ALLOC_TRACK: one byte a byte, nonzero = written; else NULL */
};

/* What an address is. */
enum sim_mem_state {
    SIM_MEM_LIVE,   /* inside a live allocation */
    SIM_MEM_FREED,  /* inside an allocation that has been freed */
    SIM_MEM_GAP,    /* in a guard gap: past the end or before the start of one */
    SIM_MEM_FOREIGN /* nothing of ours: ordinary host memory, or nowhere */
};

/*
 * Returns NULL when the host has no memory, or when the device's total would pass
 * sim_mem_limit.  size 0 gives an allocation of no bytes with an address of its own.
 * poison: byte to fill with; negative leaves zeros.
 */
void *sim_mem_alloc(int device, size_t size, unsigned flags, int poison);

/* Make memory of the host visible to kernels (hipHostRegister).  False when it overlaps. */
bool sim_mem_adopt(int device, void *host, size_t size, unsigned flags);

/* False when `ptr` is not the base of a live allocation.  Adopted memory is only forgotten. */
bool sim_mem_free(void *ptr);

/* State of addr; *out (may be NULL) is filled for SIM_MEM_LIVE and SIM_MEM_FREED. */
enum sim_mem_state sim_mem_lookup(uint64_t addr, struct sim_mem_info *out);

/* The live allocation that holds addr; false when there is none. */
bool sim_mem_find(uint64_t addr, struct sim_mem_info *out);

/* True when [addr, addr+size) lies in one live allocation. */
bool sim_mem_valid(uint64_t addr, size_t size);

bool sim_mem_set_user(void *base, void *user);

/* True when addr lies in an allocation that has been freed and is still remembered. */
static inline bool sim_mem_was_freed(uint64_t addr)
{
    return sim_mem_lookup(addr, NULL) == SIM_MEM_FREED;
}

/*
 * Where addr lies, for reports: "12 bytes past the end of allocation #3 [0x..., +4096)",
 * "inside freed allocation #2 ...", "null pointer", "no allocation within ...".
 * size = bytes of the access.  Returns buf.
 */
char *sim_mem_describe(uint64_t addr, size_t size, char *buf, size_t bufsize);

/* Mark bytes written (or not) in the shadow, where there is one.  Host copies call this. */
void sim_mem_set_defined(uint64_t addr, size_t size, bool defined);

/* Bytes and number of a device's live allocations; internal and host ones do not count. */
void sim_mem_usage(int device, uint64_t *bytes, uint64_t *count);

/* Capacity of each device for allocations that sim_mem_usage counts; 288e9 at start. */
void sim_mem_set_limit(uint64_t bytes);
uint64_t sim_mem_limit(void);

/*
 * Forget everything: live allocations, freed ranges, the table itself.  For unloading;
 * no kernel may run and no device pointer be used afterwards.
 */
void sim_mem_reset(void);

/* Changes whenever an allocation appears or goes: cached lookups are valid while it stays. */
uint64_t sim_mem_generation(void);

#endif
