/* SPDX-License-Identifier: MIT */
/*
 * Fuzzing the code object reader.  With -fsanitize=fuzzer and FUZZ_NO_MAIN it
 * is a libFuzzer target; by itself it runs the files named on the command
 * line, or a fixed number of mutations of a generated seed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobj.h"
#include "codeobj_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct codeobj_kernel kernel;
    const uint8_t *text;
    size_t text_size;
    if (codeobj_read(data, size, &kernel) == MXG_OK) {
        /* What was read must hold together, or the reader is wrong. */
        if (strnlen(kernel.symbol, sizeof kernel.symbol) == sizeof kernel.symbol ||
            codeobj_text(data, size, &text, &text_size) != MXG_OK || text < data ||
            text_size != kernel.code_bytes || text_size > size - (size_t)(text - data)) {
            abort();
        }
    }
    (void)codeobj_check_arch(data, size, "gfx950:sramecc+:xnack-");
    return 0;
}

#ifndef FUZZ_NO_MAIN
static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void run_mutations(long rounds)
{
    uint8_t seed[SAMPLE_SIZE_MAX];
    const size_t size = sample_write(NULL, seed);
    for (long i = 0; i < rounds; i++) {
        size_t kept = next_random() % 8 == 0 ? next_random() % (size + 1) : size;
        uint8_t *copy = malloc(kept + 1);
        if (copy == NULL) {
            abort();
        }
        memcpy(copy, seed, kept);
        for (uint64_t changes = next_random() % 6; changes > 0 && kept > 0; changes--) {
            copy[next_random() % kept] = (uint8_t)(next_random() >> 32);
        }
        LLVMFuzzerTestOneInput(copy, kept);
        free(copy);
    }
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    uint8_t *bytes = malloc(1 << 24);
    size_t size = bytes != NULL ? fread(bytes, 1, 1 << 24, file) : 0;
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    const char *rounds = getenv("FUZZ_ROUNDS");
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        failed |= run_file(argv[i]);
    }
    if (argc == 1) {
        run_mutations(rounds != NULL ? atol(rounds) : 200000);
    }
    return failed;
}
#endif
