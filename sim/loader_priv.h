/* SPDX-License-Identifier: MIT */
/*
 * A loaded code object, as the loader's files and the instruction cache share it.
 */
#ifndef SIM_LOADER_PRIV_H
#define SIM_LOADER_PRIV_H

#include "icache.h"
#include "loader.h"

#define SIM_TEXT_MAX 8

struct sim_symbol {
    const char *name;
    uint64_t value, size; /* image offset and bytes */
    uint8_t type;         /* STT_* */
};

struct sim_owned {
    struct sim_owned *next;
};

struct sim_code {
    uint8_t *image;   /* in device memory */
    void *allocation; /* what sim_mem_free takes */
    size_t image_size;
    uint32_t version; /* code object version: 4, 5 or 6 */
    char isa[64];
    struct {
        uint64_t start, end;
    } text[SIM_TEXT_MAX]; /* executable segments, image offsets */
    unsigned text_count;
    struct sim_symbol *symbols;
    size_t symbol_count;
    struct sim_kernel *kernels;
    size_t kernel_count;
    struct sim_owned *owned; /* memory freed with the object */
    struct sim_icache icache;
};

struct sim_loader {
    int device;
    const uint8_t *elf;
    size_t size;
    struct sim_code *code;
    char *err;
    size_t errsize;
    enum sim_load_result result;
    uint64_t low;        /* lowest p_vaddr: image offset = vaddr - low */
    const uint8_t *note; /* metadata descriptor */
    size_t note_size;
};

/* Record why loading failed; returns false for `return sim_loader_fail(...)`. */
bool sim_loader_fail(struct sim_loader *l, enum sim_load_result result, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Zeroed memory owned by the code object; NULL without memory, with the failure recorded. */
void *sim_loader_own(struct sim_loader *l, size_t count, size_t size);

/* A copy of `length` bytes as a string owned by the code object. */
const char *sim_loader_string(struct sim_loader *l, const char *text, size_t length);

/* loader_elf.c: header, segments, symbols, relocations, the metadata note's place. */
bool sim_loader_elf(struct sim_loader *l);

/* loader_meta.c: fill kernels' metadata from l->note. */
bool sim_loader_metadata(struct sim_loader *l);

#endif
