/* SPDX-License-Identifier: MIT */
/*
 * The rows of hip_abi_rows.def as one set of declarations sees them.  Included once after the
 * simulator's and once after AMD's declarations, which cannot meet in one file.
 */
#ifndef TESTS_SIM_HIP_ABI_TABLE_H
#define TESTS_SIM_HIP_ABI_TABLE_H

struct abi_row {
    const char *name;
    unsigned long long value;
};

extern const struct abi_row abi_rows_sim[], abi_rows_amd[];
extern const unsigned abi_count_sim, abi_count_amd;

#define VALUE(constant) { #constant, (unsigned long long)(constant) },
#define SIZE(type) { "sizeof " #type, sizeof(type) },
#define OFFSET(type, member) { #type "." #member, offsetof(type, member) },
#define HIP_ERROR(name, number, text) { #name, (unsigned long long)(name) },
#define HIP_ATTR(name, number, expr) { #name, (unsigned long long)(name) },

#endif
