/* SPDX-License-Identifier: MIT */
/*
 * The kernel families on the device, config by config: edge blocks bit for bit,
 * ragged shapes, K tails, every layout and type, poisoned padding.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_run.h"

static struct kernel_bench bench;

/* Opened in the forked child: a runtime and its threads do not survive a fork. */
static void setup(void)
{
    ck_assert_msg(kernel_bench_open(&bench), "%s", mxg_last_error());
}

static void teardown(void)
{
    kernel_bench_close(&bench);
}

static void expect_ok(const struct kernel_case *test)
{
    char name[64], why[1536];
    kernel_config_name(&test->config, name, sizeof(name));
    ck_assert_msg(kernel_case_run(&bench, test, why, sizeof(why)), "%s, M %lld: %s", name,
                  (long long)test->m, why);
}

static struct kernel_config gemm(int64_t n, int64_t k, uint32_t family, uint32_t waves,
                                 uint32_t m_rep, uint32_t n_rep, uint32_t split_k)
{
    struct kernel_config config;
    memset(&config, 0, sizeof(config));
    config.n = n;
    config.k = k;
    config.family = family;
    config.waves = waves;
    config.m_rep = m_rep;
    config.n_rep = n_rep;
    config.split_k = split_k;
    config.c_type = MXG_TYPE_BF16;
    config.b_layout = MXG_LAYOUT_SHUFFLED;
    config.b_scale_layout = MXG_LAYOUT_SHUFFLED;
    config.a_scale_layout = family == FAMILY_GEMM ? MXG_LAYOUT_SHUFFLED : 0;
    return config;
}

static struct kernel_config quantize(int64_t k, uint32_t layout)
{
    struct kernel_config config;
    memset(&config, 0, sizeof(config));
    config.k = k;
    config.family = FAMILY_QUANTIZE;
    config.a_scale_layout = layout;
    return config;
}

static void run(const struct kernel_config *config, int64_t m)
{
    struct kernel_case test = { *config, m, 0, 0, 0, 0, 7, NULL };
    expect_ok(&test);
}

/* All edge blocks, one after the other over the whole of A. */
static void edit_edges(const struct kernel_case *test, uint16_t *a, uint8_t *b,
                       uint8_t *b_scale)
{
    size_t blocks = (size_t)(test->m * test->config.k / ORACLE_BLOCK);
    (void)b;
    (void)b_scale;
    for (size_t i = 0; i < blocks; i++) {
        oracle_edge_block(i % oracle_edge_count(), a + i * ORACLE_BLOCK);
    }
}

/* Edge blocks against rows of B that pick one element each: C is the dequantised A itself. */
static void edit_edges_one_hot(const struct kernel_case *test, uint16_t *a, uint8_t *b,
                               uint8_t *b_scale)
{
    size_t n = (size_t)test->config.n, k = (size_t)test->config.k;
    edit_edges(test, a, b, b_scale);
    memset(b, 0, n * k / 2);
    memset(b_scale, 127, n * k / ORACLE_BLOCK);
    for (size_t i = 0; i < n && i < k; i++) {
        b[i * k / 2 + i / 2] = i % 2 ? 0x20 : 0x02;
    }
}

START_TEST(test_kernels_quantize_edge_blocks_bit_for_bit)
{
    static const int64_t ks[] = { 32, 224, 416 };
    for (size_t i = 0; i < 3; i++) {
        int64_t rows = ((int64_t)oracle_edge_count() * 32 + ks[i] - 1) / ks[i];
        for (uint32_t layout = MXG_LAYOUT_ROW_MAJOR; layout <= MXG_LAYOUT_SHUFFLED; layout++) {
            struct kernel_case test = {
                quantize(ks[i], layout), rows, 8, 0, 0, 0, 1, edit_edges
            };
            expect_ok(&test);
        }
    }
}
END_TEST

START_TEST(test_kernels_quantize_random_rows)
{
    static const int64_t shapes[][2] = {
        { 1, 32 }, { 3, 96 }, { 33, 160 }, { 64, 7168 }, { 257, 288 }
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct kernel_config config =
            quantize(shapes[i][1], i % 2 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED);
        run(&config, shapes[i][0]);
    }
}
END_TEST

/* Each edge block alone in its row (K = 32), and mixed with others in one row. */
START_TEST(test_kernels_fused_quantises_edge_blocks)
{
    static const int64_t ks[] = { 32, 128, 288 };
    for (size_t i = 0; i < 3; i++) {
        struct kernel_case test = { gemm(32, ks[i], FAMILY_GEMM_FUSED, 2, 1 + (uint32_t)i % 2,
                                         1, 1),
                                    ((int64_t)oracle_edge_count() * 32 + ks[i] - 1) / ks[i],
                                    0,
                                    0,
                                    0,
                                    0,
                                    1,
                                    i == 0 ? edit_edges_one_hot : edit_edges };
        test.config.c_type = MXG_TYPE_F32;
        expect_ok(&test);
    }
}
END_TEST

START_TEST(test_kernels_gemm_passes_nan_rows_and_extreme_scales)
{
    for (uint32_t split = 0; split <= 1; split++) {
        struct kernel_case test = {
            gemm(48, 288, FAMILY_GEMM, 2, 2, 1, split), 102, 0, 0, 0, 0, 1, edit_edges
        };
        test.config.c_type = MXG_TYPE_F32;
        expect_ok(&test);
    }
}
END_TEST

START_TEST(test_kernels_gemm_every_tiling)
{
    static const uint32_t tilings[][4] = {
        /* waves, m_rep, n_rep, split_k */
        { 2, 1, 1, 0 }, { 4, 1, 1, 0 }, { 8, 1, 1, 0 }, { 2, 1, 1, 1 },  { 4, 1, 1, 1 },
        { 8, 1, 1, 1 }, { 4, 2, 1, 0 }, { 4, 4, 1, 0 }, { 4, 8, 1, 0 },  { 4, 16, 1, 0 },
        { 8, 2, 1, 1 }, { 8, 4, 1, 1 }, { 8, 8, 1, 1 }, { 8, 16, 1, 1 }, { 4, 1, 2, 0 },
        { 4, 1, 4, 1 }, { 2, 4, 4, 0 }, { 4, 2, 2, 1 },
    };
    for (size_t i = 0; i < sizeof(tilings) / sizeof(tilings[0]); i++) {
        const uint32_t *t = tilings[i];
        struct kernel_config config = gemm(100, 1664, FAMILY_GEMM, t[0], t[1], t[2], t[3]);
        run(&config, 16 * t[1] + 5);
    }
}
END_TEST

START_TEST(test_kernels_fused_every_tiling)
{
    static const uint32_t tilings[][3] = {
        /* waves, m_rep, n_rep */
        { 2, 1, 1 }, { 2, 2, 4 }, { 4, 1, 2 },  { 4, 2, 1 },
        { 8, 1, 4 }, { 8, 2, 2 }, { 16, 1, 1 }, { 16, 2, 2 },
    };
    for (size_t i = 0; i < sizeof(tilings) / sizeof(tilings[0]); i++) {
        const uint32_t *t = tilings[i];
        struct kernel_config config = gemm(100, 1664, FAMILY_GEMM_FUSED, t[0], t[1], t[2], 1);
        run(&config, 16 * t[1] + 3);
    }
}
END_TEST

/* Every K tail length, every split of K over waves, ragged N and M. */
START_TEST(test_kernels_every_k_tail)
{
    for (int64_t blocks = 1; blocks <= 18; blocks++) {
        uint32_t fused = blocks % 2 ? FAMILY_GEMM_FUSED : FAMILY_GEMM;
        struct kernel_config config =
            gemm(15 + blocks, blocks * 32, fused, blocks % 3 ? 4 : 2, 1, blocks % 5 ? 1 : 2, 1);
        run(&config, blocks);
        if (blocks % 3 == 0) {
            config = gemm(15 + blocks, blocks * 32, FAMILY_GEMM, 2, 2, blocks % 2 ? 2 : 1, 0);
            run(&config, 30 + blocks);
        }
    }
}
END_TEST

/*
 * Steps beyond the ring's depth, so that its loop turns and its remainder of every length
 * runs.
 */
START_TEST(test_kernels_long_k)
{
    static const int64_t counts[] = { 7, 9, 12, 14 };
    for (size_t i = 0; i < 4; i++) {
        int64_t chunks = counts[i];
        struct kernel_config config =
            gemm(33, chunks * 256 + (chunks % 3) * 32, FAMILY_GEMM, 2, 1, 1, 0);
        run(&config, 5);
        config = gemm(17, chunks * 512 + (chunks % 4) * 32, FAMILY_GEMM_FUSED, 2,
                      1 + chunks % 2, 1, 1);
        run(&config, 5);
    }
}
END_TEST

START_TEST(test_kernels_layouts_and_types)
{
    static const mxg_type types[] = { MXG_TYPE_BF16, MXG_TYPE_F16, MXG_TYPE_F32 };
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t family = FAMILY_GEMM; family <= FAMILY_GEMM_FUSED; family++) {
            struct kernel_case test = { gemm(i % 2 ? 47 : 64, i % 3 ? 352 : 512, family, 4, 2,
                                             1 + i % 2,
                                             family == FAMILY_GEMM_FUSED || i % 4 < 2),
                                        37,
                                        32,
                                        64,
                                        0,
                                        0,
                                        i,
                                        NULL };
            test.config.c_type = types[i % 3];
            test.config.b_layout = i & 1 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
            test.config.b_scale_layout = i & 2 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
            if (family == FAMILY_GEMM) {
                test.config.a_scale_layout = i & 4 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
            }
            test.b_gap = test.config.b_layout == MXG_LAYOUT_ROW_MAJOR ? 64 : 0;
            expect_ok(&test);
        }
    }
}
END_TEST

/* C with and without room for packed stores, at every alignment of its rows. */
START_TEST(test_kernels_c_stores_at_every_alignment)
{
    static const mxg_type types[] = { MXG_TYPE_BF16, MXG_TYPE_F16, MXG_TYPE_F32 };
    for (uint32_t type = 0; type < 3; type++) {
        for (int64_t gap = 0; gap < 5; gap++) {
            for (int64_t n = 29; n <= 32; n++) {
                struct kernel_case test = { gemm(n, 128, FAMILY_GEMM, 2, 1, 1,
                                                 (uint32_t)(gap & 1)),
                                            9,
                                            0,
                                            0,
                                            gap,
                                            (size_t)(gap * n % 3),
                                            3,
                                            NULL };
                test.config.c_type = types[type];
                if (gap == n % 5) {
                    expect_ok(&test);
                }
            }
        }
    }
}
END_TEST

/*
 * LLVM 22 counts wait states behind a matrix instruction along paths that it walks once a
 * block; these kernels read sums too early where paths joined.
 */
START_TEST(test_kernels_sums_settle_where_paths_join)
{
    struct kernel_case test = {
        gemm(147, 2592, FAMILY_GEMM_FUSED, 8, 1, 4, 1), 7, 0, 0, 0, 0, 31016, NULL
    };
    test.config.c_type = MXG_TYPE_F32;
    test.config.b_layout = MXG_LAYOUT_ROW_MAJOR;
    test.config.b_scale_layout = MXG_LAYOUT_ROW_MAJOR;
    expect_ok(&test);
    test.config = gemm(2880, 7168, FAMILY_GEMM_FUSED, 8, 1, 1, 1);
    test.config.c_type = MXG_TYPE_F16;
    test.m = 23;
    expect_ok(&test);
}
END_TEST

/* What ROCm makes of the same text at other levels must be as right. */
START_TEST(test_kernels_every_optimisation_level)
{
    static const char *const levels[] = { "-O1", "-O2" };
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(setenv("MXG_TEST_OPTIMIZE", levels[i], 1), 0);
        struct kernel_config config = quantize(352, MXG_LAYOUT_SHUFFLED);
        run(&config, 19);
        config = gemm(100, 1696, FAMILY_GEMM, 4, 2, 2, 1);
        run(&config, 37);
        config = gemm(61, 1696, FAMILY_GEMM, 2, 1, 1, 0);
        config.b_scale_layout = MXG_LAYOUT_ROW_MAJOR;
        run(&config, 21);
        config = gemm(100, 1696, FAMILY_GEMM_FUSED, 8, 2, 1, 1);
        run(&config, 37);
    }
}
END_TEST

/* One text, one machine code, whoever compiles it. */
START_TEST(test_kernels_providers_give_identical_code)
{
    static const char *const choices[] = { "worker:comgr", "worker:hiprtc" };
    struct kernel_config configs[3] = { quantize(7168, MXG_LAYOUT_SHUFFLED),
                                        gemm(2112, 7168, FAMILY_GEMM, 8, 1, 1, 1),
                                        gemm(100, 1696, FAMILY_GEMM_FUSED, 8, 2, 1, 1) };
    struct compile_result results[2][3];
    memset(results, 0, sizeof(results));
    for (size_t i = 0; i < 2; i++) {
        struct kernel_bench other;
        ck_assert_int_eq(setenv("MXG_COMPILER", choices[i], 1), 0);
        ck_assert_msg(kernel_bench_open(&other), "%s: %s", choices[i], mxg_last_error());
        for (size_t j = 0; j < 3; j++) {
            ck_assert_msg(kernel_compile(&other, &configs[j], &results[i][j]), "%s: %s",
                          choices[i], mxg_last_error());
        }
        kernel_bench_close(&other);
    }
    for (size_t j = 0; j < 3; j++) {
        const uint8_t *text[2];
        size_t size[2];
        for (size_t i = 0; i < 2; i++) {
            ck_assert_int_eq(
                codeobj_text(results[i][j].code, results[i][j].code_size, &text[i], &size[i]),
                MXG_OK);
        }
        ck_assert_uint_eq(size[0], size[1]);
        ck_assert_mem_eq(text[0], text[1], size[0]);
        compile_result_free(&mem_default, &results[0][j]);
        compile_result_free(&mem_default, &results[1][j]);
    }
}
END_TEST

int main(void)
{
    if (!kernel_bench_open(&bench)) {
        fprintf(stderr, "skipped: %s\n", mxg_last_error());
        return 77;
    }
    kernel_bench_close(&bench);
    Suite *suite = suite_create("kernels");
    TCase *tcase = tcase_create("kernels");
    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_kernels_quantize_edge_blocks_bit_for_bit);
    tcase_add_test(tcase, test_kernels_quantize_random_rows);
    tcase_add_test(tcase, test_kernels_fused_quantises_edge_blocks);
    tcase_add_test(tcase, test_kernels_gemm_passes_nan_rows_and_extreme_scales);
    tcase_add_test(tcase, test_kernels_gemm_every_tiling);
    tcase_add_test(tcase, test_kernels_fused_every_tiling);
    tcase_add_test(tcase, test_kernels_every_k_tail);
    tcase_add_test(tcase, test_kernels_long_k);
    tcase_add_test(tcase, test_kernels_layouts_and_types);
    tcase_add_test(tcase, test_kernels_c_stores_at_every_alignment);
    tcase_add_test(tcase, test_kernels_sums_settle_where_paths_join);
    tcase_add_test(tcase, test_kernels_every_optimisation_level);
    tcase_add_test(tcase, test_kernels_providers_give_identical_code);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
