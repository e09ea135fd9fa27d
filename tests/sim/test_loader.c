/* SPDX-License-Identifier: MIT */
/* Loading code objects: what a sound one says, and that no broken one does harm. */
#include "code_builder.h"
#include "devmem.h"
#include "loader.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t end_words[] = { 0xbf810000 /* s_endpgm */ };

static const struct build_arg hidden_args[] = {
    { "global_buffer", 0, 8 },
    { "by_value", 8, 4 },
    { "hidden_block_count_x", 16, 4 },
    { "hidden_block_count_z", 24, 4 },
    { "hidden_group_size_y", 28, 2 },
    { "hidden_remainder_x", 30, 2 },
    { "hidden_grid_dims", 32, 2 },
    { "hidden_hostcall_buffer", 40, 8 },
    { NULL, 0, 0 },
};

static const struct build_kernel kernels[] = {
    { .name = "first",
      .words = end_words,
      .count = 1,
      .vgprs = 24,
      .lds = 512,
      .scratch = 16,
      .kernarg = 64,
      .args = hidden_args,
      .max_flat = 256 },
    { .name = "second", .words = end_words, .count = 1, .vgprs = 100, .agprs = 28 },
};

static const struct build_object object = {
    .kernels = kernels, .count = 2, .global_size = 64, .has_relocation = 1
};

static struct sim_code *load_good(void)
{
    size_t size;
    char err[256];
    struct sim_code *code;
    uint8_t *elf = build_code(&object, &size);
    enum sim_load_result result = sim_code_load(0, elf, size, &code, err, sizeof err);
    free(elf);
    ck_assert_msg(result == SIM_LOAD_OK, "%s", err);
    return code;
}

START_TEST(test_loader_reads_descriptors)
{
    struct sim_code *code = load_good();
    const struct sim_kernel *k = sim_code_kernel(code, "first");
    ck_assert_uint_eq(sim_code_kernel_count(code), 2);
    ck_assert_ptr_nonnull(k);
    ck_assert_ptr_eq(sim_code_kernel(code, "first.kd"), k);
    ck_assert_ptr_null(sim_code_kernel(code, "fir"));
    ck_assert_uint_eq(k->lds_size, 512);
    ck_assert_uint_eq(k->scratch_size, 16);
    ck_assert_uint_eq(k->kernarg_size, 64);
    ck_assert_uint_eq(k->vgpr_count, 24);
    ck_assert_uint_eq(k->accum_offset, 24);
    ck_assert_uint_eq(k->max_flat_group_size, 256);
    ck_assert_uint_eq(k->code_size, 4);
    const struct sim_kernel *s = sim_code_kernel(code, "second");
    ck_assert_uint_eq(s->vgpr_count, 128);
    ck_assert_uint_eq(s->accum_offset, 100);
    ck_assert_uint_eq(sim_code_object_version(code), 5);
    ck_assert_str_eq(sim_code_isa(code), "gfx950:sramecc+:xnack-");
    sim_code_unload(code);
}
END_TEST

START_TEST(test_loader_reads_arguments)
{
    struct sim_code *code = load_good();
    const struct sim_kernel *k = sim_code_kernel(code, "first");
    static const struct {
        uint8_t kind, dim;
    } want[] = {
        { SIM_ARG_GLOBAL_BUFFER, 0 },      { SIM_ARG_BY_VALUE, 0 },
        { SIM_ARG_HIDDEN_BLOCK_COUNT, 0 }, { SIM_ARG_HIDDEN_BLOCK_COUNT, 2 },
        { SIM_ARG_HIDDEN_GROUP_SIZE, 1 },  { SIM_ARG_HIDDEN_REMAINDER, 0 },
        { SIM_ARG_HIDDEN_GRID_DIMS, 0 },   { SIM_ARG_HIDDEN_ZERO, 0 },
    };
    ck_assert_uint_eq(k->arg_count, 8);
    ck_assert_uint_eq(k->explicit_count, 2);
    ck_assert_uint_eq(k->kernarg_explicit, 12);
    for (unsigned i = 0; i < 8; i++) {
        ck_assert_uint_eq(k->args[i].kind, want[i].kind);
        ck_assert_uint_eq(k->args[i].dim, want[i].dim);
        ck_assert_uint_eq(k->args[i].offset, hidden_args[i].offset);
        ck_assert_uint_eq(k->args[i].size, hidden_args[i].size);
        ck_assert_str_eq(k->args[i].name, "arg");
    }
    sim_code_unload(code);
}
END_TEST

START_TEST(test_loader_places_globals_and_relocates)
{
    struct sim_code *code = load_good();
    uint64_t addr, stored;
    size_t size;
    ck_assert(sim_code_global(code, "device_data", &addr, &size));
    ck_assert_uint_eq(size, 64);
    ck_assert(!sim_code_global(code, "first.kd", &addr, &size));
    ck_assert(!sim_code_global(code, "none", &addr, &size));
    ck_assert(sim_code_global(code, "device_data", &addr, &size));
    memcpy(&stored, (void *)(uintptr_t)addr, sizeof stored);
    ck_assert_uint_eq(stored, addr);
    ck_assert_uint_eq(((uint8_t *)(uintptr_t)addr)[8], 0x5a);
    ck_assert(sim_mem_valid(addr, size));
    sim_code_unload(code);
    ck_assert(!sim_mem_valid(addr, 1));
}
END_TEST

START_TEST(test_loader_names_what_is_wrong)
{
    static const struct {
        size_t at;
        uint8_t value;
        enum sim_load_result result;
        const char *text;
    } cases[] = {
        { 0, 'x', SIM_LOAD_DAMAGED, "ELF" },
        { 18, 3, SIM_LOAD_WRONG_ARCH, "machine" },   /* e_machine = x86 */
        { 48, 0x4c, SIM_LOAD_WRONG_ARCH, "gfx950" }, /* e_flags = gfx942 */
        { 8, 1, SIM_LOAD_DAMAGED, "ABI version" },
        { 16, 1, SIM_LOAD_DAMAGED, "ET_DYN" },
        { 54, 0, SIM_LOAD_DAMAGED, "program headers" },
    };
    size_t size;
    uint8_t *elf = build_code(&object, &size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_code *code;
        char err[256];
        uint8_t old = elf[cases[i].at];
        elf[cases[i].at] = cases[i].value;
        ck_assert_int_eq(sim_code_load(0, elf, size, &code, err, sizeof err), cases[i].result);
        ck_assert_ptr_null(code);
        ck_assert_msg(strstr(err, cases[i].text) != NULL, "case %zu: %s", i, err);
        elf[cases[i].at] = old;
    }
    free(elf);
}
END_TEST

START_TEST(test_loader_finds_size_from_headers)
{
    size_t size;
    uint8_t *elf = build_code(&object, &size);
    struct sim_code *code;
    char err[256];
    ck_assert_uint_eq(sim_elf_extent(elf, size), size);
    ck_assert_uint_eq(sim_elf_extent(elf, 10), 0);
    ck_assert_uint_eq(sim_elf_extent("no ELF file, but long enough for a header: "
                                     "sixty-four bytes are what one takes",
                                     64),
                      0);
    ck_assert_int_eq(sim_code_load(0, elf, SIZE_MAX, &code, err, sizeof err), SIM_LOAD_OK);
    sim_code_unload(code);
    free(elf);
}
END_TEST

START_TEST(test_loader_opens_bundles)
{
    size_t size;
    uint8_t *elf = build_code(&object, &size);
    const char triple[] = "hipv4-amdgcn-amd-amdhsa--gfx950";
    uint64_t head[4] = { 1, 4096, size, sizeof triple - 1 };
    uint8_t *bundle = calloc(1, 4096 + size);
    struct sim_code *code;
    char err[256];
    memcpy(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(bundle + 24, head, sizeof head);
    memcpy(bundle + 24 + sizeof head, triple, sizeof triple - 1);
    memcpy(bundle + 4096, elf, size);
    ck_assert_int_eq(sim_code_load(0, bundle, 4096 + size, &code, err, sizeof err),
                     SIM_LOAD_OK);
    sim_code_unload(code);
    ck_assert_int_eq(sim_code_load(0, bundle, SIZE_MAX, &code, err, sizeof err), SIM_LOAD_OK);
    sim_code_unload(code);
    bundle[24 + sizeof head + sizeof triple - 4] = '8'; /* gfx850 */
    ck_assert_int_eq(sim_code_load(0, bundle, 4096 + size, &code, err, sizeof err),
                     SIM_LOAD_WRONG_ARCH);
    free(bundle);
    free(elf);
}
END_TEST

/* A copy of exactly n bytes, so that a sanitizer sees any read past the end. */
static void try_load(const uint8_t *elf, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    struct sim_code *code = NULL;
    char err[256] = "";
    memcpy(copy, elf, n);
    enum sim_load_result result = sim_code_load(0, copy, n, &code, err, sizeof err);
    ck_assert_msg((result == SIM_LOAD_OK) == (code != NULL), "n = %zu", n);
    ck_assert_msg(result == SIM_LOAD_OK || err[0], "n = %zu: no text", n);
    sim_code_unload(code);
    free(copy);
}

START_TEST(test_loader_survives_truncation)
{
    size_t size;
    uint8_t *elf = build_code(&object, &size);
    for (size_t n = 0; n < size; n++) {
        try_load(elf, n);
    }
    free(elf);
}
END_TEST

START_TEST(test_loader_survives_flipped_bytes)
{
    static const uint8_t flips[] = { 0xff, 0x80, 0x01 };
    size_t size;
    uint8_t *elf = build_code(&object, &size);
    for (size_t at = 0; at < size && at < 4096; at++) {
        for (size_t f = 0; f < sizeof flips; f++) {
            elf[at] ^= flips[f];
            try_load(elf, size);
            elf[at] ^= flips[f];
        }
    }
    free(elf);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loader");
    TCase *tc = tcase_create("loader");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_loader_reads_descriptors);
    tcase_add_test(tc, test_loader_reads_arguments);
    tcase_add_test(tc, test_loader_places_globals_and_relocates);
    tcase_add_test(tc, test_loader_names_what_is_wrong);
    tcase_add_test(tc, test_loader_finds_size_from_headers);
    tcase_add_test(tc, test_loader_opens_bundles);
    tcase_add_test(tc, test_loader_survives_truncation);
    tcase_add_test(tc, test_loader_survives_flipped_bytes);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
