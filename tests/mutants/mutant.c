/* SPDX-License-Identifier: MIT */
/* Kernels broken on purpose: building, running, findings; see mutant.h. */
#include "mutant.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bake.h"
#include "status.h"

struct mutant_bench mutants;

static struct {
    const char *(*kind)(size_t i);
    void (*reset)(void);
    int (*reset_device)(int device);
} sim;

/* "waitcnt: kernel NAME pc 0x123: INSTRUCTION\n    detail\n ..." */
static void parse(struct mutant_finding *finding)
{
    const char *pc = strstr(finding->text, " pc 0x");
    ck_assert_msg(pc != NULL, "a finding without pc: %s", finding->text);
    char *end;
    finding->pc = strtoull(pc + 4, &end, 16);
    const size_t length = strcspn(end, "\n");
    ck_assert(length > 2 && length - 2 < sizeof finding->inst);
    memcpy(finding->inst, end + 2, length - 2);
    finding->inst[length - 2] = '\0';
}

/* Runs where the findings would be dropped: keeps them, and makes a faulted device usable. */
static void keep_findings(void)
{
    mutants.count = mutants.kernel.reports_count();
    if (mutants.count > MUTANT_FINDINGS_MAX) {
        mutants.count = MUTANT_FINDINGS_MAX;
    }
    for (size_t i = 0; i < mutants.count; i++) {
        struct mutant_finding *f = &mutants.findings[i];
        mutants.kernel.report_text(i, f->text, sizeof f->text);
        snprintf(f->kind, sizeof f->kind, "%s", sim.kind(i));
        parse(f);
    }
    sim.reset();
    sim.reset_device(0);
}

bool mutants_open(void)
{
    memset(&mutants, 0, sizeof mutants);
    if (!kernel_bench_open(&mutants.kernel)) {
        return false;
    }
    void *handle = mutants.kernel.hip.handle;
    /* ISO C has no cast from object to function pointer; POSIX's dlsym means this one. */
    *(void **)&sim.kind = dlsym(handle, "mxgsim_report_kind");
    *(void **)&sim.reset_device = dlsym(handle, "mxgsim_reset_device");
    sim.reset = mutants.kernel.reports_reset;
    if (sim.kind == NULL || sim.reset_device == NULL || sim.reset == NULL) {
        status_set(MXG_E_NO_DEVICE, "MXG_HIP_LIBRARY is not the simulator");
        mutants_close();
        return false;
    }
    mutants.kernel.reports_reset = keep_findings;
    return true;
}

void mutants_close(void)
{
    kernel_bench_close(&mutants.kernel);
}

struct kernel_config mutant_gemm(int64_t n, int64_t k, uint32_t family, uint32_t waves,
                                 uint32_t m_rep, uint32_t n_rep, uint32_t split_k)
{
    struct kernel_config config;
    memset(&config, 0, sizeof config);
    config.n = n;
    config.k = k;
    config.family = family;
    config.waves = waves;
    config.m_rep = m_rep;
    config.n_rep = n_rep;
    config.split_k = split_k;
    config.c_type = MXG_TYPE_BF16;
    config.b_layout = config.b_scale_layout = MXG_LAYOUT_SHUFFLED;
    config.a_scale_layout = family == FAMILY_GEMM ? MXG_LAYOUT_SHUFFLED : 0;
    return config;
}

struct kernel_config mutant_quantize(int64_t k)
{
    struct kernel_config config;
    memset(&config, 0, sizeof config);
    config.k = k;
    config.family = FAMILY_QUANTIZE;
    config.a_scale_layout = MXG_LAYOUT_SHUFFLED;
    return config;
}

char *mutant_source(const struct kernel_config *config)
{
    char *source = NULL;
    size_t size;
    ck_assert_msg(bake_source(&mem_default, config, &source, &size) == MXG_OK, "%s",
                  mxg_last_error());
    char *copy = strdup(source);
    mem_free(&mem_default, source);
    ck_assert_ptr_nonnull(copy);
    return copy;
}

bool mutant_compile(const struct kernel_config *config, const char *source,
                    struct compile_result *result)
{
    char name[64];
    struct compile_request request = { .name = name,
                                       .arch = mutants.kernel.facts.arch,
                                       .source = source,
                                       .source_size = strlen(source) };
    request.options = bake_options(&request.num_options);
    kernel_config_name(config, name, sizeof name);
    return compiler_compile(mutants.kernel.compiler, &request, result) == MXG_OK;
}

bool mutant_run(const struct kernel_case *test, const void *code, size_t size)
{
    struct kernel *kernel = NULL;
    struct kernel_bench *bench = &mutants.kernel;
    mutants.count = 0;
    const mxg_status status = kernel_load(&bench->hip, &mem_default, bench->facts.arch,
                                          &test->config, code, size, &kernel);
    ck_assert_msg(status == MXG_OK, "%s", mxg_last_error());
    const bool ok = kernel_case_run_on(bench, test, kernel, mutants.why, sizeof mutants.why);
    kernel_unload(&bench->hip, &mem_default, kernel);
    return ok;
}

const struct mutant_finding *mutant_find(const char *kind)
{
    for (size_t i = 0; i < mutants.count; i++) {
        if (strcmp(mutants.findings[i].kind, kind) == 0) {
            return &mutants.findings[i];
        }
    }
    return NULL;
}

void mutant_edit_edges(const struct kernel_case *test, uint16_t *a, uint8_t *b,
                       uint8_t *b_scale)
{
    const size_t blocks = (size_t)(test->m * test->config.k / ORACLE_BLOCK);
    (void)b;
    (void)b_scale;
    for (size_t i = 0; i < blocks; i++) {
        oracle_edge_block(i % oracle_edge_count(), a + i * ORACLE_BLOCK);
    }
}
