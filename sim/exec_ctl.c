/* SPDX-License-Identifier: MIT */
/*
 * Control of waves: end, barrier, waits, messages and traps.
 */
#include "exec_mem.h"

void sim_x_s_endpgm(struct sim_wave *w, const struct sim_inst *in)
{
    struct sim_group *g = w->group;
    (void)in;
    w->state = SIM_WAVE_ENDED;
    g->ended++;
    if (g->at_barrier) {
        /* Hardware goes on without the ended wave (ISA text, 4.3); programs rarely mean it. */
        sim_find(w, SIM_FIND_BARRIER, -1,
                 "wave %u ends while %u waves of its workgroup wait at a barrier", w->index,
                 g->at_barrier);
        sim_barrier_release(g);
    }
}

void sim_x_s_barrier(struct sim_wave *w, const struct sim_inst *in)
{
    struct sim_group *g = w->group;
    (void)in;
    g->counts.c.barriers++;
    if (g->ended) {
        sim_find(w, SIM_FIND_BARRIER, -1, "%u of %u waves ended without reaching this barrier",
                 g->ended, g->wave_count);
    }
    w->state = SIM_WAVE_BARRIER;
    g->at_barrier++;
    sim_barrier_release(g);
}

void sim_x_s_waitcnt(struct sim_wave *w, const struct sim_inst *in)
{
    unsigned imm = (unsigned)in->imm & 0xffff;
    unsigned vmcnt = (imm & 15) | (imm >> 14 & 3) << 4;
    w->group->counts.c.waits++;
    sim_check_waitcnt(w, vmcnt, imm >> 8 & 15);
}

/* Messages go to a host that is not there; none changes the wave. */
void sim_x_s_sendmsg(struct sim_wave *w, const struct sim_inst *in)
{
    (void)w;
    (void)in;
}

void sim_x_s_trap(struct sim_wave *w, const struct sim_inst *in)
{
    sim_find(w, SIM_FIND_TRAP, -1, "s_trap %d: the kernel stopped itself", in->imm & 0xff);
}
