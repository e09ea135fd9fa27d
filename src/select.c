/* SPDX-License-Identifier: MIT */
/*
 * The chooser: which variant, by rule or by cost, with the cheapest tiling of
 * its family (select_cost.c), and why.  M enters through its class only: costs
 * are taken at the class's largest M.
 */
#include "select.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch.h"
#include "mx_layout.h"
#include "select_cost.h"
#include "status.h"

static const struct arch *const archs[] = { &arch_gfx950 };

/*
 * M classes.  Up to 32 rows one fused launch wins, from 65 on two launches do
 * (figures from MI355X); between, both are costed.  The last class is open and
 * is costed at OPEN_CLASS_M.
 */
static const int64_t class_max[] = { 16, 32, 64, 128, 256, INT64_MAX };
#define CLASS_COUNT (sizeof(class_max) / sizeof(class_max[0]))
#define OPEN_CLASS_M 1024
#define FUSED_UP_TO 32
#define PREQUANT_FROM 65

uint32_t select_m_class(int64_t m)
{
    uint32_t m_class = 0;
    while (m_class + 1 < CLASS_COUNT && m > class_max[m_class]) {
        m_class++;
    }
    return m_class;
}

uint32_t select_m_class_count(void)
{
    return CLASS_COUNT;
}

void select_m_class_range(uint32_t m_class, int64_t *min, int64_t *max)
{
    if (m_class >= CLASS_COUNT) {
        m_class = CLASS_COUNT - 1;
    }
    *min = m_class == 0 ? 1 : class_max[m_class - 1] + 1;
    *max = class_max[m_class];
}

static const struct arch *find_arch(const char *name)
{
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        size_t length = strlen(archs[i]->name);
        if (strncmp(name, archs[i]->name, length) == 0 &&
            (name[length] == '\0' || name[length] == ':')) {
            return archs[i];
        }
    }
    return NULL;
}

int select_arch_supported(const char *arch)
{
    return find_arch(arch) != NULL;
}

struct choice {
    struct kernel_config gemm;
    struct estimate estimate;
    double total; /* launches and quantising included */
};

static bool choose_family(const struct arch *arch, const struct device_facts *device,
                          const struct gemm_shape *shape, int64_t m, uint32_t variant,
                          struct choice *choice)
{
    struct kernel_config *c = &choice->gemm;
    memset(c, 0, sizeof(*c));
    c->n = shape->n;
    c->k = shape->k;
    c->family = variant == MXG_VARIANT_FUSED ? FAMILY_GEMM_FUSED : FAMILY_GEMM;
    c->c_type = shape->c_type;
    c->b_layout = shape->b_layout;
    c->b_scale_layout = shape->b_scale_layout;
    c->a_scale_layout = variant == MXG_VARIANT_PREQUANT    ? MXG_LAYOUT_SHUFFLED
                        : variant == MXG_VARIANT_QUANTIZED ? MXG_LAYOUT_ROW_MAJOR
                                                           : 0;
    uint32_t compute_units =
        device->compute_units > 0 ? device->compute_units : arch->compute_units;
    if (!cost_choose_tiling(arch, compute_units, m, c, &choice->estimate)) {
        return false;
    }
    choice->total = arch->launch_us + choice->estimate.total;
    if (variant == MXG_VARIANT_PREQUANT) {
        choice->total += arch->next_launch_us + cost_quantize(arch, m, shape->k);
    }
    return true;
}

static const char *variant_word(uint32_t variant)
{
    return variant == MXG_VARIANT_FUSED      ? "fused"
           : variant == MXG_VARIANT_PREQUANT ? "prequant"
                                             : "quantized";
}

/* What the estimate is made of: its largest part in words. */
static const char *bound_word(const struct estimate *e)
{
    double work = cost_work(e);
    if (e->latency > work) {
        return "latency";
    }
    return work == e->quantize ? "quantising"
           : work == e->memory ? "memory"
           : work == e->cache  ? "cache"
                               : "MFMA";
}

static void append(struct select_plan *plan, size_t *at, const char *text)
{
    int size = snprintf(plan->reason + *at, sizeof(plan->reason) - *at, "%s", text);
    *at += (size_t)size;
    if (*at >= sizeof(plan->reason)) {
        *at = sizeof(plan->reason) - 1;
    }
}

static void explain(struct select_plan *plan, int64_t m, const char *rule,
                    const struct choice *taken, const struct choice *other)
{
    const struct kernel_config *c = &taken->gemm;
    const struct estimate *e = &taken->estimate;
    char text[256];
    size_t at = 0;

    snprintf(text, sizeof(text), "%s: %s; by the model at M = %" PRId64 ": %.2f us, ",
             variant_word(plan->variant), rule, m, taken->total);
    append(plan, &at, text);
    snprintf(text, sizeof(text),
             "%" PRId64 " workgroups of %" PRIu32 " waves, %" PRIu32 "x%" PRIu32
             " tiles a wave, %s, bound by %s (memory %.2f, latency %.2f, MFMA %.2f, quantising "
             "%.2f us)",
             e->workgroups, c->waves, c->m_rep, c->n_rep,
             c->split_k ? "K split over waves" : "N split over waves", bound_word(e), e->memory,
             e->latency, e->matrix, e->quantize);
    append(plan, &at, text);
    if (other != NULL) {
        snprintf(text, sizeof(text), "; %s would take %.2f us",
                 plan->variant == MXG_VARIANT_FUSED ? "prequant" : "fused", other->total);
        append(plan, &at, text);
    }
}

static void fill_plan(struct select_plan *plan, const struct kernel_config *gemm)
{
    plan->num_kernels = 0;
    if (plan->variant == MXG_VARIANT_PREQUANT) {
        struct kernel_config *q = &plan->kernels[plan->num_kernels++];
        memset(q, 0, sizeof(*q));
        q->family = FAMILY_QUANTIZE;
        q->k = gemm->k;
        q->a_scale_layout = gemm->a_scale_layout;
    }
    plan->kernels[plan->num_kernels++] = *gemm;
}

/* The variant asked for must fit A's type. */
static mxg_status check_variant(const struct gemm_shape *shape)
{
    bool quantized = shape->a_type == MXG_TYPE_MXFP4;
    switch (shape->variant) {
    case MXG_VARIANT_AUTO:
        return MXG_OK;
    case MXG_VARIANT_FUSED:
    case MXG_VARIANT_PREQUANT:
        return !quantized ? MXG_OK
                          : status_set(MXG_E_UNSUPPORTED,
                                       "variant %s quantises a bf16 A, but a_type is MXFP4",
                                       variant_word(shape->variant));
    case MXG_VARIANT_QUANTIZED:
        return quantized
                   ? MXG_OK
                   : status_set(MXG_E_UNSUPPORTED,
                                "variant quantized needs a_type MXFP4, but a_type is bf16");
    default:
        return status_set(MXG_E_ENUM, "variant = %" PRIu32 ": 0 to 3 is needed",
                          shape->variant);
    }
}

static mxg_status check_limits(const struct gemm_shape *shape)
{
    if (shape->m < 1 || shape->n < 1 || shape->k < 32 || shape->k % 32 != 0) {
        return status_set(MXG_E_SHAPE,
                          "m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64
                          ": m and n of at least 1 and a positive multiple of 32 are needed",
                          shape->m, shape->n, shape->k);
    }
    if (shape->n > KERNEL_N_MAX || shape->k > KERNEL_K_MAX) {
        return status_set(MXG_E_UNSUPPORTED,
                          "n = %" PRId64 ", k = %" PRId64 ": kernels serve n up to %" PRId64
                          " and k up to %" PRId64,
                          shape->n, shape->k, KERNEL_N_MAX, KERNEL_K_MAX);
    }
    return MXG_OK;
}

mxg_status select_choose(const struct device_facts *device, const struct gemm_shape *shape,
                         struct select_plan *plan)
{
    memset(plan, 0, sizeof(*plan));
    const struct arch *arch = find_arch(device->arch);
    if (arch == NULL) {
        return status_set(MXG_E_ARCH, "no kernels for architecture %s", device->arch);
    }
    mxg_status status = check_limits(shape);
    if (status == MXG_OK) {
        status = check_variant(shape);
    }
    if (status != MXG_OK) {
        return status;
    }
    select_m_class_range(select_m_class(shape->m), &plan->m_min, &plan->m_max);
    int64_t m = plan->m_max == INT64_MAX ? OPEN_CLASS_M : plan->m_max;

    struct choice fused, prequant, quantized;
    const struct choice *taken = NULL, *other = NULL;
    const char *rule = "asked for";
    if (shape->a_type == MXG_TYPE_MXFP4) {
        plan->variant = MXG_VARIANT_QUANTIZED;
        if (shape->variant == MXG_VARIANT_AUTO) {
            rule = "A is MXFP4 already";
        }
        taken = choose_family(arch, device, shape, m, plan->variant, &quantized) ? &quantized
                                                                                 : NULL;
    } else {
        bool has_fused = choose_family(arch, device, shape, m, MXG_VARIANT_FUSED, &fused);
        bool has_prequant =
            choose_family(arch, device, shape, m, MXG_VARIANT_PREQUANT, &prequant);
        plan->variant = shape->variant;
        if (shape->variant == MXG_VARIANT_AUTO) {
            bool by_cost = plan->m_max > FUSED_UP_TO && plan->m_min < PREQUANT_FROM;
            bool take_fused =
                by_cost ? fused.total <= prequant.total : plan->m_max <= FUSED_UP_TO;
            rule = by_cost      ? "M 33 to 64 goes by cost"
                   : take_fused ? "up to M 32 one launch wins, as measured on hardware"
                                : "from M 65 on quantising once wins, as measured on hardware";
            plan->variant = take_fused ? MXG_VARIANT_FUSED : MXG_VARIANT_PREQUANT;
        }
        bool is_fused = plan->variant == MXG_VARIANT_FUSED;
        taken = is_fused ? (has_fused ? &fused : NULL) : (has_prequant ? &prequant : NULL);
        other = is_fused ? (has_prequant ? &prequant : NULL) : (has_fused ? &fused : NULL);
    }
    if (taken == NULL) {
        return status_set(MXG_E_UNSUPPORTED, "no %s kernel fits %s",
                          variant_word(plan->variant), arch->name);
    }
    fill_plan(plan, &taken->gemm);
    explain(plan, m, rule, taken, other);
    return MXG_OK;
}

mxg_status select_workspace(const struct select_plan *plan, const struct gemm_shape *shape,
                            size_t *bytes, size_t *scale_offset)
{
    *bytes = 0;
    *scale_offset = 0;
    if (plan->variant != MXG_VARIANT_PREQUANT) {
        return MXG_OK;
    }
    int64_t rows, data, scales, total;
    int64_t columns = (int64_t)mx_round_up((size_t)(shape->k / 32), MX_SCALE_COLUMN_PAD);
    bool fits = !__builtin_add_overflow(shape->m, MX_SCALE_GROUP_ROWS - 1, &rows);
    rows = fits ? rows / MX_SCALE_GROUP_ROWS * MX_SCALE_GROUP_ROWS : 0;
    fits = fits && !__builtin_mul_overflow(shape->m, shape->k / 2, &data) &&
           !__builtin_add_overflow(data, 255, &data) &&
           !__builtin_mul_overflow(rows, columns, &scales) &&
           !__builtin_add_overflow(data / 256 * 256, scales, &total) &&
           (uint64_t)total <= SIZE_MAX;
    if (!fits) {
        return status_set(MXG_E_OVERFLOW,
                          "the quantised A of m = %" PRId64 ", k = %" PRId64
                          " does not fit 63 bits",
                          shape->m, shape->k);
    }
    *scale_offset = (size_t)(data / 256 * 256);
    *bytes = (size_t)total;
    return MXG_OK;
}
