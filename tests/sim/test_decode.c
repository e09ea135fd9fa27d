/* SPDX-License-Identifier: MIT */
/*
 * The decoder on its own: operands, sizes and modifiers of one instruction of
 * each kind, what is refused and why, and arbitrary words never harm.
 */
#include "isa_vec.h"
#include "optable.h"

/* An operand in short: kind letter as in the text, register, dwords. */
struct opnd {
    uint8_t kind;
    uint16_t reg;
    uint8_t ndw;
};

struct decode_case {
    const char *text;
    uint32_t words[4];
    unsigned size;
    struct opnd dst[2], src[5];
};

#define V SIM_OPND_VGPR
#define A SIM_OPND_AGPR
#define S SIM_OPND_SGPR
#define C SIM_OPND_CONST
#define NO { 0, 0, 0 }

static const struct decode_case cases[] = {
    { "s_load_dwordx4 s[8:11], s[4:5], 0x10", { 0xc00a0202, 0x00000010 }, 8,
      { { S, 8, 4 }, NO }, { { S, 4, 2 } } },
    { "s_load_dword s8, s[4:5], s6 offset:0x10", { 0xc0024202, 0x0c000010 }, 8,
      { { S, 8, 1 }, NO }, { { S, 4, 2 }, NO, { S, 6, 1 } } },
    { "s_load_dwordx16 s[16:31], s[2:3], s9", { 0xc0100401, 0x00000009 }, 8,
      { { S, 16, 16 }, NO }, { { S, 2, 2 }, NO, { S, 9, 1 } } },
    { "s_buffer_load_dwordx2 s[8:9], s[4:7], m0", { 0xc0240202, 0x0000007c }, 8,
      { { S, 8, 2 }, NO }, { { S, 4, 4 }, NO, { S, SIM_SGPR_M0, 1 } } },
    { "s_waitcnt vmcnt(0) lgkmcnt(3)", { 0xbf8c0370 }, 4, { NO, NO }, { NO } },
    { "s_waitcnt vmcnt(63) expcnt(7) lgkmcnt(15)", { 0xbf8ccf7f }, 4, { NO, NO }, { NO } },
    { "s_add_u32 s4, s5, 0x12345678", { 0x8004ff05, 0x12345678 }, 8, { { S, 4, 1 }, NO },
      { { S, 5, 1 }, { C, 0, 1 } } },
    { "s_cmp_eq_u64 s[2:3], vcc", { 0xbf126a02 }, 4, { NO, NO },
      { { S, 2, 2 }, { S, SIM_SGPR_VCC, 2 } } },
    { "v_fmamk_f32 v1, v2, 0x3f800000, v3", { 0x2e020702, 0x3f800000 }, 8, { { V, 1, 1 }, NO },
      { { V, 2, 1 }, { C, 0, 1 }, { V, 3, 1 } } },
    { "v_add_f16_e32 v1, 0x5678, v2", { 0x3e0204ff, 0x00005678 }, 8, { { V, 1, 1 }, NO },
      { { C, 0, 1 }, { V, 2, 1 } } },
    { "v_cndmask_b32_e32 v1, v2, v3, vcc", { 0x00020702 }, 4, { { V, 1, 1 }, NO },
      { { V, 2, 1 }, { V, 3, 1 }, { S, SIM_SGPR_VCC, 2 } } },
    { "v_cmp_lt_i64_e64 s[4:5], v[2:3], s[6:7]", { 0xd0e10004, 0x00000d02 }, 8,
      { { S, 4, 2 }, NO }, { { V, 2, 2 }, { S, 6, 2 } } },
    { "v_mad_u64_u32 v[2:3], s[4:5], v6, v7, v[8:9]", { 0xd1e80402, 0x04220f06 }, 8,
      { { V, 2, 2 }, { S, 4, 2 } }, { { V, 6, 1 }, { V, 7, 1 }, { V, 8, 2 } } },
    { "v_cvt_scalef32_pk_fp4_f32 v1, v2, v3, v4 op_sel:[0,0,1,0]", { 0xd23d2001, 0x04120702 },
      8, { { V, 1, 1 }, NO }, { { V, 2, 1 }, { V, 3, 1 }, { V, 4, 1 } } },
    { "v_permlane16_swap_b32_e32 v40, v10", { 0x7e50b30a }, 4, { { V, 40, 1 }, { V, 10, 1 } },
      { { V, 10, 1 } } },
    { "v_pk_fma_f16 v1, v2, v3, v4 op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[0,1,0] clamp",
      { 0xd38ec801, 0x54120702 }, 8, { { V, 1, 1 }, NO },
      { { V, 2, 1 }, { V, 3, 1 }, { V, 4, 1 } } },
    { "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], a[4:5], 1.0", { 0xd3cc8000, 0x13ca0902 }, 8,
      { { A, 0, 16 }, NO }, { { V, 2, 2 }, { A, 4, 2 }, { C, 0, 1 } } },
    { "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[10:13], v[0:3] cbsz:2 blgp:4",
      { 0xd3ad0200, 0x84021504 }, 8, { { V, 0, 4 }, NO },
      { { V, 4, 6 }, { V, 10, 4 }, { V, 0, 4 } } },
    { "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[4:7], a[8:11], a[0:3], v12, v13 "
      "op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:4 blgp:4",
      { 0xd3ac0800, 0x10021b0c, 0xd3ad8c00, 0x94021104 }, 16, { { A, 0, 4 }, NO },
      { { V, 4, 4 }, { A, 8, 4 }, { A, 0, 4 }, { V, 12, 1 }, { V, 13, 1 } } },
    { "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:29], v[32:47], v48, v49 "
      "op_sel_hi:[0,0,0] blgp:2",
      { 0xd3ac0000, 0x00026330, 0xd3ae0800, 0x44823110 }, 16, { { V, 0, 16 }, NO },
      { { V, 16, 8 }, { V, 24, 6 }, { V, 32, 16 }, { V, 48, 1 }, { V, 49, 1 } } },
    { "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10 cbsz:1 abid:2",
      { 0xd3e21100, 0x042a0d04 }, 8, { { V, 0, 4 }, NO },
      { { V, 4, 2 }, { V, 6, 4 }, { V, 10, 1 } } },
    { "v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7] neg:[1,0,0]",
      { 0xd3ee0000, 0x24021508 }, 8, { { V, 0, 8 }, NO },
      { { V, 8, 2 }, { V, 10, 2 }, { V, 0, 8 } } },
    { "ds_read2st64_b64 v[4:7], v1 offset0:3 offset1:200", { 0xd8f0c803, 0x04000001 }, 8,
      { { V, 4, 4 }, NO }, { { V, 1, 1 } } },
    { "ds_write_b128 v1, a[4:7] offset:65520", { 0xdbbefff0, 0x00000401 }, 8, { NO, NO },
      { { V, 1, 1 }, { A, 4, 4 } } },
    { "ds_cmpst_rtn_b64 v[2:3], v4, v[6:7], v[8:9]", { 0xd8e00000, 0x02080604 }, 8,
      { { V, 2, 2 }, NO }, { { V, 4, 1 }, { V, 6, 2 }, { V, 8, 2 } } },
    { "ds_swizzle_b32 v1, v2 offset:swizzle(BITMASK_PERM,\"01pip\")",
      { 0xd87a0907, 0x01000002 }, 8, { { V, 1, 1 }, NO }, { { V, 2, 1 } } },
    { "buffer_load_dwordx4 v[4:7], v1, s[8:11], s5 offen offset:4095 sc0 nt sc1",
      { 0xe05edfff, 0x05020401 }, 8, { { V, 4, 4 }, NO },
      { { V, 1, 1 }, NO, { S, 8, 4 }, { S, 5, 1 } } },
    { "buffer_load_dword v1, s[8:11], 0 offen lds", { 0xe0511000, 0x80020001 }, 8, { NO, NO },
      { { V, 1, 1 }, NO, { S, 8, 4 }, { C, 0, 1 } } },
    { "buffer_store_short v1, v[2:3], s[8:11], 16 idxen offen", { 0xe0683000, 0x90020102 }, 8,
      { NO, NO }, { { V, 2, 2 }, { V, 1, 1 }, { S, 8, 4 }, { C, 0, 1 } } },
    { "buffer_atomic_cmpswap_x2 v[4:7], off, s[8:11], s5 sc0", { 0xe1844000, 0x05020400 }, 8,
      { { V, 4, 2 }, NO }, { NO, { V, 4, 4 }, { S, 8, 4 }, { S, 5, 1 } } },
    { "buffer_inv sc1", { 0xe0a48000, 0 }, 8, { NO, NO }, { NO } },
    { "global_load_dwordx3 v[4:6], v[2:3], off offset:-4096", { 0xdc589000, 0x047f0002 }, 8,
      { { V, 4, 3 }, NO }, { { V, 2, 2 } } },
    { "global_load_ubyte v4, v2, s[4:5] offset:4095", { 0xdc408fff, 0x04040002 }, 8,
      { { V, 4, 1 }, NO }, { { V, 2, 1 }, NO, { S, 4, 2 } } },
    { "global_store_dwordx2 v[2:3], a[4:5], off", { 0xdc748000, 0x00ff0402 }, 8, { NO, NO },
      { { V, 2, 2 }, { A, 4, 2 } } },
    { "global_atomic_cmpswap v1, v2, v[4:5], s[6:7] offset:8 sc0", { 0xdd058008, 0x01060402 },
      8, { { V, 1, 1 }, NO }, { { V, 2, 1 }, { V, 4, 2 }, { S, 6, 2 } } },
    { "global_load_lds_dwordx4 v[2:3], off offset:16", { 0xddf48010, 0x007f0002 }, 8,
      { NO, NO }, { { V, 2, 2 } } },
    { "flat_load_dword v1, v[2:3] offset:4095", { 0xdc500fff, 0x01000002 }, 8,
      { { V, 1, 1 }, NO }, { { V, 2, 2 } } },
    { "scratch_load_dwordx2 v[4:5], off, s33 offset:16", { 0xdc544010, 0x04210000 }, 8,
      { { V, 4, 2 }, NO }, { NO, NO, { S, 33, 1 } } },
    { "scratch_store_dword v1, v2, off offset:-4", { 0xdc707ffc, 0x007f0201 }, 8, { NO, NO },
      { { V, 1, 1 }, { V, 2, 1 } } },
    { "v_add_u32_sdwa v40, v10, s20 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
      "src1_sel:WORD_1", { 0x685028f9, 0x8501060a }, 8, { { V, 40, 1 }, NO },
      { { V, 10, 1 }, { S, 20, 1 } } },
};

static void check_opnd(const char *text, const char *which, const struct sim_opnd *o,
                       const struct opnd *want)
{
    ck_assert_msg(o->kind == want->kind && o->reg == want->reg && o->ndw == want->ndw,
                  "%s: %s is kind %u register %u dwords %u", text, which, o->kind, o->reg,
                  o->ndw);
}

START_TEST(test_decode_operands)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct decode_case *c = &cases[i];
        struct sim_inst in;
        char text[256];
        uint8_t code[16];
        memcpy(code, c->words, sizeof(code));
        ck_assert_msg(sim_decode(code, sizeof(code), 0x80, &in) == c->size, "%s: size %u (%s)",
                      c->text, in.size, in.refused != NULL ? in.refused : "");
        ck_assert_uint_eq(in.pc, 0x80);
        ck_assert_uint_eq(in.size, c->size);
        ck_assert_str_eq(sim_inst_text(&in, text, sizeof(text)), c->text);
        for (unsigned k = 0; k < 2; k++) {
            check_opnd(c->text, "destination", &in.dst[k], &c->dst[k]);
        }
        for (unsigned k = 0; k < 5; k++) {
            check_opnd(c->text, "source", &in.src[k], &c->src[k]);
        }
        /* With a dword less than its size there is no instruction. */
        ck_assert_uint_eq(sim_decode(code, c->size - 4, 0, &in), 0);
    }
}
END_TEST

START_TEST(test_decode_modifiers)
{
    struct sim_inst in;
    const uint32_t scale[] = { 0xd3ac0800, 0x10021b0c, 0xd3ad8c00, 0x94021104 };
    ck_assert_uint_eq(sim_decode((const uint8_t *)scale, 16, 0, &in), 16);
    ck_assert_int_eq(in.enc, SIM_ENC_MAIX);
    ck_assert_uint_eq(in.opsel, 1);
    ck_assert_uint_eq(in.opsel_hi, 2);
    ck_assert_uint_eq(in.cbsz, 4);
    ck_assert_uint_eq(in.blgp, 4);
    ck_assert_uint_eq(in.op->p[0], 16);
    ck_assert_uint_eq(in.op->p[1], 128);
    const uint32_t buffer[] = { 0xe05edfff, 0x05020401 };
    sim_decode((const uint8_t *)buffer, 8, 0, &in);
    ck_assert_uint_eq(in.mem, SIM_MEM_SC0 | SIM_MEM_SC1 | SIM_MEM_NT | SIM_MEM_OFFEN);
    ck_assert_int_eq(in.offset, 4095);
    ck_assert_uint_eq(in.op->p[0], 16);
    const uint32_t global[] = { 0xdc589000, 0x047f0002 };
    sim_decode((const uint8_t *)global, 8, 0, &in);
    ck_assert_int_eq(in.offset, -4096);
    ck_assert_int_eq(in.segment, SIM_SEG_GLOBAL);
    const uint32_t dpp[] = { 0x7e5002fa, 0x5909110a };
    sim_decode((const uint8_t *)dpp, 8, 0, &in);
    ck_assert(in.has_dpp != 0 && in.dpp.bound_ctrl);
    ck_assert_uint_eq(in.dpp.ctrl, 0x111);
    ck_assert_uint_eq(in.dpp.row_mask, 5);
    ck_assert_uint_eq(in.dpp.bank_mask, 9);
    /* The VOP3 form of a VOP2 row says so. */
    const uint32_t e64[] = { 0xd1010028, 0x0002290a };
    sim_decode((const uint8_t *)e64, 8, 0, &in);
    ck_assert_int_eq(in.enc, SIM_ENC_VOP3);
    ck_assert_int_eq(in.op->enc, SIM_ENC_VOP2);
}
END_TEST

/* Inline constants as the operand's type sees them. */
START_TEST(test_decode_constants)
{
    static const struct {
        uint32_t word;
        uint64_t imm;
    } constants[] = {
        { 0xbea800c1, 0xffffffff },         /* s_mov_b32 s40, -1 */
        { 0xbea801c1, UINT64_MAX },         /* s_mov_b64 s[40:41], -1 */
        { 0xbea801f2, 0x3ff0000000000000 }, /* s_mov_b64 s[40:41], 1.0 */
        { 0x025028f2, 0x3f800000 },         /* v_add_f32 v40, 1.0, v20 */
        { 0x3e5028f2, 0x3c00 },             /* v_add_f16 v40, 1.0, v20 */
        { 0x4c5028f8, 0x3118 },             /* v_add_u16 v40, 0x3118, v20 */
        { 0x7e502ef8, 0x3fc45f306dc9c882 }, /* v_trunc_f64 of 1/(2 pi) */
        { 0x7e50b6f2, 0x3f80 },             /* v_cvt_f32_bf16 v40, 1.0 */
    };
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        struct sim_inst in;
        ck_assert_uint_eq(sim_decode((const uint8_t *)&constants[i].word, 4, 0, &in), 4);
        ck_assert_msg(in.src[0].imm == constants[i].imm, "%#x: %#llx", constants[i].word,
                      (unsigned long long)in.src[0].imm);
    }
    /* Literals widen by type: zero, sign, or as the upper half of a double. */
    static const uint32_t wide[][2] = {
        { 0xbea801ff, 0x80000001 }, /* s_mov_b64 */
        { 0x90a804ff, 0x80000001 }, /* s_ashr_i64 */
        { 0x7e502eff, 0x40090000 }, /* v_trunc_f64 */
    };
    struct sim_inst in;
    ck_assert_uint_eq(sim_decode((const uint8_t *)wide[0], 8, 0, &in), 8);
    ck_assert(in.src[0].imm == 0x80000001 && in.src[0].is_literal != 0);
    ck_assert_uint_eq(sim_decode((const uint8_t *)wide[1], 8, 0, &in), 8);
    ck_assert_str_eq(in.op->name, "s_ashr_i64");
    ck_assert(in.src[0].imm == 0xffffffff80000001);
    ck_assert_uint_eq(sim_decode((const uint8_t *)wide[2], 8, 0, &in), 8);
    ck_assert(in.src[0].imm == 0x4009000000000000);
}
END_TEST

struct refusal {
    const char *why;
    uint32_t words[4];
};

static const struct refusal refusals[] = {
    { "no such opcode in this encoding", { 0x9f080402 } },             /* SOP2 62 */
    { "no such encoding", { 0xeb801004, 0x05020802 } },                /* MTBUF */
    { "operand code is reserved", { 0xbea800d1 } },                    /* code 209 */
    { "operand code is not a scalar register", { 0xbea8007d } },       /* code 125 */
    { "scalar register tuple is not aligned", { 0xbea80103 } },        /* s[3:4] */
    { "scalar register tuple leaves its register file", { 0xbea8017c } }, /* m0 as a pair */
    { "vector register tuple is not aligned", { 0xd1cc0008, 0x041a0903 } },
    { "vector register tuple leaves its register file", { 0xd8ee0000, 0xfe000002 } },
    { "this encoding takes no literal", { 0xd1cb0008, 0x041a08ff, 5 } },
    { "operand must be a vector register", { 0xd3cc8000, 0x03ca0802 } },
    { "scale prefix without a scaled MFMA", { 0xd3ac0000, 0x00020501, 0xbf800000, 0 } },
    { "scaled form without its scale prefix", { 0xd3ad0800, 0x04321104 } },
    { "matrix format code is reserved", { 0xd3ad0500, 0x04321104 } },
    { "dpp_ctrl is reserved", { 0x7e5002fa, 0xff01000a } },
    { "this instruction has no SDWA form", { 0x7e5070f9, 0x0006060a } },
    { "SDWA source selector is reserved", { 0x7e5002f9, 0x0007060a } },
    { "source modifier on an operand that takes none", { 0xd1340028, 0x2002290a } },
    { "output modifier on an instruction that takes none", { 0xd1130028, 0x0802290a } },
    { "op_sel on an instruction that takes none", { 0xd1340828, 0x0002290a } },
    { "offset of a flat access has 12 bits", { 0xdc501fff, 0x01000002 } },
    { "GDS bit does not fit the instruction", { 0xd86d0000, 0x01000002 } },
    { "unused immediate is not zero", { 0xbf8a0001 } },
};

START_TEST(test_decode_refuses)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *r = &refusals[i];
        struct sim_inst in;
        char text[256];
        uint8_t code[16];
        memcpy(code, r->words, sizeof(code));
        const size_t n = sim_decode(code, sizeof(code), 4, &in);
        ck_assert_msg(n == 0, "%s: accepted as %s", r->why,
                      sim_inst_text(&in, text, sizeof(text)));
        ck_assert_str_eq(in.refused, r->why);
        ck_assert_ptr_null(in.op);
        ck_assert_uint_eq(in.pc, 4);
        sim_decode_raw_text(&in, code, sizeof(code), text, sizeof(text));
        ck_assert_ptr_nonnull(strstr(text, r->why));
        ck_assert_ptr_nonnull(strstr(sim_inst_text(&in, text, sizeof(text)), "unknown"));
    }
}
END_TEST

/* Words of any kind and length are decoded or refused, and texts fit any buffer. */
START_TEST(test_decode_survives_anything)
{
    uint64_t state = 0x9e3779b97f4a7c15;
    for (unsigned i = 0; i < 200000; i++) {
        uint8_t code[16];
        struct sim_inst in;
        char text[64];
        for (unsigned k = 0; k < sizeof(code); k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            code[k] = (uint8_t)(state >> 56);
        }
        const size_t avail = (size_t)(state >> 32) % (sizeof(code) + 1);
        const size_t n = sim_decode(code, avail, 0, &in);
        ck_assert_uint_le(n, avail);
        ck_assert((n == 0) == (in.refused != NULL));
        sim_inst_text(&in, text, state % sizeof(text) + 1);
        sim_decode_raw_text(&in, code, avail, text, state % sizeof(text) + 1);
    }
}
END_TEST

/* Rows are consistent: a name, operands that parse, and one class of unit. */
static void check_row(const struct sim_op *op, void *user)
{
    const uint32_t units = SIM_F_SALU | SIM_F_VALU | SIM_F_SMEM | SIM_F_VMEM | SIM_F_DS;
    struct sim_inst in = { .op = op, .enc = op->enc };
    char text[256];
    (*(unsigned *)user)++;
    ck_assert_msg((op->flags & units) != 0, "%s", op->name);
    ck_assert_msg(op->operands != NULL, "%s", op->name);
    if ((op->flags & SIM_F_MFMA) != 0) {
        ck_assert_msg(op->passes >= 2 && op->p[0] >= 4 && op->p[1] >= 1, "%s", op->name);
    }
    sim_inst_text(&in, text, sizeof(text));
    ck_assert_ptr_eq(strncmp(text, op->name, strlen(op->name)) == 0 ? op : NULL, op);
}

START_TEST(test_decode_rows)
{
    unsigned rows = 0;
    sim_op_each(check_row, &rows);
    ck_assert_uint_gt(rows, 1200);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { test_decode_operands,         test_decode_modifiers,
                                   test_decode_constants,        test_decode_refuses,
                                   test_decode_survives_anything, test_decode_rows,
                                   NULL };
    return isa_main("decode", tests);
}
