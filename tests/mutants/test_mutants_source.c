/* SPDX-License-Identifier: MIT */
/*
 * The library's kernel sources with one wrong line each.  Nearly every one does nothing that
 * a simulator could object to: the numbers alone must give it away.  Of the others the
 * simulator's finding is known.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutant.h"

/* Problems that reach what the mutants change. */
enum problem {
    QUANTIZE,    /* all edge blocks */
    FUSED_EDGES, /* the same, in the GEMM */
    FUSED,
    SPLIT_K,     /* a K tail for the last wave */
    SPLIT_K_ODD, /* an odd chunk for the first wave */
    SPLIT_N,
    PROBLEMS
};

struct mutant {
    enum problem problem;
    const char *name;
    const char *line; /* stands in the source once */
    const char *wrong;
    const char *finding; /* kind of the simulator's finding; NULL: wrong numbers */
};

static const struct mutant table[] = {
    /* Quantising. */
    { QUANTIZE, "amax is not rounded up from 1.75 on", "+ 0x00200000u, 0x01000000u",
      "+ 0x00000000u, 0x01000000u", NULL },
    { QUANTIZE, "amax is rounded up from 1.5 on", "+ 0x00200000u, 0x01000000u",
      "+ 0x00400000u, 0x01000000u", NULL },
    { QUANTIZE, "scales are twice too large", "+ 0x00200000u, 0x01000000u",
      "+ 0x00200000u, 0x00800000u", NULL },
    { QUANTIZE, "small scales wrap around instead of staying 0",
      "__builtin_elementwise_sub_sat((amax << 16) + 0x00200000u, 0x01000000u)",
      "((amax << 16) + 0x00200000u - 0x01000000u)", "unpredictable" },
    { QUANTIZE, "the largest finite values get a scale of NaN", "amax >= 0x7f60u ? 0x7f000000u",
      "amax >= 0x7f80u ? 0x7f000000u", NULL },
    { QUANTIZE, "Inf counts as finite", "is_nonfinite = amax >= 0x7f80u",
      "is_nonfinite = amax > 0x7f80u", NULL },
    { QUANTIZE, "NaN and Inf do not make the scale NaN", "is_nonfinite ? 255u",
      "is_nonfinite ? 254u", NULL },
    { QUANTIZE, "elements of a NaN block are left as converted",
      "is_nonfinite ? (mxg_u32x4)0u : src[i]", "src[i]", "unpredictable" },
    { QUANTIZE, "negative values do not count in amax", "%[l] neg_lo:[0,0,1] neg_hi:[0,0,1]",
      "%[h]", NULL },
    { QUANTIZE, "the careful amax keeps signs", "& 0x7fff7fffu", "& 0xffffffffu", NULL },
    { QUANTIZE, "pairs of elements in the wrong bytes", "%[q0], %[x1], %[d]",
      "%[q0], %[x2], %[d]", NULL },
    { QUANTIZE, "scales of rows beyond M are not cleared", "        *scale = 0;\n", "", NULL },
    { QUANTIZE, "scales in another place of their group", "column % 4 * 64 + row % 16 * 4",
      "column % 4 * 4 + row % 16 * 16", NULL },
    { QUANTIZE, "the row's last 16 bytes of a block are read twice", "mxg_load16(src, 16 * i)",
      "mxg_load16(src, 16 * (i == 0 ? 3 : i))", NULL },
    { FUSED_EDGES, "extreme blocks are not seen", "amax > 0x7c00u) != 0",
      "amax > 0xffffu) != 0", "unpredictable" },
    { FUSED_EDGES, "the largest finite values get a scale of NaN",
      "amax >= 0x7f60u ? 0x7f000000u", "amax >= 0x7f80u ? 0x7f000000u", NULL },
    { FUSED_EDGES, "NaN and Inf do not reach the output", "is_nonfinite ? 255u",
      "is_nonfinite ? 127u", NULL },
    { FUSED, "amax is not rounded up from 1.75 on", "+ 0x00200000u, 0x01000000u",
      "+ 0x00000000u, 0x01000000u", NULL },
    { FUSED, "pairs of elements in the wrong bytes", "%[q0], %[x1], %[d]", "%[q0], %[x2], %[d]",
      NULL },
    { FUSED, "the quarters of a block in another order", "a.data + at * 256 + j * 16",
      "a.data + at * 256 + (j ^ 1) * 16", NULL },
    { FUSED, "lanes read past their row", "+ tile.block * 64;", "+ (tile.block ^ 1) * 64;",
      "mem-bounds" },
    /* Multiplying. */
    { SPLIT_K, "the K tail is dropped",
      "is_extra || (MXG_HAS_TAIL && sharer == MXG_SHARERS - 1)", "is_extra", NULL },
    { SPLIT_K, "the K tail is added by every wave",
      "(MXG_HAS_TAIL && sharer == MXG_SHARERS - 1)", "MXG_HAS_TAIL", NULL },
    { SPLIT_N, "dead blocks of the tail's first step count",
      "first = !MXG_HAS_TAIL || tile.block < tile.odd_blocks", "first = true", NULL },
    { SPLIT_K, "dead blocks of the tail's second step count",
      "second = !MXG_HAS_TAIL || tile.block + MXG_STEP_BLOCKS < tile.odd_blocks",
      "second = true", NULL },
    { SPLIT_K_ODD, "the odd chunk is dropped",
      "is_extra || (MXG_HAS_TAIL && sharer == MXG_SHARERS - 1)",
      "(MXG_HAS_TAIL && sharer == MXG_SHARERS - 1)", NULL },
    { SPLIT_K_ODD, "waves start at overlapping chunks",
      "sharer * MXG_WAVE_CHUNKS + mxg_min(sharer, MXG_EXTRA_WAVES)", "sharer * MXG_WAVE_CHUNKS",
      NULL },
    { SPLIT_K_ODD, "the odd chunk is the first one again",
      "tile.odd_chunk = tile.first_chunk + MXG_WAVE_CHUNKS",
      "tile.odd_chunk = tile.first_chunk", NULL },
    { SPLIT_K, "a wave's partial sums are left out", "wave < MXG_WAVES; wave++",
      "wave < MXG_WAVES - 1; wave++", NULL },
    { SPLIT_K, "the scale byte of the other step", "i % 2 + 2 * parity",
      "i % 2 + 2 - 2 * parity", NULL },
    { SPLIT_K, "the scale byte of the other row tile", "i % 2 + 2 * parity",
      "1 - i % 2 + 2 * parity", NULL },
    { SPLIT_K, "scales in another place of their group", "row % 16 * 4", "(15 - row % 16) * 4",
      NULL },
    { SPLIT_K, "the operands' scales are exchanged",
      "b_byte, (int)b_scale, a_byte, (int)a_scale",
      "b_byte, (int)a_scale, a_byte, (int)b_scale", NULL },
    { SPLIT_K, "elements are taken for E2M3", "constexpr int e2m1 = 4",
      "constexpr int e2m1 = 2", "uninit-reg" },
    { SPLIT_K, "rows of A are one off",
      "mxg_min(i * 16 + tile.row, tile.load_rows - 1);\n        a.",
      "mxg_min(i * 16 + (tile.row ^ 1), tile.load_rows - 1);\n        a.", NULL },
    { SPLIT_N, "a lone tile's scales are those of its neighbour", "(mxg_u32)first / 16 % 2 * 8",
      "8 - (mxg_u32)first / 16 % 2 * 8", NULL },
    { SPLIT_N, "waves compute the same columns", "n_tile * MXG_WAVES + tile.wave",
      "n_tile * MXG_WAVES", NULL },
    /* Writing C. */
    { SPLIT_N, "C is cut off instead of rounded",
      "value = __builtin_convertvector(sum, mxg_c4)",
      "value = __builtin_convertvector(__builtin_bit_cast(mxg_f32x4, __builtin_bit_cast("
      "mxg_u32x4, sum) & 0xffff0000u), mxg_c4)",
      NULL },
    { SPLIT_N, "columns of C in another order", "n_tile * 16 + tile.block * 4",
      "n_tile * 16 + (tile.block ^ 1) * 4", NULL },
    { SPLIT_N, "the last live column is not stored", "if (i < live) {", "if (i + 1 < live) {",
      NULL },
    { SPLIT_N, "the last row is not stored", "row >= tile.live_rows",
      "row >= tile.live_rows - 1", NULL },
    { SPLIT_K, "a sum is not cleared to zero but to one", "= (mxg_f32x4)0.0f",
      "= (mxg_f32x4)1.0f", NULL },
};
#define MUTANTS (sizeof table / sizeof table[0])

static struct kernel_case problem(enum problem which)
{
    struct kernel_case test = { .m = 37, .seed = 5 };
    switch (which) {
    case QUANTIZE:
        test.config = mutant_quantize(352);
        test.m = (int64_t)(oracle_edge_count() + 10) / 11;
        test.edit = mutant_edit_edges;
        break;
    case FUSED_EDGES:
        test.config = mutant_gemm(32, 32, FAMILY_GEMM_FUSED, 2, 1, 1, 1);
        test.config.c_type = MXG_TYPE_F32;
        test.m = (int64_t)oracle_edge_count();
        test.edit = mutant_edit_edges;
        break;
    case FUSED:
        test.config = mutant_gemm(50, 1696, FAMILY_GEMM_FUSED, 4, 2, 1, 1);
        break;
    case SPLIT_K:
        test.config = mutant_gemm(50, 1696, FAMILY_GEMM, 2, 2, 2, 1);
        break;
    case SPLIT_K_ODD:
        test.config = mutant_gemm(50, 1792, FAMILY_GEMM, 2, 1, 2, 1);
        break;
    default:
        test.config = mutant_gemm(50, 352, FAMILY_GEMM, 2, 1, 1, 0);
        break;
    }
    return test;
}

static void setup(void)
{
    ck_assert_msg(mutants_open(), "%s", mxg_last_error());
}

static void teardown(void)
{
    mutants_close();
}

/* The source with the mutant's line; free() it. */
static char *change(const char *source, const struct mutant *mutant)
{
    const size_t old = strlen(mutant->line), new = strlen(mutant->wrong);
    const char *at = strstr(source, mutant->line);
    ck_assert_msg(at != NULL, "%s: \"%s\" is not in the source", mutant->name, mutant->line);
    ck_assert_msg(strstr(at + 1, mutant->line) == NULL, "%s: \"%s\" is there twice",
                  mutant->name, mutant->line);
    char *changed = malloc(strlen(source) - old + new + 1);
    ck_assert_ptr_nonnull(changed);
    memcpy(changed, source, (size_t)(at - source));
    memcpy(changed + (at - source), mutant->wrong, new);
    strcpy(changed + (at - source) + new, at + old);
    return changed;
}

static bool run_source(const struct kernel_case *test, const char *source, const char *name)
{
    struct compile_result result = { 0 };
    ck_assert_msg(mutant_compile(&test->config, source, &result), "%s: %s", name,
                  mxg_last_error());
    const bool is_right = mutant_run(test, result.code, result.code_size);
    compile_result_free(&mem_default, &result);
    return is_right;
}

/* Without a mutation each problem is right: what the others find is the mutation. */
START_TEST(test_mutants_source_unchanged_is_right)
{
    const struct kernel_case test = problem((enum problem)_i);
    char *source = mutant_source(&test.config);
    ck_assert_msg(run_source(&test, source, "unchanged"), "%s", mutants.why);
    free(source);
}
END_TEST

START_TEST(test_mutants_source_wrong_line_is_noticed)
{
    static const char *const numeric[] = { "beyond the bound", "scale of row",
                                           "elements of row", "beside C was written" };
    const struct mutant *mutant = &table[_i];
    const struct kernel_case test = problem(mutant->problem);
    char *source = mutant_source(&test.config);
    char *changed = change(source, mutant);
    ck_assert_msg(!run_source(&test, changed, mutant->name), "%s: nobody notices",
                  mutant->name);
    if (mutant->finding != NULL) {
        ck_assert_msg(mutant_find(mutant->finding) != NULL, "%s: no %s, but %s", mutant->name,
                      mutant->finding, mutants.why);
    }
    bool is_numeric = mutant->finding != NULL;
    for (size_t i = 0; i < sizeof numeric / sizeof numeric[0]; i++) {
        is_numeric = is_numeric || strstr(mutants.why, numeric[i]) != NULL;
    }
    ck_assert_msg(is_numeric, "%s: no wrong number, but %s", mutant->name, mutants.why);
    free(changed);
    free(source);
}
END_TEST

int main(void)
{
    if (!mutants_open()) {
        printf("skipped: %s\n", mxg_last_error());
        return 77;
    }
    mutants_close();
    setenv("MXGSIM_REPORT", "off", 0);
    Suite *suite = suite_create("mutants_source");
    TCase *tcase = tcase_create("mutants_source");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, test_mutants_source_unchanged_is_right, 0, PROBLEMS);
    tcase_add_loop_test(tcase, test_mutants_source_wrong_line_is_noticed, 0, MUTANTS);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
