/* SPDX-License-Identifier: MIT */
/*
 * The chooser: classes, variants, what depends on what, limits, workspace, waves per
 * compute unit.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "mx_layout.h"
#include "select.h"
#include "status.h"

static const struct device_facts mi355x = { "gfx950:sramecc+:xnack-", 256, 163840 };

static struct gemm_shape shape_of(int64_t m, int64_t n, int64_t k)
{
    struct gemm_shape shape = { m,
                                n,
                                k,
                                MXG_TYPE_BF16,
                                MXG_TYPE_BF16,
                                MXG_LAYOUT_SHUFFLED,
                                MXG_LAYOUT_SHUFFLED,
                                MXG_VARIANT_AUTO };
    return shape;
}

static const int64_t contest[][3] = {
    { 4, 2880, 512 },   { 16, 2112, 7168 },  { 32, 4096, 512 }, { 32, 2880, 512 },
    { 64, 7168, 2048 }, { 256, 3072, 1536 }, { 8, 2112, 7168 }, { 16, 3072, 1536 },
    { 64, 3072, 1536 }, { 256, 2880, 512 },
};
#define CONTEST_COUNT (sizeof(contest) / sizeof(contest[0]))

START_TEST(test_select_classes_cover_every_m_once)
{
    int64_t next = 1;
    uint32_t count = select_m_class_count();
    ck_assert_uint_le(count, 8);
    for (uint32_t i = 0; i < count; i++) {
        int64_t min, max;
        select_m_class_range(i, &min, &max);
        ck_assert_int_eq(min, next);
        ck_assert_uint_eq(select_m_class(min), i);
        ck_assert_uint_eq(select_m_class(max), i);
        next = max == INT64_MAX ? max : max + 1;
    }
    ck_assert_int_eq(next, INT64_MAX);
}
END_TEST

START_TEST(test_select_depends_on_m_through_its_class_only)
{
    for (size_t s = 0; s < CONTEST_COUNT; s++) {
        for (uint32_t i = 0; i < select_m_class_count(); i++) {
            struct select_plan first, last;
            struct gemm_shape shape = shape_of(1, contest[s][1], contest[s][2]);
            select_m_class_range(i, &shape.m, &last.m_max);
            ck_assert_int_eq(select_choose(&mi355x, &shape, &first), MXG_OK);
            ck_assert_int_eq(first.m_min, shape.m);
            shape.m = first.m_max == INT64_MAX ? INT64_C(1) << 40 : first.m_max;
            ck_assert_int_eq(select_choose(&mi355x, &shape, &last), MXG_OK);
            ck_assert_mem_eq(&first, &last, sizeof(first));
        }
    }
}
END_TEST

START_TEST(test_select_fuses_small_m_and_prequantises_large_m)
{
    for (size_t s = 0; s < CONTEST_COUNT; s++) {
        struct gemm_shape shape = shape_of(contest[s][0], contest[s][1], contest[s][2]);
        struct select_plan plan;
        ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
        if (shape.m <= 32) {
            ck_assert_uint_eq(plan.variant, MXG_VARIANT_FUSED);
            ck_assert_uint_eq(plan.num_kernels, 1);
            ck_assert_uint_eq(plan.kernels[0].family, FAMILY_GEMM_FUSED);
        } else if (shape.m > 64) {
            ck_assert_uint_eq(plan.variant, MXG_VARIANT_PREQUANT);
            ck_assert_uint_eq(plan.num_kernels, 2);
            ck_assert_uint_eq(plan.kernels[0].family, FAMILY_QUANTIZE);
            ck_assert_uint_eq(plan.kernels[1].family, FAMILY_GEMM);
            ck_assert_uint_eq(plan.kernels[0].a_scale_layout, plan.kernels[1].a_scale_layout);
        }
        /* Words and numbers: the variant, a time, the grid. */
        ck_assert_ptr_nonnull(
            strstr(plan.reason, plan.variant == MXG_VARIANT_FUSED ? "fused" : "prequant"));
        ck_assert_ptr_nonnull(strstr(plan.reason, " us"));
        ck_assert_ptr_nonnull(strstr(plan.reason, "workgroups"));
        ck_assert_uint_lt(strlen(plan.reason), sizeof(plan.reason) - 1);
    }
}
END_TEST

/* Between M 33 and 64 the cheaper of both is taken, and the reason names both. */
START_TEST(test_select_costs_both_between)
{
    bool seen[4] = { false };
    for (int64_t n = 64; n <= 65536; n *= 4) {
        for (int64_t k = 128; k <= 16384; k *= 4) {
            struct gemm_shape shape = shape_of(48, n, k);
            struct select_plan plan;
            ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
            ck_assert_ptr_nonnull(strstr(plan.reason, "would take"));
            ck_assert_ptr_nonnull(strstr(plan.reason, "by cost"));
            seen[plan.variant] = true;
        }
    }
    ck_assert(seen[MXG_VARIANT_FUSED] && seen[MXG_VARIANT_PREQUANT]);
}
END_TEST

START_TEST(test_select_honours_or_refuses_a_forced_variant)
{
    struct select_plan plan;
    struct gemm_shape shape = shape_of(300, 2880, 512);
    shape.variant = MXG_VARIANT_FUSED;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
    ck_assert_uint_eq(plan.variant, MXG_VARIANT_FUSED);
    ck_assert_ptr_nonnull(strstr(plan.reason, "asked for"));
    shape.m = 1;
    shape.variant = MXG_VARIANT_PREQUANT;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
    ck_assert_uint_eq(plan.variant, MXG_VARIANT_PREQUANT);
    shape.variant = MXG_VARIANT_QUANTIZED;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "a_type"));

    shape.a_type = MXG_TYPE_MXFP4;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
    ck_assert_uint_eq(plan.variant, MXG_VARIANT_QUANTIZED);
    ck_assert_uint_eq(plan.num_kernels, 1);
    ck_assert_uint_eq(plan.kernels[0].a_scale_layout, MXG_LAYOUT_ROW_MAJOR);
    shape.variant = MXG_VARIANT_AUTO;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
    ck_assert_uint_eq(plan.variant, MXG_VARIANT_QUANTIZED);
    shape.variant = MXG_VARIANT_FUSED;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_E_UNSUPPORTED);
    shape.variant = MXG_VARIANT_PREQUANT;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_E_UNSUPPORTED);
    shape.variant = 17;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_E_ENUM);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "17"));
}
END_TEST

START_TEST(test_select_refuses_what_no_kernel_serves)
{
    struct select_plan plan;
    struct device_facts other = mi355x;
    struct gemm_shape shape = shape_of(1, 16, 64);
    strcpy(other.arch, "gfx942");
    ck_assert_int_eq(select_choose(&other, &shape, &plan), MXG_E_ARCH);
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "gfx942"));
    ck_assert(select_arch_supported("gfx950"));
    ck_assert(select_arch_supported("gfx950:sramecc+:xnack-"));
    ck_assert(!select_arch_supported("gfx9500") && !select_arch_supported("gfx95"));

    shape = shape_of(1, 16, KERNEL_K_MAX + 32);
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_E_UNSUPPORTED);
    shape = shape_of(1, KERNEL_N_MAX + 1, 32);
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_E_UNSUPPORTED);
    shape = shape_of(0, 16, 32);
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_E_SHAPE);
    shape = shape_of(1, 16, 48);
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_E_SHAPE);
    shape = shape_of(INT64_MAX, KERNEL_N_MAX, KERNEL_K_MAX);
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
}
END_TEST

/* Whatever the shape: configs are valid, do not spill, and their grid can be launched. */
START_TEST(test_select_configs_are_always_possible)
{
    static const int64_t ms[] = { 1, 16, 17, 33, 64, 65, 128, 200, 257, 100000 };
    static const int64_t ns[] = { 1, 15, 16, 17, 31, 100, 2880, 65536, INT64_C(1) << 24 };
    static const int64_t ks[] = {
        32, 64, 96, 128, 160, 288, 416, 1664, 7168, INT64_C(1) << 20
    };
    for (size_t i = 0; i < 10 * 9 * 10 * 3; i++) {
        struct gemm_shape shape = shape_of(ms[i % 10], ns[i / 10 % 9], ks[i / 90 % 10]);
        uint32_t variant = (uint32_t)(i / 900 % 3) + 1;
        shape.variant = variant;
        shape.a_type = variant == MXG_VARIANT_QUANTIZED ? MXG_TYPE_MXFP4 : MXG_TYPE_BF16;
        shape.b_layout = i % 7 % 2 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
        shape.b_scale_layout = i % 11 % 2 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
        struct select_plan plan;
        ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
        for (uint32_t j = 0; j < plan.num_kernels; j++) {
            const struct kernel_config *config = &plan.kernels[j];
            struct kernel_geometry geometry;
            uint32_t depth, vgprs;
            ck_assert_int_eq(kernel_config_check(config), MXG_OK);
            ck_assert_int_eq(kernel_config_geometry(config, shape.m, &geometry), MXG_OK);
            ck_assert_uint_le(geometry.dynamic_lds, KERNEL_LDS_MAX);
            ck_assert(config->family == FAMILY_QUANTIZE ||
                      arch_gfx950.figures(config, &depth, &vgprs));
        }
    }
}
END_TEST

START_TEST(test_select_workspace_holds_elements_and_whole_groups_of_scales)
{
    struct select_plan plan;
    size_t bytes, offset;
    struct gemm_shape shape = shape_of(33, 64, 288);
    shape.variant = MXG_VARIANT_PREQUANT;
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
    ck_assert_int_eq(select_workspace(&plan, &shape, &bytes, &offset), MXG_OK);
    ck_assert_uint_eq(offset, mx_round_up(33 * 144, 256));
    ck_assert_uint_eq(bytes, offset + 64 * 16);

    shape.m = INT64_MAX - 10;
    ck_assert_int_eq(select_workspace(&plan, &shape, &bytes, &offset), MXG_E_OVERFLOW);
    ck_assert_uint_eq(bytes, 0);
    shape.m = INT64_C(1) << 50;
    shape.k = INT64_C(1) << 20;
    ck_assert_int_eq(select_workspace(&plan, &shape, &bytes, &offset), MXG_E_OVERFLOW);

    shape = shape_of(8, 64, 288);
    ck_assert_int_eq(select_choose(&mi355x, &shape, &plan), MXG_OK);
    ck_assert_int_eq(select_workspace(&plan, &shape, &bytes, &offset), MXG_OK);
    ck_assert_uint_eq(bytes, 0);
}
END_TEST

START_TEST(test_select_waves_per_cu_follows_the_scarcest_resource)
{
    ck_assert_uint_eq(select_waves_per_cu(32, 0, 256), 32); /* eight a SIMD */
    ck_assert_uint_eq(select_waves_per_cu(64, 0, 256), 32);
    ck_assert_uint_eq(select_waves_per_cu(65, 0, 256), 28); /* 72 allocated: seven a SIMD */
    ck_assert_uint_eq(select_waves_per_cu(128, 0, 1024), 16);
    ck_assert_uint_eq(select_waves_per_cu(256, 0, 512), 8);
    ck_assert_uint_eq(select_waves_per_cu(512, 0, 256), 4);
    ck_assert_uint_eq(select_waves_per_cu(512, 0, 512), 0);     /* cannot be resident at all */
    ck_assert_uint_eq(select_waves_per_cu(32, 163840, 256), 4); /* LDS: one workgroup */
    ck_assert_uint_eq(select_waves_per_cu(32, 81920, 256), 8);
    ck_assert_uint_eq(select_waves_per_cu(32, 81921, 256), 4);
    ck_assert_uint_eq(select_waves_per_cu(32, 0, 64), 32);
    ck_assert_uint_eq(select_waves_per_cu(32, 0, 128), 32);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("select");
    TCase *tcase = tcase_create("select");
    tcase_add_test(tcase, test_select_classes_cover_every_m_once);
    tcase_add_test(tcase, test_select_depends_on_m_through_its_class_only);
    tcase_add_test(tcase, test_select_fuses_small_m_and_prequantises_large_m);
    tcase_add_test(tcase, test_select_costs_both_between);
    tcase_add_test(tcase, test_select_honours_or_refuses_a_forced_variant);
    tcase_add_test(tcase, test_select_refuses_what_no_kernel_serves);
    tcase_add_test(tcase, test_select_configs_are_always_possible);
    tcase_add_test(tcase, test_select_workspace_holds_elements_and_whole_groups_of_scales);
    tcase_add_test(tcase, test_select_waves_per_cu_follows_the_scarcest_resource);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
