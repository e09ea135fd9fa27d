/* SPDX-License-Identifier: MIT */
/*
 * Shadow of one workgroup's LDS: who wrote and read each dword last, so that reads of
 * bytes never written, races between waves and data not waited for are found.
 *
 * Every instruction that writes LDS is an event with a rising number.  Events up to
 * `safe` are complete and followed by a barrier: any wave may read what they wrote.
 */
#ifndef SIM_CHECK_LDS_H
#define SIM_CHECK_LDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_wave;
struct sim_group;

#define SIM_LDS_EVENTS 16384u /* remembered; older ones count as complete */
#define SIM_LDS_PARTIAL 0x80000000u
#define SIM_LDS_READERS 31u /* low bits of a reader mark: wave, or SIM_LDS_MANY */
#define SIM_LDS_MANY 31u

/* How an event's data arrive: which counter tells. */
enum sim_lds_kind { SIM_LDS_DS, SIM_LDS_VM, SIM_LDS_FLAT };

struct sim_lds_event {
    uint32_t id, seq, epoch;
    uint32_t pc;
    uint8_t wave, kind, is_atomic;
};

struct sim_lds_shadow {
    uint32_t *written; /* per dword: event | SIM_LDS_PARTIAL, 0 = never */
    uint32_t *read;    /* per dword: epoch << 5 | wave */
    uint8_t *bytes;    /* per dword: bytes written, where SIM_LDS_PARTIAL */
    uint32_t safe;
    uint32_t last;                /* newest event */
    uint32_t epoch;               /* barriers passed */
    struct sim_lds_event *events; /* ring of SIM_LDS_EVENTS */
};

bool sim_lds_shadow_create(struct sim_lds_shadow *s, size_t lds_bytes);
void sim_lds_shadow_destroy(struct sim_lds_shadow *s);
void sim_lds_shadow_reset(struct sim_lds_shadow *s, size_t lds_bytes);

/* Begin an event: the wave's current instruction writes LDS.  Returns its number. */
uint32_t sim_lds_event_begin(struct sim_wave *w, enum sim_lds_kind kind, bool is_atomic);

/*
 * Out-of-line parts: something about the access needs a closer look.  True when nothing
 * was found, so that the event behind the dword needs no second look.
 */
bool sim_lds_read_slow(struct sim_wave *w, int lane, uint32_t dword, unsigned bytes,
                       bool is_atomic);
void sim_lds_write_slow(struct sim_wave *w, int lane, uint32_t dword, unsigned bytes,
                        uint32_t event);

/*
 * Check a read of `n` whole dwords and remember the reader.  *known holds an event that
 * this instruction has already found in order; start with 0.
 */
static inline void sim_lds_read_check(struct sim_wave *w, struct sim_lds_shadow *s, int lane,
                                      uint32_t dword, unsigned n, uint32_t mark,
                                      uint32_t *known)
{
    for (unsigned i = dword; i < dword + n; i++) {
        uint32_t e = s->written[i];
        if (e - 1 >= s->safe && (e != *known || e == 0)) {
            *known = sim_lds_read_slow(w, lane, i, 15, false) ? e : 0;
        }
        uint32_t r = s->read[i];
        bool has_other = r >> 5 == mark >> 5 && r != mark;
        s->read[i] = has_other ? mark | SIM_LDS_MANY : mark;
    }
}

/* Check a write of `n` whole dwords by `event` and remember the writer. */
static inline void sim_lds_write_check(struct sim_wave *w, struct sim_lds_shadow *s, int lane,
                                       uint32_t dword, unsigned n, uint32_t mark,
                                       uint32_t event)
{
    for (unsigned i = dword; i < dword + n; i++) {
        uint32_t e = s->written[i], r = s->read[i];
        if ((e > s->safe && e != event) || (r >> 5 == mark >> 5 && r != mark)) {
            sim_lds_write_slow(w, lane, i, 15, event);
        }
        s->written[i] = event;
    }
}

/* The same for some bytes of one dword. */
void sim_lds_write_bytes(struct sim_wave *w, int lane, uint32_t dword, unsigned bytes,
                         uint32_t event);

/* What a reader leaves in the shadow: the barrier epoch and its wave. */
uint32_t sim_lds_mark(const struct sim_wave *w);

/* All live waves reached a barrier. */
void sim_lds_barrier(struct sim_group *g);

/* A wave of a one-wave group waited: events may have become safe. */
void sim_lds_waited(struct sim_group *g);

#endif
