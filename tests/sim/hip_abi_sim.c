/* SPDX-License-Identifier: MIT */
/* The simulator's side of the ABI comparison. */
#include "hip_abi.h"
#include "hip_abi_table.h"

const struct abi_row abi_rows_sim[] = {
#include "hip_abi_rows.def"
#include "hip_attrs.def"
#include "hip_errors.def"
};
const unsigned abi_count_sim = sizeof(abi_rows_sim) / sizeof(abi_rows_sim[0]);
