/* SPDX-License-Identifier: MIT */
/* Kernel configs: which are possible, their names, launch geometry and argument blocks. */
#include "kernel_config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "status.h"

/* HIP launches count threads in 32 bits a dimension, and workgroups of y and z in 16. */
#define GRID_THREADS_MAX UINT32_MAX
#define GRID_Z_MAX 65535

/* Shared with kernel_src: mxg_grid_yz of core.h, MXG_GROUP_ROWS of quantize.hip. */
#define GRID_Y 32768
#define QUANTIZE_GROUP_BLOCKS INT64_C(0x10000000)
#define QUANTIZE_THREADS 256

#define TILE 16

static bool is_power_of_two_between(uint32_t value, uint32_t low, uint32_t high)
{
    return value >= low && value <= high && (value & (value - 1)) == 0;
}

static bool is_layout(uint32_t layout)
{
    return layout == MXG_LAYOUT_ROW_MAJOR || layout == MXG_LAYOUT_SHUFFLED;
}

static mxg_status check_gemm(const struct kernel_config *config)
{
    bool fused = config->family == FAMILY_GEMM_FUSED;
    uint32_t waves_max = fused ? 16 : 8;
    uint32_t m_rep_max = fused ? 2 : 16;

    if (config->n < 1 || config->n > KERNEL_N_MAX) {
        return status_set(MXG_E_UNSUPPORTED, "n = %" PRId64 ": kernels serve 1 to %" PRId64,
                          config->n, KERNEL_N_MAX);
    }
    if (!is_power_of_two_between(config->waves, 2, waves_max)) {
        return status_set(MXG_E_UNSUPPORTED,
                          "waves = %" PRIu32 ": a power of two from 2 to %" PRIu32 " is needed",
                          config->waves, waves_max);
    }
    if (!is_power_of_two_between(config->m_rep, 1, m_rep_max)) {
        return status_set(MXG_E_UNSUPPORTED,
                          "m_rep = %" PRIu32 ": a power of two up to %" PRIu32 " is needed",
                          config->m_rep, m_rep_max);
    }
    if (!is_power_of_two_between(config->n_rep, 1, 4)) {
        return status_set(MXG_E_UNSUPPORTED, "n_rep = %" PRIu32 ": 1, 2 or 4 is needed",
                          config->n_rep);
    }
    if (config->split_k > 1 || (fused && config->split_k == 0)) {
        return status_set(MXG_E_UNSUPPORTED, "split_k = %" PRIu32 ": %s", config->split_k,
                          fused ? "the fused family splits K (1)" : "0 or 1 is needed");
    }
    uint32_t lds = config->split_k * config->waves * config->m_rep * config->n_rep * 1024;
    if (lds > KERNEL_LDS_MAX) {
        return status_set(MXG_E_UNSUPPORTED,
                          "partial sums of %" PRIu32 " bytes pass the %u of LDS", lds,
                          KERNEL_LDS_MAX);
    }
    if (config->c_type != MXG_TYPE_BF16 && config->c_type != MXG_TYPE_F16 &&
        config->c_type != MXG_TYPE_F32) {
        return status_set(MXG_E_UNSUPPORTED, "c_type = %" PRIu32 ": C is bf16, f16 or f32",
                          config->c_type);
    }
    if (!is_layout(config->b_layout) || !is_layout(config->b_scale_layout)) {
        return status_set(MXG_E_UNSUPPORTED,
                          "b_layout = %" PRIu32 ", b_scale_layout = %" PRIu32
                          ": each is row-major or shuffled",
                          config->b_layout, config->b_scale_layout);
    }
    return MXG_OK;
}

mxg_status kernel_config_check(const struct kernel_config *config)
{
    if (config->family < FAMILY_QUANTIZE || config->family > FAMILY_GEMM_FUSED) {
        return status_set(MXG_E_UNSUPPORTED, "kernel family %" PRIu32 " is unknown",
                          config->family);
    }
    if (config->k < 32 || config->k % 32 != 0 || config->k > KERNEL_K_MAX) {
        return status_set(MXG_E_UNSUPPORTED,
                          "k = %" PRId64 ": kernels serve multiples of 32 up to %" PRId64,
                          config->k, KERNEL_K_MAX);
    }
    if (config->family != FAMILY_GEMM_FUSED && !is_layout(config->a_scale_layout)) {
        return status_set(MXG_E_UNSUPPORTED,
                          "a_scale_layout = %" PRIu32 ": row-major or shuffled is needed",
                          config->a_scale_layout);
    }
    return config->family == FAMILY_QUANTIZE ? MXG_OK : check_gemm(config);
}

static char layout_letter(uint32_t layout)
{
    return layout == MXG_LAYOUT_SHUFFLED ? 's' : 'r';
}

void kernel_config_name(const struct kernel_config *config, char *name, size_t size)
{
    if (config->family == FAMILY_QUANTIZE) {
        snprintf(name, size, "quantize_k%" PRId64 "_%c", config->k,
                 layout_letter(config->a_scale_layout));
        return;
    }
    const char *type = config->c_type == MXG_TYPE_F32   ? "f32"
                       : config->c_type == MXG_TYPE_F16 ? "f16"
                                                        : "bf16";
    /* Letters: layouts of B, of B's scales, and of A's scales where they are an input. */
    char layouts[4] = { layout_letter(config->b_layout), layout_letter(config->b_scale_layout),
                        config->family == FAMILY_GEMM ? layout_letter(config->a_scale_layout)
                                                      : '\0',
                        '\0' };
    snprintf(name, size,
             "%s_n%" PRId64 "_k%" PRId64 "_w%" PRIu32 "_m%" PRIu32 "n%" PRIu32 "_%s_%s_%s",
             config->family == FAMILY_GEMM ? "gemm" : "gemm_fused", config->n, config->k,
             config->waves, config->m_rep, config->n_rep, config->split_k ? "splitk" : "splitn",
             type, layouts);
}

/* Tiles of M over y and z; z's last layer may be cut short. */
static mxg_status spread_y(int64_t m, int64_t count, struct kernel_geometry *geometry)
{
    int64_t z = (count + GRID_Y - 1) / GRID_Y;
    if (z > GRID_Z_MAX) {
        return status_set(MXG_E_UNSUPPORTED,
                          "m = %" PRId64 ": %" PRId64
                          " tiles of M pass the grid's limit of %" PRId64,
                          m, count, (int64_t)GRID_Y * GRID_Z_MAX);
    }
    geometry->grid[1] = (uint32_t)(count < GRID_Y ? count : GRID_Y);
    geometry->grid[2] = (uint32_t)z;
    return MXG_OK;
}

static mxg_status quantize_geometry(const struct kernel_config *config, int64_t m,
                                    struct kernel_geometry *geometry)
{
    int64_t blocks = config->k / 32;
    /* Shuffled scales of rows past M are cleared up to a whole group of 32. */
    int64_t rows = config->a_scale_layout == MXG_LAYOUT_SHUFFLED ? (m + 31) / 32 * 32 : m;
    int64_t group_rows = QUANTIZE_GROUP_BLOCKS / blocks / 32 * 32;
    int64_t groups = (rows + group_rows - 1) / group_rows;
    int64_t threads = (rows < group_rows ? rows : group_rows) * blocks;

    geometry->grid[0] = (uint32_t)((threads + QUANTIZE_THREADS - 1) / QUANTIZE_THREADS);
    geometry->threads = QUANTIZE_THREADS;
    return spread_y(m, groups, geometry);
}

mxg_status kernel_config_geometry(const struct kernel_config *config, int64_t m,
                                  struct kernel_geometry *geometry)
{
    memset(geometry, 0, sizeof(*geometry));
    if (m < 1 || m > INT64_MAX - 4096) {
        return status_set(MXG_E_UNSUPPORTED, "m = %" PRId64 " is out of range", m);
    }
    if (config->family == FAMILY_QUANTIZE) {
        return quantize_geometry(config, m, geometry);
    }
    int64_t columns = (int64_t)TILE * config->n_rep * (config->split_k ? 1 : config->waves);
    int64_t n_tiles = (config->n + columns - 1) / columns;
    int64_t rows = (int64_t)TILE * config->m_rep;

    geometry->threads = config->waves * 64;
    if (n_tiles > GRID_THREADS_MAX / geometry->threads) {
        return status_set(MXG_E_UNSUPPORTED,
                          "n = %" PRId64 ": %" PRId64
                          " workgroups pass the grid's limit of %" PRIu32,
                          config->n, n_tiles, GRID_THREADS_MAX / geometry->threads);
    }
    geometry->grid[0] = (uint32_t)n_tiles;
    if (config->split_k) {
        geometry->dynamic_lds = config->waves * config->m_rep * config->n_rep * 1024;
    }
    return spread_y(m, (m + rows - 1) / rows, geometry);
}

/* Bytes from the first row of a tile to the end of its last must fit 32 bits. */
static bool tile_fits(const char *what, int64_t ld, int64_t row_bytes, int64_t rows)
{
    if (row_bytes <= UINT32_MAX / rows) {
        return true;
    }
    status_set(MXG_E_UNSUPPORTED, "%s = %" PRId64 ": %" PRId64 " rows must lie within 4 GiB",
               what, ld, rows);
    return false;
}

size_t kernel_config_pack(const struct kernel_config *config,
                          const struct kernel_operands *operands,
                          unsigned char args[KERNEL_ARGS_MAX])
{
    const struct kernel_operands *o = operands;
    if (config->family == FAMILY_QUANTIZE) {
        struct {
            const void *a;
            void *q, *q_scale;
            int64_t m, lda;
        } block = { o->a, o->q, o->q_scale, o->m, o->lda };
        memcpy(args, &block, sizeof(block));
        return sizeof(block);
    }

    /* lda fits 62 bits: its extent in bytes was checked with the arguments. */
    int64_t a_bytes = config->family == FAMILY_GEMM ? o->lda / 2 : o->lda * 2;
    if (!tile_fits("lda", o->lda, a_bytes, TILE * config->m_rep)) {
        return 0;
    }
    if (config->b_layout == MXG_LAYOUT_ROW_MAJOR &&
        !tile_fits("ldb", o->ldb, o->ldb / 2, TILE * config->n_rep)) {
        return 0;
    }
    struct {
        const void *a_scale, *a, *b, *b_scale;
        void *c;
        int64_t m, lda, ldc, ldb;
    } block = { o->a_scale, o->a, o->b, o->b_scale, o->c, o->m, o->lda, o->ldc, o->ldb };
    memcpy(args, &block, sizeof(block));
    return sizeof(block);
}
