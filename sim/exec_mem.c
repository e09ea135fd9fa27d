/* SPDX-License-Identifier: MIT */
/*
 * Vector access to device memory: range checks and data movement.  Loads read memory
 * when they issue; the checks keep the program from using the result too early.
 */
#include "exec_mem.h"

#include <string.h>

#define LINE_SHIFT 7 /* 128-byte cache lines */
#define LINE_SLOTS 256

static uint32_t read32(uint64_t addr)
{
    const uint32_t *p = (const uint32_t *)(uintptr_t)addr;
    if (addr % 4 == 0) {
        /* Other workgroups may write here at the same time, as on hardware. */
        return __atomic_load_n(p, __ATOMIC_RELAXED);
    }
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void write32(uint64_t addr, uint32_t v)
{
    uint32_t *p = (uint32_t *)(uintptr_t)addr;
    if (addr % 4 == 0) {
        __atomic_store_n(p, v, __ATOMIC_RELAXED);
    } else {
        memcpy(p, &v, sizeof v);
    }
}

static uint32_t read_small(uint64_t addr, unsigned bytes)
{
    if (bytes == 1) {
        return __atomic_load_n((const uint8_t *)(uintptr_t)addr, __ATOMIC_RELAXED);
    }
    if (addr % 2 == 0) {
        return __atomic_load_n((const uint16_t *)(uintptr_t)addr, __ATOMIC_RELAXED);
    }
    uint16_t v;
    memcpy(&v, (const void *)(uintptr_t)addr, sizeof v);
    return v;
}

static void write_small(uint64_t addr, uint32_t value, unsigned bytes)
{
    if (bytes == 1) {
        __atomic_store_n((uint8_t *)(uintptr_t)addr, (uint8_t)value, __ATOMIC_RELAXED);
    } else if (addr % 2 == 0) {
        __atomic_store_n((uint16_t *)(uintptr_t)addr, (uint16_t)value, __ATOMIC_RELAXED);
    } else {
        uint16_t v = (uint16_t)value;
        memcpy((void *)(uintptr_t)addr, &v, sizeof v);
    }
}

/* The cached allocation that holds the whole access, looked up when needed; or NULL. */
static const struct sim_mem_info *find(struct sim_group *g, uint64_t addr, uint64_t size)
{
    struct sim_mem_cache *c = &g->cache;
    for (unsigned i = 0; i < SIM_MEM_CACHE; i++) {
        const struct sim_mem_info *e = &c->entry[i];
        if (addr - e->base < e->size && size <= e->size - (addr - e->base)) {
            return e;
        }
    }
    struct sim_mem_info info;
    if (!sim_mem_find(addr, &info) || addr - info.base >= info.size ||
        size > info.size - (addr - info.base)) {
        return NULL;
    }
    c->next = (c->next + 1) % SIM_MEM_CACHE;
    c->entry[c->next] = info;
    return &c->entry[c->next];
}

static void refresh(struct sim_group *g)
{
    uint64_t generation = sim_mem_generation();
    if (g->cache.generation != generation) {
        memset(&g->cache, 0, sizeof g->cache);
        g->cache.generation = generation;
    }
}

static void out_of_bounds(struct sim_wave *w, uint64_t addr, unsigned size, int lane,
                          const char *verb)
{
    char where[160];
    sim_find(w, SIM_FIND_MEM_BOUNDS, lane, "%s of %u bytes at 0x%llx: %s", verb, size,
             (unsigned long long)addr, sim_mem_describe(addr, size, where, sizeof where));
}

/* Definedness of memory, where the allocation keeps it. */
static void check_tracked(struct sim_wave *w, const struct sim_mem_info *e, uint64_t addr,
                          unsigned size, int lane, bool is_write)
{
    uint8_t *shadow = e->defined + (addr - e->base);
    if (is_write) {
        memset(shadow, 1, size);
        return;
    }
    const uint8_t *hole = memchr(shadow, 0, size);
    if (hole) {
        char where[160];
        uint64_t at = addr + (uint64_t)(hole - shadow);
        sim_find(w, SIM_FIND_UNINIT_MEM, lane,
                 "byte at 0x%llx is read and nothing has written it: %s",
                 (unsigned long long)at, sim_mem_describe(at, 1, where, sizeof where));
    }
}

/* One lane in full: bounds, write permission, definedness. */
static bool check_lane(struct sim_wave *w, uint64_t addr, unsigned size, int lane,
                       bool is_write)
{
    const struct sim_mem_info *e = find(w->group, addr, size);
    if (!e) {
        out_of_bounds(w, addr, size, lane, is_write ? "write" : "read");
        return false;
    }
    if (is_write && (e->flags & SIM_ALLOC_READONLY)) {
        out_of_bounds(w, addr, size, lane, "write to read-only memory");
        return false;
    }
    if (e->defined) {
        check_tracked(w, e, addr, size, lane, is_write);
    }
    return true;
}

/* Distinct lines that the lanes touch. */
static unsigned count_lines(const struct sim_lanes *l, unsigned size)
{
    uint64_t slots[LINE_SLOTS];
    bool is_hashed = false;
    uint64_t highest = 0, m = l->mask;
    unsigned lines = 0;
    if (sim_is_contiguous(l, size)) {
        return (unsigned)(((l->addr[SIM_LANES - 1] + size - 1) >> LINE_SHIFT) -
                          (l->addr[0] >> LINE_SHIFT) + 1);
    }
    while (m) {
        unsigned lane = sim_next_lane(&m);
        uint64_t line = l->addr[lane] >> LINE_SHIFT;
        uint64_t last = (l->addr[lane] + size - 1) >> LINE_SHIFT;
        if (line == highest && last == highest) {
            continue;
        }
        if (line < highest) {
            is_hashed = true;
            break;
        }
        lines += (line > highest) + (last > line);
        highest = last;
    }
    if (!is_hashed) {
        return lines;
    }
    memset(slots, 0, sizeof slots);
    lines = 0;
    for (m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        uint64_t line = l->addr[lane] >> LINE_SHIFT;
        uint64_t last = (l->addr[lane] + size - 1) >> LINE_SHIFT;
        for (; line <= last; line++) {
            unsigned at = (unsigned)(line * 0x9e3779b97f4a7c15ull >> 56);
            while (slots[at] && slots[at] != line) {
                at = (at + 1) % LINE_SLOTS;
            }
            lines += slots[at] == 0;
            slots[at] = line;
        }
    }
    return lines;
}

static void count_access(struct sim_wave *w, const struct sim_lanes *l, unsigned size,
                         bool is_write)
{
    struct mxgsim_counters *c = &w->group->counts.c;
    uint64_t bytes = (uint64_t)__builtin_popcountll(l->mask) * size;
    c->bytes_loaded += is_write ? 0 : bytes;
    c->bytes_stored += is_write ? bytes : 0;
    c->lines += count_lines(l, size);
}

bool sim_mem_check(struct sim_wave *w, const struct sim_lanes *l, unsigned size, bool is_write)
{
    uint64_t low = UINT64_MAX, high = 0;
    if (!l->mask) {
        return true;
    }
    refresh(w->group);
    if (l->mask == ~(uint64_t)0) {
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            low = l->addr[lane] < low ? l->addr[lane] : low;
            high = l->addr[lane] > high ? l->addr[lane] : high;
        }
    } else {
        for (uint64_t m = l->mask; m;) {
            unsigned lane = sim_next_lane(&m);
            low = l->addr[lane] < low ? l->addr[lane] : low;
            high = l->addr[lane] > high ? l->addr[lane] : high;
        }
    }
    const struct sim_mem_info *e =
        high - low < UINT64_MAX - size ? find(w->group, low, high - low + size) : NULL;
    bool is_simple = e && !e->defined && !(is_write && (e->flags & SIM_ALLOC_READONLY));
    for (uint64_t m = is_simple ? 0 : l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        if (!check_lane(w, l->addr[lane], size, (int)lane, is_write)) {
            return false;
        }
    }
    count_access(w, l, size, is_write);
    return true;
}

bool sim_mem_check_scalar(struct sim_wave *w, uint64_t addr, unsigned size)
{
    refresh(w->group);
    w->group->counts.c.bytes_scalar += size;
    return check_lane(w, addr, size, -1, false);
}

bool sim_mem_align(struct sim_wave *w, const struct sim_lanes *l, unsigned align,
                   const char *space)
{
    uint64_t all = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        all |= l->addr[lane];
    }
    if (!(all & (align - 1))) {
        return true;
    }
    for (uint64_t m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        if (l->addr[lane] & (align - 1)) {
            sim_find(w, SIM_FIND_MEM_ALIGN, (int)lane,
                     "%s address 0x%llx is not a multiple of %u", space,
                     (unsigned long long)l->addr[lane], align);
            return w->state != SIM_WAVE_FAULTED;
        }
    }
    return true;
}

void sim_narrow_result(uint32_t *reg, uint32_t value, unsigned bytes, unsigned flags)
{
    if (flags & SIM_P_SIGNED) {
        value =
            bytes == 1 ? (uint32_t)(int32_t)(int8_t)value : (uint32_t)(int32_t)(int16_t)value;
    }
    /*
     * "When ECC is enabled 16-bit memory loads write the full 32-bit VGPR.  Unused bits are
     * set to zero" (ISA text, 9.1.6), and MI355X has ECC always.
     */
    if (flags & SIM_P_D16_HI) {
        *reg = value << 16;
    } else if (flags & SIM_P_D16) {
        *reg = value & 0xffff;
    } else {
        *reg = value;
    }
}

/* 16 bytes a lane, all lanes. */
static void load_quads(uint32_t *row, const struct sim_lanes *l)
{
    for (unsigned lane = 0; lane < SIM_LANES; lane += 4) {
        sim_quad q[4];
        for (unsigned i = 0; i < 4; i++) {
            memcpy(&q[i], (const void *)(uintptr_t)l->addr[lane + i], sizeof q[i]);
        }
        sim_transpose(q);
        for (unsigned i = 0; i < 4; i++) {
            memcpy(row + i * SIM_LANES + lane, &q[i], sizeof q[i]);
        }
    }
}

static void store_quads(const uint32_t *row, const struct sim_lanes *l)
{
    for (unsigned lane = 0; lane < SIM_LANES; lane += 4) {
        sim_quad q[4];
        for (unsigned i = 0; i < 4; i++) {
            memcpy(&q[i], row + i * SIM_LANES + lane, sizeof q[i]);
        }
        sim_transpose(q);
        for (unsigned i = 0; i < 4; i++) {
            memcpy((void *)(uintptr_t)l->addr[lane + i], &q[i], sizeof q[i]);
        }
    }
}

void sim_mem_load(struct sim_wave *w, const struct sim_opnd *dst, const struct sim_lanes *l,
                  unsigned bytes, unsigned flags)
{
    uint32_t *row = sim_vrow(w, dst, 0);
    if (bytes < 4) {
        for (uint64_t m = l->mask; m;) {
            unsigned lane = sim_next_lane(&m);
            sim_narrow_result(row + lane, read_small(l->addr[lane], bytes), bytes, flags);
        }
        return;
    }
    if (bytes == 16 && l->mask == ~(uint64_t)0) {
        load_quads(row, l);
        return;
    }
    unsigned dwords = bytes / 4;
    for (uint64_t m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        for (unsigned i = 0; i < dwords; i++) {
            row[i * SIM_LANES + lane] = read32(l->addr[lane] + 4 * i);
        }
    }
}

void sim_mem_store(struct sim_wave *w, const struct sim_opnd *src, const struct sim_lanes *l,
                   unsigned bytes, unsigned flags)
{
    const uint32_t *row = sim_vrow(w, src, 0);
    unsigned dwords = bytes / 4;
    if (bytes == 16 && l->mask == ~(uint64_t)0) {
        store_quads(row, l);
        return;
    }
    for (uint64_t m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        if (bytes < 4) {
            uint32_t value = flags & SIM_P_D16_HI ? row[lane] >> 16 : row[lane];
            write_small(l->addr[lane], value, bytes);
        }
        for (unsigned i = 0; i < dwords; i++) {
            write32(l->addr[lane] + 4 * i, row[i * SIM_LANES + lane]);
        }
    }
}

/* Lanes whose LDS target lies in the workgroup's LDS; the others do nothing. */
static uint64_t lds_lanes(struct sim_wave *w, uint64_t mask, uint32_t lds, unsigned step,
                          unsigned size)
{
    uint64_t ok = 0, m = mask;
    while (m) {
        unsigned lane = sim_next_lane(&m);
        uint64_t at = (uint64_t)lds + lane * step;
        if (at + size <= w->group->lds_size) {
            ok |= (uint64_t)1 << lane;
        } else if ((mask & ~ok & (((uint64_t)2 << lane) - 1)) == (uint64_t)1 << lane) {
            sim_find(w, SIM_FIND_LDS_BOUNDS, (int)lane,
                     "load to LDS byte %llu, %u bytes: the workgroup has %u",
                     (unsigned long long)at, size, w->group->lds_size);
        }
    }
    return ok;
}

void sim_mem_load_lds(struct sim_wave *w, const struct sim_lanes *l, uint64_t zero_lanes,
                      uint32_t lds, unsigned bytes, unsigned flags)
{
    struct sim_group *g = w->group;
    unsigned size = bytes < 4 ? 4 : bytes;
    unsigned step = size > 4 ? 16 : 4;
    if (lds & 3) {
        sim_find(w, SIM_FIND_MEM_ALIGN, -1,
                 "LDS address %u of a load to LDS is not dword-aligned", lds);
        lds &= ~3u;
    }
    uint32_t event = sim_lds_event_begin(w, SIM_LDS_VM, false);
    uint32_t mark = sim_lds_mark(w);
    uint64_t ok = lds_lanes(w, l->mask | zero_lanes, lds, step, size);
    for (uint64_t m = ok; m;) {
        unsigned lane = sim_next_lane(&m);
        bool is_zero = zero_lanes >> lane & 1;
        uint32_t at = lds + lane * step;
        sim_lds_write_check(w, &g->shadow, (int)lane, at / 4, size / 4, mark, event);
        if (bytes == 16 && !is_zero) {
            memcpy(g->lds + at, (const void *)(uintptr_t)l->addr[lane], 16);
            continue;
        }
        for (unsigned i = 0; i < size / 4; i++) {
            uint32_t v = 0;
            if (!is_zero && bytes < 4) {
                sim_narrow_result(&v, read_small(l->addr[lane], bytes), bytes, flags);
            } else if (!is_zero) {
                v = read32(l->addr[lane] + 4 * i);
            }
            memcpy(g->lds + at + 4 * i, &v, sizeof v);
        }
    }
    g->counts.c.bytes_lds_direct += (uint64_t)__builtin_popcountll(ok) * bytes;
}
