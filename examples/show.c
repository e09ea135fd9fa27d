/* SPDX-License-Identifier: MIT */
/* The results as a table for people, or as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "first_call.h"

static const char *const stage_names[MXG_STAGE_COUNT] = { "select",  "source", "lookup",
                                                          "compile", "load",   "launch" };
static const char *const variant_names[] = { "auto", "fused", "prequant", "quantized" };

void show_table_head(FILE *out)
{
    fprintf(
        out,
        "\nTimes are of the host, in milliseconds; on the simulator the last column is its own "
        "work,\nnot a hardware time.  error: worst |C - fp64| as a share of the bound that the "
        "header states.\n");
}

static void row(FILE *out, const char *name, const struct call_times *t)
{
    fprintf(out, "  %-22s", name);
    for (int i = 0; i < MXG_STAGE_COUNT; i++) {
        fprintf(out, " %8.3f", t->stage_ms[i]);
    }
    fprintf(out, " %9.3f %9.1f\n", t->call_ms, t->device_ms);
}

void show_table_row(FILE *out, const struct problem *p, const struct measurement *r)
{
    fprintf(out, "\n%s   %s   [%s]\n", p->name, variant_names[r->plan.variant],
            r->is_right ? "right" : "WRONG");
    fprintf(out, "  why: %s\n", r->plan.reason);
    fprintf(out, "  %-22s", "");
    for (int i = 0; i < MXG_STAGE_COUNT; i++) {
        fprintf(out, " %8s", stage_names[i]);
    }
    fprintf(out, " %9s %9s\n", "call", "device");
    row(out, "first call", &r->cold);
    row(out, "fresh process (disk)", &r->fresh);
    row(out, "hot call", &r->hot);
    for (uint32_t i = 0; i < r->plan.num_kernels; i++) {
        const mxg_kernel_info *k = &r->plan.kernels[i];
        fprintf(out,
                "  %s: %" PRIu64
                " workgroups of %u, VGPRs %u (%u of them AGPRs), SGPRs %u, spills %u, "
                "LDS %u B, %u waves/CU, code %u B\n",
                k->name, k->workgroups, k->threads, k->vgprs, k->agprs, k->sgprs,
                k->vgpr_spills + k->sgpr_spills, k->lds_bytes, k->waves_per_cu, k->code_bytes);
    }
    fprintf(out,
            "  error %.3f of the bound, mean %.2e; compiles: %" PRIu64 " first, %" PRIu64
            " fresh, %" PRIu64 " hot; bits %s\n",
            r->worst_error, r->relative_error, r->cold.compiles, r->fresh.compiles,
            r->hot.compiles,
            r->cold.checksum == r->hot.checksum && r->cold.checksum == r->fresh.checksum
                ? "identical in all three"
                : "DIFFER");
}

static void json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20) {
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

static void json_times(FILE *out, const char *name, const struct call_times *t)
{
    fprintf(out, ",\n    \"%s\": {", name);
    for (int i = 0; i < MXG_STAGE_COUNT; i++) {
        fprintf(out, "\"%s_ms\": %.6f, ", stage_names[i], t->stage_ms[i]);
    }
    fprintf(out,
            "\"call_ms\": %.6f, \"device_ms\": %.6f, \"compiles\": %" PRIu64
            ", \"disk_hits\": %" PRIu64 ", \"checksum\": \"%016" PRIx64 "\"}",
            t->call_ms, t->device_ms, t->compiles, t->disk_hits, t->checksum);
}

void show_json(FILE *out, const struct problem *p, const struct measurement *r, int is_first)
{
    fprintf(out, "%s\n  {\"name\": ", is_first ? "" : ",");
    json_text(out, p->name);
    fprintf(out, ", \"m\": %" PRId64 ", \"n\": %" PRId64 ", \"k\": %" PRId64 ", \"right\": %s",
            p->m, p->n, p->k, r->is_right ? "true" : "false");
    fprintf(out, ",\n    \"variant\": \"%s\", \"reason\": ", variant_names[r->plan.variant]);
    json_text(out, r->plan.reason);
    fprintf(out, ", \"compiler\": ");
    json_text(out, r->compiler);
    fprintf(out, ",\n    \"worst_error_over_bound\": %.9g, \"mean_relative_error\": %.9g",
            r->worst_error, r->relative_error);
    json_times(out, "first", &r->cold);
    json_times(out, "fresh", &r->fresh);
    json_times(out, "hot", &r->hot);
    fprintf(out, ",\n    \"kernels\": [");
    for (uint32_t i = 0; i < r->plan.num_kernels; i++) {
        const mxg_kernel_info *k = &r->plan.kernels[i];
        fprintf(out, "%s\n      {\"name\": ", i == 0 ? "" : ",");
        json_text(out, k->name);
        fprintf(
            out,
            ", \"workgroups\": %" PRIu64 ", \"threads\": %u, \"vgprs\": %u, \"agprs\": %u, "
            "\"sgprs\": %u, \"vgpr_spills\": %u, \"sgpr_spills\": %u, \"scratch_bytes\": %u, "
            "\"lds_bytes\": %u, \"waves_per_cu\": %u, \"code_bytes\": %u}",
            k->workgroups, k->threads, k->vgprs, k->agprs, k->sgprs, k->vgpr_spills,
            k->sgpr_spills, k->scratch_bytes, k->lds_bytes, k->waves_per_cu, k->code_bytes);
    }
    fprintf(out, "]}");
}

void show_json_failure(FILE *out, const struct problem *p, int is_first)
{
    fprintf(out, "%s\n  {\"name\": ", is_first ? "" : ",");
    json_text(out, p->name);
    fprintf(out, ", \"right\": false, \"error\": ");
    json_text(out, mxg_last_error());
    fprintf(out, "}");
}
