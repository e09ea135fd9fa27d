/* SPDX-License-Identifier: MIT */
/*
 * Differential test of the decoder against LLVM's disassembler: a million
 * deterministic random words, weighted over the encodings, and the code of
 * every ELF file in the folder that MXG_DECODE_CORPUS names.  Size and text
 * must agree, or both must refuse.  Where this decoder refuses and LLVM does
 * not, the refusals are counted by rule; a missing opcode is an error unless
 * it is in the list of instructions left out on purpose.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <check.h>
#include <dirent.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inst.h"
#include "optable.h"

#if defined(HAVE_LLVM)

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

enum { TEXT = 256, WORDS = 5, RANDOM_CASES = 1000000 };

static LLVMDisasmContextRef llvm;

static void open_llvm(void)
{
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    llvm = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", "gfx950", "", NULL, 0, NULL, NULL);
    ck_assert_ptr_nonnull(llvm);
}

static void close_llvm(void)
{
    LLVMDisasmDispose(llvm);
}

/* LLVM's size and text, blanks normalised; 0 when it refuses or only warns its way through. */
static size_t llvm_decode(const uint8_t *code, size_t avail, char *text)
{
    char raw[TEXT * 2];
    uint8_t copy[4 * WORDS];
    memcpy(copy, code, avail);
    size_t n = LLVMDisasmInstruction(llvm, copy, avail, 0, raw, sizeof(raw));
    text[0] = '\0';
    if (n == 0) {
        return 0;
    }
    size_t at = 0;
    for (const char *p = raw; *p != '\0' && at + 1 < TEXT; p++) {
        char c = *p == '\t' ? ' ' : *p;
        if (c != ' ' || (at > 0 && text[at - 1] != ' ')) {
            text[at++] = c;
        }
    }
    while (at > 0 && text[at - 1] == ' ') {
        at--;
    }
    text[at] = '\0';
    /* Comments tell of operands that the instruction cannot have. */
    return strstr(text, "/*") != NULL || strstr(text, "Warning") != NULL ? 0 : n;
}

/*
 * Operands that LLVM decodes for gfx950 although the ISA text has them
 * reserved: code 125 (null on later chips), 239, 254.
 */
static bool llvm_is_too_lenient(const char *text)
{
    return strstr(text, "null") != NULL || strstr(text, "src_pops") != NULL ||
           strstr(text, "lds_direct") != NULL;
}

static bool left_out(const char *text)
{
    return strncmp(text, "tbuffer_", 8) == 0 || strncmp(text, "v_mfma_ld_scale", 15) == 0;
}

/* Refusals of ours that LLVM does not share, counted by rule. */
struct refusal {
    const char *why;
    char example[TEXT];
    unsigned count;
};

struct tally {
    unsigned same, both_refuse, ours_only, accepted;
    struct refusal refusals[64];
    unsigned failures;
};

static void count_refusal(struct tally *t, const char *why, const char *text)
{
    t->ours_only++;
    for (size_t i = 0; i < 64; i++) {
        struct refusal *r = &t->refusals[i];
        if (r->why == NULL || strcmp(r->why, why) == 0) {
            if (r->why == NULL) {
                r->why = why;
                snprintf(r->example, sizeof(r->example), "%s", text);
            }
            r->count++;
            return;
        }
    }
}

static void report(struct tally *t, const uint8_t *code, const char *what, const char *ours,
                   const char *theirs)
{
    uint32_t w[4];
    memcpy(w, code, sizeof(w));
    if (t->failures++ < 40) {
        fprintf(stderr, "%s: %08x %08x %08x %08x\n  ours  %s\n  LLVM  %s\n", what, w[0], w[1],
                w[2], w[3], ours, theirs);
    }
}

/* Compares one place in the code; returns the size to step by. */
static size_t compare(struct tally *t, const uint8_t *code, size_t avail)
{
    struct sim_inst in;
    char ours[TEXT];
    char theirs[TEXT];
    size_t n = sim_decode(code, avail, 0, &in);
    size_t m = llvm_decode(code, avail, theirs);
    if (n == 0) {
        ck_assert_ptr_nonnull(in.refused);
        if (m == 0) {
            t->both_refuse++;
        } else if (strcmp(in.refused, "no such opcode in this encoding") == 0 ||
                   strcmp(in.refused, "no such encoding") == 0 ||
                   strcmp(in.refused, "scale prefix without a scaled MFMA") == 0) {
            count_refusal(t, in.refused, theirs);
            if (!left_out(theirs)) {
                report(t, code, "missing", in.refused, theirs);
            }
        } else {
            count_refusal(t, llvm_is_too_lenient(theirs) ? "reserved operand" : in.refused,
                          theirs);
        }
        return 0;
    }
    sim_inst_text(&in, ours, sizeof(ours));
    if (m != n || strcmp(ours, theirs) != 0) {
        report(t, code, m == 0 ? "LLVM refuses" : "differs", ours, theirs);
    } else {
        t->same++;
    }
    return n;
}

static void print_tally(const char *title, const struct tally *t)
{
    printf("%s: %u the same, %u refused by both, %u refused here only, %u failures\n", title,
           t->same, t->both_refuse, t->ours_only, t->failures);
    for (size_t i = 0; i < 64 && t->refusals[i].why != NULL; i++) {
        printf("  %8u %s (%s)\n", t->refusals[i].count, t->refusals[i].why,
               t->refusals[i].example);
    }
}

enum { SEED = 1 };
static uint64_t random_state;

static uint32_t random32(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)(z ^ z >> 31);
}

/* Keeps a field only now and then, so that combinations without it are met as well. */
static uint32_t sometimes(uint32_t mask)
{
    return random32() % 4 == 0 ? random32() & mask : 0;
}

/* LLVM's printer does not survive reserved SDWA selectors. */
static void tame_sdwa(uint32_t *w)
{
    bool vopc = w[0] >> 25 == 0x3e;
    if (w[0] >> 31 != 0 || (w[0] & 0x1ff) != 0xf9) {
        return;
    }
    if (!vopc && (w[1] >> 8 & 7) == 7) {
        w[1] ^= 0x100;
    }
    if (!vopc && (w[1] >> 11 & 3) == 3) {
        w[1] ^= 0x800;
    }
    if ((w[1] >> 16 & 7) == 7) {
        w[1] ^= 0x10000;
    }
    if ((w[1] >> 24 & 7) == 7) {
        w[1] ^= 0x1000000;
    }
    if (w[0] >> 25 == 0x3f && random32() % 8 != 0) {
        w[1] &= 0xffffff;
    }
}

/* Nor does it survive operands of the f8f6f4 instructions that its classes cannot hold. */
static void tame_f8f6f4(uint32_t *w)
{
    for (unsigned at = 0; at < 4; at += 2) {
        if (w[at] >> 16 == 0xd3ad || w[at] >> 16 == 0xd3ae) {
            w[at + 1] = (w[at + 1] & ~0x3ffffu) | 0x20100 | (random32() & 0xf0) |
                        (random32() & 0xf0) << 9;
            if ((w[at + 1] >> 18 & 0x1ff) == 255) {
                w[at + 1] |= 0x100 << 18;
            }
        }
    }
    if (w[0] >> 16 == 0xd3ac) {
        w[1] |= 0x20100; /* nor a literal as scale */
    }
}

/* A nine-bit source: mostly vector registers. */
static uint32_t random_source(void)
{
    return random32() % 3 != 0 ? 256 | (random32() & 0xfe) : random32() & 0x1ff;
}

/* Each byte kept or dropped. */
static uint32_t random_bytes(void)
{
    uint32_t r = random32();
    return (r & 1 ? 0xffu : 0) | (r & 2 ? 0xff00u : 0) | (r & 4 ? 0xff0000u : 0) |
           (r & 8 ? 0xff000000u : 0);
}

static void random_vop3(uint32_t *w)
{
    w[0] = 0xd0000000 | random32() % 0x3ff << 16 | (random32() & 0xfe) | sometimes(0x8700) |
           sometimes(0x7800) | sometimes(0x1);
    w[1] = random_source() | random_source() << 9 | random_source() << 18 |
           sometimes(0xe0000000) | sometimes(0x18000000);
    if (random32() % 8 == 0) { /* the scalar mask of add-with-carry and v_cndmask */
        w[1] = (w[1] & ~0x7fc0000u) | (random32() & 0x7e) << 18;
    }
}

static void random_mai(uint32_t *w)
{
    bool scaled = random32() % 4 == 0;
    w[2] = 0xd3a80000 | (random32() & 0x7f) << 16 | (random32() & 0xfe) | sometimes(0x8000) |
           sometimes(0x7f00);
    w[3] = random_source() | random_source() << 9 | random_source() << 18 |
           sometimes(0xe0000000) | sometimes(0x18000000);
    w[4] = random32();
    if (scaled) {
        w[0] = 0xd3ac0000 | sometimes(0x1800) | (random32() % 16 == 0 ? random32() & 0xff : 0);
        w[1] = random_source() | random_source() << 9 | sometimes(0x18000000);
        w[2] = 0xd3ad0800 + (random32() & 1) * 0x10000;
        w[2] |= (random32() & 0xfe) | sometimes(0x8000) | (random32() % 5) << 8;
        w[3] = (w[3] & 0x1fffffff) | random32() % 5 << 29;
    } else {
        w[0] = w[2];
        w[1] = w[3];
    }
}

/* Instructions with few operands, whose unused fields must be zero. */
static void random_sparse(uint32_t *w)
{
    switch (random32() % 6) {
    case 0:
        w[0] = 0xbe800000 | (random32() & 0xff00) | sometimes(0x7e0000) | sometimes(0x7e);
        break;
    case 1:
        w[0] = 0xbf800000 | (random32() & 0x1f0000) | sometimes(1);
        break;
    case 2:
        w[0] = 0xc0800000 | (random32() & 0x1c0000) | sometimes(0x1f80);
        w[1] = 0;
        if (random32() % 4 == 0) { /* s_dcache_discard */
            w[0] = 0xc0a20000 | (random32() & 0x4003e);
            w[1] = random32() & 0xfff;
        }
        break;
    case 3: /* v_nop and the like, ds_nop */
        w[0] = random32() % 2 == 0 ? 0x7e000000 | (random32() & 0x1fe00)
                                   : 0xd8000000 | (random32() & 0x1fe0000);
        w[1] = 0;
        break;
    case 4: /* moves between the vector register files */
        w[0] = 0xd3d80000 | (random32() & 0x100ff) | sometimes(0x4000);
        w[1] = (random32() & 0x1ff) | sometimes(0x18000000);
        break;
    default: /* lane accesses: a scalar as second source */
        w[0] = 0xd2890000 + (random32() & 1) * 0x10000;
        w[0] |= random32() & 0x7f;
        w[1] = (random32() & 0x1ff) | (random32() & 0xff) << 9;
        break;
    }
}

static void random_words(uint32_t *w)
{
    for (size_t i = 0; i < WORDS; i++) {
        w[i] = random32();
    }
    switch (random32() % 16) {
    case 0:
        w[0] = 0x80000000 | (w[0] & 0x3fffffff);
        break;
    case 1: /* SOP1, SOPC, SOPP, SOPK */
        w[0] = 0xb0000000 | (w[0] & 0x0fffffff);
        break;
    case 2:
        w[0] = 0xbe800000 | (w[0] & 0x01ffffff);
        break;
    case 3: /* SMEM */
        w[0] = 0xc0000000 | (w[0] & 0x3fc1fff & ~0x2000u) | sometimes(0x3c000) |
               (random32() & 0x20000);
        w[1] = random32() % 2 == 0 ? w[1] & 0x1fffff : random32() % 128 | sometimes(0xfe000000);
        break;
    case 4: /* VOP1, VOP2, VOPC */
    case 5:
        w[0] = (w[0] & 0x7ffffe00) | random_source();
        break;
    case 6: /* DPP and SDWA */
    case 7:
        w[0] = (w[0] & 0x7ffffe00) | (random32() % 2 == 0 ? 0xf9 : 0xfa);
        w[1] &= 0xffffffff & ~0x60000u;
        if (random32() % 2 == 0) {
            w[1] &= ~0x00f00000u;
        }
        break;
    case 8:
    case 9:
        random_vop3(w);
        break;
    case 10: /* VOP3P */
        random_vop3(w);
        w[0] = 0xd3800000 | (random32() & 0x3f) << 16 | (w[0] & 0xffff);
        break;
    case 11:
        random_mai(w);
        break;
    case 12: /* DS */
        w[0] = 0xd8000000 | (w[0] & 0x03feffff) | sometimes(0x10000);
        w[1] &= 0xfefefeff & random_bytes();
        if (random32() % 8 == 0) { /* global wave sync */
            w[0] = 0xd9310000 | (w[0] & 0xe0000);
            w[1] &= 0xff;
        }
        break;
    case 13: /* MUBUF */
        w[0] = 0xe0000000 | (w[0] & 0x01feffff) | sometimes(0x10000);
        if (random32() % 32 == 0) { /* buffer_wbl2, buffer_inv */
            w[0] = 0xe0a00000 | (w[0] & 0x4c000);
            w[1] = 0;
            break;
        }
        w[1] = (w[1] & 0xff9ffeff) | sometimes(0x1);
        if ((w[0] & 0x10000) != 0) {
            w[1] &= ~0x0080ff00u;
        }
        break;
    case 14: /* FLAT */
        w[0] = 0xdc000000 | (w[0] & 0x03ffdfff) | sometimes(0x2000);
        w[1] &= 0xfefefeff;
        if (random32() % 2 == 0) {
            w[1] = (w[1] & 0xff80ffff) | ((w[0] >> 14 & 3) == 0 ? 0 : 0x7f0000);
        }
        break;
    default:
        if (random32() % 2 == 0) {
            random_sparse(w);
        }
        break;
    }
    tame_sdwa(w);
    tame_f8f6f4(w);
}

START_TEST(test_decode_llvm_random_words)
{
    static struct tally t;
    uint32_t w[WORDS];
    uint8_t code[4 * WORDS];
    random_state = SEED;
    for (unsigned i = 0; i < RANDOM_CASES; i++) {
        random_words(w);
        memcpy(code, w, sizeof(code));
        compare(&t, code, sizeof(code));
    }
    print_tally("random words", &t);
    ck_assert_uint_eq(t.failures, 0);
    /* The generator must not degenerate into words that nobody accepts. */
    ck_assert_uint_gt(t.same, RANDOM_CASES / 5);
}
END_TEST

/* Every row of the table is met by some plain word that both decode. */
struct row_search {
    unsigned found, rows;
};

START_TEST(test_decode_llvm_meets_every_row)
{
    static bool met[SIM_ENC_COUNT][4][1024];
    struct row_search s = { 0, 0 };
    uint32_t w[WORDS];
    uint8_t code[4 * WORDS];
    char theirs[TEXT];
    struct sim_inst in;
    random_state = SEED;
    for (unsigned i = 0; i < RANDOM_CASES; i++) {
        random_words(w);
        memcpy(code, w, sizeof(code));
        if (sim_decode(code, sizeof(code), 0, &in) != 0) {
            bool *m = &met[in.op->enc][in.segment][in.op->opcode];
            if (!*m && llvm_decode(code, sizeof(code), theirs) != 0) {
                *m = true;
            }
        }
    }
    for (unsigned e = 0; e < SIM_ENC_COUNT; e++) {
        for (unsigned seg = 0; seg < 4; seg++) {
            for (unsigned op = 0; op < 1024; op++) {
                const struct sim_op *row = sim_op_find(e, seg, op);
                if (row != NULL) {
                    s.rows++;
                    s.found += met[e][seg][op];
                    if (!met[e][seg][op]) {
                        fprintf(stderr, "row never met: %s\n", row->name);
                    }
                }
            }
        }
    }
    printf("%u of %u rows met\n", s.found, s.rows);
    ck_assert_uint_eq(s.found, s.rows);
}
END_TEST

/* Decodes an executable section from its start, skipping nothing. */
static void compare_section(struct tally *t, const uint8_t *code, size_t size)
{
    uint8_t window[4 * WORDS];
    for (size_t at = 0; at + 4 <= size;) {
        size_t avail = size - at < sizeof(window) ? size - at : sizeof(window);
        memset(window, 0, sizeof(window));
        memcpy(window, code + at, avail);
        size_t n = compare(t, window, sizeof(window));
        at += n != 0 ? n : 4;
    }
}

static void compare_elf(struct tally *t, const uint8_t *image, size_t size)
{
    Elf64_Ehdr eh;
    if (size < sizeof(eh)) {
        return;
    }
    memcpy(&eh, image, sizeof(eh));
    if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_machine != EM_AMDGPU) {
        return;
    }
    for (unsigned i = 0; i < eh.e_shnum; i++) {
        Elf64_Shdr sh;
        size_t at = eh.e_shoff + (size_t)i * sizeof(sh);
        if (at > size || size - at < sizeof(sh)) {
            return;
        }
        memcpy(&sh, image + at, sizeof(sh));
        if ((sh.sh_flags & SHF_EXECINSTR) != 0 && sh.sh_type == SHT_PROGBITS &&
            sh.sh_offset <= size && sh.sh_size <= size - sh.sh_offset) {
            compare_section(t, image + sh.sh_offset, sh.sh_size);
        }
    }
}

static void compare_file(struct tally *t, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        return;
    }
    static uint8_t image[16 << 20];
    size_t n = fread(image, 1, sizeof(image), f);
    fclose(f);
    compare_elf(t, image, n);
}

START_TEST(test_decode_llvm_corpus)
{
    static struct tally t;
    const char *folder = getenv("MXG_DECODE_CORPUS");
    if (folder == NULL) {
        printf("corpus: MXG_DECODE_CORPUS is not set, nothing compared\n");
        return;
    }
    DIR *d = opendir(folder);
    ck_assert_ptr_nonnull(d);
    unsigned files = 0;
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        compare_file(&t, path);
        files++;
    }
    closedir(d);
    print_tally("corpus", &t);
    ck_assert_uint_gt(files, 0);
    ck_assert_uint_eq(t.failures, 0);
    ck_assert_uint_eq(t.ours_only, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("decode_llvm");
    TCase *tc = tcase_create("differential");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, open_llvm, close_llvm);
    tcase_add_test(tc, test_decode_llvm_random_words);
    tcase_add_test(tc, test_decode_llvm_meets_every_row);
    tcase_add_test(tc, test_decode_llvm_corpus);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#else

int main(void)
{
    printf("configured without LLVM: skipped\n");
    return 77;
}

#endif
