# SPDX-License-Identifier: MIT
# Sourced by tests that run under the ROCm prefix's loader: read its manifest ($conf, in $prefix).

# A key's value.
value() {
    sed -n "s/^$1=//p" "$conf" | head -n 1
}

# A colon-separated list of paths, those below the prefix made absolute.
absolute() {
    echo "$1" | tr ':' '\n' | sed "s|^\([^/]\)|$prefix/\1|" | paste -s -d ':' -
}
