/* SPDX-License-Identifier: MIT */
/* Weights on the host: sizes, quantisation and shuffling.  No context, no HIP. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "mx_format.h"
#include "mx_layout.h"
#include "mxgemm.h"
#include "status.h"

/* a * b bytes, or false if that passes 63 bits or size_t. */
static bool multiply(int64_t a, int64_t b, int64_t *product)
{
    return !__builtin_mul_overflow(a, b, product) && (uint64_t)*product <= SIZE_MAX;
}

static bool round_up(int64_t value, int64_t multiple, int64_t *rounded)
{
    if (__builtin_add_overflow(value, multiple - 1, rounded)) {
        return false;
    }
    *rounded = *rounded / multiple * multiple;
    return true;
}

static mxg_status check_shape(const char *rows_name, int64_t rows, int64_t k)
{
    if (rows < 1) {
        return status_set(MXG_E_SHAPE, "%s = %" PRId64 ": at least 1 row is needed", rows_name,
                          rows);
    }
    if (k < MX_BLOCK || k % MX_BLOCK != 0) {
        return status_set(MXG_E_SHAPE, "k = %" PRId64 ": a positive multiple of 32 is needed",
                          k);
    }
    return MXG_OK;
}

static mxg_status check_layout(mxg_layout layout)
{
    if (layout != MXG_LAYOUT_ROW_MAJOR && layout != MXG_LAYOUT_SHUFFLED) {
        return status_set(MXG_E_ENUM, "layout = %d: row-major (1) or shuffled (2) is needed",
                          (int)layout);
    }
    return MXG_OK;
}

static mxg_status overflow(const char *what, int64_t rows, int64_t k)
{
    return status_set(MXG_E_OVERFLOW,
                      "%s of %" PRId64 " rows and k = %" PRId64 " does not fit 63 bits", what,
                      rows, k);
}

mxg_status mxg_b_size(int64_t n, int64_t k, mxg_layout layout, size_t *bytes)
{
    if (bytes == NULL) {
        return status_set(MXG_E_NULL, "bytes is NULL");
    }
    *bytes = 0;
    mxg_status status = check_shape("n", n, k);
    if (status == MXG_OK) {
        status = check_layout(layout);
    }
    if (status != MXG_OK) {
        return status;
    }
    int64_t rows = n, size;
    if ((layout == MXG_LAYOUT_SHUFFLED && !round_up(n, MX_B_TILE_ROWS, &rows)) ||
        !multiply(rows, k / 2, &size)) {
        return overflow("B", n, k);
    }
    *bytes = (size_t)size;
    return MXG_OK;
}

mxg_status mxg_scale_size(int64_t rows, int64_t k, mxg_layout layout, size_t *bytes)
{
    if (bytes == NULL) {
        return status_set(MXG_E_NULL, "bytes is NULL");
    }
    *bytes = 0;
    mxg_status status = check_shape("rows", rows, k);
    if (status == MXG_OK) {
        status = check_layout(layout);
    }
    if (status != MXG_OK) {
        return status;
    }
    int64_t padded = rows, columns = k / MX_BLOCK, size;
    bool fits = true;
    if (layout == MXG_LAYOUT_SHUFFLED) {
        fits = round_up(rows, MX_SCALE_ROW_PAD, &padded) &&
               round_up(columns, MX_SCALE_COLUMN_PAD, &columns);
    }
    if (!fits || !multiply(padded, columns, &size)) {
        return overflow("the scale buffer", rows, k);
    }
    *bytes = (size_t)size;
    return MXG_OK;
}

/* Element i of a bf16 or f32 row as float; rows need no alignment. */
static float read_element(const unsigned char *row, size_t i, mxg_type type)
{
    if (type == MXG_TYPE_F32) {
        float value;
        memcpy(&value, row + i * sizeof(value), sizeof(value));
        return value;
    }
    uint16_t bits;
    memcpy(&bits, row + i * sizeof(bits), sizeof(bits));
    return mx_f32_from_bf16(bits);
}

static void quantize_block(const unsigned char *src, mxg_type type, uint8_t dst[MX_BLOCK_BYTES],
                           uint8_t *scale)
{
    float x[MX_BLOCK];
    uint32_t amax = 0;
    for (size_t i = 0; i < MX_BLOCK; i++) {
        x[i] = read_element(src, i, type);
        uint32_t magnitude = mx_f32_bits(x[i]) & MX_F32_MAGNITUDE;
        amax = magnitude > amax ? magnitude : amax;
    }
    *scale = mx_scale_from_amax(amax);
    for (size_t i = 0; i < MX_BLOCK_BYTES; i++) {
        uint8_t low = 0, high = 0;
        if (*scale != MX_SCALE_NAN) {
            low = mx_quantize_element(x[2 * i], *scale);
            high = mx_quantize_element(x[2 * i + 1], *scale);
        }
        dst[i] = (uint8_t)(low | high << 4);
    }
}

mxg_status mxg_quantize(int64_t rows, int64_t k, mxg_type src_type, const void *src, int64_t ld,
                        void *dst, void *dst_scale)
{
    if (src == NULL || dst == NULL || dst_scale == NULL) {
        return status_set(MXG_E_NULL, "%s is NULL",
                          src == NULL   ? "src"
                          : dst == NULL ? "dst"
                                        : "dst_scale");
    }
    mxg_status status = check_shape("rows", rows, k);
    if (status != MXG_OK) {
        return status;
    }
    if (src_type != MXG_TYPE_BF16 && src_type != MXG_TYPE_F32) {
        return status_set(MXG_E_ENUM, "src_type = %d: bf16 (1) or f32 (4) is needed",
                          (int)src_type);
    }
    if (ld == 0) {
        ld = k;
    }
    if (ld < k) {
        return status_set(MXG_E_LEADING_DIMENSION,
                          "ld = %" PRId64 " is smaller than k = %" PRId64, ld, k);
    }
    int64_t element = src_type == MXG_TYPE_F32 ? 4 : 2;
    int64_t row_bytes, extent;
    if (!multiply(ld, element, &row_bytes) || !multiply(rows, row_bytes, &extent)) {
        return overflow("the source", rows, ld);
    }

    size_t blocks = (size_t)(k / MX_BLOCK);
    for (size_t r = 0; r < (size_t)rows; r++) {
        const unsigned char *row = (const unsigned char *)src + r * (size_t)row_bytes;
        for (size_t b = 0; b < blocks; b++) {
            size_t at = r * blocks + b;
            quantize_block(row + b * MX_BLOCK * (size_t)element, src_type,
                           (uint8_t *)dst + at * MX_BLOCK_BYTES, (uint8_t *)dst_scale + at);
        }
    }
    return MXG_OK;
}

mxg_status mxg_shuffle_b(int64_t n, int64_t k, const void *src, void *dst)
{
    if (src == NULL || dst == NULL) {
        return status_set(MXG_E_NULL, "%s is NULL", src == NULL ? "src" : "dst");
    }
    size_t size;
    mxg_status status = mxg_b_size(n, k, MXG_LAYOUT_SHUFFLED, &size);
    if (status != MXG_OK) {
        return status;
    }
    size_t blocks = (size_t)(k / MX_BLOCK);
    size_t rows = mx_round_up((size_t)n, MX_B_TILE_ROWS);
    for (size_t r = 0; r < rows; r++) {
        for (size_t b = 0; b < blocks; b++) {
            uint8_t *to = (uint8_t *)dst + mx_b_shuffled(r, b, 0, blocks);
            if (r < (size_t)n) {
                memcpy(to, (const uint8_t *)src + (r * blocks + b) * MX_BLOCK_BYTES,
                       MX_BLOCK_BYTES);
            } else {
                memset(to, 0, MX_BLOCK_BYTES);
            }
        }
    }
    return MXG_OK;
}

mxg_status mxg_shuffle_scale(int64_t rows, int64_t k, const void *src, void *dst)
{
    if (src == NULL || dst == NULL) {
        return status_set(MXG_E_NULL, "%s is NULL", src == NULL ? "src" : "dst");
    }
    size_t size;
    mxg_status status = mxg_scale_size(rows, k, MXG_LAYOUT_SHUFFLED, &size);
    if (status != MXG_OK) {
        return status;
    }
    size_t blocks = (size_t)(k / MX_BLOCK);
    memset(dst, 0, size);
    for (size_t r = 0; r < (size_t)rows; r++) {
        for (size_t b = 0; b < blocks; b++) {
            ((uint8_t *)dst)[mx_scale_shuffled(r, b, blocks)] =
                ((const uint8_t *)src)[r * blocks + b];
        }
    }
    return MXG_OK;
}
