/* SPDX-License-Identifier: MIT */
/*
 * Kernel config to source text: one #define line per constant, then the
 * family's embedded parts in order, each with a #line so that compile logs
 * name the file in kernel_src/.
 */
#include "bake.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kernel_src.h"
#include "status.h"

static const char *const quantize_parts[] = { "bake_check.h", "core.h",       "layout.h",
                                              "quant.h",      "quantize.hip", NULL };
static const char *const gemm_parts[] = { "bake_check.h", "core.h",     "layout.h",
                                          "tile.h",       "scale.h",    "b_mxfp4.h",
                                          "a_mxfp4.h",    "pipeline.h", "epilogue.h",
                                          "gemm.hip",     NULL };
static const char *const fused_parts[] = {
    "bake_check.h", "core.h",     "layout.h",  "quant.h",    "tile.h",   "scale.h", "b_mxfp4.h",
    "a_bf16.h",     "pipeline.h", "careful.h", "epilogue.h", "gemm.hip", NULL
};

/* Text that grows until `room` is used up; with room 0 it only counts. */
struct text {
    char *at;
    size_t size, room;
};

static void text_append(struct text *text, const void *bytes, size_t size)
{
    if (text->size + size <= text->room) {
        memcpy(text->at + text->size, bytes, size);
    }
    text->size += size;
}

static void text_format(struct text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void text_format(struct text *text, const char *fmt, ...)
{
    char line[256];
    va_list args;
    va_start(args, fmt);
    int size = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    text_append(text, line, (size_t)size);
}

static void define_number(struct text *text, const char *name, int64_t value)
{
    text_format(text, "#define MXG_BAKE_%s %" PRId64 "\n", name, value);
}

static void define_constants(struct text *text, const struct kernel_config *config)
{
    char name[128];
    kernel_config_name(config, name, sizeof(name));
    text_format(text, "#define MXG_BAKE_NAME %s\n", name);
    define_number(text, "FAMILY", config->family);
    define_number(text, "K", config->k);
    if (config->family != FAMILY_GEMM_FUSED) {
        define_number(text, "A_SCALE_SHUFFLED", config->a_scale_layout == MXG_LAYOUT_SHUFFLED);
    }
    if (config->family == FAMILY_QUANTIZE) {
        return;
    }
    define_number(text, "N", config->n);
    define_number(text, "WAVES", config->waves);
    define_number(text, "M_REP", config->m_rep);
    define_number(text, "N_REP", config->n_rep);
    define_number(text, "SPLIT_K", config->split_k);
    define_number(text, "C_TYPE", config->c_type);
    define_number(text, "B_SHUFFLED", config->b_layout == MXG_LAYOUT_SHUFFLED);
    define_number(text, "B_SCALE_SHUFFLED", config->b_scale_layout == MXG_LAYOUT_SHUFFLED);
}

static const struct kernel_blob *find_blob(const char *name)
{
    for (unsigned i = 0; i < kernel_blob_count; i++) {
        if (strcmp(kernel_blobs[i].name, name) == 0) {
            return &kernel_blobs[i];
        }
    }
    return NULL;
}

static bool write_source(struct text *text, const struct kernel_config *config)
{
    const char *const *parts = config->family == FAMILY_QUANTIZE ? quantize_parts
                               : config->family == FAMILY_GEMM   ? gemm_parts
                                                                 : fused_parts;
    define_constants(text, config);
    for (; *parts != NULL; parts++) {
        const struct kernel_blob *blob = find_blob(*parts);
        if (blob == NULL) {
            status_set(MXG_E_INTERNAL, "kernel source %s is not embedded", *parts);
            return false;
        }
        text_format(text, "#line 1 \"%s\"\n", blob->name);
        text_append(text, blob->text, blob->size);
    }
    return true;
}

mxg_status bake_source(const struct mem *mem, const struct kernel_config *config, char **source,
                       size_t *size)
{
    *source = NULL;
    *size = 0;
    mxg_status status = kernel_config_check(config);
    if (status != MXG_OK) {
        return status;
    }

    struct text text = { NULL, 0, 0 };
    if (!write_source(&text, config)) {
        return MXG_E_INTERNAL;
    }
    size_t room = text.size;
    text = (struct text){ mem_alloc(mem, room + 1), 0, room };
    if (text.at == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "no memory for %zu bytes of kernel source",
                          room + 1);
    }
    (void)write_source(&text, config);
    text.at[room] = '\0';
    *source = text.at;
    *size = room;
    return MXG_OK;
}

const char *const *bake_options(size_t *count)
{
    /* -O3 makes code of the same size and registers, and takes a quarter longer to make it. */
    static const char *const options[] = { "-O1", "-std=c++17" };
    *count = sizeof(options) / sizeof(options[0]);
    return options;
}
