/* SPDX-License-Identifier: MIT */
/*
 * A small code object written by the test itself, so that the reader is tested
 * without a compiler.
 */
#ifndef MXG_CODEOBJ_SAMPLE_H
#define MXG_CODEOBJ_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLE_SIZE_MAX 4096
#define SAMPLE_TEXT_SIZE 24

/* What a test may want to be different; 0 or NULL = the usual. */
struct sample_change {
    uint32_t flags;          /* e_flags; usual: gfx950, sramecc+, xnack- */
    uint32_t machine;        /* e_machine */
    uint32_t kernels;        /* how many kernels the metadata lists, plus one */
    const char *drop_key;    /* a key that is left out */
    const char *text_key;    /* a figure that is written as a text */
    const char *symbol;
    uint32_t nesting;        /* extra arrays around a value of an unknown key */
};

/* Write it to `out` (SAMPLE_SIZE_MAX bytes); the size.  `change` may be NULL. */
size_t sample_write(const struct sample_change *change, uint8_t *out);

#endif
