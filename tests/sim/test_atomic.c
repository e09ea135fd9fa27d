/* SPDX-License-Identifier: MIT */
/* Arithmetic of the atomic operations, edge values included (ISA text, 9.2 and the DS opcodes). */
#include "exec_mem.h"

#include <check.h>

struct row32 {
    unsigned op;
    uint32_t old, data, cmp, want;
    bool flush;
};

static const struct row32 rows32[] = {
    { SIM_ATOMIC_SWAP, 1, 2, 0, 2, false },
    { SIM_ATOMIC_CMPSWAP, 5, 7, 5, 7, false },
    { SIM_ATOMIC_CMPSWAP, 5, 7, 6, 5, false },
    { SIM_ATOMIC_ADD, 0xffffffff, 2, 0, 1, false },
    { SIM_ATOMIC_SUB, 1, 2, 0, 0xffffffff, false },
    { SIM_ATOMIC_RSUB, 1, 5, 0, 4, false },
    { SIM_ATOMIC_SMIN, 0xffffffff, 1, 0, 0xffffffff, false },
    { SIM_ATOMIC_UMIN, 0xffffffff, 1, 0, 1, false },
    { SIM_ATOMIC_SMAX, 0xffffffff, 1, 0, 1, false },
    { SIM_ATOMIC_UMAX, 0xffffffff, 1, 0, 0xffffffff, false },
    { SIM_ATOMIC_AND, 0xf0f0, 0xff00, 0, 0xf000, false },
    { SIM_ATOMIC_OR, 0xf0f0, 0x0f00, 0, 0xfff0, false },
    { SIM_ATOMIC_XOR, 0xf0f0, 0xff00, 0, 0x0ff0, false },
    { SIM_ATOMIC_INC, 4, 5, 0, 5, false },
    { SIM_ATOMIC_INC, 5, 5, 0, 0, false },
    { SIM_ATOMIC_INC, 9, 5, 0, 0, false },
    { SIM_ATOMIC_DEC, 4, 5, 0, 3, false },
    { SIM_ATOMIC_DEC, 0, 5, 0, 5, false },
    { SIM_ATOMIC_DEC, 6, 5, 0, 5, false },
    { SIM_ATOMIC_MSKOR, 0xffff, 0x00f0, 0x0030, 0xff3f, false },
    { SIM_ATOMIC_WRAP, 7, 5, 100, 2, false },
    { SIM_ATOMIC_WRAP, 3, 5, 100, 103, false },
    /* 1 + 2^-24 rounds to even; 1 + 3*2^-24 rounds up. */
    { SIM_ATOMIC_FADD, 0x3f800000, 0x33800000, 0, 0x3f800000, false },
    { SIM_ATOMIC_FADD, 0x3f800000, 0x34400000, 0, 0x3f800002, false },
    { SIM_ATOMIC_FADD, 0x80000000, 0x00000000, 0, 0x00000000, false },
    { SIM_ATOMIC_FADD, 0x7f800000, 0xff800000, 0, 0x7fc00000, false },
    /* A NaN operand is made quiet; of two the first. */
    { SIM_ATOMIC_FADD, 0x7f800001, 0x3f800000, 0, 0x7fc00001, false },
    { SIM_ATOMIC_FADD, 0x7fc00002, 0x7fc00003, 0, 0x7fc00002, false },
    /* Subnormals: kept, or flushed where the mode says so. */
    { SIM_ATOMIC_FADD, 0x00000001, 0x00000001, 0, 0x00000002, false },
    { SIM_ATOMIC_FADD, 0x00000001, 0x00000001, 0, 0x00000000, true },
    { SIM_ATOMIC_FADD, 0x00800001, 0x80800000, 0, 0x00000000, true },
    { SIM_ATOMIC_FMIN, 0x80000000, 0x00000000, 0, 0x80000000, false },
    { SIM_ATOMIC_FMAX, 0x80000000, 0x00000000, 0, 0x00000000, false },
    { SIM_ATOMIC_FMIN, 0xff800000, 0x3f800000, 0, 0xff800000, false },
    { SIM_ATOMIC_FMAX, 0x7fc00000, 0xff800000, 0, 0xff800000, false },
    { SIM_ATOMIC_FMIN, 0x7fc00000, 0x7f800000, 0, 0x7f800000, false },
    { SIM_ATOMIC_FMAX, 0x7f800001, 0x3f800000, 0, 0x7fc00001, false },
    { SIM_ATOMIC_FCMPSWAP, 0x00000000, 7, 0x80000000, 7, false },
    { SIM_ATOMIC_FCMPSWAP, 0x7fc00000, 7, 0x7fc00000, 0x7fc00000, false },
    /* f16: 1 + 2^-11 is a tie; 65504 + 32 overflows.  bf16: 1 + 2^-8 is a tie. */
    { SIM_ATOMIC_PK_ADD_F16, 0x3c007bff, 0x10005000, 0, 0x3c007c00, false },
    { SIM_ATOMIC_PK_ADD_F16, 0x3c010001, 0x10000001, 0, 0x3c020002, false },
    { SIM_ATOMIC_PK_ADD_BF16, 0x3f803f81, 0x3b803b80, 0, 0x3f803f82, false },
};

START_TEST(test_atomic_of_32_bits)
{
    const struct row32 *r = &rows32[_i];
    uint32_t got = sim_atomic32(r->op, r->old, r->data, r->cmp, r->flush);
    ck_assert_msg(got == r->want, "op %u (0x%x, 0x%x, 0x%x): 0x%x, not 0x%x", r->op, r->old,
                  r->data, r->cmp, got, r->want);
}
END_TEST

static const struct {
    unsigned op;
    uint64_t old, data, cmp, want;
} rows64[] = {
    { SIM_ATOMIC_ADD, ~0ull, 2, 0, 1 },
    { SIM_ATOMIC_SMIN, 1ull << 63, 1, 0, 1ull << 63 },
    { SIM_ATOMIC_UMIN, 1ull << 63, 1, 0, 1 },
    { SIM_ATOMIC_INC, 1ull << 32, 1ull << 32, 0, 0 },
    { SIM_ATOMIC_DEC, 0, 1ull << 40, 0, 1ull << 40 },
    { SIM_ATOMIC_CMPSWAP, 1ull << 32, 9, 1ull << 32, 9 },
    { SIM_ATOMIC_MSKOR, 0xffull << 32, 0xf0ull << 32, 0x30ull << 32, 0x3full << 32 },
    /* 1 + 2^-53 rounds to even; subnormals are kept. */
    { SIM_ATOMIC_FADD, 0x3ff0000000000000, 0x3ca0000000000000, 0, 0x3ff0000000000000 },
    { SIM_ATOMIC_FADD, 1, 1, 0, 2 },
    { SIM_ATOMIC_FADD, 0x7ff0000000000001, 0, 0, 0x7ff8000000000001 },
    { SIM_ATOMIC_FADD, 0x7ff0000000000000, 0xfff0000000000000, 0, 0x7ff8000000000000 },
    { SIM_ATOMIC_FMAX, 0x8000000000000000, 0, 0, 0 },
    { SIM_ATOMIC_FMIN, 0x8000000000000000, 0, 0, 0x8000000000000000 },
    { SIM_ATOMIC_FMIN, 0x7ff8000000000000, 0x3ff0000000000000, 0, 0x3ff0000000000000 },
};

START_TEST(test_atomic_of_64_bits)
{
    uint64_t got = sim_atomic64(rows64[_i].op, rows64[_i].old, rows64[_i].data, rows64[_i].cmp);
    ck_assert_msg(got == rows64[_i].want, "row %d: 0x%llx, not 0x%llx", _i,
                  (unsigned long long)got, (unsigned long long)rows64[_i].want);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("atomic");
    TCase *tc = tcase_create("atomic");
    tcase_add_loop_test(tc, test_atomic_of_32_bits, 0, sizeof rows32 / sizeof rows32[0]);
    tcase_add_loop_test(tc, test_atomic_of_64_bits, 0, sizeof rows64 / sizeof rows64[0]);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
