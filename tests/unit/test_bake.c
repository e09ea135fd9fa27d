/* SPDX-License-Identifier: MIT */
/* Configs: checks, names, geometry, argument blocks; and the source text baked of them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bake.h"
#include "kernel_src.h"
#include "status.h"

static struct kernel_config gemm_config(void)
{
    struct kernel_config config;
    memset(&config, 0, sizeof(config));
    config.n = 2112;
    config.k = 7168;
    config.family = FAMILY_GEMM;
    config.waves = 8;
    config.m_rep = 1;
    config.n_rep = 1;
    config.split_k = 1;
    config.c_type = MXG_TYPE_BF16;
    config.b_layout = MXG_LAYOUT_SHUFFLED;
    config.b_scale_layout = MXG_LAYOUT_SHUFFLED;
    config.a_scale_layout = MXG_LAYOUT_SHUFFLED;
    return config;
}

static struct kernel_config fused_config(void)
{
    struct kernel_config config = gemm_config();
    config.family = FAMILY_GEMM_FUSED;
    config.a_scale_layout = 0;
    return config;
}

static struct kernel_config quantize_config(void)
{
    struct kernel_config config;
    memset(&config, 0, sizeof(config));
    config.k = 7168;
    config.family = FAMILY_QUANTIZE;
    config.a_scale_layout = MXG_LAYOUT_SHUFFLED;
    return config;
}

START_TEST(test_bake_config_check_names_what_it_refuses)
{
    struct kernel_config good = gemm_config(), bad;
    ck_assert_int_eq(kernel_config_check(&good), MXG_OK);
#define REFUSES(member, value, text)                                                   \
    do {                                                                               \
        bad = good;                                                                    \
        bad.member = (value);                                                          \
        ck_assert_int_eq(kernel_config_check(&bad), MXG_E_UNSUPPORTED);                \
        ck_assert_msg(strstr(mxg_last_error(), text) != NULL, "%s", mxg_last_error()); \
    } while (0)
    REFUSES(family, 9, "family 9");
    REFUSES(k, 48, "k = 48");
    REFUSES(k, KERNEL_K_MAX + 32, "k = ");
    REFUSES(n, 0, "n = 0");
    REFUSES(waves, 3, "waves = 3");
    REFUSES(waves, 16, "waves = 16");
    REFUSES(m_rep, 32, "m_rep = 32");
    REFUSES(n_rep, 8, "n_rep = 8");
    REFUSES(split_k, 2, "split_k = 2");
    REFUSES(c_type, MXG_TYPE_MXFP4, "c_type = 2");
    REFUSES(b_layout, 0, "b_layout = 0");
    REFUSES(a_scale_layout, 5, "a_scale_layout = 5");
    good = fused_config();
    ck_assert_int_eq(kernel_config_check(&good), MXG_OK);
    REFUSES(m_rep, 4, "m_rep = 4");
    REFUSES(split_k, 0, "split_k = 0");
    good = gemm_config();
    good.m_rep = 16;
    REFUSES(n_rep, 2, "LDS");
#undef REFUSES
}
END_TEST

START_TEST(test_bake_names_are_unique_and_fit)
{
    struct kernel_config configs[64];
    char names[64][64];
    size_t count = 0;
    configs[count++] = quantize_config();
    configs[count] = quantize_config();
    configs[count++].a_scale_layout = MXG_LAYOUT_ROW_MAJOR;
    for (uint32_t i = 0; i < 48; i++) {
        struct kernel_config *c = &configs[count++];
        *c = i % 3 == 0 ? fused_config() : gemm_config();
        c->waves = i % 2 ? 4 : 8;
        c->c_type = i / 6 % 2 ? MXG_TYPE_F32 : MXG_TYPE_BF16;
        c->b_layout = i / 12 % 2 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
        c->b_scale_layout = i / 24 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
        if (i % 3 == 2) {
            c->a_scale_layout = MXG_LAYOUT_ROW_MAJOR;
        }
    }
    for (size_t i = 0; i < count; i++) {
        kernel_config_name(&configs[i], names[i], sizeof(names[i]));
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(names[i], names[j]);
        }
    }
    struct kernel_config longest = gemm_config();
    longest.n = KERNEL_N_MAX;
    longest.k = KERNEL_K_MAX;
    longest.m_rep = 16;
    char name[128];
    kernel_config_name(&longest, name, sizeof(name));
    ck_assert_uint_lt(strlen(name), 64);
    struct kernel_config config = gemm_config();
    kernel_config_name(&config, name, sizeof(name));
    ck_assert_str_eq(name, "gemm_n2112_k7168_w8_m1n1_splitk_bf16_sss");
}
END_TEST

START_TEST(test_bake_geometry_covers_the_product)
{
    struct kernel_geometry g;
    struct kernel_config config = gemm_config();
    ck_assert_int_eq(kernel_config_geometry(&config, 33, &g), MXG_OK);
    ck_assert_uint_eq(g.grid[0], 132);
    ck_assert_uint_eq(g.grid[1], 3);
    ck_assert_uint_eq(g.grid[2], 1);
    ck_assert_uint_eq(g.threads, 512);
    ck_assert_uint_eq(g.dynamic_lds, 8 * 1024);

    config.split_k = 0;
    config.m_rep = 4;
    config.n_rep = 2;
    ck_assert_int_eq(kernel_config_geometry(&config, 65, &g), MXG_OK);
    ck_assert_uint_eq(g.grid[0], 9); /* 66 tiles of 32 columns, 8 a workgroup */
    ck_assert_uint_eq(g.grid[1], 2);
    ck_assert_uint_eq(g.dynamic_lds, 0);

    /* More tiles of M than y holds go to z; HIP's limits end it. */
    ck_assert_int_eq(kernel_config_geometry(&config, INT64_C(64) * 32768 + 1, &g), MXG_OK);
    ck_assert_uint_eq(g.grid[1], 32768);
    ck_assert_uint_eq(g.grid[2], 2);
    ck_assert_int_eq(kernel_config_geometry(&config, INT64_C(64) * 32768 * 65535, &g), MXG_OK);
    ck_assert_int_eq(kernel_config_geometry(&config, INT64_C(64) * 32768 * 65535 + 1, &g),
                     MXG_E_UNSUPPORTED);
    ck_assert_int_eq(kernel_config_geometry(&config, INT64_MAX, &g), MXG_E_UNSUPPORTED);
    config = gemm_config();
    config.n = KERNEL_N_MAX;
    ck_assert_int_eq(kernel_config_geometry(&config, 1, &g), MXG_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "workgroups"));

    config = quantize_config();
    ck_assert_int_eq(kernel_config_geometry(&config, 4, &g), MXG_OK);
    ck_assert_uint_eq(g.threads, 256);
    ck_assert_uint_eq(g.grid[0], 32 * 224 / 256); /* scales of a whole group of rows */
    config.a_scale_layout = MXG_LAYOUT_ROW_MAJOR;
    ck_assert_int_eq(kernel_config_geometry(&config, 4, &g), MXG_OK);
    ck_assert_uint_eq(g.grid[0], 4);
    int64_t group = 0x10000000 / 224 / 32 * 32;
    ck_assert_int_eq(kernel_config_geometry(&config, group + 1, &g), MXG_OK);
    ck_assert_uint_eq(g.grid[1], 2);
}
END_TEST

START_TEST(test_bake_argument_blocks)
{
    unsigned char args[KERNEL_ARGS_MAX];
    char mark[9];
    struct kernel_operands o = { &mark[0], &mark[1], &mark[2], &mark[3], &mark[4], &mark[5],
                                 &mark[6], 33,       7168,     4096,     2112 };
    struct kernel_config config = gemm_config();
    const void *pointers[5];
    int64_t numbers[4];

    ck_assert_uint_eq(kernel_config_pack(&config, &o, args), 72);
    memcpy(pointers, args, sizeof(pointers));
    memcpy(numbers, args + sizeof(pointers), sizeof(numbers));
    /* As gemm.hip declares them: a_scale, a, b, b_scale, c, m, lda, ldc, ldb. */
    static const size_t order[5] = { 1, 0, 2, 3, 4 };
    for (size_t i = 0; i < 5; i++) {
        ck_assert_ptr_eq(pointers[i], &mark[order[i]]);
    }
    ck_assert_int_eq(numbers[0], 33);
    ck_assert_int_eq(numbers[1], 7168);
    ck_assert_int_eq(numbers[2], 2112);
    ck_assert_int_eq(numbers[3], 4096);

    struct kernel_config quantize = quantize_config();
    ck_assert_uint_eq(kernel_config_pack(&quantize, &o, args), 40);
    memcpy(pointers, args, 3 * sizeof(void *));
    ck_assert_ptr_eq(pointers[0], &mark[0]);
    ck_assert_ptr_eq(pointers[1], &mark[5]);
    ck_assert_ptr_eq(pointers[2], &mark[6]);

    /* Rows of a tile further apart than 32-bit offsets reach. */
    o.lda = INT64_C(1) << 33;
    ck_assert_uint_eq(kernel_config_pack(&config, &o, args), 0);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "lda = 8589934592"));
    o.lda = 7168;
    o.ldb = INT64_C(1) << 33;
    ck_assert_uint_eq(kernel_config_pack(&config, &o, args),
                      72); /* shuffled B has no row stride */
    config.b_layout = MXG_LAYOUT_ROW_MAJOR;
    ck_assert_uint_eq(kernel_config_pack(&config, &o, args), 0);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "ldb"));
}
END_TEST

/* Text of `source` up to the first embedded part. */
static char *prologue_of(const char *source)
{
    const char *end = strstr(source, "#line");
    ck_assert_ptr_nonnull(end);
    return strndup(source, (size_t)(end - source));
}

START_TEST(test_bake_source_starts_with_every_constant)
{
    struct kernel_config config = gemm_config();
    char *source;
    size_t size;
    ck_assert_int_eq(bake_source(&mem_default, &config, &source, &size), MXG_OK);
    ck_assert_uint_eq(strlen(source), size);
    char *prologue = prologue_of(source);
    ck_assert_str_eq(prologue,
                     "#define MXG_BAKE_NAME gemm_n2112_k7168_w8_m1n1_splitk_bf16_sss\n"
                     "#define MXG_BAKE_FAMILY 2\n"
                     "#define MXG_BAKE_K 7168\n"
                     "#define MXG_BAKE_A_SCALE_SHUFFLED 1\n"
                     "#define MXG_BAKE_N 2112\n"
                     "#define MXG_BAKE_WAVES 8\n"
                     "#define MXG_BAKE_M_REP 1\n"
                     "#define MXG_BAKE_N_REP 1\n"
                     "#define MXG_BAKE_SPLIT_K 1\n"
                     "#define MXG_BAKE_C_TYPE 1\n"
                     "#define MXG_BAKE_B_SHUFFLED 1\n"
                     "#define MXG_BAKE_B_SCALE_SHUFFLED 1\n");
    ck_assert_ptr_nonnull(strstr(source, "#line 1 \"bake_check.h\"\n"));
    ck_assert_ptr_nonnull(strstr(source, "#line 1 \"a_mxfp4.h\"\n"));
    ck_assert_ptr_null(strstr(source, "#include"));
    free(prologue);
    mem_free(&mem_default, source);

    config = quantize_config();
    ck_assert_int_eq(bake_source(&mem_default, &config, &source, &size), MXG_OK);
    ck_assert_ptr_nonnull(strstr(source, "#line 1 \"quantize.hip\"\n"));
    ck_assert_ptr_null(strstr(source, "#line 1 \"gemm.hip\"\n"));
    mem_free(&mem_default, source);
    config = fused_config();
    ck_assert_int_eq(bake_source(&mem_default, &config, &source, &size), MXG_OK);
    ck_assert_ptr_nonnull(strstr(source, "#line 1 \"a_bf16.h\"\n"));
    ck_assert_ptr_null(strstr(source, "#line 1 \"a_mxfp4.h\"\n"));
    mem_free(&mem_default, source);
}
END_TEST

/* Equal configs give equal bytes: the text is a cache key. */
START_TEST(test_bake_source_is_a_function_of_the_config)
{
    struct kernel_config a = fused_config(), b = fused_config();
    char *first, *second;
    size_t size, other;
    ck_assert_int_eq(bake_source(&mem_default, &a, &first, &size), MXG_OK);
    ck_assert_int_eq(bake_source(&mem_default, &b, &second, &other), MXG_OK);
    ck_assert_uint_eq(size, other);
    ck_assert_mem_eq(first, second, size);
    mem_free(&mem_default, second);
    b.n_rep = 2;
    ck_assert_int_eq(bake_source(&mem_default, &b, &second, &other), MXG_OK);
    ck_assert(size != other || memcmp(first, second, size) != 0);
    mem_free(&mem_default, first);
    mem_free(&mem_default, second);
}
END_TEST

static void *no_memory(size_t size, void *user)
{
    (void)size;
    (void)user;
    return NULL;
}

START_TEST(test_bake_source_reports_bad_configs_and_no_memory)
{
    const struct mem none = { no_memory, mem_default.deallocate, NULL };
    struct kernel_config config = gemm_config();
    char *source = (char *)1;
    size_t size = 1;
    ck_assert_int_eq(bake_source(&none, &config, &source, &size), MXG_E_HOST_MEMORY);
    ck_assert_ptr_null(source);
    ck_assert_uint_eq(size, 0);
    config.waves = 5;
    ck_assert_int_eq(bake_source(&mem_default, &config, &source, &size), MXG_E_UNSUPPORTED);
    ck_assert_ptr_null(source);
}
END_TEST

START_TEST(test_bake_embedded_sources_are_the_files)
{
    const char *top = getenv("abs_top_srcdir");
    for (unsigned i = 0; i < kernel_blob_count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/kernel_src/%s", top != NULL ? top : ".",
                 kernel_blobs[i].name);
        FILE *file = fopen(path, "rb");
        ck_assert_msg(file != NULL, "%s", path);
        unsigned char *text = malloc(kernel_blobs[i].size + 1);
        size_t size = fread(text, 1, kernel_blobs[i].size + 1, file);
        fclose(file);
        ck_assert_uint_eq(size, kernel_blobs[i].size);
        ck_assert_mem_eq(text, kernel_blobs[i].text, size);
        free(text);
    }
    ck_assert_uint_gt(kernel_blob_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bake");
    TCase *tcase = tcase_create("bake");
    tcase_add_test(tcase, test_bake_config_check_names_what_it_refuses);
    tcase_add_test(tcase, test_bake_names_are_unique_and_fit);
    tcase_add_test(tcase, test_bake_geometry_covers_the_product);
    tcase_add_test(tcase, test_bake_argument_blocks);
    tcase_add_test(tcase, test_bake_source_starts_with_every_constant);
    tcase_add_test(tcase, test_bake_source_is_a_function_of_the_config);
    tcase_add_test(tcase, test_bake_source_reports_bad_configs_and_no_memory);
    tcase_add_test(tcase, test_bake_embedded_sources_are_the_files);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
