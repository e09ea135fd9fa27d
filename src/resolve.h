/* SPDX-License-Identifier: MIT */
/* From a shape to loaded kernels: table, disk, compiler. */
#ifndef MXG_RESOLVE_H
#define MXG_RESOLVE_H

#include "context.h"

/* The ready plan of a shape; blocks on a miss.  Statuses as mxg_prepare. */
mxg_status resolve_plan(mxg_context *context, const struct gemm_shape *shape,
                        const struct ready_plan **plan);

#endif
