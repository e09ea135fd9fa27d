/* SPDX-License-Identifier: MIT */
/*
 * Scalar ALU: program flow, hardware registers, relative register access and
 * the instructions that only pace a wave (ISA text, sections 4.2, 5.8, 12.5).
 */
#include "alu_scalar.h"
#include "exec_salu.h"

#define EXEC_FN(name) void sim_x_##name(struct sim_wave *w, const struct sim_inst *in)

/* Branches count in dwords from the next instruction, which w->pc already names. */
static void branch_if(struct sim_wave *w, const struct sim_inst *in, bool taken)
{
    if (taken) {
        w->pc += (uint64_t)(int64_t)in->imm * 4;
    }
}

EXEC_FN(s_branch)
{
    branch_if(w, in, true);
}

EXEC_FN(s_cbranch_scc0)
{
    branch_if(w, in, w->scc == 0);
}

EXEC_FN(s_cbranch_scc1)
{
    branch_if(w, in, w->scc != 0);
}

EXEC_FN(s_cbranch_vccz)
{
    branch_if(w, in, sim_vcc(w) == 0);
}

EXEC_FN(s_cbranch_vccnz)
{
    branch_if(w, in, sim_vcc(w) != 0);
}

EXEC_FN(s_cbranch_execz)
{
    branch_if(w, in, sim_exec_mask(w) == 0);
}

EXEC_FN(s_cbranch_execnz)
{
    branch_if(w, in, sim_exec_mask(w) != 0);
}

EXEC_FN(s_getpc_b64)
{
    sim_scalar_write64(w, &in->dst[0], w->code_base + w->pc);
}

EXEC_FN(s_setpc_b64)
{
    w->pc = sim_scalar_read(w, &in->src[0]) - w->code_base;
}

EXEC_FN(s_swappc_b64)
{
    const uint64_t target = sim_scalar_read(w, &in->src[0]);
    sim_scalar_write64(w, &in->dst[0], w->code_base + w->pc);
    w->pc = target - w->code_base;
}

EXEC_FN(s_call_b64)
{
    sim_scalar_write64(w, &in->dst[0], w->code_base + w->pc);
    branch_if(w, in, true);
}

/* Time does not pass in the simulator; wait states are the hazard checker's business. */
EXEC_FN(s_nop)
{
    (void)w;
    (void)in;
}

EXEC_FN(s_setprio)
{
    (void)w;
    (void)in;
}

EXEC_FN(s_sleep)
{
    (void)in;
    sim_wave_yield(w);
}

/* Hardware registers (ISA text, table 19) that have a meaning here. */
enum { HWREG_MODE = 1, HWREG_STATUS = 2, HWREG_TRAPSTS = 3, HWREG_XCC_ID = 20 };

/* STATUS: only what the ISA text derives from wave state; the rest reads zero. */
static uint32_t read_status(const struct sim_wave *w)
{
    return (uint32_t)(sim_exec_mask(w) == 0) << 9 | (uint32_t)(sim_vcc(w) == 0) << 10;
}

static bool read_hwreg(struct sim_wave *w, unsigned id, uint32_t *value)
{
    switch (id) {
    case HWREG_MODE:
        *value = w->mode;
        return true;
    case HWREG_STATUS:
        *value = read_status(w);
        return true;
    case HWREG_TRAPSTS:
    case HWREG_XCC_ID: /* no trap is ever pending; every wave runs on XCC 0 */
        *value = 0;
        return true;
    default:
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1, "hardware register %u is not simulated", id);
        return false;
    }
}

EXEC_FN(s_getreg_b32)
{
    const unsigned imm = (unsigned)in->imm & 0xffff;
    const unsigned offset = imm >> 6 & 31;
    const unsigned size = (imm >> 11 & 31) + 1;
    uint32_t value;
    if (read_hwreg(w, imm & 63, &value)) {
        uint32_t mask = size == 32 ? UINT32_MAX : (1u << size) - 1;
        sim_scalar_write32(w, &in->dst[0], value >> offset & mask);
    }
}

static void set_hwreg(struct sim_wave *w, const struct sim_inst *in, uint32_t value)
{
    const unsigned imm = (unsigned)in->imm & 0xffff;
    const unsigned id = imm & 63;
    const unsigned offset = imm >> 6 & 31;
    const unsigned size = (imm >> 11 & 31) + 1;
    const uint32_t mask = (size == 32 ? UINT32_MAX : (1u << size) - 1) << offset;
    if (id != HWREG_MODE) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1, "writing hardware register %u is not simulated",
                 id);
        return;
    }
    w->mode = (w->mode & ~mask) | (value << offset & mask);
    if ((w->mode & SIM_MODE_VSKIP) != 0) {
        sim_find(w, SIM_FIND_UNKNOWN_INST, -1, "MODE.VSKIP is not simulated");
    }
}

EXEC_FN(s_setreg_b32)
{
    set_hwreg(w, in, sim_scalar_read32(w, &in->src[0]));
}

EXEC_FN(s_setreg_imm32_b32)
{
    set_hwreg(w, in, (uint32_t)in->src[0].imm);
}

/* M0-relative SGPR number, or -1 with a report when it leaves the SGPRs. */
static int relative_sgpr(struct sim_wave *w, unsigned reg, unsigned n)
{
    const uint64_t r = (uint64_t)reg + w->sgpr[SIM_SGPR_M0];
    if (r + n > SIM_SGPR_FLAT_SCRATCH || (n == 2 && r % 2 != 0)) {
        sim_find(w, SIM_FIND_UNPREDICTABLE, -1, "relative access to s%llu",
                 (unsigned long long)r);
        return -1;
    }
    return (int)r;
}

EXEC_FN(s_movrels_b32)
{
    const int r = relative_sgpr(w, in->src[0].reg, 1);
    /* ISA text 3.6.1: a source out of range reads SGPR 0. */
    sim_scalar_write32(w, &in->dst[0], w->sgpr[r < 0 ? 0 : r]);
}

EXEC_FN(s_movrels_b64)
{
    const int r = relative_sgpr(w, in->src[0].reg, 2);
    sim_scalar_write64(w, &in->dst[0], sim_sgpr64(w, r < 0 ? 0 : (unsigned)r));
}

EXEC_FN(s_movreld_b32)
{
    const uint32_t v = sim_scalar_read32(w, &in->src[0]);
    const int r = relative_sgpr(w, in->dst[0].reg, 1);
    if (r >= 0) {
        w->sgpr[r] = v;
    }
}

EXEC_FN(s_movreld_b64)
{
    const uint64_t v = sim_scalar_read(w, &in->src[0]);
    const int r = relative_sgpr(w, in->dst[0].reg, 2);
    if (r >= 0) {
        w->sgpr[r] = (uint32_t)v;
        w->sgpr[r + 1] = (uint32_t)(v >> 32);
    }
}

/* VGPR indexing (ISA text, table 27): M0[7:0] index, M0[15:12] what it applies to. */
EXEC_FN(s_set_gpr_idx_on)
{
    const uint32_t index = sim_scalar_read32(w, &in->src[0]) & 0xff;
    w->mode |= SIM_MODE_GPR_IDX_EN;
    w->sgpr[SIM_SGPR_M0] = (w->sgpr[SIM_SGPR_M0] & ~0xf0ffu) | index |
                           ((uint32_t)in->imm & 15) << 12;
}

EXEC_FN(s_set_gpr_idx_off)
{
    (void)in;
    w->mode &= ~(uint32_t)SIM_MODE_GPR_IDX_EN;
}

EXEC_FN(s_set_gpr_idx_idx)
{
    const uint32_t index = sim_scalar_read32(w, &in->src[0]) & 0xff;
    w->sgpr[SIM_SGPR_M0] = (w->sgpr[SIM_SGPR_M0] & ~0xffu) | index;
}

EXEC_FN(s_set_gpr_idx_mode)
{
    w->sgpr[SIM_SGPR_M0] = (w->sgpr[SIM_SGPR_M0] & ~0xf000u) | ((uint32_t)in->imm & 15) << 12;
}
