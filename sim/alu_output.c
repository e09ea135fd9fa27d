/* SPDX-License-Identifier: MIT */
/*
 * Output side of the float vector ALU: omod, clamp and the flush of denormal
 * results (ISA text, sections 6.2.2, 6.4, 6.5), then the store.
 */
#include "alu_float.h"
#include "alu_fetch.h"

/* omod works only with output denormals off and IEEE mode off (ISA text, 6.2.2). */
static unsigned active_omod(const struct sim_wave *w, const struct sim_inst *in,
                            unsigned denorm)
{
    return (denorm & 2) == 0 && (w->mode & SIM_MODE_IEEE) == 0 ? in->omod : 0;
}

static const double omod_factor[] = { 1, 2, 4, 0.5 };

/* Clamp to [0, 1]; a NaN becomes 0 under DX10_CLAMP and passes otherwise. */
static uint32_t clamp32(const struct sim_wave *w, uint32_t v)
{
    if (sim_f32_is_nan(v)) {
        return (w->mode & SIM_MODE_DX10_CLAMP) != 0 ? 0 : v;
    }
    if ((int32_t)v <= 0) {
        return 0;
    }
    return v > 0x3f800000 ? 0x3f800000 : v;
}

static uint32_t omod32(const struct sim_wave *w, unsigned omod, uint32_t v)
{
    if (sim_f32_is_nan(v)) {
        return v;
    }
    v = sim_f32_round(sim_f32_from_bits(v) * omod_factor[omod], sim_round32(w));
    return v == 0x80000000 ? 0 : v; /* not IEEE: -0 becomes +0 */
}

void sim_f32_output(const struct sim_wave *w, const struct sim_inst *in, uint32_t *d)
{
    const unsigned denorm = sim_denorm32(w);
    const unsigned omod = active_omod(w, in, denorm);
    if (omod != 0) {
        SIM_FOR_LANES(l) {
            d[l] = omod32(w, omod, d[l]);
        }
    }
    if (in->clamp != 0) {
        SIM_FOR_LANES(l) {
            d[l] = clamp32(w, d[l]);
        }
    }
    if ((denorm & 2) == 0) {
        SIM_FOR_LANES(l) {
            d[l] = (d[l] & 0x7f800000) == 0 ? d[l] & 0x80000000 : d[l];
        }
    }
}

void sim_vstoref32(struct sim_wave *w, const struct sim_inst *in, uint32_t *d)
{
    sim_f32_output(w, in, d);
    sim_vstore32(w, in, d);
}

uint32_t sim_f16_output(const struct sim_wave *w, const struct sim_inst *in, uint32_t v)
{
    if (in->clamp != 0) {
        if (sim_f16_is_nan(v)) {
            v = (w->mode & SIM_MODE_DX10_CLAMP) != 0 ? 0 : v;
        } else if ((v & 0x8000) != 0) {
            v = 0;
        } else {
            v = v > 0x3c00 ? 0x3c00 : v;
        }
    }
    return (sim_denorm64(w) & 2) == 0 && (v & 0x7c00) == 0 ? v & 0x8000 : v;
}

void sim_vstoref16(struct sim_wave *w, const struct sim_inst *in, uint32_t *d)
{
    const unsigned omod = active_omod(w, in, sim_denorm64(w));
    SIM_FOR_LANES(l) {
        uint32_t v = d[l];
        if (omod != 0 && !sim_f16_is_nan(v)) {
            v = sim_f16_round(sim_f16_value(v) * omod_factor[omod], sim_round64(w), false);
            v = v == 0x8000 ? 0 : v;
        }
        d[l] = sim_f16_output(w, in, v);
    }
    sim_vstore16(w, in, d);
}

void sim_vstoref64(struct sim_wave *w, const struct sim_inst *in, uint64_t *d)
{
    const unsigned denorm = sim_denorm64(w);
    const unsigned omod = active_omod(w, in, denorm);
    SIM_FOR_LANES(l) {
        uint64_t v = d[l];
        if (omod != 0 && !sim_f64_is_nan(v)) {
            v = sim_f64_mul(v, sim_f64_bits(omod_factor[omod]), sim_round64(w));
            v = v == 1ull << 63 ? 0 : v;
        }
        if (in->clamp != 0 && sim_f64_is_nan(v)) {
            v = (w->mode & SIM_MODE_DX10_CLAMP) != 0 ? 0 : v;
        } else if (in->clamp != 0) {
            v = (int64_t)v <= 0 ? 0 : v > 0x3ff0000000000000ull ? 0x3ff0000000000000ull : v;
        }
        d[l] = (denorm & 2) == 0 && (v & 0x7ff0000000000000ull) == 0 ? v & 1ull << 63 : v;
    }
    sim_vstore64(w, in, d);
}
