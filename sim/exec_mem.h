/* SPDX-License-Identifier: MIT */
/*
 * What the memory instructions share: lane addresses, range checks against live
 * allocations, moving data between registers and memory, atomic operations.
 */
#ifndef SIM_EXEC_MEM_H
#define SIM_EXEC_MEM_H

#include "group.h"
#include "wave_check.h"

/* The lanes of one access, with the byte each starts at. */
struct sim_lanes {
    uint64_t addr[SIM_LANES];
    uint64_t mask; /* lanes that access memory */
};

static inline unsigned sim_next_lane(uint64_t *mask)
{
    unsigned lane = (unsigned)__builtin_ctzll(*mask);
    *mask &= *mask - 1;
    return lane;
}

/* True when all 64 lanes access consecutive elements of `size` bytes. */
static inline bool sim_is_contiguous(const struct sim_lanes *l, unsigned size)
{
    uint64_t differs = ~l->mask;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        differs |= l->addr[lane] ^ (l->addr[0] + (uint64_t)lane * size);
    }
    return differs == 0;
}

/* Four dwords of one lane, and of four lanes: what 16-byte accesses move at a time. */
typedef uint32_t sim_quad __attribute__((vector_size(16), may_alias));

/* q[i] = lane i's four dwords before, and dword i of the four lanes after; or back. */
static inline void sim_transpose(sim_quad q[4])
{
    sim_quad a = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
    sim_quad b = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
    sim_quad c = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
    sim_quad d = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
    q[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    q[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    q[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    q[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

/*
 * Check that every lane's [addr, addr + size) lies in a live allocation, and count bytes
 * and lines.  A lane outside stops the kernel: false.
 */
bool sim_mem_check(struct sim_wave *w, const struct sim_lanes *l, unsigned size, bool is_write);

/* The same for one scalar access of `size` bytes. */
bool sim_mem_check_scalar(struct sim_wave *w, uint64_t addr, unsigned size);

/* Report lanes whose address is no multiple of align (a power of two); false: faulted. */
bool sim_mem_align(struct sim_wave *w, const struct sim_lanes *l, unsigned align,
                   const char *space);

/* Memory to the rows of dst; bytes 1, 2, 4, 8, 12, 16, flags SIM_P_*. */
void sim_mem_load(struct sim_wave *w, const struct sim_opnd *dst, const struct sim_lanes *l,
                  unsigned bytes, unsigned flags);

/* Rows of src to memory. */
void sim_mem_store(struct sim_wave *w, const struct sim_opnd *src, const struct sim_lanes *l,
                   unsigned bytes, unsigned flags);

/* Write `value`, loaded from `bytes` bytes of memory, to one lane as the flags say. */
void sim_narrow_result(uint32_t *reg, uint32_t value, unsigned bytes, unsigned flags);

/* Memory to LDS: lane i's data at byte lds + i * step. */
void sim_mem_load_lds(struct sim_wave *w, const struct sim_lanes *l, uint64_t zero_lanes,
                      uint32_t lds, unsigned bytes, unsigned flags);

/* One atomic on device memory per lane; dst may be NULL. */
void sim_mem_atomic(struct sim_wave *w, const struct sim_opnd *dst, const struct sim_opnd *data,
                    const struct sim_lanes *l, unsigned bytes, unsigned op);

/* The value an atomic leaves behind.  cmp is the second operand where there is one. */
uint32_t sim_atomic32(unsigned op, uint32_t old, uint32_t data, uint32_t cmp, bool flush);
uint64_t sim_atomic64(unsigned op, uint64_t old, uint64_t data, uint64_t cmp);

/* LDS side of flat instructions (exec_lds.c): addr holds LDS byte offsets. */
void sim_lds_load(struct sim_wave *w, const struct sim_opnd *dst, const struct sim_lanes *l,
                  unsigned bytes, unsigned flags);
void sim_lds_store(struct sim_wave *w, const struct sim_opnd *src, const struct sim_lanes *l,
                   unsigned bytes, unsigned flags, enum sim_lds_kind kind);
void sim_lds_atomic(struct sim_wave *w, const struct sim_opnd *dst, const struct sim_opnd *data,
                    const struct sim_opnd *data1, const struct sim_lanes *l, unsigned bytes,
                    unsigned op, enum sim_lds_kind kind);

/* Instructions, by the names in insts_*.def. */
sim_exec_fn sim_x_flat_load, sim_x_flat_store, sim_x_flat_atomic, sim_x_flat_load_lds;
sim_exec_fn sim_x_buffer_load, sim_x_buffer_store, sim_x_buffer_atomic;
sim_exec_fn sim_x_s_load, sim_x_s_buffer_load, sim_x_s_memtime, sim_x_cache;
sim_exec_fn sim_x_ds_read, sim_x_ds_write, sim_x_ds_read2, sim_x_ds_write2, sim_x_ds_atomic;
sim_exec_fn sim_x_ds_wrxchg2, sim_x_ds_swizzle, sim_x_ds_permute, sim_x_ds_bpermute;
sim_exec_fn sim_x_ds_read_tr, sim_x_ds_append, sim_x_ds_addtid, sim_x_ds_nop;
sim_exec_fn sim_x_s_barrier, sim_x_s_endpgm, sim_x_s_waitcnt, sim_x_s_sendmsg, sim_x_s_trap;

#endif
