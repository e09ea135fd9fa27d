/* SPDX-License-Identifier: MIT */
/*
 * Code objects for the runtime's tests, written byte by byte: a linked gfx950 ELF with a few
 * kernels, so that launching is tested without a compiler.
 */
#ifndef TESTS_SIM_HIP_KERNELS_H
#define TESTS_SIM_HIP_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { KERNELS_SIZE = 16384 };

/*
 * Kernels of the object:
 *   fill(uint32_t *out, uint32_t value, uint32_t n)   out[i] = value for i < n, blocks of 64
 *   copy(uint32_t *out, const uint32_t *in)           out[i] = in[i], blocks of 64
 *   nop()                                             64 KiB of static LDS, at most 128 threads
 *   illegal()                                         a word that is no instruction
 */
size_t kernels_write(uint8_t out[KERNELS_SIZE]);

/* The same, for another processor (the low byte of e_flags). */
size_t kernels_write_for(uint8_t out[KERNELS_SIZE], uint8_t processor);

/* A clang offload bundle with a host entry and the object for gfx950 (or for gfx942). */
size_t kernels_bundle(uint8_t out[2 * KERNELS_SIZE], const char *processor);

#endif
