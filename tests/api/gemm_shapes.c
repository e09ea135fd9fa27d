/* SPDX-License-Identifier: MIT */
/* Which shapes and forms the products are tested on. */
#include "gemm_shapes.h"

const int64_t contest_shapes[CONTEST_SHAPES][3] = {
    { 4, 2880, 512 },   { 16, 2112, 7168 },  { 32, 4096, 512 }, { 32, 2880, 512 },
    { 64, 7168, 2048 }, { 256, 3072, 1536 }, { 8, 2112, 7168 }, { 16, 3072, 1536 },
    { 64, 3072, 1536 }, { 256, 2880, 512 },
};

const int64_t sweep_n[SWEEP_NS] = { 1, 15, 16, 17, 31, 33, 100, 2880 };
const int64_t sweep_k[SWEEP_KS] = { 32, 64, 96, 128, 160, 256, 288, 416, 1664, 7168 };

/* Row counts up to here are tested one by one. */
#define SMALL_MS 33

int64_t sweep_m(size_t index)
{
    static const int64_t large[SWEEP_MS - SMALL_MS] = {
        63, 64, 65, 127, 128, 129, 255, 256, 257
    };
    return index < SMALL_MS ? (int64_t)index + 1 : large[index - SMALL_MS];
}

void shapes_variants(const struct gemm_case *base, struct gemm_case cases[VARIANT_FORMS])
{
    for (size_t i = 0; i < VARIANT_FORMS; i++) {
        cases[i] = *base;
        cases[i].form.variant = (mxg_variant)(MXG_VARIANT_FUSED + i);
        cases[i].form.a_type =
            cases[i].form.variant == MXG_VARIANT_QUANTIZED ? MXG_TYPE_MXFP4 : MXG_TYPE_BF16;
    }
}

void sweep_form(size_t m, size_t n, size_t k, struct product_form *form)
{
    static const mxg_type types[] = { MXG_TYPE_BF16, MXG_TYPE_F16, MXG_TYPE_F32 };
    const struct product_form initial = PRODUCT_FORM_INIT;
    *form = initial;
    form->variant = (mxg_variant)((n + k + k / 2) % 4);
    form->a_type = form->variant == MXG_VARIANT_QUANTIZED ? MXG_TYPE_MXFP4 : MXG_TYPE_BF16;
    form->c_type = types[(n + 2 * k + k / 3) % 3];
    form->b_layout = (n + k / 2) % 3 == 0 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
    form->b_scale_layout = (n + k / 3) % 4 == 0 ? MXG_LAYOUT_ROW_MAJOR : MXG_LAYOUT_SHUFFLED;
    form->extra_lda = m % 4 == 3 ? 32 : 0;
    form->extra_ldb = m % 3 == 2 && form->b_layout == MXG_LAYOUT_ROW_MAJOR ? 64 : 0;
    form->extra_ldc = (int64_t)(m % 5);
}

void sweep_case(size_t index, struct gemm_case *test)
{
    const size_t m = index / SWEEP_KS, k = index % SWEEP_KS;
    const size_t n = (m < SMALL_MS ? m + k : k + 5) % SWEEP_NS;
    test->m = sweep_m(m);
    test->n = sweep_n[n];
    test->k = sweep_k[k];
    sweep_form(m, n, k, &test->form);
}
