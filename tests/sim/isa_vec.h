/* SPDX-License-Identifier: MIT */
/*
 * Table-driven tests of single instructions.  A vector gives the encoded words,
 * their text, and for a few lanes what the sources hold and the result must be.
 * Running one checks that the words decode to the text, that the lanes come out
 * right, and that a lane outside EXEC keeps its old value.
 */
#ifndef TEST_ISA_VEC_H
#define TEST_ISA_VEC_H

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inst.h"
#include "wave.h"

/* Hardware defaults of compilers: all denormals live, DX10_CLAMP and IEEE set. */
#define MODE_DEFAULT 0x3f0u

enum { ISA_LANES = 12, ISA_OFF_LANE = 63 };

struct isa_lane {
    uint64_t a, b, c, d; /* sources and result; 32-bit ones in the low half */
};

struct isa_vec {
    const char *text;
    uint32_t words[3];
    uint32_t mode;
    uint64_t old;      /* what the destination holds before */
    uint64_t mask_in;  /* VCC, or the mask operand */
    uint64_t mask_out; /* expected mask destination, where there is one */
    unsigned count;
    struct isa_lane lanes[ISA_LANES];
};

/* The findings of the last instruction; defined here so that nothing else is needed. */
static unsigned isa_findings;
static enum sim_finding isa_last_finding;

void sim_find(struct sim_wave *w, enum sim_finding what, int lane, const char *fmt, ...)
{
    (void)w;
    (void)lane;
    (void)fmt;
    isa_findings++;
    isa_last_finding = what;
}

static struct sim_wave isa_wave;

/* A wave with recognisable contents and all lanes but one active. */
static inline struct sim_wave *isa_fresh_wave(uint32_t mode)
{
    struct sim_wave *w = &isa_wave;
    for (unsigned r = 0; r < 512; r++) {
        for (unsigned l = 0; l < SIM_LANES; l++) {
            w->vgpr[r][l] = 0xbad00000u | r << 8 | l;
        }
    }
    for (unsigned r = 0; r < SIM_SGPR_COUNT; r++) {
        w->sgpr[r] = 0x5a5a0000u | r;
    }
    w->sgpr[SIM_SGPR_EXEC] = 0xffffffff;
    w->sgpr[SIM_SGPR_EXEC + 1] = 0x7fffffff;
    w->sgpr[SIM_SGPR_M0] = 0;
    w->mode = mode;
    w->scc = 0;
    w->pc = 0;
    w->code_base = 0x100000;
    w->yield = 0;
    isa_findings = 0;
    return w;
}

/* Decodes words, asserts their text and size, and executes them. */
static inline void isa_decode(const char *text, const uint32_t *words, unsigned n,
                              struct sim_inst *in)
{
    uint8_t code[16];
    char got[256];
    memcpy(code, words, 4 * n);
    const size_t size = sim_decode(code, 4 * n, 0, in);
    ck_assert_msg(size != 0, "%s: refused: %s", text, in->refused);
    ck_assert_str_eq(sim_inst_text(in, got, sizeof(got)), text);
    ck_assert_msg(in->op->exec != NULL, "%s: not executable", text);
}

static inline void isa_exec(struct sim_wave *w, const struct sim_inst *in)
{
    w->inst = in;
    w->pc += in->size;
    in->op->exec(w, in);
}

/* Puts a lane's value into a vector or scalar operand. */
static inline void isa_put(struct sim_wave *w, const struct sim_opnd *o, unsigned lane,
                           uint64_t v)
{
    if (o->kind == SIM_OPND_VGPR || o->kind == SIM_OPND_AGPR) {
        sim_vrow(w, o, 0)[lane] = (uint32_t)v;
        if (o->ndw > 1) {
            sim_vrow(w, o, 1)[lane] = (uint32_t)(v >> 32);
        }
    } else if (o->kind == SIM_OPND_SGPR) {
        w->sgpr[o->reg] = (uint32_t)v;
        if (o->ndw > 1) {
            w->sgpr[o->reg + 1] = (uint32_t)(v >> 32);
        }
    }
}

static inline uint64_t isa_get(struct sim_wave *w, const struct sim_opnd *o, unsigned lane)
{
    if (o->kind == SIM_OPND_SGPR) {
        return o->ndw > 1 ? sim_sgpr64(w, o->reg) : w->sgpr[o->reg];
    }
    const uint64_t lo = sim_vrow(w, o, 0)[lane];
    return o->ndw > 1 ? lo | (uint64_t)sim_vrow(w, o, 1)[lane] << 32 : lo;
}

/* Sources of a vector that take lane values: those that are not constants or masks. */
static inline void isa_load_lanes(struct sim_wave *w, const struct sim_inst *in,
                                  const struct isa_vec *v)
{
    for (unsigned i = 0; i < 3; i++) {
        const struct sim_opnd *o = &in->src[i];
        const bool is_mask = o->kind == SIM_OPND_SGPR && o->ndw == 2;
        if (is_mask) {
            isa_put(w, o, 0, v->mask_in);
            continue;
        }
        for (unsigned l = 0; l < SIM_LANES; l++) {
            const struct isa_lane *s = &v->lanes[l < v->count ? l : 0];
            isa_put(w, o, l, i == 0 ? s->a : i == 1 ? s->b : s->c);
        }
    }
}

static inline void isa_run(const struct isa_vec *v)
{
    struct sim_inst in;
    isa_decode(v->text, v->words, 3, &in);
    struct sim_wave *w = isa_fresh_wave(v->mode);
    w->sgpr[SIM_SGPR_VCC] = (uint32_t)v->mask_in;
    w->sgpr[SIM_SGPR_VCC + 1] = (uint32_t)(v->mask_in >> 32);
    const struct sim_opnd *d = &in.dst[0];
    const bool vector = d->kind != SIM_OPND_SGPR;
    for (unsigned l = 0; vector && l < SIM_LANES; l++) {
        isa_put(w, d, l, v->old);
    }
    isa_load_lanes(w, &in, v);
    isa_exec(w, &in);
    for (unsigned l = 0; vector && l < v->count; l++) {
        const uint64_t got = isa_get(w, d, l);
        ck_assert_msg(got == v->lanes[l].d,
                      "%s mode %#x lane %u (%#llx, %#llx, %#llx): got %#llx,"
                      " want %#llx",
                      v->text, v->mode, l, (unsigned long long)v->lanes[l].a,
                      (unsigned long long)v->lanes[l].b, (unsigned long long)v->lanes[l].c,
                      (unsigned long long)got, (unsigned long long)v->lanes[l].d);
    }
    if (vector) {
        ck_assert_msg(isa_get(w, d, ISA_OFF_LANE) == v->old, "%s: inactive lane written",
                      v->text);
    }
    const struct sim_opnd *m = vector ? &in.dst[1] : d;
    if (m->kind == SIM_OPND_SGPR) {
        const uint64_t low = (1ull << v->count) - 1;
        const uint64_t got = isa_get(w, m, 0);
        ck_assert_msg((got & low) == v->mask_out, "%s: mask %#llx, want %#llx", v->text,
                      (unsigned long long)(got & low), (unsigned long long)v->mask_out);
        ck_assert_msg(got >> ISA_OFF_LANE == 0, "%s: mask bit of an inactive lane", v->text);
    }
}

static inline void isa_run_table(const struct isa_vec *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        isa_run(&table[i]);
        ck_assert_msg(isa_findings == 0, "%s: reported", table[i].text);
    }
}

#define ISA_RUN(table) isa_run_table(table, sizeof(table) / sizeof((table)[0]))

/* Runs one suite; tests is ended by NULL. */
static inline int isa_main(const char *name, const TTest *const *tests)
{
    Suite *s = suite_create(name);
    TCase *tc = tcase_create("vectors");
    tcase_set_timeout(tc, 60);
    for (; *tests != NULL; tests++) {
        tcase_add_test(tc, *tests);
    }
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
