/* SPDX-License-Identifier: MIT */
/* Launching test kernels on the simulator's core. */
#include "core_harness.h"

#include "core_kernels.inc"
#include "devmem.h"
#include "report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct build_arg hidden_args[] = {
    { "global_buffer", 0, 8 },
    { "global_buffer", 8, 8 },
    { "hidden_block_count_x", 16, 4 },
    { "hidden_block_count_y", 20, 4 },
    { "hidden_block_count_z", 24, 4 },
    { "hidden_group_size_x", 28, 2 },
    { "hidden_group_size_y", 30, 2 },
    { "hidden_remainder_x", 32, 2 },
    { "hidden_grid_dims", 34, 2 },
    { "hidden_dynamic_lds_size", 36, 4 },
    { "hidden_shared_base", 40, 4 },
    { "hidden_private_base", 44, 4 },
    { NULL, 0, 0 },
};

/* Kernels that need more than the defaults. */
static const struct build_kernel special[] = {
    { .name = "k_scratch", .scratch = 64 },
    { .name = "k_flat_apertures", .scratch = 64 },
    { .name = "k_uninit_spill_good", .scratch = 64 },
    { .name = "k_uninit_spill_bad", .scratch = 64 },
    { .name = "k_bounds_scratch_bad", .scratch = 64 },
    { .name = "k_registers_bad", .vgprs = 32 },
    { .name = "k_hidden", .kernarg = 48, .args = hidden_args },
    { .name = "k_preload", .preload = 4 },
    { .name = "k_mode", .extra_rsrc1 = 1u << 12 | 1u << 26 },
};

static struct build_kernel kernel_of(const char *name, const uint32_t *words, size_t count)
{
    struct build_kernel k = { 0 };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (strcmp(special[i].name, name) == 0) {
            k = special[i];
        }
    }
    k.name = name;
    k.words = words;
    k.count = count;
    return k;
}

/* A code object with just the wanted kernel. */
static struct sim_code *load(const char *name)
{
    struct build_kernel kernel = { 0 };
#define FIND(k)                                            \
    if (strcmp(#k, name) == 0) {                           \
        kernel = kernel_of(#k, k, sizeof k / sizeof k[0]); \
    }
    CORE_KERNELS(FIND)
#undef FIND
    ck_assert_msg(kernel.name != NULL, "no kernel %s", name);
    struct build_object object = { .kernels = &kernel, .count = 1 };
    size_t size;
    char err[256];
    struct sim_code *code;
    uint8_t *elf = build_code(&object, &size);
    enum sim_load_result result = sim_code_load(0, elf, size, &code, err, sizeof err);
    free(elf);
    ck_assert_msg(result == SIM_LOAD_OK, "%s: %s", name, err);
    return code;
}

uint32_t core_input(uint32_t i)
{
    return 0x80a0c0e0u + i * 0x01030507u;
}

void core_launch(const struct core_run *run, struct core_result *out)
{
    size_t in_bytes = run->in_bytes ? run->in_bytes : CORE_IN_BYTES;
    size_t out_bytes = run->out_bytes ? run->out_bytes : CORE_OUT_BYTES;
    struct sim_code *code = load(run->kernel);
    uint32_t *in = sim_mem_alloc(0, in_bytes, run->in_flags, -1);
    uint8_t *dst = sim_mem_alloc(0, out_bytes, 0, -1);
    ck_assert_ptr_nonnull(in);
    ck_assert_ptr_nonnull(dst);
    for (uint32_t i = 0; i < in_bytes / 4; i++) {
        in[i] = core_input(i);
    }
    uint64_t args[6] = { (uint64_t)(uintptr_t)in, (uint64_t)(uintptr_t)dst,
                         run->extra[0],           run->extra[1],
                         run->extra[2],           run->extra[3] };
    struct sim_launch l = { .code = code,
                            .kernel = sim_code_kernel(code, run->kernel),
                            .dynamic_lds = run->lds,
                            .kernarg = args };
    l.kernarg_size = l.kernel->kernarg_explicit;
    for (unsigned i = 0; i < 3; i++) {
        l.grid[i] = run->grid[i] ? run->grid[i] : 1;
        l.block[i] = run->block[i] ? run->block[i] : i == 0 ? 64 : 1;
        l.items[i] = run->items[i];
    }
    memset(out, 0, sizeof *out);
    out->in_addr = args[0];
    out->out_addr = args[1];
    sim_report_reset();
    out->result = sim_launch(&l, out->text, sizeof out->text);
    memcpy(out->in, in, in_bytes);
    memcpy(out->out, dst, out_bytes < sizeof out->out ? out_bytes : sizeof out->out);
    ck_assert(sim_mem_free(in));
    ck_assert(sim_mem_free(dst));
    sim_code_unload(code);
}

size_t core_findings(enum sim_finding kind)
{
    size_t n = 0;
    for (size_t i = 0; i < sim_report_count(); i++) {
        n += sim_report_kind(i) == (int)kind;
    }
    return n;
}

size_t core_findings_all(void)
{
    return sim_report_count();
}
