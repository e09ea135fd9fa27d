#!/bin/sh
# SPDX-License-Identifier: MIT
# Print the version that include/mxgemm.h states; configure.ac takes it from here.
header=$(dirname "$0")/../include/mxgemm.h
part() { sed -n "s/^#define MXG_VERSION_$1 \([0-9]*\)\$/\1/p" "$header"; }
echo "$(part MAJOR).$(part MINOR).$(part PATCH)"
