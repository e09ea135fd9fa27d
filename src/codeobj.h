/* SPDX-License-Identifier: MIT */
/*
 * Reading an AMDGPU code object: the kernel's figures from its metadata note,
 * and its machine code.
 */
#ifndef MXG_CODEOBJ_H
#define MXG_CODEOBJ_H

#include <stddef.h>
#include <stdint.h>

#include "mxgemm.h"

struct codeobj_kernel {
    char symbol[128];        /* name for hipModuleGetFunction */
    uint32_t vgprs, agprs, sgprs;
    uint32_t vgpr_spills, sgpr_spills;
    uint32_t lds_bytes;      /* static (group_segment_fixed_size) */
    uint32_t scratch_bytes;  /* private_segment_fixed_size */
    uint32_t kernarg_bytes;
    uint32_t max_threads;    /* max_flat_workgroup_size */
    uint32_t code_bytes;     /* size of .text */
};

/*
 * Read the first (and only) kernel of a code object.  Every offset and length
 * is checked.  E_CODE_OBJECT with a sentence on anything malformed.
 */
mxg_status codeobj_read(const void *code, size_t size, struct codeobj_kernel *kernel);

/* Borrow the .text section. */
mxg_status codeobj_text(const void *code, size_t size, const uint8_t **text, size_t *text_size);

/* E_CODE_OBJECT unless it is gfx950 machine code (e_machine, EF_AMDGPU_MACH) for `arch`. */
mxg_status codeobj_check_arch(const void *code, size_t size, const char *arch);

#endif
