#!/bin/sh
# SPDX-License-Identifier: MIT
# The header's functions, the symbol map and the library's dynamic symbols are one list.
# usage: check_exports.sh HEADER MAP LIBRARY
set -eu
header=$1 map=$2 library=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
sed -n 's/^MXG_API .*[ *]\(mxg_[a-z0-9_]*\)(.*/\1/p' "$header" | sort >"$tmp/header"
sed -n 's/^ *\(mxg_[a-z0-9_]*\);$/\1/p' "$map" | sort >"$tmp/map"
nm -D --defined-only "$library" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort >"$tmp/library"
status=0
diff -u "$tmp/header" "$tmp/map" || { echo "check_exports: header and map differ" >&2; status=1; }
diff -u "$tmp/map" "$tmp/library" || { echo "check_exports: map and library differ" >&2; status=1; }
[ -s "$tmp/header" ] || { echo "check_exports: no functions found in $header" >&2; status=1; }
exit $status
