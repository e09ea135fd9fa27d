/* SPDX-License-Identifier: MIT */
/*
 * Scalar memory instructions (ISA text, chapter 8) and cache control.
 */
#include "exec_mem.h"

#include <stdatomic.h>
#include <string.h>

/* Core clocks for each tick of the constant 100 MHz counter, at 2.4 GHz. */
#define CLOCKS_PER_REALTIME 24

static uint64_t scalar_offset(const struct sim_wave *w, const struct sim_inst *in)
{
    const struct sim_opnd *s = &in->src[2];
    uint64_t offset = (uint64_t)(int64_t)in->offset;
    return offset + (s->kind == SIM_OPND_SGPR ? w->sgpr[s->reg] : 0);
}

static uint32_t read_dword(uint64_t addr)
{
    return __atomic_load_n((const uint32_t *)(uintptr_t)addr, __ATOMIC_RELAXED);
}

static void put(struct sim_wave *w, const struct sim_opnd *dst, unsigned i, uint32_t value)
{
    if (dst->reg + i < SIM_SGPR_COUNT) {
        w->sgpr[dst->reg + i] = value;
    }
}

/* "The two LSBs are ignored and treated as if they were zero" (8.2.1.1). */
static uint64_t dword_address(struct sim_wave *w, uint64_t addr)
{
    if (addr & 3) {
        sim_find(w, SIM_FIND_MEM_ALIGN, -1, "scalar address 0x%llx is not a multiple of 4",
                 (unsigned long long)addr);
    }
    return addr & ~(uint64_t)3;
}

void sim_x_s_load(struct sim_wave *w, const struct sim_inst *in)
{
    unsigned dwords = in->op->p[0];
    uint64_t base = sim_sgpr64(w, in->src[0].reg);
    uint64_t addr = dword_address(w, base + scalar_offset(w, in));
    if (!sim_mem_check_scalar(w, addr, 4 * dwords)) {
        return;
    }
    uint32_t value[16];
    for (unsigned i = 0; i < dwords; i++) {
        value[i] = read_dword(addr + 4 * i);
    }
    for (unsigned i = 0; i < dwords; i++) {
        put(w, &in->dst[0], i, value[i]);
    }
}

void sim_x_s_buffer_load(struct sim_wave *w, const struct sim_inst *in)
{
    unsigned dwords = in->op->p[0], reg = in->src[0].reg;
    const uint32_t *s = &w->sgpr[reg <= SIM_SGPR_COUNT - 4 ? reg : 0];
    uint64_t base = (s[0] | (uint64_t)(s[1] & 0xffff) << 32) & ~(uint64_t)3;
    uint32_t stride = s[1] >> 16 & 0x3fff;
    uint64_t size = stride ? (uint64_t)stride * s[2] : s[2];
    uint64_t offset = dword_address(w, scalar_offset(w, in));
    uint32_t value[16];
    for (unsigned i = 0; i < dwords; i++) {
        bool is_inside = offset + 4 * i < size;
        if (is_inside && !sim_mem_check_scalar(w, base + offset + 4 * i, 4)) {
            return;
        }
        value[i] = is_inside ? read_dword(base + offset + 4 * i) : 0;
    }
    for (unsigned i = 0; i < dwords; i++) {
        put(w, &in->dst[0], i, value[i]);
    }
}

/*
 * Time is the count of instructions that the workgroup has run: it rises, and the same
 * program reads the same values each time.
 */
void sim_x_s_memtime(struct sim_wave *w, const struct sim_inst *in)
{
    uint64_t now = (++w->group->clock) * 4;
    now = in->op->p[0] ? now / CLOCKS_PER_REALTIME : now;
    put(w, &in->dst[0], 0, (uint32_t)now);
    put(w, &in->dst[0], 1, (uint32_t)(now >> 32));
}

/* Caches are not modelled; what remains of these is their effect on ordering. */
void sim_x_cache(struct sim_wave *w, const struct sim_inst *in)
{
    (void)w;
    (void)in;
    atomic_thread_fence(memory_order_seq_cst);
}
