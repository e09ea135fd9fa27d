#!/bin/sh
# SPDX-License-Identifier: MIT
# AMD's real HIP runtime on a machine without a GPU: MXG_E_NO_DEVICE and a sentence, no crash.
# The runtime is the ROCm prefix's, so the program runs under the prefix's loader.
prefix=${MXG_TEST_ROCM_PREFIX:-}
conf=$prefix/mxgemm-rocm.conf
build=${abs_top_builddir:-.}
program=$build/tests/api/.libs/no_gpu

skip() {
    echo "skipped: $*" >&2
    exit 77
}
if test -z "$prefix" || test ! -r "$conf"; then
    skip "no ROCm prefix (tools/rocm-prefix makes one)"
fi
test ! -e /dev/kfd || skip "this machine has a GPU"
if nm "$build/src/.libs/libmxgemm.so" | grep -q -e __asan_init -e __tsan_init; then
    skip "a sanitizer's runtime does not fit the prefix's C library"
fi

. "${abs_top_srcdir:-.}/tests/prefix.sh"

MXG_HIP_LIBRARY=$(absolute "$(value amdhip)")
export MXG_HIP_LIBRARY
answer=$("$(absolute "$(value loader)")" --library-path "$(absolute "$(value library_path)"):$build/src/.libs" \
    "$program") || { echo "exit status $?: $answer" >&2; exit 1; }
echo "$answer"
case $answer in
"MXG_E_NO_DEVICE: "*"no GPU"*) exit 0 ;;
*) exit 1 ;;
esac
