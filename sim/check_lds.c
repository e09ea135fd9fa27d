/* SPDX-License-Identifier: MIT */
/*
 * LDS checks: bytes never written, races between waves, and data that were still on
 * their way when they were used.
 *
 * A write by one wave may be read by another when the writer waited for it (lgkmcnt for
 * DS, vmcnt for loads straight to LDS) and both passed a barrier afterwards.
 */
#include "check_lds.h"

#include "group.h"
#include "wave_check.h"

#include <stdlib.h>
#include <string.h>

bool sim_lds_shadow_create(struct sim_lds_shadow *s, size_t lds_bytes)
{
    size_t dwords = (lds_bytes + 3) / 4 + 4;
    s->written = calloc(dwords, sizeof *s->written);
    s->read = calloc(dwords, sizeof *s->read);
    s->bytes = calloc(dwords, 1);
    s->events = calloc(SIM_LDS_EVENTS, sizeof *s->events);
    if (!s->written || !s->read || !s->bytes || !s->events) {
        sim_lds_shadow_destroy(s);
        return false;
    }
    return true;
}

void sim_lds_shadow_destroy(struct sim_lds_shadow *s)
{
    free(s->written);
    free(s->read);
    free(s->bytes);
    free(s->events);
    memset(s, 0, sizeof *s);
}

void sim_lds_shadow_reset(struct sim_lds_shadow *s, size_t lds_bytes)
{
    size_t dwords = (lds_bytes + 3) / 4;
    memset(s->written, 0, dwords * sizeof *s->written);
    memset(s->read, 0, dwords * sizeof *s->read);
    s->safe = s->last = 0;
    s->epoch = 1;
}

uint32_t sim_lds_mark(const struct sim_wave *w)
{
    return w->group->shadow.epoch << 5 | (w->index & SIM_LDS_READERS);
}

static struct sim_queue *queue_of(struct sim_check *c, unsigned kind)
{
    return kind == SIM_LDS_DS ? &c->ds : kind == SIM_LDS_VM ? &c->vm : &c->flat_lgkm;
}

uint32_t sim_lds_event_begin(struct sim_wave *w, enum sim_lds_kind kind, bool is_atomic)
{
    struct sim_lds_shadow *s = &w->group->shadow;
    uint32_t id = ++s->last & ~SIM_LDS_PARTIAL;
    s->events[id % SIM_LDS_EVENTS] = (struct sim_lds_event){
        .id = id,
        .seq = queue_of(w->check, kind)->issued + 1,
        .epoch = s->epoch,
        .pc = (uint32_t)w->inst->pc,
        .wave = (uint8_t)w->index,
        .kind = (uint8_t)kind,
        .is_atomic = is_atomic,
    };
    return id;
}

/* The event, or NULL when it is so old that the ring has lost it. */
static const struct sim_lds_event *find_event(const struct sim_lds_shadow *s, uint32_t id)
{
    const struct sim_lds_event *e = &s->events[id % SIM_LDS_EVENTS];
    return e->id == id ? e : NULL;
}

static bool is_published(const struct sim_group *g, const struct sim_lds_event *e)
{
    return queue_of(&g->checks[e->wave], e->kind)->published >= e->seq;
}

static const char *kind_text(unsigned kind)
{
    return kind == SIM_LDS_DS ? "lgkmcnt" : kind == SIM_LDS_VM ? "vmcnt" : "lgkmcnt(0)";
}

/* Is what event e wrote visible to w?  Reports when not.  verb: "read", "overwritten". */
static bool check_order(struct sim_wave *w, int lane, uint32_t dword,
                        const struct sim_lds_event *e, const char *verb)
{
    const struct sim_lds_shadow *s = &w->group->shadow;
    if (e->wave == w->index) {
        if (e->kind == SIM_LDS_DS || queue_of(w->check, e->kind)->done >= e->seq) {
            return true;
        }
        sim_find(w, SIM_FIND_WAITCNT, lane,
                 "LDS byte %u is %s while the load to LDS at pc 0x%x is outstanding: "
                 "s_waitcnt %s is missing",
                 dword * 4, verb, e->pc, kind_text(e->kind));
        return false;
    }
    if (is_published(w->group, e)) {
        return true;
    }
    if (e->epoch == s->epoch) {
        sim_find(w, SIM_FIND_LDS_RACE, lane,
                 "LDS byte %u is %s, and wave %u wrote it at pc 0x%x with no barrier between",
                 dword * 4, verb, e->wave, e->pc);
    } else {
        sim_find(w, SIM_FIND_WAITCNT, lane,
                 "LDS byte %u is %s, but wave %u, which wrote it at pc 0x%x, did not wait "
                 "(s_waitcnt %s) before the barrier",
                 dword * 4, verb, e->wave, e->pc, kind_text(e->kind));
    }
    return false;
}

bool sim_lds_read_slow(struct sim_wave *w, int lane, uint32_t dword, unsigned bytes,
                       bool is_atomic)
{
    struct sim_lds_shadow *s = &w->group->shadow;
    uint32_t id = s->written[dword];
    bool is_partial = id & SIM_LDS_PARTIAL;
    id &= ~SIM_LDS_PARTIAL;
    if (id == 0 || (is_partial && (bytes & ~s->bytes[dword]))) {
        sim_find(w, SIM_FIND_UNINIT_LDS, lane, "LDS byte %u is read and nothing has written it",
                 dword * 4);
        s->written[dword] = s->safe ? s->safe : id; /* once is enough, where that can be said */
        return false;
    }
    const struct sim_lds_event *e = id > s->safe ? find_event(s, id) : NULL;
    if (e && !(is_atomic && e->is_atomic)) {
        return check_order(w, lane, dword, e, "read");
    }
    return true;
}

void sim_lds_write_slow(struct sim_wave *w, int lane, uint32_t dword, unsigned bytes,
                        uint32_t event)
{
    struct sim_lds_shadow *s = &w->group->shadow;
    const struct sim_lds_event *me = find_event(s, event);
    uint32_t old = s->written[dword] & ~SIM_LDS_PARTIAL, reader = s->read[dword];
    const struct sim_lds_event *e = old > s->safe && old != event ? find_event(s, old) : NULL;
    bool both_atomic = e && me && e->is_atomic && me->is_atomic;
    /* Different bytes of a dword may belong to different waves: only whole ones are sure. */
    bool is_apart = (s->written[dword] & SIM_LDS_PARTIAL) && bytes != 15;
    if (e && !both_atomic && !is_apart) {
        check_order(w, lane, dword, e, "overwritten");
    }
    uint32_t mark = sim_lds_mark(w);
    if (bytes == 15 && reader >> 5 == mark >> 5 && reader != mark && !(me && me->is_atomic)) {
        uint32_t other = reader & SIM_LDS_READERS;
        if (other == SIM_LDS_MANY) {
            sim_find(w, SIM_FIND_LDS_RACE, lane,
                     "LDS byte %u is overwritten, and several waves read it with no barrier "
                     "between",
                     dword * 4);
        } else {
            sim_find(w, SIM_FIND_LDS_RACE, lane,
                     "LDS byte %u is overwritten, and wave %u read it with no barrier between",
                     dword * 4, other);
        }
    }
}

void sim_lds_write_bytes(struct sim_wave *w, int lane, uint32_t dword, unsigned bytes,
                         uint32_t event)
{
    struct sim_lds_shadow *s = &w->group->shadow;
    uint32_t e = s->written[dword];
    if (bytes == 15) {
        sim_lds_write_check(w, s, lane, dword, 1, sim_lds_mark(w), event);
        return;
    }
    sim_lds_write_slow(w, lane, dword, bytes, event);
    if (e == 0) {
        s->bytes[dword] = (uint8_t)bytes;
    } else if (e & SIM_LDS_PARTIAL) {
        s->bytes[dword] |= (uint8_t)bytes;
    } else {
        s->written[dword] = event;
        return;
    }
    s->written[dword] = s->bytes[dword] == 15 ? event : event | SIM_LDS_PARTIAL;
}

/* Move `safe` over the events that every wave may rely on. */
static void advance(struct sim_group *g)
{
    struct sim_lds_shadow *s = &g->shadow;
    while (s->safe < s->last) {
        const struct sim_lds_event *e = find_event(s, s->safe + 1);
        if (e && !is_published(g, e)) {
            return;
        }
        s->safe++;
    }
}

/* What the wave has waited for is visible to others; what an ended wave did is done. */
static void publish(struct sim_check *c, bool has_ended)
{
    if (has_ended) {
        c->vm.published = c->vm.issued;
        c->ds.published = c->ds.issued;
        c->flat_lgkm.published = c->flat_lgkm.issued;
        return;
    }
    c->vm.published = c->vm.done;
    c->ds.published = c->ds.done;
    c->flat_lgkm.published =
        c->flat_vm.done < c->flat_lgkm.done ? c->flat_vm.done : c->flat_lgkm.done;
}

void sim_lds_barrier(struct sim_group *g)
{
    for (uint32_t i = 0; i < g->wave_count; i++) {
        publish(&g->checks[i], g->waves[i].state == SIM_WAVE_ENDED);
    }
    g->shadow.epoch++;
    advance(g);
}

void sim_lds_waited(struct sim_group *g)
{
    publish(&g->checks[0], false);
    advance(g);
}
