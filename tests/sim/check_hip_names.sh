#!/bin/sh
# SPDX-License-Identifier: MIT
# The names in hip_names.def, in the version script, and exported by the library are the same.
set -eu
LC_ALL=C
export LC_ALL
src=${abs_top_srcdir:-.}
library=${abs_top_builddir:-.}/sim/.libs/libhipsim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n 's/^HIP_[A-Z_]*(\(.*\))$/\1/p' "$src/sim/hip_names.def" | sort > "$work/def"
sed -n 's/^ *\([A-Za-z_][A-Za-z0-9_]*\);$/\1/p' "$src/sim/libhipsim.map" | sort > "$work/map"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    grep -v '^mxgsim_' | sort > "$work/lib"

test "$(wc -l < "$work/def")" -gt 500 || { echo "hip_names.def: too few names"; exit 1; }
sort -u "$work/def" | cmp -s - "$work/def" || { echo "hip_names.def: a name twice"; exit 1; }
diff "$work/def" "$work/map" || { echo "hip_names.def and libhipsim.map differ"; exit 1; }
# Sanitizers add symbols of their own; none of HIP's may be missing in any build.
comm -23 "$work/def" "$work/lib" > "$work/missing"
test ! -s "$work/missing" || { cat "$work/missing"; echo "not exported"; exit 1; }
comm -13 "$work/def" "$work/lib" | grep -v -e '^__' -e '^_fini$' -e '^_init$' > "$work/extra" ||
    true
test ! -s "$work/extra" || { cat "$work/extra"; echo "exported, but no name of HIP"; exit 1; }

# Simulator controls carry their prefix and are in the header.
nm -D --defined-only "$library" | sed -n 's/.* \(mxgsim_[a-z_]*\)@.*/\1/p' > "$work/control"
test -s "$work/control" || { echo "no mxgsim_ functions exported"; exit 1; }
while read -r name; do
    grep -q "$name(" "$src/sim/mxgsim.h" || { echo "$name is not in mxgsim.h"; exit 1; }
done < "$work/control"
grep -o 'mxgsim_[a-z_]*(' "$src/sim/mxgsim.h" | tr -d '(' | sort -u | while read -r name; do
    grep -qx "$name" "$work/control" || { echo "$name is not exported"; exit 1; }
done
