#!/bin/sh
# SPDX-License-Identifier: MIT
# The header's functions, the symbol map and the library's dynamic symbols are one list.
exec "$abs_top_srcdir/build-aux/check_exports.sh" "$abs_top_srcdir/include/mxgemm.h" \
    "$abs_top_srcdir/src/libmxgemm.map" "$abs_top_builddir/src/.libs/libmxgemm.so"
