/* SPDX-License-Identifier: MIT */
/*
 * A private folder of ROCm libraries with the dynamic loader they need, as
 * tools/rocm-prefix makes it.  DIR/mxgemm-rocm.conf tells what is where; see
 * doc/rocm-prefix.md.
 */
#ifndef MXG_ROCM_PREFIX_H
#define MXG_ROCM_PREFIX_H

#include "mxgemm.h"

#define ROCM_PREFIX_PATH_SIZE 2048

/* Absolute paths.  Members other than version, loader and library_path may be empty. */
struct rocm_prefix {
    char version[64];
    char loader[ROCM_PREFIX_PATH_SIZE];
    char library_path[ROCM_PREFIX_PATH_SIZE]; /* colon-separated */
    char comgr[ROCM_PREFIX_PATH_SIZE];
    char hiprtc[ROCM_PREFIX_PATH_SIZE];
    char amdhip[ROCM_PREFIX_PATH_SIZE];
};

/* E_NO_COMPILER with a sentence if the file is missing or says too little. */
mxg_status rocm_prefix_read(const char *dir, struct rocm_prefix *prefix);

#endif
