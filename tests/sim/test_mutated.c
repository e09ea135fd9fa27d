/* SPDX-License-Identifier: MIT */
/*
 * Kernels with random bits flipped: whatever they do, the simulator ends them and stays
 * whole.  Seeds are fixed; MXGSIM_TEST_ROUNDS runs more of them.
 */
#include "code_builder.h"
#include "devmem.h"
#include "dispatch.h"
#include "report.h"

#include "core_kernels.inc"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 12
#define WORDS_MAX 64

static uint64_t state;

static uint32_t draw(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}

/* Flip up to three bits, or replace a word by one of another kernel. */
static void mutate(uint32_t *words, size_t count, const uint32_t *other, size_t others)
{
    if (draw() % 4 == 0) {
        words[draw() % count] = other[draw() % others];
    }
    for (uint32_t n = 1 + draw() % 3; n > 0; n--) {
        words[draw() % count] ^= 1u << draw() % 32;
    }
}

static void run_words(const uint32_t *words, size_t count)
{
    const struct build_kernel kernel = { .name = "mutant",
                                         .words = words,
                                         .count = count,
                                         .vgprs = 128,
                                         .agprs = 64,
                                         .scratch = 64 };
    const struct build_object object = { .kernels = &kernel, .count = 1 };
    size_t size;
    char text[512] = "";
    struct sim_code *code;
    uint8_t *elf = build_code(&object, &size);
    ck_assert_int_eq(sim_code_load(0, elf, size, &code, text, sizeof text), SIM_LOAD_OK);
    free(elf);
    void *in = sim_mem_alloc(0, 4096, 0, -1), *out = sim_mem_alloc(0, 4096, 0, -1);
    void *args[4] = { in, out, in, out };
    const struct sim_launch l = { .code = code,
                                  .kernel = sim_code_kernel(code, "mutant"),
                                  .grid = { 1, 1, 1 },
                                  .block = { 128, 1, 1 },
                                  .dynamic_lds = 2048,
                                  .kernarg = args,
                                  .kernarg_size = sizeof args };
    enum sim_result result = sim_launch(&l, text, sizeof text);
    ck_assert_msg(result == SIM_OK || text[0], "result %d without a text", result);
    ck_assert(sim_mem_free(in) && sim_mem_free(out));
    sim_code_unload(code);
    sim_report_reset();
}

START_TEST(test_mutated_kernels_end)
{
    static const struct {
        const uint32_t *words;
        size_t count;
    } kernels[] = {
#define ENTRY(k) { k, sizeof k / sizeof k[0] },
        CORE_KERNELS(ENTRY)
#undef ENTRY
    };
    const size_t n = sizeof kernels / sizeof kernels[0];
    const char *more = getenv("MXGSIM_TEST_ROUNDS");
    int rounds = more ? atoi(more) : ROUNDS;
    state = 20260101 + (uint64_t)_i;
    setenv("MXGSIM_MAX_INSTS", "5000", 1);
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < n; i++) {
            uint32_t words[WORDS_MAX + 1];
            size_t count = kernels[i].count < WORDS_MAX ? kernels[i].count : WORDS_MAX;
            size_t other = draw() % n;
            memcpy(words, kernels[i].words, 4 * count);
            mutate(words, count, kernels[other].words, kernels[other].count);
            words[count] = 0xbf810000; /* s_endpgm */
            run_words(words, count + 1);
        }
    }
    unsetenv("MXGSIM_MAX_INSTS");
}
END_TEST

int main(void)
{
    setenv("MXGSIM_REPORT", "off", 0);
    setenv("MXGSIM_THREADS", "1", 0);
    Suite *suite = suite_create("mutated");
    TCase *tc = tcase_create("mutated");
    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_mutated_kernels_end, 0, 4);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
