/* SPDX-License-Identifier: MIT */
/*
 * Scalar ALU: EXEC masks, branches, calls, hardware registers, relative SGPR
 * access, special sources.
 */
#include "isa_vec.h"

static struct sim_inst inst;

static void run(struct sim_wave *w, const char *text, uint32_t w0, uint32_t w1)
{
    const uint32_t words[2] = { w0, w1 };
    isa_decode(text, words, 2, &inst);
    isa_exec(w, &inst);
}

static void put64(struct sim_wave *w, unsigned reg, uint64_t v)
{
    w->sgpr[reg] = (uint32_t)v;
    w->sgpr[reg + 1] = (uint32_t)(v >> 32);
}

static const uint64_t s = 0xff00ff0012345678;
static const uint64_t x = 0x0f0f0f0f0f0f0f0f;

struct exec_case {
    const char *text;
    uint32_t word;
    bool saves_new; /* the destination gets the new EXEC, not the old one */
    uint64_t want;
};

START_TEST(test_salu_flow_exec_masks)
{
    const struct exec_case cases[] = {
        { "s_and_saveexec_b64 s[40:41], s[10:11]", 0xbea8200a, false, s & x },
        { "s_or_saveexec_b64 s[40:41], s[10:11]", 0xbea8210a, false, s | x },
        { "s_xor_saveexec_b64 s[40:41], s[10:11]", 0xbea8220a, false, s ^ x },
        { "s_andn2_saveexec_b64 s[40:41], s[10:11]", 0xbea8230a, false, s & ~x },
        { "s_orn2_saveexec_b64 s[40:41], s[10:11]", 0xbea8240a, false, s | ~x },
        { "s_nand_saveexec_b64 s[40:41], s[10:11]", 0xbea8250a, false, ~(s & x) },
        { "s_nor_saveexec_b64 s[40:41], s[10:11]", 0xbea8260a, false, ~(s | x) },
        { "s_xnor_saveexec_b64 s[40:41], s[10:11]", 0xbea8270a, false, ~(s ^ x) },
        { "s_andn1_saveexec_b64 s[40:41], s[10:11]", 0xbea8330a, false, ~s & x },
        { "s_orn1_saveexec_b64 s[40:41], s[10:11]", 0xbea8340a, false, ~s | x },
        { "s_andn1_wrexec_b64 s[40:41], s[10:11]", 0xbea8350a, true, ~s & x },
        { "s_andn2_wrexec_b64 s[40:41], s[10:11]", 0xbea8360a, true, s & ~x },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct exec_case *c = &cases[i];
        struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
        put64(w, 10, s);
        put64(w, SIM_SGPR_EXEC, x);
        run(w, c->text, c->word, 0);
        ck_assert_msg(sim_exec_mask(w) == c->want, "%s", c->text);
        ck_assert_msg(sim_sgpr64(w, 40) == (c->saves_new ? c->want : x), "%s", c->text);
        ck_assert_uint_eq(w->scc, 1);
    }
    struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
    put64(w, SIM_SGPR_VCC, 0);
    run(w, "s_and_saveexec_b64 s[40:41], vcc", 0xbea8206a, 0);
    ck_assert(sim_exec_mask(w) == 0);
    ck_assert_uint_eq(w->scc, 0);
}
END_TEST

/* A branch at 0x40: where w->pc is afterwards with the condition off and on. */
static void branch(const char *text, uint32_t word, uint64_t vcc, uint64_t exec, unsigned scc,
                   uint64_t want)
{
    struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
    w->pc = 0x40;
    put64(w, SIM_SGPR_VCC, vcc);
    put64(w, SIM_SGPR_EXEC, exec);
    w->scc = (uint8_t)scc;
    run(w, text, word, 0);
    ck_assert_msg(w->pc == want, "%s: pc %#llx", text, (unsigned long long)w->pc);
}

START_TEST(test_salu_flow_branches)
{
    branch("s_branch 3", 0xbf820003, 0, 0, 0, 0x50);
    branch("s_branch 65535", 0xbf82ffff, 0, 0, 0, 0x40);
    branch("s_cbranch_scc0 3", 0xbf840003, 0, 0, 0, 0x50);
    branch("s_cbranch_scc0 3", 0xbf840003, 0, 0, 1, 0x44);
    branch("s_cbranch_scc1 3", 0xbf850003, 0, 0, 1, 0x50);
    branch("s_cbranch_scc1 3", 0xbf850003, 0, 0, 0, 0x44);
    branch("s_cbranch_vccz 3", 0xbf860003, 0, 1, 0, 0x50);
    branch("s_cbranch_vccz 3", 0xbf860003, 1ull << 63, 1, 0, 0x44);
    branch("s_cbranch_vccnz 3", 0xbf870003, 1ull << 63, 1, 0, 0x50);
    branch("s_cbranch_vccnz 3", 0xbf870003, 0, 1, 0, 0x44);
    branch("s_cbranch_execz 3", 0xbf880003, 1, 0, 0, 0x50);
    branch("s_cbranch_execz 3", 0xbf880003, 1, 1ull << 40, 0, 0x44);
    branch("s_cbranch_execnz 3", 0xbf890003, 1, 1ull << 40, 0, 0x50);
    branch("s_cbranch_execnz 3", 0xbf890003, 1, 0, 0, 0x44);
}
END_TEST

START_TEST(test_salu_flow_calls)
{
    struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
    w->pc = 0x40;
    run(w, "s_getpc_b64 s[40:41]", 0xbea81c00, 0);
    ck_assert(sim_sgpr64(w, 40) == 0x100044);
    put64(w, 10, 0x100200);
    run(w, "s_setpc_b64 s[10:11]", 0xbe801d0a, 0);
    ck_assert_uint_eq(w->pc, 0x200);
    put64(w, 10, 0x100080);
    run(w, "s_swappc_b64 s[40:41], s[10:11]", 0xbea81e0a, 0);
    ck_assert(sim_sgpr64(w, 40) == 0x100204);
    ck_assert_uint_eq(w->pc, 0x80);
    run(w, "s_call_b64 s[40:41], 65535", 0xbaa8ffff, 0);
    ck_assert(sim_sgpr64(w, 40) == 0x100084);
    ck_assert_uint_eq(w->pc, 0x80);
}
END_TEST

START_TEST(test_salu_flow_hardware_registers)
{
    struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
    run(w, "s_getreg_b32 s40, hwreg(HW_REG_MODE)", 0xb8a8f801, 0);
    ck_assert_uint_eq(w->sgpr[40], MODE_DEFAULT);
    run(w, "s_getreg_b32 s40, hwreg(HW_REG_MODE, 4, 4)", 0xb8a81901, 0);
    ck_assert_uint_eq(w->sgpr[40], 0xf);
    w->sgpr[10] = 0xfffffffe;
    run(w, "s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), s10", 0xb90a0881, 0);
    ck_assert_uint_eq(w->mode, MODE_DEFAULT | 0x8);
    run(w, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), lit(0x5)", 0xba001901, 5);
    ck_assert_uint_eq(w->mode, 0x358);
    ck_assert_uint_eq(isa_findings, 0);
    run(w, "s_getreg_b32 s40, hwreg(HW_REG_HW_ID)", 0xb8a8f804, 0);
    ck_assert_uint_eq(isa_findings, 1);
    ck_assert_int_eq(isa_last_finding, SIM_FIND_UNKNOWN_INST);
    run(w, "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 4), s10", 0xb90a1803, 0);
    ck_assert_uint_eq(isa_findings, 2);
}
END_TEST

START_TEST(test_salu_flow_relative_registers)
{
    struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
    w->sgpr[SIM_SGPR_M0] = 4;
    run(w, "s_movrels_b32 s40, s10", 0xbea82a0a, 0);
    ck_assert_uint_eq(w->sgpr[40], 0x5a5a000e);
    run(w, "s_movrels_b64 s[40:41], s[10:11]", 0xbea82b0a, 0);
    ck_assert(sim_sgpr64(w, 40) == 0x5a5a000f5a5a000e);
    run(w, "s_movreld_b32 s40, s10", 0xbea82c0a, 0);
    ck_assert_uint_eq(w->sgpr[44], 0x5a5a000a);
    run(w, "s_movreld_b64 s[40:41], s[10:11]", 0xbea82d0a, 0);
    ck_assert(sim_sgpr64(w, 44) == 0x5a5a000b5a5a000a);
    ck_assert_uint_eq(isa_findings, 0);
    w->sgpr[SIM_SGPR_M0] = 200;
    run(w, "s_movrels_b32 s40, s10", 0xbea82a0a, 0); /* out of range reads s0 */
    ck_assert_uint_eq(w->sgpr[40], 0x5a5a0000);
    run(w, "s_movreld_b32 s40, s10", 0xbea82c0a, 0); /* and writes nothing */
    ck_assert_uint_eq(isa_findings, 2);
}
END_TEST

START_TEST(test_salu_flow_special_sources)
{
    struct sim_wave *w = isa_fresh_wave(MODE_DEFAULT);
    put64(w, SIM_SGPR_VCC, 0);
    run(w, "s_mov_b32 s40, src_vccz", 0xbea800fb, 0);
    ck_assert_uint_eq(w->sgpr[40], 1);
    run(w, "s_mov_b32 s40, src_execz", 0xbea800fc, 0);
    ck_assert_uint_eq(w->sgpr[40], 0);
    run(w, "s_mov_b64 s[40:41], src_shared_base", 0xbea801eb, 0);
    ck_assert(sim_sgpr64(w, 40) == SIM_SHARED_BASE);
    run(w, "s_mov_b64 s[40:41], src_private_base", 0xbea801ed, 0);
    ck_assert(sim_sgpr64(w, 40) == SIM_PRIVATE_BASE);
    run(w, "s_nop 3", 0xbf800003, 0);
    run(w, "s_setprio 2", 0xbf8f0002, 0);
    ck_assert_uint_eq(w->yield, 0);
    run(w, "s_sleep 1", 0xbf8e0001, 0);
    ck_assert_uint_eq(w->yield, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        test_salu_flow_exec_masks,         test_salu_flow_branches,
        test_salu_flow_calls,              test_salu_flow_hardware_registers,
        test_salu_flow_relative_registers, test_salu_flow_special_sources,
        NULL,
    };
    return isa_main("salu_flow", tests);
}
