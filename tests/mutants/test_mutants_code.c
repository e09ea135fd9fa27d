/* SPDX-License-Identifier: MIT */
/*
 * The library's own machine code with one thing left out: a wait, a wait state,
 * a barrier.  The simulator must name the instruction that went wrong.
 */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inst.h"
#include "mutant.h"

#define S_NOP_0 0xBF800000u
#define S_TRAP_2 0xBF920002u

/* A compiled kernel; text points into elf. */
struct code {
    struct compile_result result;
    uint8_t *elf, *text;
    size_t size, text_size;
    uint64_t address; /* of .text in the image */
};

static void setup(void)
{
    ck_assert_msg(mutants_open(), "%s", mxg_last_error());
}

static void teardown(void)
{
    mutants_close();
}

static void build(const struct kernel_config *config, struct code *code)
{
    const uint8_t *text;
    char *source = mutant_source(config);
    memset(code, 0, sizeof *code);
    ck_assert_msg(mutant_compile(config, source, &code->result), "%s", mxg_last_error());
    free(source);
    code->elf = code->result.code;
    code->size = code->result.code_size;
    ck_assert_int_eq(codeobj_text(code->elf, code->size, &text, &code->text_size), MXG_OK);
    code->text = code->elf + (text - code->elf);
    Elf64_Ehdr header;
    memcpy(&header, code->elf, sizeof header);
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, code->elf + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_PROGBITS &&
            section.sh_offset == (uint64_t)(code->text - code->elf)) {
            code->address = section.sh_addr;
        }
    }
    ck_assert(code->address != 0);
}

static void release(struct code *code)
{
    compile_result_free(&mem_default, &code->result);
}

/* The instruction at an offset of .text; false at the end of the code. */
static bool decode(const struct code *code, size_t at, struct sim_inst *inst)
{
    return at < code->text_size &&
           sim_decode(code->text + at, code->text_size - at, code->address + at, inst) != 0;
}

static uint32_t word_at(const struct code *code, size_t at)
{
    uint32_t word;
    memcpy(&word, code->text + at, 4);
    return word;
}

static void put_word(struct code *code, size_t at, uint32_t word)
{
    memcpy(code->text + at, &word, 4);
}

/* Text of the instruction at a pc of the code; false if there is none. */
static bool text_at(const struct code *code, uint64_t pc, struct sim_inst *inst, char *text,
                    size_t size)
{
    if (pc < code->address || !decode(code, (size_t)(pc - code->address), inst)) {
        return false;
    }
    sim_inst_text(inst, text, size);
    return true;
}

static bool has_register(const struct sim_opnd *o, char file, unsigned number)
{
    const int kind = file == 'v' ? SIM_OPND_VGPR : file == 'a' ? SIM_OPND_AGPR : SIM_OPND_SGPR;
    return o->kind == kind && number >= o->reg && number < (unsigned)o->reg + o->ndw;
}

/*
 * The finding names an instruction of this code by pc and text, and a register (if its
 * detail starts with one) that is an operand of that instruction.
 */
static void check_named(const struct code *code, const struct mutant_finding *f)
{
    struct sim_inst inst;
    char text[256], file;
    unsigned number;
    ck_assert_msg(text_at(code, f->pc, &inst, text, sizeof text), "%s", f->text);
    /* Findings cut very long texts. */
    const size_t length = strlen(f->inst);
    ck_assert_msg(strncmp(text, f->inst, length) == 0 && (text[length] == '\0' || length > 100),
                  "%s is at this pc, not: %s", text, f->text);
    const char *detail = strchr(f->text, '\n');
    ck_assert_ptr_nonnull(detail);
    if (sscanf(detail, "\n %c%u is ", &file, &number) != 2 || strchr("vas", file) == NULL) {
        return;
    }
    bool is_operand = false;
    for (size_t i = 0; i < 2; i++) {
        is_operand = is_operand || has_register(&inst.dst[i], file, number);
    }
    for (size_t i = 0; i < SIM_SRC_MAX; i++) {
        is_operand = is_operand || has_register(&inst.src[i], file, number);
    }
    ck_assert_msg(is_operand, "%c%u is no operand: %s", file, number, f->text);
}

/* Whether a run comes by: s_trap there ends it. */
static bool is_reached(struct code *code, const struct kernel_case *test, size_t at)
{
    const uint32_t word = word_at(code, at);
    put_word(code, at, S_TRAP_2);
    mutant_run(test, code->elf, code->size);
    put_word(code, at, word);
    return mutant_find("trap") != NULL;
}

/* End of the code: what follows the last instruction is padding. */
static size_t code_end(const struct code *code)
{
    size_t end = code->text_size;
    while (end > 4 && word_at(code, end - 4) == S_NOP_0) {
        end -= 4;
    }
    return end;
}

/* --------------------------------------------------------------- kernels */

/*
 * One block in about a hundred is an edge block, so that some steps take the path of
 * extreme values and others do not.
 */
static void edit_some_edges(const struct kernel_case *test, uint16_t *a, uint8_t *b,
                            uint8_t *b_scale)
{
    const size_t blocks = (size_t)(test->m * test->config.k / ORACLE_BLOCK);
    uint64_t state = 1;
    (void)b;
    (void)b_scale;
    for (size_t i = 0; i < blocks; i++) {
        const uint64_t random = oracle_random(&state);
        if (random % 97 == 0) {
            oracle_edge_block((random >> 32) % oracle_edge_count(), a + i * ORACLE_BLOCK);
        }
    }
}

/*
 * Every family and both ways of sharing K, with loops, odd chunks, K tails and ragged
 * edges.  A wait may be silent where it is the compiler's caution at a join of paths; how
 * many of those that a run reaches must be missed at least is known of each kernel.
 */
struct subject {
    enum kernel_family family;
    uint32_t waves, m_rep, n_rep, split_k;
    unsigned waits_percent;
};

static const struct subject subjects[] = {
    { FAMILY_QUANTIZE, 0, 0, 0, 0, 100 },  { FAMILY_GEMM, 2, 1, 2, 1, 100 },
    { FAMILY_GEMM, 2, 4, 1, 0, 95 },       { FAMILY_GEMM_FUSED, 4, 1, 1, 1, 75 },
    { FAMILY_GEMM_FUSED, 8, 2, 2, 1, 75 },
};
#define SUBJECTS (sizeof subjects / sizeof subjects[0])

static struct kernel_case make_case(const struct subject *s)
{
    struct kernel_case test = { .m = 21, .seed = 7, .edit = edit_some_edges };
    test.config = s->family == FAMILY_QUANTIZE ? mutant_quantize(352)
                                               : mutant_gemm(33, 3648, s->family, s->waves,
                                                             s->m_rep, s->n_rep, s->split_k);
    return test;
}

/* Build a subject's kernel and see that it is right as it is. */
static struct kernel_case build_subject(size_t index, struct code *code)
{
    const struct kernel_case test = make_case(&subjects[index]);
    build(&test.config, code);
    ck_assert_msg(mutant_run(&test, code->elf, code->size), "unchanged: %s", mutants.why);
    return test;
}

static bool is_named(const struct sim_inst *inst, const char *name)
{
    return strcmp(inst->op->name, name) == 0;
}

/* ----------------------------------------------------------------- tests */

START_TEST(test_mutants_code_missing_wait)
{
    struct code code;
    struct sim_inst inst;
    const struct kernel_case test = build_subject((size_t)_i, &code);
    const size_t end = code_end(&code);
    unsigned reported = 0, silent = 0;
    for (size_t at = 0; at < end && decode(&code, at, &inst); at += inst.size) {
        const uint32_t word = word_at(&code, at);
        char text[256];
        if (!is_named(&inst, "s_waitcnt")) {
            continue;
        }
        put_word(&code, at, S_NOP_0);
        const bool is_right = mutant_run(&test, code.elf, code.size);
        const struct mutant_finding *f = mutant_find("waitcnt");
        if (f != NULL) {
            check_named(&code, f);
            reported++;
        }
        put_word(&code, at, word);
        if (f == NULL) {
            /* Nothing needed it: then nothing may have gone wrong. */
            ck_assert_msg(is_right, "without %s at 0x%zx: %s",
                          sim_inst_text(&inst, text, sizeof text), (size_t)code.address + at,
                          mutants.why);
            silent += is_reached(&code, &test, at);
        }
    }
    ck_assert_msg(reported > 0 &&
                      reported * 100 >= (reported + silent) * subjects[_i].waits_percent,
                  "%u of %u waits were missed", reported, reported + silent);
    release(&code);
}
END_TEST

/* Let the instruction behind an s_nop come first: the wait states before it are gone. */
static void swap(struct code *code, size_t at, size_t size, bool back)
{
    uint32_t nop;
    uint8_t *p = code->text + at;
    memcpy(&nop, back ? p + size : p, 4);
    memmove(back ? p + 4 : p, back ? p : p + 4, size);
    memcpy(back ? p : p + size, &nop, 4);
}

/* Whether a branch leads here: then what comes first on one path is not there on another. */
static bool is_branch_target(const struct code *code, size_t end, size_t target)
{
    struct sim_inst inst;
    for (size_t at = 0; at < end && decode(code, at, &inst); at += inst.size) {
        if ((inst.op->flags & SIM_F_BRANCH) &&
            at + 4 + (size_t)((int16_t)inst.imm * 4) == target) {
            return true;
        }
    }
    return false;
}

/* Wait states that came since the last vector and the last matrix instruction. */
struct waited {
    int64_t vector, matrix;
};

static void pass(struct waited *waited, const struct sim_inst *inst)
{
    if (is_named(inst, "s_nop")) {
        waited->vector += inst->imm + 1;
        waited->matrix += inst->imm + 1;
    } else if (inst->op->flags & SIM_F_MFMA) {
        *waited = (struct waited){ 0, 0 };
    } else if (inst->op->name[0] == 'v') {
        waited->vector = 0;
    }
}

/*
 * Whether an instruction behind an s_nop is known to need it.  One or two wait states may be
 * LLVM's caution: it takes op_sel_hi of packed instructions, and inline assembly, for writers
 * of half registers, and masks for data.  It does not count what is in inline assembly, and
 * adds its own behind: two wait states after a conversion, which a matrix instruction needs,
 * and eight after the last matrix instruction of a row of tiles.
 */
static bool is_essential(const struct sim_inst *nop, const struct sim_inst *next,
                         const struct waited *waited)
{
    if (next->op->flags & SIM_F_MFMA) {
        return nop->imm < 7 && waited->vector < 2;
    }
    return nop->imm >= 2 && nop->imm < 7 && waited->matrix < 8;
}

START_TEST(test_mutants_code_missing_wait_states)
{
    struct code code;
    struct sim_inst inst, next;
    const struct kernel_case test = build_subject((size_t)_i, &code);
    const size_t end = code_end(&code);
    unsigned reported = 0;
    struct waited waited = { 8, 8 }, before;
    for (size_t at = 0; at < end && decode(&code, at, &inst); at += inst.size) {
        char text[256];
        before = waited;
        pass(&waited, &inst);
        if (!is_named(&inst, "s_nop") || at + 4 >= end || !decode(&code, at + 4, &next) ||
            (next.op->flags & SIM_F_BRANCH) || is_branch_target(&code, end, at + 4)) {
            continue;
        }
        swap(&code, at, next.size, false);
        const bool is_right = mutant_run(&test, code.elf, code.size);
        const struct mutant_finding *f = mutant_find("hazard");
        if (f != NULL) {
            check_named(&code, f);
            ck_assert_msg(f->pc == code.address + at, "0x%zx lost its wait states, but: %s",
                          (size_t)code.address + at, f->text);
            reported++;
        }
        swap(&code, at, next.size, true);
        if (f != NULL) {
            continue;
        }
        sim_inst_text(&next, text, sizeof text);
        ck_assert_msg(is_right, "without wait states before %s at 0x%zx: %s", text,
                      (size_t)code.address + at, mutants.why);
        ck_assert_msg(!is_essential(&inst, &next, &before) || !is_reached(&code, &test, at),
                      "nobody missed s_nop %d before %s at 0x%zx", (int)inst.imm, text,
                      (size_t)code.address + at);
    }
    ck_assert_msg(reported > 0 || subjects[_i].family == FAMILY_QUANTIZE, "no hazard at all");
    release(&code);
}
END_TEST

START_TEST(test_mutants_code_missing_barrier)
{
    struct code code;
    struct sim_inst inst;
    const struct kernel_case test = build_subject((size_t)_i, &code);
    const size_t end = code_end(&code);
    unsigned barriers = 0;
    for (size_t at = 0; at < end && decode(&code, at, &inst); at += inst.size) {
        const uint32_t word = word_at(&code, at);
        if (!is_named(&inst, "s_barrier")) {
            continue;
        }
        put_word(&code, at, S_NOP_0);
        ck_assert(!mutant_run(&test, code.elf, code.size));
        const struct mutant_finding *race = mutant_find("lds-race");
        const struct mutant_finding *f = race != NULL ? race : mutant_find("uninit-lds");
        ck_assert_msg(f != NULL, "without the barrier at 0x%zx: %s", (size_t)code.address + at,
                      mutants.why);
        check_named(&code, f);
        ck_assert_msg(strncmp(f->inst, "ds_", 3) == 0, "%s", f->text);
        put_word(&code, at, word);
        barriers++;
    }
    ck_assert_uint_eq(barriers, subjects[_i].split_k);
    release(&code);
}
END_TEST

int main(void)
{
    if (!mutants_open()) {
        printf("skipped: %s\n", mxg_last_error());
        return 77;
    }
    mutants_close();
    setenv("MXGSIM_REPORT", "off", 0); /* hundreds of findings are the point of it */
    setenv("MXGSIM_QUIET", "1", 0);
    Suite *suite = suite_create("mutants_code");
    TCase *tcase = tcase_create("mutants_code");
    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, test_mutants_code_missing_wait, 0, SUBJECTS);
    tcase_add_loop_test(tcase, test_mutants_code_missing_wait_states, 0, SUBJECTS);
    tcase_add_loop_test(tcase, test_mutants_code_missing_barrier, 0, SUBJECTS);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
