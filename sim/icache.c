/* SPDX-License-Identifier: MIT */
/*
 * The instruction cache: one slot per dword of the image, filled when a wave first gets
 * there.  Lookups take no lock; a slot is published after its entry is complete.
 */
#include "loader_priv.h"

#include <stdlib.h>

bool sim_icache_init(struct sim_icache *cache, size_t image_size)
{
    cache->slots = image_size / 4 + 1;
    cache->at = calloc(cache->slots, sizeof *cache->at);
    cache->owned = NULL;
    if (!cache->at) {
        cache->slots = 0;
        return false;
    }
    if (pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache->at);
        cache->at = NULL;
        return false;
    }
    return true;
}

void sim_icache_destroy(struct sim_icache *cache)
{
    if (!cache->at) {
        return;
    }
    for (struct sim_dec *d = cache->owned, *next; d; d = next) {
        next = d->next_owned;
        free(d);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache->at);
    cache->at = NULL;
}

/* Bytes of executable code from pc on; 0 when pc is in no executable segment. */
static uint64_t text_left(const struct sim_code *code, uint64_t pc)
{
    for (unsigned i = 0; i < code->text_count; i++) {
        if (pc >= code->text[i].start && pc < code->text[i].end) {
            return code->text[i].end - pc;
        }
    }
    return 0;
}

static struct sim_dec *decode_new(struct sim_code *code, uint64_t pc, uint64_t left,
                                  enum sim_fetch *why)
{
    struct sim_dec *d = calloc(1, sizeof *d);
    if (!d) {
        *why = SIM_FETCH_NO_MEMORY;
        return NULL;
    }
    size_t size = sim_decode(code->image + pc, left, pc, &d->inst);
    if (size == 0 || size > left) {
        free(d);
        *why = SIM_FETCH_UNKNOWN;
        return NULL;
    }
    sim_classify(d);
    d->next_owned = code->icache.owned;
    code->icache.owned = d;
    return d;
}

const struct sim_dec *sim_icache_decode(struct sim_code *code, uint64_t pc, enum sim_fetch *why)
{
    uint64_t left = pc % 4 == 0 ? text_left(code, pc) : 0;
    *why = SIM_FETCH_OK;
    if (left < 4) {
        *why = SIM_FETCH_BAD_PC;
        return NULL;
    }
    _Atomic(struct sim_dec *) *slot = &code->icache.at[pc / 4];
    pthread_mutex_lock(&code->icache.lock);
    struct sim_dec *d = atomic_load_explicit(slot, memory_order_acquire);
    if (!d) {
        d = decode_new(code, pc, left, why);
        atomic_store_explicit(slot, d, memory_order_release);
    }
    pthread_mutex_unlock(&code->icache.lock);
    return d;
}
