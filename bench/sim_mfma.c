/* SPDX-License-Identifier: MIT */
/*
 * Speed of the simulated F8F6F4 MFMA on one core, in multiply-adds per second,
 * for the formats of A and B that matter.  Host speed, not that of a GPU.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec_mfma.h"

void sim_find(struct sim_wave *w, enum sim_finding what, int lane, const char *fmt, ...)
{
    (void)w;
    (void)lane;
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "finding %d: ", (int)what);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct sim_wave wave;

static void fill(unsigned scale_spread)
{
    uint32_t x = 12345;
    for (unsigned r = 0; r < 512; r++) {
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            x = x * 1664525u + 1013904223u;
            wave.vgpr[r][lane] = r < 32 ? x : 0;
        }
    }
    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        wave.vgpr[40][lane] = 127 - scale_spread / 2 + lane % (scale_spread + 1);
        wave.vgpr[41][lane] = 127;
    }
}

static void measure(const char *name, unsigned mn, unsigned fmt_a, unsigned fmt_b,
                    unsigned scale_spread)
{
    const struct sim_op op = { .name = name, .p = { (uint8_t)mn, (uint8_t)(2048 / mn), 1, 0 } };
    const struct sim_inst inst = {
        .op = &op,
        .cbsz = (uint8_t)fmt_a,
        .blgp = (uint8_t)fmt_b,
        .src = { { .kind = SIM_OPND_VGPR, .reg = 0 },
                 { .kind = SIM_OPND_VGPR, .reg = 8 },
                 { .kind = SIM_OPND_AGPR, .reg = 0 },
                 { .kind = SIM_OPND_VGPR, .reg = 40 },
                 { .kind = SIM_OPND_VGPR, .reg = 41 } },
        .dst = { { .kind = SIM_OPND_AGPR, .reg = 0 } },
    };
    fill(scale_spread);
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        const int count = 20000;
        const double t = now();
        for (int i = 0; i < count; i++) {
            sim_x_mfma_f32_f8f6f4(&wave, &inst);
        }
        const double each = (now() - t) / count;
        best = each < best ? each : best;
    }
    const double macs = (double)mn * mn * (2048 / mn);
    printf("%-34s %8.2f us  %7.2f G multiply-adds/s\n", name, best * 1e6, macs / best * 1e-9);
}

int main(void)
{
    measure("16x16x128 fp4 x fp4", 16, 4, 4, 8);
    measure("32x32x64 fp4 x fp4", 32, 4, 4, 8);
    measure("16x16x128 fp4 x fp4, wide scales", 16, 4, 4, 250);
    measure("16x16x128 fp4 x fp6", 16, 4, 2, 8);
    measure("16x16x128 fp8 x fp8", 16, 0, 0, 8);
    measure("16x16x128 bf8 x bf8", 16, 1, 1, 8);
    return 0;
}
