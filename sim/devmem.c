/* SPDX-License-Identifier: MIT */
/*
 * Device memory: an ordered table of allocations, each in a mapping of its own
 * between two guard gaps.  Freed mappings stay reserved, unreadable, in a queue, so
 * that stale addresses are recognised and not handed out again soon.
 */
#include "devmem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Address space only: nothing is ever mapped there. */
#define GAP_BYTES ((size_t)16 << 20)
#define FREED_MAX 256
#define DEVICES 16

struct entry {
    uint64_t base, size; /* what the caller asked for */
    uint64_t map_base,
        map_size; /* the reservation, gaps included; adopted memory: base, size */
    struct entry *next_freed;
    struct sim_mem_info info;
    bool is_live;
};

static struct {
    pthread_rwlock_t lock;
    struct entry **by_base; /* sorted by map_base; all below guarded by lock */
    size_t count, capacity;
    struct entry *freed_head, *freed_tail;
    size_t freed_count;
    uint64_t serial;
    uint64_t used[DEVICES], live[DEVICES];
    uint64_t limit;
    _Atomic uint64_t generation;
} heap = { .lock = PTHREAD_RWLOCK_INITIALIZER, .limit = 288000000000ull, .generation = 1 };

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static unsigned device_slot(int device)
{
    return device >= 0 && device < DEVICES ? (unsigned)device : 0;
}

/* Index of the first entry whose reservation starts above addr. */
static size_t upper_bound(uint64_t addr)
{
    size_t lo = 0, hi = heap.count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (heap.by_base[mid]->map_base <= addr) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* The entry whose reservation holds addr. */
static struct entry *entry_at(uint64_t addr)
{
    size_t i = upper_bound(addr);
    if (i == 0) {
        return NULL;
    }
    struct entry *e = heap.by_base[i - 1];
    /* An allocation of no bytes still owns its address. */
    return addr - e->map_base < e->map_size || addr == e->base ? e : NULL;
}

static bool insert(struct entry *e)
{
    if (heap.count == heap.capacity) {
        size_t capacity = heap.capacity ? 2 * heap.capacity : 64;
        struct entry **grown = realloc(heap.by_base, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        heap.by_base = grown;
        heap.capacity = capacity;
    }
    size_t at = upper_bound(e->map_base);
    memmove(heap.by_base + at + 1, heap.by_base + at, (heap.count - at) * sizeof *heap.by_base);
    heap.by_base[at] = e;
    heap.count++;
    e->is_live = true;
    e->info.serial = ++heap.serial;
    atomic_fetch_add(&heap.generation, 1);
    return true;
}

static void forget(struct entry *e)
{
    size_t at = upper_bound(e->map_base);
    while (at > 0 && heap.by_base[at - 1] != e) {
        at--;
    }
    if (at > 0) {
        memmove(heap.by_base + at - 1, heap.by_base + at,
                (heap.count - at) * sizeof *heap.by_base);
        heap.count--;
    }
}

static bool counts(const struct entry *e)
{
    return !(e->info.flags & (SIM_ALLOC_HOST | SIM_ALLOC_INTERNAL | SIM_ALLOC_ADOPTED));
}

/* Reserve the range with its gaps and open the middle; false without memory. */
static bool map_entry(struct entry *e, uint64_t stagger)
{
    size_t page = page_size();
    if (e->size > SIZE_MAX - 2 * GAP_BYTES - 2 * page - stagger) {
        return false;
    }
    size_t body = ((size_t)e->size + (size_t)stagger + page - 1) / page * page;
    if (body == 0) {
        body = page;
    }
    e->map_size = body + 2 * GAP_BYTES;
    void *map =
        mmap(NULL, e->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        return false;
    }
    e->map_base = (uint64_t)(uintptr_t)map;
    if (mprotect((char *)map + GAP_BYTES, body, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, e->map_size);
        return false;
    }
    e->base = e->map_base + GAP_BYTES + stagger;
    return true;
}

static bool reserve_budget(int device, uint64_t size)
{
    unsigned slot = device_slot(device);
    if (size > heap.limit || heap.used[slot] > heap.limit - size) {
        return false;
    }
    heap.used[slot] += size;
    heap.live[slot]++;
    return true;
}

static void return_budget(int device, uint64_t size)
{
    unsigned slot = device_slot(device);
    heap.used[slot] -= size;
    heap.live[slot]--;
}

void *sim_mem_alloc(int device, size_t size, unsigned flags, int poison)
{
    struct entry *e = calloc(1, sizeof *e);
    if (!e) {
        return NULL;
    }
    e->size = size;
    e->info.flags = flags & ~(unsigned)SIM_ALLOC_ADOPTED;
    e->info.device = device;
    pthread_rwlock_wrlock(&heap.lock);
    bool is_charged = counts(e) && reserve_budget(device, size);
    bool ok = is_charged || !counts(e);
    /* Bases are not page aligned on purpose: 256 bytes is all that is promised. */
    uint64_t stagger = (heap.serial % 8) * SIM_MEM_ALIGN;
    ok = ok && map_entry(e, stagger);
    if (ok && (flags & SIM_ALLOC_TRACK)) {
        e->info.defined = calloc(size ? size : 1, 1);
        ok = e->info.defined != NULL;
    }
    e->info.base = e->base;
    e->info.size = size;
    if (ok && poison >= 0) {
        memset((void *)(uintptr_t)e->base, poison, size);
    }
    ok = ok && insert(e);
    if (!ok) {
        if (is_charged) {
            return_budget(device, size);
        }
        if (e->map_base) {
            munmap((void *)(uintptr_t)e->map_base, e->map_size);
        }
        free(e->info.defined);
        free(e);
        e = NULL;
    }
    void *result = e ? (void *)(uintptr_t)e->base : NULL;
    pthread_rwlock_unlock(&heap.lock);
    return result;
}

bool sim_mem_adopt(int device, void *host, size_t size, unsigned flags)
{
    uint64_t base = (uint64_t)(uintptr_t)host;
    struct entry *e = size && base && base + size > base ? calloc(1, sizeof *e) : NULL;
    if (!e) {
        return false;
    }
    e->base = e->map_base = base;
    e->size = e->map_size = size;
    e->info = (struct sim_mem_info){ .base = base,
                                     .size = size,
                                     .device = device,
                                     .flags = flags | SIM_ALLOC_HOST | SIM_ALLOC_ADOPTED };
    e->info.flags &= ~(uint32_t)SIM_ALLOC_TRACK;
    pthread_rwlock_wrlock(&heap.lock);
    size_t at = upper_bound(base);
    bool ok = !entry_at(base) && !(at < heap.count && heap.by_base[at]->map_base - base < size);
    ok = ok && insert(e);
    pthread_rwlock_unlock(&heap.lock);
    if (!ok) {
        free(e);
    }
    return ok;
}

/* Drop the oldest freed reservations beyond the limit. */
static void trim_freed(void)
{
    while (heap.freed_count > FREED_MAX) {
        struct entry *old = heap.freed_head;
        heap.freed_head = old->next_freed;
        if (!heap.freed_head) {
            heap.freed_tail = NULL;
        }
        heap.freed_count--;
        forget(old);
        munmap((void *)(uintptr_t)old->map_base, old->map_size);
        free(old);
    }
}

static void bury(struct entry *e)
{
    uint64_t first = e->map_base + GAP_BYTES;
    madvise((void *)(uintptr_t)first, e->map_size - 2 * GAP_BYTES, MADV_DONTNEED);
    mprotect((void *)(uintptr_t)first, e->map_size - 2 * GAP_BYTES, PROT_NONE);
    free(e->info.defined);
    e->info.defined = NULL;
    e->is_live = false;
    if (heap.freed_tail) {
        heap.freed_tail->next_freed = e;
    } else {
        heap.freed_head = e;
    }
    heap.freed_tail = e;
    heap.freed_count++;
    trim_freed();
}

bool sim_mem_free(void *ptr)
{
    uint64_t addr = (uint64_t)(uintptr_t)ptr;
    pthread_rwlock_wrlock(&heap.lock);
    struct entry *e = entry_at(addr);
    bool ok = e && e->is_live && e->base == addr;
    if (ok) {
        atomic_fetch_add(&heap.generation, 1);
        if (counts(e)) {
            return_budget(e->info.device, e->size);
        }
        if (e->info.flags & SIM_ALLOC_ADOPTED) {
            forget(e);
            free(e);
        } else {
            bury(e);
        }
    }
    pthread_rwlock_unlock(&heap.lock);
    return ok;
}

enum sim_mem_state sim_mem_lookup(uint64_t addr, struct sim_mem_info *out)
{
    enum sim_mem_state state = SIM_MEM_FOREIGN;
    pthread_rwlock_rdlock(&heap.lock);
    const struct entry *e = entry_at(addr);
    if (e) {
        bool is_inside = addr - e->base < e->size || addr == e->base;
        state = !is_inside ? SIM_MEM_GAP : e->is_live ? SIM_MEM_LIVE : SIM_MEM_FREED;
        if (out && is_inside) {
            *out = e->info;
        }
    }
    pthread_rwlock_unlock(&heap.lock);
    return state;
}

bool sim_mem_find(uint64_t addr, struct sim_mem_info *out)
{
    return sim_mem_lookup(addr, out) == SIM_MEM_LIVE;
}

bool sim_mem_valid(uint64_t addr, size_t size)
{
    struct sim_mem_info info;
    return sim_mem_find(addr, &info) && info.size >= size &&
           addr - info.base <= info.size - size;
}

bool sim_mem_set_user(void *base, void *user)
{
    uint64_t addr = (uint64_t)(uintptr_t)base;
    pthread_rwlock_wrlock(&heap.lock);
    struct entry *e = entry_at(addr);
    bool ok = e && e->is_live && e->base == addr;
    if (ok) {
        e->info.user = user;
        atomic_fetch_add(&heap.generation, 1);
    }
    pthread_rwlock_unlock(&heap.lock);
    return ok;
}

/* Distance from addr to entry e, 0 when inside. */
static uint64_t distance(const struct entry *e, uint64_t addr)
{
    if (addr < e->base) {
        return e->base - addr;
    }
    return addr - e->base < e->size ? 0 : addr - (e->base + e->size);
}

/* The nearest entry on either side; live ones win over freed ones that do not hold addr. */
static const struct entry *nearest(uint64_t addr)
{
    const struct entry *best = NULL;
    uint64_t best_distance = UINT64_MAX;
    for (size_t i = 0; i < heap.count; i++) {
        const struct entry *e = heap.by_base[i];
        uint64_t d = distance(e, addr);
        if ((!e->is_live && d != 0) || (e->info.flags & SIM_ALLOC_INTERNAL && d > GAP_BYTES)) {
            continue;
        }
        if (d < best_distance) {
            best = e;
            best_distance = d;
        }
    }
    return best;
}

char *sim_mem_describe(uint64_t addr, size_t size, char *buf, size_t bufsize)
{
    pthread_rwlock_rdlock(&heap.lock);
    const struct entry *e = addr < 4096 ? NULL : nearest(addr);
    if (addr < 4096) {
        snprintf(buf, bufsize, "null pointer plus %llu", (unsigned long long)addr);
    } else if (!e) {
        snprintf(buf, bufsize, "no allocation exists");
    } else {
        uint64_t d = distance(e, addr);
        char where[96];
        if (d == 0 && e->is_live && size > e->size - (addr - e->base)) {
            snprintf(where, sizeof where, "%llu bytes past the end of",
                     (unsigned long long)(size - (e->size - (addr - e->base))));
        } else if (d == 0 && addr >= e->base && addr - e->base < e->size) {
            snprintf(where, sizeof where, "%llu bytes into%s",
                     (unsigned long long)(addr - e->base), e->is_live ? "" : " freed");
        } else {
            snprintf(where, sizeof where, "%llu bytes %s", (unsigned long long)d,
                     addr < e->base ? "before" : "past the end of");
        }
        snprintf(buf, bufsize, "%s allocation #%llu [0x%llx, +%llu)", where,
                 (unsigned long long)e->info.serial, (unsigned long long)e->base,
                 (unsigned long long)e->size);
    }
    pthread_rwlock_unlock(&heap.lock);
    return buf;
}

void sim_mem_set_defined(uint64_t addr, size_t size, bool defined)
{
    struct sim_mem_info info;
    if (!sim_mem_find(addr, &info) || !info.defined) {
        return;
    }
    uint64_t room = info.size - (addr - info.base);
    memset(info.defined + (addr - info.base), defined, size < room ? size : (size_t)room);
}

void sim_mem_usage(int device, uint64_t *bytes, uint64_t *count)
{
    pthread_rwlock_rdlock(&heap.lock);
    *bytes = heap.used[device_slot(device)];
    *count = heap.live[device_slot(device)];
    pthread_rwlock_unlock(&heap.lock);
}

void sim_mem_set_limit(uint64_t bytes)
{
    pthread_rwlock_wrlock(&heap.lock);
    heap.limit = bytes;
    pthread_rwlock_unlock(&heap.lock);
}

uint64_t sim_mem_limit(void)
{
    pthread_rwlock_rdlock(&heap.lock);
    uint64_t limit = heap.limit;
    pthread_rwlock_unlock(&heap.lock);
    return limit;
}

void sim_mem_reset(void)
{
    pthread_rwlock_wrlock(&heap.lock);
    for (size_t i = 0; i < heap.count; i++) {
        struct entry *e = heap.by_base[i];
        if (!(e->info.flags & SIM_ALLOC_ADOPTED)) {
            munmap((void *)(uintptr_t)e->map_base, e->map_size);
        }
        free(e->info.defined);
        free(e);
    }
    free(heap.by_base);
    heap.by_base = NULL;
    heap.count = heap.capacity = heap.freed_count = 0;
    heap.freed_head = heap.freed_tail = NULL;
    memset(heap.used, 0, sizeof heap.used);
    memset(heap.live, 0, sizeof heap.live);
    atomic_fetch_add(&heap.generation, 1);
    pthread_rwlock_unlock(&heap.lock);
}

uint64_t sim_mem_generation(void)
{
    return atomic_load_explicit(&heap.generation, memory_order_acquire);
}
