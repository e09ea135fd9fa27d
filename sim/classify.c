/* SPDX-License-Identifier: MIT */
/*
 * What counters and checks need to know of an instruction, worked out once from its
 * decoded operands and flags: registers read and written, hazard class, counter class.
 */
#include "counters.h"
#include "icache.h"

#include <string.h>

static bool starts(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static uint16_t vector_index(const struct sim_opnd *o)
{
    return (uint16_t)((o->kind == SIM_OPND_AGPR ? 256 : 0) + o->reg);
}

static bool is_vector(const struct sim_opnd *o)
{
    return o->kind == SIM_OPND_VGPR || o->kind == SIM_OPND_AGPR;
}

static void add(struct sim_span *list, uint8_t *count, unsigned limit, unsigned first,
                unsigned n, unsigned role, unsigned bytes)
{
    if (n == 0 || *count == limit) {
        return;
    }
    list[*count] = (struct sim_span){ .first = (uint16_t)first,
                                      .count = (uint8_t)n,
                                      .role = (uint8_t)role,
                                      .bytes = (uint8_t)bytes };
    (*count)++;
}

static void add_read(struct sim_dec *d, const struct sim_opnd *o, unsigned role, unsigned bytes)
{
    if (is_vector(o)) {
        add(d->vread, &d->vread_count, SIM_SPANS, vector_index(o), o->ndw, role, bytes);
    } else if (o->kind == SIM_OPND_SGPR) {
        add(d->sread, &d->sread_count, SIM_SPANS, o->reg, o->ndw, role, bytes);
    }
}

static void add_write(struct sim_dec *d, const struct sim_opnd *o, unsigned role,
                      unsigned bytes)
{
    if (is_vector(o)) {
        add(d->vwrite, &d->vwrite_count, 3, vector_index(o), o->ndw, role, bytes);
    } else if (o->kind == SIM_OPND_SGPR) {
        add(d->swrite, &d->swrite_count, 3, o->reg, o->ndw, role, bytes);
    }
}

/* Type letter of source operand `index` in the row's notation; 0 when there is none. */
static char source_type(const struct sim_op *op, unsigned index)
{
    const char *p = op->operands;
    unsigned at = 0;
    while (p && *p && *p != ';') {
        if (!strchr("DGSkR", *p)) {
            if (at == index) {
                return p[1];
            }
            at++;
        }
        while (*p && *p != ' ' && *p != ';') {
            p++;
        }
        p += *p == ' ';
    }
    return 0;
}

static unsigned select_bytes(unsigned sel)
{
    /* SDWA selectors: BYTE_0..3, WORD_0, WORD_1, DWORD. */
    return sel < 4 ? 1u << sel : sel == 4 ? 3u : sel == 5 ? 12u : 15u;
}

/* Bytes of source i that the instruction looks at. */
static unsigned source_bytes(const struct sim_inst *in, unsigned i)
{
    const struct sim_op *op = in->op;
    if (in->enc == SIM_ENC_DS || in->enc == SIM_ENC_MUBUF || in->enc == SIM_ENC_FLAT) {
        bool is_data = i == SIM_SRC_DATA && (op->flags & SIM_F_STORE) &&
                       !(op->flags & SIM_F_ATOMIC) && op->p[0] < 4 && op->p[0] > 0;
        unsigned mask = is_data ? (1u << op->p[0]) - 1 : 15u;
        return is_data && (op->p[1] & SIM_P_D16_HI) ? mask << 2 : mask;
    }
    if (in->has_sdwa && i < 2) {
        return select_bytes(in->sdwa.src_sel[i]);
    }
    if (in->enc <= SIM_ENC_VOP3 && in->enc >= SIM_ENC_VOP1) {
        char type = source_type(op, i);
        if (type == 'h' || type == 'w' || type == 'b') {
            return in->opsel >> i & 1 ? 12u : 3u;
        }
    }
    return 15u;
}

/* Bytes of dst[0] that a partial writer replaces; 15 when it writes all of them. */
static unsigned written_bytes(const struct sim_inst *in)
{
    const char *name = in->op->name;
    if (in->has_sdwa) {
        bool keeps = in->sdwa.dst_unused == 2;
        return keeps ? select_bytes(in->sdwa.dst_sel) : 15u;
    }
    if (in->enc != SIM_ENC_VOP3 || in->dst[0].ndw != 1) {
        return 15u;
    }
    if (starts(name, "v_cvt_scalef32_") || starts(name, "v_cvt_sr_") ||
        starts(name, "v_cvt_pk_fp8") || starts(name, "v_cvt_pk_bf8")) {
        if (!(in->op->flags & SIM_F_READS_DST)) {
            return 15u;
        }
        bool is_byte = strstr(name, "_fp4") || starts(name, "v_cvt_sr_fp8") ||
                       starts(name, "v_cvt_sr_bf8") || strstr(name, "scalef32_sr_");
        return is_byte ? 1u << (in->opsel >> 2 & 3) : in->opsel & 8 ? 12u : 3u;
    }
    return in->opsel & 8 ? 12u : 15u;
}

/* Implicit operands that the flags name. */
static void add_implicit(struct sim_dec *d)
{
    const struct sim_op *op = d->inst.op;
    if (op->flags & SIM_F_READS_VCC) {
        add(d->sread, &d->sread_count, SIM_SPANS, SIM_SGPR_VCC, 2, 16, 15);
    }
    if (op->flags & SIM_F_WRITES_VCC) {
        add(d->swrite, &d->swrite_count, 3, SIM_SGPR_VCC, 2, 16, 15);
    }
    if (op->flags & SIM_F_WRITES_EXEC) {
        add(d->swrite, &d->swrite_count, 3, SIM_SGPR_EXEC, 2, 16, 15);
    }
    if (d->flags & SIM_DEC_READS_M0) {
        add(d->sread, &d->sread_count, SIM_SPANS, SIM_SGPR_M0, 1, 16, 15);
    }
}

static void find_operands(struct sim_dec *d)
{
    const struct sim_inst *in = &d->inst;
    const struct sim_op *op = in->op;
    for (unsigned i = 0; i < SIM_SRC_MAX; i++) {
        add_read(d, &in->src[i], i, source_bytes(in, i));
    }
    unsigned bytes = written_bytes(in);
    bool is_memory = op->flags & (SIM_F_VMEM | SIM_F_DS);
    /* A partial writer keeps bytes without looking at them; an accumulator reads them all. */
    if ((op->flags & SIM_F_READS_DST) && bytes == 15 && !is_memory &&
        !(d->flags & SIM_DEC_ONE_LANE)) {
        add_read(d, &in->dst[0], 8, 15);
    }
    if (bytes != 15) {
        d->flags |= SIM_DEC_CVT_BYTE;
    }
    add_write(d, &in->dst[0], 8, bytes);
    add_write(d, &in->dst[1], 9, 15);
    add_implicit(d);
}

static bool is_copy(const struct sim_inst *in)
{
    static const char *const names[] = {
        "v_mov_b32", "v_mov_b64", "v_accvgpr_read_b32", "v_accvgpr_read", "v_accvgpr_write_b32",
        "v_accvgpr_write", "v_accvgpr_mov_b32", "s_mov_b32", "s_mov_b64",
        /* Compilers keep SGPRs in lanes of a VGPR by these, whatever they hold. */
        "v_readlane_b32", "v_readfirstlane_b32", "v_writelane_b32"
    };
    if (in->has_dpp || in->has_sdwa || in->neg || in->abs) {
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(in->op->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* s_and_b64 and its like. */
static bool is_mask_logic(const char *name)
{
    static const char *const names[] = {
        "s_and_b64",  "s_or_b64",   "s_xor_b64", "s_andn2_b64",
        "s_orn2_b64", "s_nand_b64", "s_nor_b64", "s_xnor_b64"
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void find_flags(struct sim_dec *d)
{
    const struct sim_inst *in = &d->inst;
    const struct sim_op *op = in->op;
    const char *name = op->name;
    if (is_copy(in)) {
        d->flags |= SIM_DEC_COPY;
    }
    if (strcmp(name, "v_writelane_b32") == 0) {
        d->flags |= SIM_DEC_ONE_LANE;
    }
    if (starts(name, "v_pk_") && (strstr(name, "_f32") || starts(name, "v_pk_mov_b32")) &&
        in->dst[0].ndw == 2) {
        d->flags |= SIM_DEC_PAIRS;
    }
    if (is_mask_logic(name)) {
        d->flags |= SIM_DEC_MASKS;
    }
    if (starts(name, "v_mad_u64_u32") || starts(name, "v_mad_i64_i32")) {
        d->flags |= SIM_DEC_LOW_ADD;
    }
    if (starts(name, "v_readlane") || starts(name, "v_readfirstlane")) {
        d->flags |= SIM_DEC_READS_ONE;
    }
    if ((op->flags & SIM_F_VMEM) &&
        ((in->mem & SIM_MEM_LDS) || strstr(name, "_load_lds_") != NULL)) {
        d->flags |= SIM_DEC_LDS_DIRECT;
    }
    if (in->enc == SIM_ENC_FLAT && in->segment == SIM_SEG_SCRATCH) {
        d->flags |= SIM_DEC_SCRATCH;
    }
    if (in->enc == SIM_ENC_FLAT && in->segment == SIM_SEG_FLAT) {
        d->flags |= SIM_DEC_FLAT;
    }
    /* The indexing instructions replace a part of M0 and keep the rest unseen. */
    bool has_m0 = (op->flags & SIM_F_READS_M0) && !starts(name, "s_set_gpr_idx") &&
                  (in->enc != SIM_ENC_DS || strstr(name, "addtid"));
    if ((d->flags & SIM_DEC_LDS_DIRECT) || has_m0 || starts(name, "s_sendmsg")) {
        d->flags |= SIM_DEC_READS_M0;
    }
    if ((op->flags & SIM_F_VMEM) && (op->flags & SIM_F_STORE) &&
        (in->src[SIM_SRC_DATA].ndw > 2)) {
        /* "BUFFER_STORE_* operations that use an SGPR for offset do not require any wait
         * states" (ISA text, table 11). */
        bool is_exempt =
            in->enc == SIM_ENC_MUBUF && in->src[SIM_SRC_SOFF].kind == SIM_OPND_SGPR;
        d->flags |= is_exempt ? 0 : SIM_DEC_WIDE_STORE;
    }
    if (starts(name, "buffer_inv") || starts(name, "s_dcache") || starts(name, "s_icache")) {
        d->flags |= SIM_DEC_NO_COUNT;
    }
    if ((op->flags & SIM_F_VALU) && (op->flags & SIM_F_WRITES_EXEC)) {
        d->flags |= SIM_DEC_CMPX;
    }
    if ((op->flags & SIM_F_MFMA) ||
        ((op->flags & SIM_F_IGNORES_EXEC) && !(op->flags & SIM_F_CROSSLANE))) {
        d->flags |= SIM_DEC_WHOLE;
    }
}

static uint8_t counter_class(const struct sim_op *op)
{
    if (op->flags & SIM_F_MFMA) {
        return SIM_COUNT_MFMA;
    }
    if (op->flags & SIM_F_BRANCH) {
        return SIM_COUNT_BRANCH;
    }
    if (op->flags & SIM_F_TRANS) {
        return SIM_COUNT_TRANS;
    }
    if (op->flags & SIM_F_VALU) {
        return SIM_COUNT_VALU;
    }
    if (op->flags & SIM_F_SMEM) {
        return SIM_COUNT_SMEM;
    }
    if (op->flags & SIM_F_VMEM) {
        return SIM_COUNT_VMEM;
    }
    if (op->flags & SIM_F_DS) {
        return SIM_COUNT_DS;
    }
    return op->flags & SIM_F_SALU ? SIM_COUNT_SALU : SIM_COUNT_OTHER;
}

static uint8_t matrix_class(const char *name)
{
    if (strstr(name, "_f64")) {
        return SIM_HAZ_DGEMM;
    }
    /* v_mfma_f32_*_f32: the last part names the input type. */
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, "_f32") == 0 ? SIM_HAZ_SGEMM : SIM_HAZ_MFMA;
}

static uint8_t hazard_class(const struct sim_dec *d)
{
    const struct sim_inst *in = &d->inst;
    const struct sim_op *op = in->op;
    if (op->flags & SIM_F_MFMA) {
        return matrix_class(op->name);
    }
    if (starts(op->name, "v_permlane")) {
        return SIM_HAZ_PERMLANE;
    }
    if ((d->flags & (SIM_DEC_READS_ONE | SIM_DEC_ONE_LANE))) {
        return SIM_HAZ_READLANE;
    }
    if (op->flags & SIM_F_TRANS) {
        return SIM_HAZ_TRANS;
    }
    if (op->flags & SIM_F_VALU) {
        bool moves =
            (d->flags & SIM_DEC_CVT_BYTE) && d->vwrite_count && !(d->vwrite[0].bytes & 1);
        moves |= in->has_sdwa && in->sdwa.dst_sel != 6 && in->sdwa.dst_sel != 0 &&
                 in->sdwa.dst_sel != 4;
        return in->has_dpp ? SIM_HAZ_DPP : moves ? SIM_HAZ_OPSEL : SIM_HAZ_VALU;
    }
    if (op->flags & SIM_F_VMEM) {
        return SIM_HAZ_VMEM;
    }
    if (op->flags & SIM_F_DS) {
        return SIM_HAZ_DS;
    }
    if (starts(op->name, "s_setreg")) {
        return SIM_HAZ_SETREG;
    }
    if (starts(op->name, "s_getreg")) {
        return SIM_HAZ_GETREG;
    }
    return op->flags & SIM_F_SALU ? SIM_HAZ_SALU : SIM_HAZ_OTHER;
}

/* Passes of 4 clocks; the f8f6f4 forms take half when neither operand is an 8-bit float. */
static uint8_t passes(const struct sim_inst *in)
{
    bool has_formats = strstr(in->op->name, "f8f6f4") != NULL;
    bool is_fast = has_formats && in->cbsz >= 2 && in->blgp >= 2;
    return is_fast ? in->op->passes / 2 : in->op->passes;
}

static void find_tops(struct sim_dec *d)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        const struct sim_span *s = pass ? d->vwrite : d->vread;
        unsigned n = pass ? d->vwrite_count : d->vread_count;
        for (unsigned i = 0; i < n; i++) {
            unsigned top = s[i].first + s[i].count;
            if (s[i].first >= 256) {
                d->agpr_top = top - 256 > d->agpr_top ? (uint16_t)(top - 256) : d->agpr_top;
            } else {
                d->vgpr_top = top > d->vgpr_top ? (uint16_t)top : d->vgpr_top;
            }
        }
    }
}

void sim_classify(struct sim_dec *d)
{
    const struct sim_op *op = d->inst.op;
    d->exec = op->exec;
    find_flags(d);
    find_operands(d);
    d->counter = counter_class(op);
    d->hazard = hazard_class(d);
    d->passes = passes(&d->inst);
    d->states = strcmp(op->name, "s_nop") == 0 ? (uint8_t)((d->inst.imm & 15) + 1) : 1;
    find_tops(d);
}
