/* SPDX-License-Identifier: MIT */
/* Launches: initial registers, hidden arguments, grids, threads, refusals. */
#include "core_harness.h"
#include "devmem.h"
#include "report.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct core_result r;

static void launch_ok(const struct core_run *run)
{
    core_launch(run, &r);
    ck_assert_msg(r.result == SIM_OK, "%s: %s", run->kernel, r.text);
    ck_assert_msg(core_findings_all() == 0, "%s: %zu findings", run->kernel,
                  core_findings_all());
}

START_TEST(test_dispatch_gives_ids_to_every_item)
{
    uint32_t bx = 5, by = 4, bz = 6, gx = 3, gy = 2, gz = 2;
    struct core_run run = { .kernel = "k_ids",
                            .grid = { gx, gy, gz },
                            .block = { bx, by, bz },
                            .out_bytes = 12 * 120 * 16,
                            .extra = { bx | (uint64_t)by << 32, bz | (uint64_t)gx << 32 } };
    launch_ok(&run);
    uint32_t items = bx * by * bz;
    for (uint32_t i = 0; i < CORE_OUT_BYTES / 16; i++) {
        uint32_t group = i / items, item = i % items;
        uint32_t x = item % bx, y = item / bx % by, z = item / bx / by;
        ck_assert_uint_eq(core_out(&r, 16 * i), x | y << 10 | z << 20);
        ck_assert_uint_eq(core_out(&r, 16 * i + 4), group % gx);
        ck_assert_uint_eq(core_out(&r, 16 * i + 8), group / gx % gy);
        ck_assert_uint_eq(core_out(&r, 16 * i + 12), group / gx / gy);
    }
}
END_TEST

START_TEST(test_dispatch_fills_hidden_arguments)
{
    struct core_run run = { .kernel = "k_hidden",
                            .grid = { 4, 3, 1 },
                            .block = { 8, 2, 1 },
                            .items = { 30, 6, 1 },
                            .lds = 100 };
    launch_ok(&run);
    ck_assert_uint_eq(core_out(&r, 0), 3); /* complete groups */
    ck_assert_uint_eq(core_out(&r, 4), 3);
    ck_assert_uint_eq(core_out(&r, 8), 1);
    ck_assert_uint_eq(core_out(&r, 12), 8 | 2u << 16); /* group size */
    ck_assert_uint_eq(core_out(&r, 16), 6 | 2u << 16); /* remainder x, dimensions */
    ck_assert_uint_eq(core_out(&r, 20), 100);
    ck_assert_uint_eq(core_out(&r, 24), SIM_SHARED_BASE >> 32);
    ck_assert_uint_eq(core_out(&r, 28), SIM_PRIVATE_BASE >> 32);
}
END_TEST

START_TEST(test_dispatch_preloads_arguments)
{
    struct core_run run = { .kernel = "k_preload", .grid = { 1, 1, 1 } };
    launch_ok(&run);
    uint64_t in;
    memcpy(&in, r.out, sizeof in);
    ck_assert_uint_eq(in, r.in_addr);
    ck_assert_uint_eq(core_out(&r, 8), 0);
    ck_assert_uint_eq(core_out(&r, 12), 0);
}
END_TEST

START_TEST(test_dispatch_sets_mode_from_the_descriptor)
{
    struct core_run run = { .kernel = "k_mode" };
    launch_ok(&run);
    /* Round f32 up, keep denormals, DX10_CLAMP, IEEE, FP16_OVFL. */
    ck_assert_uint_eq(core_out(&r, 0), 1u | 0xf0 | 1u << 8 | 1u << 9 | 1u << 23);
}
END_TEST

START_TEST(test_dispatch_runs_partial_groups)
{
    struct core_run run = { .kernel = "k_ids",
                            .grid = { 2, 2, 1 },
                            .block = { 64, 1, 1 },
                            .items = { 70, 2, 1 },
                            .extra = { 64 | 1ull << 32, 1 | 2ull << 32 } };
    launch_ok(&run);
    for (uint32_t group = 0; group < 4; group++) {
        for (uint32_t item = 0; item < 64; item++) {
            bool runs = group % 2 == 0 || item < 6;
            uint32_t at = 16 * (64 * group + item);
            ck_assert_uint_eq(core_out(&r, at), runs ? item : 0);
            ck_assert_uint_eq(core_out(&r, at + 4), runs ? group % 2 : 0);
        }
    }
}
END_TEST

START_TEST(test_dispatch_waves_meet_at_barriers)
{
    struct core_run run = {
        .kernel = "k_reverse", .grid = { 8, 1, 1 }, .block = { 256, 1, 1 }, .lds = 1024
    };
    launch_ok(&run);
    for (uint32_t i = 0; i < 2048; i++) {
        ck_assert_uint_eq(core_out(&r, 4 * i), core_input(255 - i % 256));
    }
}
END_TEST

static const char *const thread_counts[] = { "1", "2", "7" };

START_TEST(test_dispatch_is_the_same_on_any_number_of_threads)
{
    struct core_run run = {
        .kernel = "k_reverse", .grid = { 8, 1, 1 }, .block = { 256, 1, 1 }, .lds = 1024
    };
    setenv("MXGSIM_THREADS", thread_counts[_i], 1);
    launch_ok(&run);
    for (uint32_t i = 0; i < 2048; i++) {
        ck_assert_uint_eq(core_out(&r, 4 * i), core_input(255 - i % 256));
    }
    /* 24 groups that wait for each other, on fewer threads. */
    struct core_run meet = { .kernel = "k_all_arrive", .grid = { 24, 1, 1 } };
    launch_ok(&meet);
    ck_assert_uint_eq(core_out(&r, 0), 24);
    /* A float sum whose last bits depend on the order of groups. */
    struct core_run sum = { .kernel = "k_float_sum", .grid = { 40, 1, 1 } };
    setenv("MXGSIM_THREADS", "1", 1);
    launch_ok(&sum);
    uint32_t bits = core_out(&r, 0);
    setenv("MXGSIM_THREADS", thread_counts[_i], 1);
    launch_ok(&sum);
    ck_assert_uint_eq(core_out(&r, 0), bits);
    ck_assert_uint_ne(bits, 0);
    sim_pool_stop();
    unsetenv("MXGSIM_THREADS");
}
END_TEST

/* Launch a kernel over and over on a buffer of its own. */
static void *stream(void *arg)
{
    struct core_result *mine = arg;
    struct core_run run = {
        .kernel = "k_reverse", .grid = { 8, 1, 1 }, .block = { 256, 1, 1 }, .lds = 1024
    };
    for (unsigned i = 0; i < 20; i++) {
        core_launch(&run, mine);
        if (mine->result != SIM_OK || core_out(mine, 4 * 300) != core_input(255 - 300 % 256)) {
            return arg;
        }
    }
    return NULL;
}

START_TEST(test_dispatch_serves_several_streams_at_once)
{
    static struct core_result results[3];
    pthread_t threads[3];
    setenv("MXGSIM_THREADS", "3", 1);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, stream, &results[i]), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(core_findings_all(), 0);
    sim_pool_stop();
    unsetenv("MXGSIM_THREADS");
}
END_TEST

START_TEST(test_dispatch_refuses_bad_launches)
{
    static const struct {
        struct core_run run;
        enum sim_result result;
        const char *text;
    } cases[] = {
        { { .kernel = "k_copy_x4", .block = { 1025, 1, 1 } }, SIM_E_BAD_LAUNCH, "1025" },
        { { .kernel = "k_copy_x4", .block = { 64, 32, 1 } }, SIM_E_BAD_LAUNCH, "2048" },
        { { .kernel = "k_copy_x4", .grid = { 1u << 31, 1, 1 } }, SIM_E_BAD_LAUNCH, "2^32" },
        { { .kernel = "k_copy_x4", .items = { 65, 0, 0 } }, SIM_E_BAD_LAUNCH, "65" },
        { { .kernel = "k_copy_x4", .lds = 163841 }, SIM_E_RESOURCES, "163841" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        core_launch(&cases[i].run, &r);
        ck_assert_msg(r.result == cases[i].result, "case %zu: %d %s", i, r.result, r.text);
        ck_assert_msg(strstr(r.text, cases[i].text) != NULL, "case %zu: %s", i, r.text);
        ck_assert_uint_eq(core_out(&r, 0), 0);
    }
}
END_TEST

static const uint32_t end_words[] = { 0xbf810000 };

START_TEST(test_dispatch_checks_arguments_and_registers)
{
    const struct build_kernel kernel = { .name = "end",
                                         .words = end_words,
                                         .count = 1,
                                         .vgprs = 256,
                                         .agprs = 64,
                                         .max_flat = 512 };
    const struct build_object object = { .kernels = &kernel, .count = 1 };
    size_t size;
    char text[256];
    struct sim_code *code;
    uint8_t *elf = build_code(&object, &size), args[32] = { 0 };
    ck_assert_int_eq(sim_code_load(0, elf, size, &code, text, sizeof text), SIM_LOAD_OK);
    free(elf);
    struct sim_launch l = { .code = code,
                            .kernel = sim_code_kernel(code, "end"),
                            .grid = { 1, 1, 1 },
                            .block = { 64, 1, 1 },
                            .kernarg = args,
                            .kernarg_size = 24 };
    ck_assert_int_eq(sim_launch(&l, text, sizeof text), SIM_E_BAD_LAUNCH);
    ck_assert_ptr_nonnull(strstr(text, "24 bytes of arguments"));
    l.kernarg_size = 32;
    ck_assert_int_eq(sim_launch(&l, text, sizeof text), SIM_OK);
    l.block[0] = 512; /* two waves of 320 registers on a SIMD of 512 */
    ck_assert_int_eq(sim_launch(&l, text, sizeof text), SIM_E_RESOURCES);
    l.block[0] = 513;
    ck_assert_int_eq(sim_launch(&l, text, sizeof text), SIM_E_BAD_LAUNCH);
    ck_assert_ptr_nonnull(strstr(text, "at most 512"));
    int cancel = 1;
    l.block[0] = 64;
    l.cancel = &cancel;
    ck_assert_int_eq(sim_launch(&l, text, sizeof text), SIM_E_CANCELLED);
    sim_code_unload(code);
}
END_TEST

int main(void)
{
    setenv("MXGSIM_REPORT", "off", 0);
    Suite *suite = suite_create("dispatch");
    TCase *tc = tcase_create("dispatch");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_dispatch_gives_ids_to_every_item);
    tcase_add_test(tc, test_dispatch_fills_hidden_arguments);
    tcase_add_test(tc, test_dispatch_preloads_arguments);
    tcase_add_test(tc, test_dispatch_sets_mode_from_the_descriptor);
    tcase_add_test(tc, test_dispatch_runs_partial_groups);
    tcase_add_test(tc, test_dispatch_waves_meet_at_barriers);
    tcase_add_loop_test(tc, test_dispatch_is_the_same_on_any_number_of_threads, 0,
                        sizeof thread_counts / sizeof thread_counts[0]);
    tcase_add_test(tc, test_dispatch_serves_several_streams_at_once);
    tcase_add_test(tc, test_dispatch_refuses_bad_launches);
    tcase_add_test(tc, test_dispatch_checks_arguments_and_registers);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
