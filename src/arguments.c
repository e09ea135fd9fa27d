/* SPDX-License-Identifier: MIT */
/* Checking mxg_gemm's arguments: every rule of the header, each with its own sentence. */
#include "arguments.h"

#include <inttypes.h>
#include <string.h>

#include "settings.h"
#include "status.h"

static mxg_status check_enums(const mxg_gemm_args *a)
{
    if (a->a_type != MXG_TYPE_BF16 && a->a_type != MXG_TYPE_MXFP4) {
        return status_set(MXG_E_ENUM,
                          "a_type is %d; it must be MXG_TYPE_BF16 or MXG_TYPE_MXFP4",
                          (int)a->a_type);
    }
    if (a->c_type != MXG_TYPE_BF16 && a->c_type != MXG_TYPE_F16 && a->c_type != MXG_TYPE_F32) {
        return status_set(
            MXG_E_ENUM, "c_type is %d; it must be MXG_TYPE_BF16, MXG_TYPE_F16 or MXG_TYPE_F32",
            (int)a->c_type);
    }
    const struct {
        const char *name;
        int value;
    } layouts[] = { { "b_layout", (int)a->b_layout },
                    { "b_scale_layout", (int)a->b_scale_layout } };
    for (int i = 0; i < 2; i++) {
        if (layouts[i].value != MXG_LAYOUT_ROW_MAJOR &&
            layouts[i].value != MXG_LAYOUT_SHUFFLED) {
            return status_set(
                MXG_E_ENUM, "%s is %d; it must be MXG_LAYOUT_ROW_MAJOR or MXG_LAYOUT_SHUFFLED",
                layouts[i].name, layouts[i].value);
        }
    }
    if ((int)a->variant < MXG_VARIANT_AUTO || (int)a->variant > MXG_VARIANT_QUANTIZED) {
        return status_set(MXG_E_ENUM, "variant is %d; it must be %d to %d", (int)a->variant,
                          MXG_VARIANT_AUTO, MXG_VARIANT_QUANTIZED);
    }
    if (a->reserved != 0) {
        return status_set(MXG_E_VERSION, "mxg_gemm_args.reserved is %u; it must be 0",
                          a->reserved);
    }
    return MXG_OK;
}

static mxg_status check_sizes(const mxg_gemm_args *a)
{
    if (a->m < 1 || a->n < 1 || a->k < 1) {
        return status_set(MXG_E_SHAPE,
                          "M x N x K is %" PRId64 " x %" PRId64 " x %" PRId64
                          "; each must be 1 or more",
                          a->m, a->n, a->k);
    }
    if (a->k % 32 != 0) {
        return status_set(MXG_E_SHAPE,
                          "K is %" PRId64 "; it must be a multiple of 32, the MX block", a->k);
    }
    return MXG_OK;
}

/* A leading dimension: 0 means the row length; `multiple` of elements keeps rows aligned. */
static mxg_status take_ld(const char *name, int64_t ld, int64_t row, int64_t multiple,
                          int64_t *out)
{
    if (ld == 0) {
        *out = row;
        return MXG_OK;
    }
    if (ld < row) {
        return status_set(MXG_E_LEADING_DIMENSION,
                          "%s is %" PRId64 "; a row has %" PRId64 " elements", name, ld, row);
    }
    if (ld % multiple != 0) {
        return status_set(MXG_E_ALIGNMENT,
                          "%s is %" PRId64 "; it must be a multiple of %" PRId64
                          " so that every row is aligned",
                          name, ld, multiple);
    }
    *out = ld;
    return MXG_OK;
}

static mxg_status check_leading_dimensions(const mxg_gemm_args *a, struct gemm_call *call)
{
    mxg_status status =
        take_ld("lda", a->lda, a->k, a->a_type == MXG_TYPE_BF16 ? 8 : 32, &call->lda);
    if (status == MXG_OK && a->b_layout == MXG_LAYOUT_SHUFFLED && a->ldb != 0 &&
        a->ldb != a->k) {
        return status_set(MXG_E_LEADING_DIMENSION,
                          "ldb is %" PRId64
                          "; shuffled B is dense, so it must be 0 or K (%" PRId64 ")",
                          a->ldb, a->k);
    }
    if (status == MXG_OK) {
        status = take_ld("ldb", a->ldb, a->k, 32, &call->ldb);
    }
    if (status == MXG_OK) {
        status = take_ld("ldc", a->ldc, a->n, 1, &call->ldc);
    }
    return status;
}

/*
 * rows * ld * bits must be addressable.  2^62 bytes leaves the kernels' own
 * 64-bit address sums room.
 */
static mxg_status check_extent(const char *name, int64_t rows, int64_t ld,
                               int64_t bytes_times_2)
{
    int64_t elements, half_bytes;
    if (__builtin_mul_overflow(rows, ld, &elements) ||
        __builtin_mul_overflow(elements, bytes_times_2, &half_bytes) ||
        half_bytes / 2 > INT64_C(1) << 62) {
        return status_set(MXG_E_OVERFLOW,
                          "%s: %" PRId64 " rows of %" PRId64 " elements pass 2^62 bytes", name,
                          rows, ld);
    }
    return MXG_OK;
}

static mxg_status check_extents(const mxg_gemm_args *a, const struct gemm_call *call)
{
    /* Shuffled B is padded to 16 rows, shuffled scales to 256; 255 more rows cover both. */
    int64_t padded_n;
    if (__builtin_add_overflow(a->n, 255, &padded_n)) {
        return status_set(MXG_E_OVERFLOW, "N is %" PRId64 "; padded to 256 it passes 63 bits",
                          a->n);
    }
    mxg_status status = check_extent("A", a->m, call->lda, a->a_type == MXG_TYPE_BF16 ? 4 : 1);
    if (status == MXG_OK) {
        status = check_extent("B", padded_n, call->ldb, 1);
    }
    if (status == MXG_OK) {
        status = check_extent("C", a->m, call->ldc, a->c_type == MXG_TYPE_F32 ? 8 : 4);
    }
    return status;
}

mxg_status arguments_check_shape(const mxg_gemm_args *args, struct gemm_call *call)
{
    memset(call, 0, sizeof *call);
    if (args == NULL) {
        return status_set(MXG_E_NULL, "args is NULL");
    }
    mxg_status status =
        settings_check_size(args, args->struct_size, sizeof *args, "mxg_gemm_args");
    if (status == MXG_OK) {
        status = check_enums(args);
    }
    if (status == MXG_OK) {
        status = check_sizes(args);
    }
    if (status == MXG_OK) {
        status = check_leading_dimensions(args, call);
    }
    if (status == MXG_OK) {
        status = check_extents(args, call);
    }
    if (status != MXG_OK) {
        return status;
    }
    call->shape.m = args->m;
    call->shape.n = args->n;
    call->shape.k = args->k;
    call->shape.a_type = (uint32_t)args->a_type;
    call->shape.c_type = (uint32_t)args->c_type;
    call->shape.b_layout = (uint32_t)args->b_layout;
    call->shape.b_scale_layout = (uint32_t)args->b_scale_layout;
    call->shape.variant = (uint32_t)args->variant;
    return MXG_OK;
}

static mxg_status check_pointer(const char *name, const void *pointer, uintptr_t alignment)
{
    if (pointer == NULL) {
        return status_set(MXG_E_NULL, "%s is NULL", name);
    }
    if ((uintptr_t)pointer % alignment != 0) {
        return status_set(MXG_E_ALIGNMENT, "%s is %p; it must be aligned to %zu bytes", name,
                          pointer, (size_t)alignment);
    }
    return MXG_OK;
}

mxg_status arguments_check(const mxg_gemm_args *args, struct gemm_call *call)
{
    mxg_status status = arguments_check_shape(args, call);
    if (status != MXG_OK) {
        return status;
    }
    const int is_quantized = args->a_type == MXG_TYPE_MXFP4;
    const struct {
        const char *name;
        const void *pointer;
        uintptr_t alignment;
        int is_needed;
    } rules[] = {
        { "a", args->a, 16, 1 },
        { "a_scale", args->a_scale, 1, is_quantized },
        { "b", args->b, 16, 1 },
        { "b_scale", args->b_scale, args->b_scale_layout == MXG_LAYOUT_SHUFFLED ? 4 : 1, 1 },
        { "c", args->c, args->c_type == MXG_TYPE_F32 ? 4 : 2, 1 },
        { "workspace", args->workspace, 256, args->workspace != NULL },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].is_needed) {
            continue;
        }
        status = check_pointer(rules[i].name, rules[i].pointer, rules[i].alignment);
        if (status != MXG_OK) {
            return status;
        }
    }
    call->a = args->a;
    call->a_scale = is_quantized ? args->a_scale : NULL;
    call->b = args->b;
    call->b_scale = args->b_scale;
    call->c = args->c;
    call->workspace = args->workspace;
    call->workspace_size = args->workspace_size;
    return MXG_OK;
}
