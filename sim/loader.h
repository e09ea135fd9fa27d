/* SPDX-License-Identifier: MIT */
/*
 * AMDGPU code objects (ELF, code object versions 4 to 6): loading, symbols,
 * kernel descriptors and metadata.  Input is not trusted: every bound is checked
 * and a malformed file gives an error text.
 */
#ifndef SIM_LOADER_H
#define SIM_LOADER_H

#include "inst.h"

struct sim_code;

enum sim_load_result {
    SIM_LOAD_OK,
    SIM_LOAD_DAMAGED,    /* no ELF, or a malformed one: hipErrorInvalidImage */
    SIM_LOAD_WRONG_ARCH, /* an ELF for another machine: hipErrorNoBinaryForGpu */
    SIM_LOAD_NO_MEMORY
};

enum sim_arg_kind {
    SIM_ARG_BY_VALUE,
    SIM_ARG_GLOBAL_BUFFER,
    SIM_ARG_DYNAMIC_LDS,                               /* dynamic_shared_pointer */
    SIM_ARG_OTHER_EXPLICIT,                            /* sampler, image, pipe, queue */
    SIM_ARG_HIDDEN_FIRST,                              /* all below are filled by the runtime */
    SIM_ARG_HIDDEN_BLOCK_COUNT = SIM_ARG_HIDDEN_FIRST, /* dim = 0..2 */
    SIM_ARG_HIDDEN_GROUP_SIZE,
    SIM_ARG_HIDDEN_REMAINDER,
    SIM_ARG_HIDDEN_GLOBAL_OFFSET,
    SIM_ARG_HIDDEN_GRID_DIMS,
    SIM_ARG_HIDDEN_DYNAMIC_LDS_SIZE,
    SIM_ARG_HIDDEN_PRIVATE_BASE,
    SIM_ARG_HIDDEN_SHARED_BASE,
    SIM_ARG_HIDDEN_QUEUE_PTR,
    SIM_ARG_HIDDEN_ZERO /* printf and hostcall buffers, heap, ...: a null pointer here */
};

struct sim_arg {
    const char *name;      /* "" when the metadata has none */
    uint32_t offset, size; /* bytes in the kernarg segment */
    uint8_t kind;          /* enum sim_arg_kind */
    uint8_t dim;           /* 0..2 for the hidden per-dimension ones */
};

/* Kernel descriptor fields that change execution (LLVM AMDGPUUsage, "Kernel Descriptor"). */
struct sim_kernel {
    const char *name; /* without ".kd" */
    uint64_t kd;      /* image offset of the descriptor */
    uint64_t
        entry; /* image offset of the first instruction to run (preload prologue skipped) */
    uint64_t code_size;        /* st_size of the function symbol, 0 = unknown */
    uint32_t lds_size;         /* group_segment_fixed_size, bytes */
    uint32_t scratch_size;     /* private_segment_fixed_size, bytes a lane */
    uint32_t kernarg_size;     /* metadata's, else the descriptor's */
    uint32_t kernarg_explicit; /* end of the last explicit argument, bytes */
    uint32_t kernarg_align;
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties;                     /* kernel_code_properties */
    uint16_t preload_length, preload_offset; /* dwords */
    uint32_t vgpr_count;                     /* arch + acc as allocated, from the descriptor */
    uint32_t accum_offset;                   /* first AGPR = number of arch VGPRs */
    uint32_t sgpr_count;
    /* From the metadata note; 0 where absent. */
    uint32_t meta_vgpr, meta_agpr, meta_sgpr, vgpr_spills, sgpr_spills;
    uint32_t max_flat_group_size;
    uint32_t reqd_group_size[3];
    bool dynamic_stack;
    bool ordered_groups; /* float atomics on memory: run groups in order, for the same bits */
    struct sim_arg *args;
    uint32_t arg_count; /* explicit and hidden */
    uint32_t explicit_count;
};

/*
 * Load an ELF code object, or a clang offload bundle holding one for gfx950.
 * avail may be SIZE_MAX where the caller does not know the size (hipModuleLoadData):
 * then the headers bound what is read.  On failure *out is NULL and err says why.
 */
enum sim_load_result sim_code_load(int device, const void *elf, size_t avail,
                                   struct sim_code **out, char *err, size_t errsize);
void sim_code_unload(struct sim_code *code);

/* By name, with or without ".kd"; NULL when there is none. */
const struct sim_kernel *sim_code_kernel(const struct sim_code *code, const char *name);
size_t sim_code_kernel_count(const struct sim_code *code);
const struct sim_kernel *sim_code_kernel_at(const struct sim_code *code, size_t i);

/* Address and size of a device global by name; false when there is none. */
bool sim_code_global(const struct sim_code *code, const char *name, uint64_t *addr,
                     size_t *size);

/* "gfx950", features and code object version, for messages and properties. */
const char *sim_code_isa(const struct sim_code *code);
uint32_t sim_code_object_version(const struct sim_code *code);

/* The loaded image, and where its first byte lies in device memory. */
uint64_t sim_code_base(const struct sim_code *code);
size_t sim_code_size(const struct sim_code *code);

/*
 * Bytes of the ELF file at `elf`, from its headers alone (0: no ELF).  Reads no
 * more than `avail` bytes.
 */
size_t sim_elf_extent(const void *elf, size_t avail);

#endif
