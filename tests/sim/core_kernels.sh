#!/bin/sh
# SPDX-License-Identifier: MIT
# Assembles core_kernels.s with LLVM (20 or later) and prints core_kernels.inc:
#   LLVM_MC=llvm-mc-22 LLVM_OBJDUMP=llvm-objdump-22 sh core_kernels.sh > core_kernels.inc
set -eu
here=$(dirname "$0")
object=$(mktemp)
trap 'rm -f "$object"' EXIT
"${LLVM_MC:-llvm-mc-22}" -triple=amdgcn-amd-amdhsa -mcpu=gfx950 -filetype=obj \
    -o "$object" "$here/core_kernels.s"
echo '/* SPDX-License-Identifier: MIT */'
echo '/* Made by core_kernels.sh from core_kernels.s. */'
"${LLVM_OBJDUMP:-llvm-objdump-22}" -d --mcpu=gfx950 "$object" | awk '
/^[0-9a-f]+ <k_/ {
    if (name != "") print "};"
    name = $2
    gsub(/[<>:]/, "", name)
    names[++count] = name
    print "\nstatic const uint32_t " name "[] = {"
    next
}
/\/\/ [0-9A-F]+:/ {
    split($0, part, "//")
    text = part[1]
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    sub(/^ *[0-9A-F]+: */, "", part[2])
    sub(/ *<.*/, "", part[2])
    n = split(part[2], word, " ")
    line = "   "
    for (i = 1; i <= n; i++) line = line " 0x" tolower(word[i]) ","
    print line " /* " text " */"
}
END {
    print "};"
    print "\n#define CORE_KERNELS(X) \\"
    for (i = 1; i <= count; i++) print "    X(" names[i] ")" (i < count ? " \\" : "")
}'
