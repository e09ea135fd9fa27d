/* SPDX-License-Identifier: MIT */
/*
 * From a shape to loaded kernels.  A miss goes: choose, write the source, ask
 * the disk, compile, store, load.  One thread per kernel and process does it
 * (ktab), and one process per kernel compiles (the disk cache's lock).
 */
#include "resolve.h"

#include <string.h>

#include "bake.h"
#include "disk.h"
#include "fault.h"
#include "kernel.h"
#include "status.h"

/* What the steps of one build hand on to each other. */
struct build {
    mxg_context *context;
    const struct kernel_config *config;
    char name[64];
    char *source;
    size_t source_size;
    struct compiler *compiler;
    struct dcache_key key;
    bool is_refused;       /* the cached code object did not load: do not ask the disk again */
    struct kernel *kernel; /* [out] */
};

static mxg_status write_source(struct build *b)
{
    mxg_context *c = b->context;
    const uint64_t start = stats_now();
    kernel_config_name(b->config, b->name, sizeof b->name);
    mxg_status status = bake_source(&c->settings.mem, b->config, &b->source, &b->source_size);
    if (status == MXG_OK) {
        /* The compiler's identity is part of the key; opening it compiles nothing. */
        status = context_compiler(c, &b->compiler);
    }
    if (status == MXG_OK) {
        status = disk_key(c, b->compiler, b->source, b->source_size, &b->key);
    }
    stats_stage_end(&c->stats, MXG_STAGE_SOURCE, start);
    return status;
}

static mxg_status load(struct build *b, const void *code, size_t size, mxg_source source)
{
    mxg_context *c = b->context;
    const uint64_t start = stats_now();
    mxg_status status = kernel_load(&c->hip, &c->settings.mem, c->device.arch, b->config, code,
                                    size, &b->kernel);
    if (status == MXG_OK) {
        b->kernel->source = source;
        strncpy(b->kernel->provider, compiler_name(b->compiler),
                sizeof b->kernel->provider - 1);
    }
    stats_stage_end(&c->stats, MXG_STAGE_LOAD, start);
    return status;
}

/* OK with b->kernel set on a hit, OK with NULL on a miss. */
static mxg_status try_disk(struct build *b)
{
    mxg_context *c = b->context;
    struct dcache_entry entry;
    const uint64_t start = stats_now();
    const enum dcache_result found = dcache_load(c->disk, &b->key, &entry);
    stats_stage_end(&c->stats, MXG_STAGE_LOOKUP, start);
    if (found != DCACHE_OK) {
        return MXG_OK;
    }
    mxg_status status = load(b, entry.payload, entry.payload_size, MXG_SOURCE_DISK);
    dcache_entry_release(&entry);
    if (status == MXG_E_LOAD || status == MXG_E_CODE_OBJECT) {
        /*
         * It verified, yet this runtime refuses it: recompile once, report only if that
         * fails too.
         */
        log_warning(&c->settings.log,
                    "%s: the cached code object does not load (%s); compiling", b->name,
                    mxg_last_error());
        dcache_remove(c->disk, &b->key);
        b->is_refused = true;
        status = MXG_OK;
    } else if (status == MXG_OK) {
        stats_count(&c->stats, STATS_DISK_HITS);
    }
    return status;
}

static mxg_status compile(struct build *b)
{
    mxg_context *c = b->context;
    struct compile_request request = {
        .name = b->name,
        .arch = c->device.arch,
        .source = b->source,
        .source_size = b->source_size,
    };
    struct compile_result result = { 0 };
    request.options = bake_options(&request.num_options);
    const uint64_t start = stats_now();
    mxg_status status = fault_hit(FAULT_COMPILE)
                            ? status_set(MXG_E_COMPILE, "injected fault")
                            : compiler_compile(b->compiler, &request, &result);
    const uint64_t elapsed = stats_now() - start;
    stats_stage_end(&c->stats, MXG_STAGE_COMPILE, start);
    stats_count(&c->stats, status == MXG_OK ? STATS_COMPILES : STATS_COMPILE_FAILURES);
    if (status != MXG_OK) {
        return status_prefix(status, "%s: ", b->name);
    }
    status = load(b, result.code, result.code_size, MXG_SOURCE_COMPILED);
    if (status == MXG_OK) {
        disk_store(c, &b->key, b->kernel, b->compiler, elapsed, result.code, result.code_size);
        log_info(&c->settings.log, "%s: compiled by %s in %.1f ms, %zu bytes", b->name,
                 compiler_name(b->compiler), (double)elapsed / 1e6, result.code_size);
    }
    compile_result_free(&c->settings.mem, &result);
    return status;
}

/*
 * One kernel from nothing: the disk, else the compiler under the machine-wide lock of this
 * key.
 */
static mxg_status build_kernel(struct build *b)
{
    mxg_status status = write_source(b);
    if (status == MXG_OK) {
        status = try_disk(b);
    }
    if (status == MXG_OK && b->kernel == NULL) {
        struct dcache_lock lock = DCACHE_LOCK_INIT;
        /* Not getting the lock in time, or having none, means compiling privately. */
        const enum dcache_result locked = dcache_lock(b->context->disk, &b->key, -1, &lock);
        if (locked == DCACHE_OK && !b->is_refused) {
            /* Another process may have stored it meanwhile. */
            status = try_disk(b);
        }
        if (status == MXG_OK && b->kernel == NULL) {
            stats_count(&b->context->stats, STATS_DISK_MISSES);
            status = compile(b);
        }
        dcache_unlock(b->context->disk, &lock);
    }
    dcache_key_release(&b->key);
    mem_free(&b->context->settings.mem, b->source);
    b->source = NULL;
    return status;
}

static mxg_status resolve_kernel(mxg_context *context, const struct kernel_config *config,
                                 const struct kernel **kernel)
{
    enum ktab_role role;
    struct kernel_entry *entry = NULL;
    mxg_status failure = MXG_OK;
    bool waited = false;
    mxg_status status =
        ktab_acquire(context->table, config, &role, &entry, kernel, &failure, &waited);
    if (status != MXG_OK) {
        return status;
    }
    if (waited) {
        stats_count(&context->stats, STATS_WAITS);
    }
    if (role != KTAB_BUILD) {
        return role == KTAB_READY ? MXG_OK : failure;
    }
    struct build b = { .context = context, .config = config };
    status = build_kernel(&b);
    if (status != MXG_OK) {
        ktab_fail(context->table, entry, status, mxg_last_error());
        return status;
    }
    ktab_publish(context->table, entry, b.kernel);
    *kernel = b.kernel;
    return MXG_OK;
}

static struct plan_key key_of(const struct gemm_shape *shape)
{
    struct plan_key key;
    memset(&key, 0, sizeof key);
    key.n = shape->n;
    key.k = shape->k;
    key.m_class = select_m_class(shape->m);
    key.a_type = shape->a_type;
    key.c_type = shape->c_type;
    key.b_layout = shape->b_layout;
    key.b_scale_layout = shape->b_scale_layout;
    key.variant = shape->variant;
    return key;
}

mxg_status resolve_plan(mxg_context *context, const struct gemm_shape *shape,
                        const struct ready_plan **plan)
{
    const struct plan_key key = key_of(shape);
    *plan = ktab_find_plan(context->table, &key);
    if (*plan != NULL) {
        stats_count(&context->stats, STATS_TABLE_HITS);
        return MXG_OK;
    }
    stats_count(&context->stats, STATS_TABLE_MISSES);
    struct ready_plan made;
    memset(&made, 0, sizeof made);
    const uint64_t start = stats_now();
    mxg_status status = select_choose(&context->device, shape, &made.plan);
    stats_stage_end(&context->stats, MXG_STAGE_SELECT, start);
    for (uint32_t i = 0; status == MXG_OK && i < made.plan.num_kernels; i++) {
        status = resolve_kernel(context, &made.plan.kernels[i], &made.kernels[i]);
    }
    if (status != MXG_OK) {
        return status;
    }
    *plan = ktab_add_plan(context->table, &key, &made);
    return *plan != NULL ? MXG_OK : status_set(MXG_E_HOST_MEMORY, "no memory for a plan");
}
