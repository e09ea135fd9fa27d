#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs test_providers under the dynamic loader of the ROCm prefix, so that
# comgr and hiprtc are tested in one process with the library.
prefix=${MXG_TEST_ROCM_PREFIX:-}
conf=$prefix/mxgemm-rocm.conf
program=${abs_top_builddir:-.}/tests/unit/test_providers

if test -z "$prefix" || test ! -r "$conf"; then
    echo "skipped: no ROCm prefix (tools/rocm-prefix makes one)" >&2
    exit 77
fi
if nm "$program" 2>/dev/null | grep -q -e __asan_init -e __tsan_init; then
    echo "skipped: a sanitizer's runtime does not fit the prefix's C library" >&2
    exit 77
fi

. "${abs_top_srcdir:-.}/tests/prefix.sh"

MXG_TEST_IN_PREFIX=1
export MXG_TEST_IN_PREFIX
exec "$(absolute "$(value loader)")" --library-path "$(absolute "$(value library_path)")" "$program"
