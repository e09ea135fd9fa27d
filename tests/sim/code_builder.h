/* SPDX-License-Identifier: MIT */
/*
 * Builds gfx950 code objects in memory from instruction words (LLVM AMDGPUUsage, "ELF
 * Code Object"), so that tests of the simulator need no assembler.
 */
#ifndef CODE_BUILDER_H
#define CODE_BUILDER_H

#include <stddef.h>
#include <stdint.h>

struct build_arg {
    const char *kind; /* metadata's value_kind */
    uint32_t offset, size;
};

struct build_kernel {
    const char *name;
    const uint32_t *words;
    size_t count;
    uint32_t vgprs; /* arch; 0 = 64 */
    uint32_t agprs;
    uint32_t lds, scratch;
    uint32_t kernarg;             /* bytes of arguments; 0 = 32 */
    uint32_t preload;             /* dwords of arguments preloaded into SGPRs */
    uint32_t extra_rsrc1;         /* bits to set in COMPUTE_PGM_RSRC1 */
    uint32_t max_flat;            /* 0 = 1024 */
    const struct build_arg *args; /* ends with kind NULL; NULL = pointers of 8 bytes each */
};

struct build_object {
    const struct build_kernel *kernels;
    size_t count;
    uint32_t global_size; /* bytes of a device global "device_data", filled with 0x5a */
    int has_relocation;   /* device_data's first 8 bytes get its own address */
    uint32_t version;     /* code object version; 0 = 5 */
};

/*
 * Every kernel starts with the argument pointer in s[0:1], the workgroup's x, y, z in
 * s2, s3, s4 (behind the preloaded arguments, when there are any) and work-item ids in v0.
 * Returns malloc'ed bytes.
 */
uint8_t *build_code(const struct build_object *object, size_t *size);

#endif
