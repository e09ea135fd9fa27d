/* SPDX-License-Identifier: MIT */
/* Parts of the first_call example: a problem, its measurement, and how it is shown. */
#ifndef FIRST_CALL_H
#define FIRST_CALL_H

#include <mxgemm.h>
#include <stdint.h>
#include <stdio.h>

/* ---- problem.c: one product with its data on host and device */

struct problem {
    char name[64];           /* "16 x 2112 x 7168", or the layer's name */
    int64_t m, n, k;
    uint16_t *a;             /* bf16 [m, k] */
    uint8_t *b, *b_scale;    /* row-major MXFP4 of the weights, for the oracle */
    void *dev_a, *dev_b, *dev_b_scale, *dev_c;
    size_t b_bytes, b_scale_bytes; /* of the shuffled device buffers */
};

/*
 * Activations with a transformer's statistics: unit normal, and few channels 20 to 60
 * times larger.
 */
int problem_generate(struct problem *problem, int64_t m, int64_t n, int64_t k, uint64_t seed);
/*
 * A real layer: DIR/activations.npy [M,K] and DIR/weight.npy [N,K], float32.  `m` rows at
 * most, 0 = all.
 */
int problem_read(struct problem *problem, const char *dir, int64_t m);
int problem_upload(struct problem *problem, mxg_context *context);
void problem_release_device(struct problem *problem, mxg_context *context);
void problem_release(struct problem *problem);
void problem_arguments(const struct problem *problem, mxg_gemm_args *args);

/* ---- npy.c: NumPy's file format, version 1, little-endian float32, two dimensions */

/* [out] data: malloc'd.  Returns 0, or -1 with a sentence on stderr. */
int npy_read_f32(const char *path, float **data, int64_t *rows, int64_t *columns);

/* ---- measure.c: the cold call, the call of a fresh process, the hot call */

struct call_times {
    double stage_ms[MXG_STAGE_COUNT];
    double call_ms;          /* until mxg_gemm returned */
    double device_ms;        /* until the stream was idle; the simulator's own work */
    uint64_t compiles, disk_hits;
    uint64_t checksum;       /* of C's bytes */
};

struct measurement {
    mxg_plan plan;
    char compiler[512];
    struct call_times cold, fresh, hot;
    size_t bad_elements;     /* beyond the bound that the header states */
    double worst_error;      /* largest |C - reference| / bound */
    double relative_error;   /* mean |C - reference| / mean |reference| */
    int is_right;
};

/* `self` starts this program again as the fresh process; `cache_dir` is empty at first. */
int measure_problem(struct problem *problem, const char *self, char *const child_arguments[],
                    const char *cache_dir, struct measurement *result);
/* What the fresh process does: one call, its figures as one line on stdout. */
int measure_child(struct problem *problem, const char *cache_dir);

/* ---- show.c */

void show_table_head(FILE *out);
void show_table_row(FILE *out, const struct problem *problem, const struct measurement *result);
void show_json(FILE *out, const struct problem *problem, const struct measurement *result,
               int is_first);
void show_json_failure(FILE *out, const struct problem *problem, int is_first);

#endif
