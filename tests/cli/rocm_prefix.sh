#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests tools/rocm-prefix without network: its arguments, its error statuses and, where gpg and
# a C compiler are at hand, whole runs against a small signed archive made here. In that archive
# libc6 is this machine's own C library and ROCm's libraries are empty shells.

set -u
LC_ALL=C
export LC_ALL
unset MXG_DEBIAN_MIRROR MXG_DEBIAN_KEYRING

top=$(cd "$(dirname "$0")/../.." && pwd)
tool=$top/tools/rocm-prefix
for needed in apt-get dpkg-deb flock; do
    command -v $needed >/dev/null || { echo "SKIP: no $needed"; exit 77; }
done
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: not x86_64"; exit 77; }

tmp=$(mktemp -d) || exit 99
tmp=$(readlink -f "$tmp")
checks=0 failures=0
cleanup() {
    [ ! -d "$tmp/gnupg" ] || gpgconf --homedir "$tmp/gnupg" --kill all 2>/dev/null
    rm -rf "$tmp"
}
trap cleanup EXIT

fail() {
    failures=$((failures + 1))
    echo "FAIL: $*"
    sed 's/^/    stdout: /' "$tmp/stdout"
    sed 's/^/    stderr: /' "$tmp/stderr"
}

# expect STATUS PATTERN COMMAND...: a run that succeeds is silent on stderr and its stdout
# matches; one that fails says one line on stderr, which matches.
expect() {
    want=$1 pattern=$2
    shift 2
    checks=$((checks + 1))
    "$@" >"$tmp/stdout" 2>"$tmp/stderr"
    got=$?
    if [ "$want" -eq 0 ]; then
        lines=0 stream=stdout
    else
        lines=1 stream=stderr
    fi
    if [ "$got" -ne "$want" ]; then
        fail "status $got instead of $want: $*"
    elif [ "$(wc -l <"$tmp/stderr")" -ne $lines ]; then
        fail "$lines lines expected on stderr: $*"
    elif ! grep -q -e "$pattern" "$tmp/$stream"; then
        fail "no '$pattern' on $stream: $*"
    fi
}

# verify MESSAGE COMMAND...: COMMAND succeeds.
verify() {
    message=$1
    shift
    checks=$((checks + 1))
    "$@" || fail "$message"
}

absent() {
    [ ! -e "$1" ]
}

test_rocm_prefix_rejects_wrong_arguments() {
    expect 0 '^usage: rocm-prefix' "$tool" --help
    expect 2 "unknown option '--frob'" "$tool" --frob
    expect 2 'one DIR at most, got 2: a b' "$tool" a b
    expect 2 'DIR is empty' "$tool" ''
    expect 2 'DIR is the root folder' "$tool" /tmp/..
    # shellcheck disable=SC2016 # the dollar signs are part of the names.
    for name in 'a:b' 'a;b' 'a$b' 'a"b' 'a\b' 'a
b'; do
        checks=$((checks + 1))
        "$tool" "$tmp/$name" >"$tmp/stdout" 2>"$tmp/stderr"
        [ $? -eq 2 ] || fail "accepted the name '$name'"
    done
    expect 2 'neither XDG_CACHE_HOME nor HOME' env -u HOME -u XDG_CACHE_HOME "$tool"
    expect 2 "'nowhere' is not a URI" env MXG_DEBIAN_MIRROR=nowhere "$tool" "$tmp/x"
    expect 2 'is not a URI' env MXG_DEBIAN_MIRROR='http://a/$(b)' "$tool" "$tmp/x"
    expect 2 'no plain absolute path' env MXG_DEBIAN_KEYRING=rel.gpg "$tool" "$tmp/x"
    expect 3 'cannot be read' env MXG_DEBIAN_KEYRING=/nonexistent.gpg "$tool" "$tmp/x"
    verify "a refused run left something" absent "$tmp/x.part"
}

test_rocm_prefix_names_a_missing_tool() {
    mkdir "$tmp/bin"
    for program in sh readlink sed head awk cat; do
        ln -s "$(command -v $program)" "$tmp/bin/$program"
    done
    expect 3 "'apt-get' is needed and missing" env PATH="$tmp/bin" "$tool" "$tmp/x"
}

test_rocm_prefix_reports_an_unreachable_mirror() {
    : >"$tmp/key.gpg"
    expect 4 'cannot be reached: .*127.0.0.1' env MXG_DEBIAN_MIRROR=http://127.0.0.1:9/debian \
        MXG_DEBIAN_KEYRING="$tmp/key.gpg" "$tool" "$tmp/offline"
    verify "an offline run left something" absent "$tmp/offline.part"
    expect 4 'cannot be reached' env MXG_DEBIAN_MIRROR=http://127.0.0.1:9/debian \
        MXG_DEBIAN_KEYRING="$tmp/key.gpg" "$tool" --list "$tmp/offline"
}

# host_apt URI: makes apt believe that this machine uses the archive at URI, index not fetched.
host_apt() {
    mkdir -p "$tmp/host/lists/partial"
    echo "deb $1 bookworm main" >"$tmp/host/sources.list"
    printf '%s "%s";\n' Dir::Etc::sourcelist "$tmp/host/sources.list" \
        Dir::Etc::sourceparts "$tmp/host/none" Dir::State::lists "$tmp/host/lists" \
        >"$tmp/host/apt.conf"
}

test_rocm_prefix_asks_apt_for_the_mirror() {
    export APT_CONFIG="$tmp/host/apt.conf" MXG_DEBIAN_KEYRING="$tmp/key.gpg"
    host_apt http://127.0.0.1:9/mirror/debian
    expect 4 'archive http://127.0.0.1:9/mirror/debian cannot be reached' "$tool" "$tmp/x"
    sed -i s/bookworm/noble/ "$tmp/host/sources.list"
    expect 4 'apt uses no Debian archive here; set MXG_DEBIAN_MIRROR' "$tool" "$tmp/x"
    unset APT_CONFIG MXG_DEBIAN_KEYRING
}

test_rocm_prefix_refuses_folders_it_cannot_use() {
    mkdir "$tmp/foreign"
    : >"$tmp/foreign/file"
    export MXG_DEBIAN_KEYRING="$tmp/key.gpg"
    expect 7 'not empty and not made by' "$tool" "$tmp/foreign"
    expect 7 'not empty and not made by' "$tool" "$tmp/key.gpg"
    expect 7 'cannot write beside' "$tool" "$tmp/key.gpg/x"
    verify "a foreign folder was touched" [ -f "$tmp/foreign/file" ]
    if [ "$(id -u)" -ne 0 ]; then
        mkdir -m 555 "$tmp/readonly"
        expect 7 'cannot write beside' "$tool" "$tmp/readonly/x"
    fi
    unset MXG_DEBIAN_KEYRING
}

make_false_prefix() {
    mkdir -p "$1/lib"
    for file in ld.so comgr hiprtc hip; do
        : >"$1/lib/$file"
    done
    printf '%s\n' version=9.8.7 loader=lib/ld.so library_path=lib comgr=lib/comgr \
        hiprtc=lib/hiprtc amdhip=lib/hip >"$1/mxgemm-rocm.conf"
}

test_rocm_prefix_leaves_a_complete_prefix_alone() {
    make_false_prefix "$tmp/false"
    export MXG_DEBIAN_MIRROR=http://127.0.0.1:9/debian MXG_DEBIAN_KEYRING="$tmp/key.gpg"
    expect 0 'false is complete: ROCm 9.8.7' "$tool" "$tmp/false"
    expect 0 'is complete' env XDG_CACHE_HOME="$tmp/cache" sh -c \
        "mkdir -p '$tmp/cache/mxgemm' && ln -s '$tmp/false' '$tmp/cache/mxgemm/rocm' && '$tool'"
    expect 9 'does not work: its loader cannot start' "$tool" --check "$tmp/false"
    expect 9 'has no mxgemm-rocm.conf' "$tool" --check "$tmp/nothing"
    # Not complete any more, and offline: it must try, fail and keep what is there.
    rm "$tmp/false/lib/hip"
    expect 9 'lacks lib/hip' "$tool" --check "$tmp/false"
    expect 4 'cannot be reached' "$tool" "$tmp/false"
    verify "a failed run touched the prefix" [ -f "$tmp/false/mxgemm-rocm.conf" ]
    sed -i /^hiprtc=/d "$tmp/false/mxgemm-rocm.conf"
    expect 9 "has no 'hiprtc'" "$tool" --check "$tmp/false"
    unset MXG_DEBIAN_MIRROR MXG_DEBIAN_KEYRING
}

# make_package SUITE NAME VERSION DEPENDS: packs $tmp/root and adds it to the index of SUITE.
make_package() {
    mkdir -p "$tmp/root/DEBIAN" "$tmp/archive/pool/$1" "$tmp/index"
    cat >"$tmp/root/DEBIAN/control" <<END
Package: $2
Version: $3
Architecture: amd64
Maintainer: nobody <nobody@invalid>
Installed-Size: 4
Depends: $4
Description: test package
END
    sed -i '/^Depends: $/d' "$tmp/root/DEBIAN/control"
    file=pool/$1/$2_$3_amd64.deb
    dpkg-deb --root-owner-group -Znone -b "$tmp/root" "$tmp/archive/$file" \
        >"$tmp/stdout" || exit 99
    {
        cat "$tmp/root/DEBIAN/control"
        echo "Filename: $file"
        echo "Size: $(stat -c %s "$tmp/archive/$file")"
        echo "SHA256: $(sha256sum "$tmp/archive/$file" | cut -d ' ' -f 1)"
        echo
    } >>"$tmp/index/$1"
    rm -rf "$tmp/root"
}

# make_library SONAME [LIBRARY]: a library with one function, in $tmp/root, that needs LIBRARY.
# $broken, if set, is C text that goes into it.
make_library() {
    mkdir -p "$tmp/root/usr/lib/x86_64-linux-gnu" "$tmp/libs"
    lib=$tmp/root/usr/lib/x86_64-linux-gnu
    printf '%s\n' "int f_$(echo "$1" | tr -c 'a-z0-9\n' _)(void) { return 1; }" "${broken:-}" \
        >"$tmp/lib.c"
    ${CC:-cc} -shared -fPIC "-Wl,-soname,$1" -Wl,--no-as-needed -o "$lib/$1.0" "$tmp/lib.c" \
        ${2:+"$tmp/libs/$2"} 2>"$tmp/stderr" || return 1
    ln -s "$1.0" "$lib/$1"
    cp "$lib/$1.0" "$tmp/libs/$1"
}

make_libc() {
    lib=$tmp/root/usr/lib/x86_64-linux-gnu
    mkdir -p "$lib" "$tmp/root/usr/share/doc/libc6" "$tmp/root/usr/lib64"
    cp "$(readlink -f /lib64/ld-linux-x86-64.so.2)" "$lib/ld-linux-x86-64.so.2" || return 1
    ln -s ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 "$tmp/root/usr/lib64/"
    for path in $(ldd "$(command -v cat)" | sed -n 's/.* => \(.*\) (.*/\1/p'); do
        cp "$(readlink -f "$path")" "$lib/${path##*/}" || return 1
    done
    echo terms >"$tmp/root/usr/share/doc/libc6/copyright"
    echo long >"$tmp/root/usr/share/doc/libc6/manual"
}

# make_hip SUITE VERSION: the packages of one ROCm.
make_hip() {
    major=${2%%.*}
    make_library libfakellvm.so.22 && make_package "$1" libfakellvm 1:22.1-1 libc6 &&
        make_library libamd_comgr.so.3 libfakellvm.so.22 &&
        make_package "$1" libamd-comgr3 "$2" "libfakellvm, libfakeclang-dev" &&
        make_library "libhiprtc.so.$major" && make_package "$1" "libhiprtc$major" "$2" libc6 &&
        make_library "libamdhip64.so.$major" &&
        make_package "$1" "libamdhip64-$major" "$2" libamd-comgr3
}

# sign_suite SUITE: writes the signed index of SUITE.
sign_suite() {
    suite=$tmp/archive/dists/$1
    mkdir -p "$suite/main/binary-amd64"
    cp "$tmp/index/$1" "$suite/main/binary-amd64/Packages"
    {
        printf '%s\n' 'Origin: Debian' "Suite: $1" "Codename: $1" "Date: $(date -u -R)" \
            'Architectures: amd64' 'Components: main' SHA256:
        (cd "$suite" && echo " $(sha256sum main/binary-amd64/Packages | cut -d ' ' -f 1)" \
            "$(stat -c %s main/binary-amd64/Packages)" main/binary-amd64/Packages)
    } >"$tmp/Release"
    gpg --homedir "$tmp/gnupg" --batch --yes --clearsign -o "$suite/InRelease" "$tmp/Release" \
        2>"$tmp/stderr"
}

make_archive() {
    command -v gpg >/dev/null && command -v gpgconf >/dev/null &&
        command -v "${CC:-cc}" >/dev/null || return 1
    mkdir -m 700 "$tmp/gnupg"
    gpg --homedir "$tmp/gnupg" --batch --passphrase '' --quick-gen-key test@invalid rsa2048 \
        sign never 2>"$tmp/stderr" &&
        gpg --homedir "$tmp/gnupg" --export >"$tmp/key.gpg" || return 1
    make_libc && make_package sid libc6 2.99-1 '' || return 1
    mkdir -p "$tmp/root/usr/include" && : >"$tmp/root/usr/include/clang.h" &&
        make_package sid libfakeclang-dev 1 '' &&
        make_hip experimental 7.9.1-1~exp1 && make_hip sid 6.8.2-1 &&
        sign_suite experimental && sign_suite sid
}

test_rocm_prefix_lists_and_leaves_nothing() {
    expect 0 'ROCm 7.9.1 from experimental: 5 packages' "$tool" --list "$tmp/list"
    verify "the dry run made something" absent "$tmp/list"
    verify "the dry run left something" absent "$tmp/list.part"
}

test_rocm_prefix_makes_a_prefix_that_works() {
    made="$tmp/made with space/rocm"
    expect 0 'is ready: ROCm 7.9.1' "$tool" "$made"
    expect 0 'works: ROCm 7.9.1' "$tool" --check "$made"
    expect 0 'is complete' "$tool" "$made"
    verify "the work folder is left" absent "$made.part"
    for file in libamd_comgr.so.3 libhiprtc.so.7 libamdhip64.so.7 libfakellvm.so.22 libc.so.6 \
        ld-linux-x86-64.so.2; do
        verify "$file is missing" [ -f "$made/lib/$file" ]
    done
    verify "compiler headers were unpacked" absent "$made/usr"
    verify "a licence is missing" [ -f "$made/doc/libc6.copyright" ]
    printf '%s\n' version=7.9.1 loader=lib/ld-linux-x86-64.so.2 library_path=lib \
        comgr=lib/libamd_comgr.so.3 hiprtc=lib/libhiprtc.so.7 amdhip=lib/libamdhip64.so.7 \
        suite=experimental >"$tmp/want"
    grep -v '^#' "$made/mxgemm-rocm.conf" >"$tmp/got"
    verify "the manifest differs" cmp "$tmp/want" "$tmp/got"
    # Damage is seen and repaired, and so is it under --force.
    rm "$made/lib/libfakellvm.so.22"
    expect 9 'does not work' "$tool" --check "$made"
    expect 0 'is ready' "$tool" --force "$made"
    rm "$made/lib/libhiprtc.so.7"
    expect 0 'is ready' "$tool" "$made"
    expect 0 'works' "$tool" --check "$made"
    expect 0 '^$' sh -c "'$tool' --quiet --force '$made' && echo"
    mv "$made" "$tmp/moved"
    expect 0 'works' "$tool" --check "$tmp/moved"
}

test_rocm_prefix_goes_on_after_an_interruption() {
    # What a killed run leaves: one whole file, one that is damaged and of the right size.
    part=$tmp/resumed.part/cache/archives
    mkdir -p "$part/partial"
    cp "$tmp/archive/pool/sid/libc6_2.99-1_amd64.deb" "$part/"
    file=libhiprtc7_7.9.1-1~exp1_amd64.deb
    head -c "$(stat -c %s "$tmp/archive/pool/experimental/$file")" /dev/zero >"$part/$file"
    expect 0 'is ready' "$tool" "$tmp/resumed"
    expect 0 'works' "$tool" --check "$tmp/resumed"
    mkdir "$tmp/empty"
    expect 0 'is ready' "$tool" "$tmp/empty"
    expect 0 'home/.cache/mxgemm/rocm is ready' env -u XDG_CACHE_HOME HOME="$tmp/home" "$tool"
    verify "the cache folder is open to others" \
        [ "$(stat -c %a "$tmp/home/.cache/mxgemm")" = 700 ]
}

test_rocm_prefix_waits_for_another_run() {
    "$tool" --quiet "$tmp/twice" >"$tmp/other" 2>&1 &
    other=$!
    expect 0 'ROCm 7.9.1' "$tool" "$tmp/twice"
    verify "the other run failed: $(cat "$tmp/other")" wait $other
    expect 0 'works' "$tool" --check "$tmp/twice"
}

test_rocm_prefix_rejects_forged_archives() {
    cp -r "$tmp/archive" "$tmp/forged"
    deb=$tmp/forged/pool/experimental/libhiprtc7_7.9.1-1~exp1_amd64.deb
    printf x | dd of="$deb" bs=1 seek=200 conv=notrunc 2>/dev/null
    expect 6 'does not match its signed index' env MXG_DEBIAN_MIRROR="file:$tmp/forged" \
        "$tool" --quiet "$tmp/x"
    verify "a forged archive gave a prefix" absent "$tmp/x"
    rm -rf "$tmp/x.part"
    sed -i 's/^Size: /Size:  /' "$tmp/forged/dists/sid/main/binary-amd64/Packages"
    expect 6 'failed verification' env MXG_DEBIAN_MIRROR="file:$tmp/forged" "$tool" -q "$tmp/x"
    sed -i 's/^Suite: .*/Suite: forged/' "$tmp/forged/dists/experimental/InRelease"
    expect 6 'failed verification' env MXG_DEBIAN_MIRROR="file:$tmp/forged" "$tool" -q "$tmp/x"
    rm -rf "$tmp/forged"
    gpg --homedir "$tmp/gnupg" --batch --passphrase '' --quick-gen-key other@invalid rsa2048 \
        sign never 2>"$tmp/stderr"
    gpg --homedir "$tmp/gnupg" --export other@invalid >"$tmp/other.gpg"
    expect 6 'failed verification' env MXG_DEBIAN_KEYRING="$tmp/other.gpg" "$tool" -q "$tmp/x"
}

test_rocm_prefix_falls_back_to_older_suites() {
    mkdir "$tmp/older" "$tmp/none"
    cp -r "$tmp/archive/pool" "$tmp/archive/dists" "$tmp/older"
    rm -r "$tmp/older/dists/experimental"
    expect 0 'note: only ROCm 6.8.2 is to be had' env MXG_DEBIAN_MIRROR="file:$tmp/older" \
        "$tool" "$tmp/old"
    expect 0 'works: ROCm 6.8.2' "$tool" --check "$tmp/old"
    verify "the older hiprtc is missing" grep -q '^hiprtc=lib/libhiprtc.so.6$' \
        "$tmp/old/mxgemm-rocm.conf"
    expect 5 'has no usable ROCm' env MXG_DEBIAN_MIRROR="file:$tmp/none" "$tool" -q "$tmp/x"
}

test_rocm_prefix_keeps_back_what_does_not_start() {
    cp "$tmp/index/experimental" "$tmp/index/whole"
    broken='#include <unistd.h>
__attribute__((constructor)) static void die(void) { _exit(7); }'
    make_library libamdhip64.so.8 && make_package experimental libamdhip64-8 8 libamd-comgr3 ||
        exit 99
    broken=''
    make_library libhiprtc.so.8 && make_package experimental libhiprtc8 8 libc6
    sign_suite experimental
    expect 9 'the unpacked ROCm does not work: .*status 7' "$tool" -q "$tmp/broken"
    verify "a broken prefix was published" absent "$tmp/broken"
    mv "$tmp/index/whole" "$tmp/index/experimental"
}

test_rocm_prefix_falls_back_when_a_dependency_is_missing() {
    sed -i 's/^Depends: libamd-comgr3$/&, libnowhere/' "$tmp/index/experimental"
    sign_suite experimental
    expect 0 'no usable ROCm in experimental sid: .*libnowhere' "$tool" --list "$tmp/x"
    expect 0 'ROCm 6.8.2 from sid' "$tool" --list "$tmp/x"
}

test_rocm_prefix_reports_a_full_disk() {
    mkdir "$tmp/small"
    # A mount of its own needs a privilege that not every machine gives.
    if ! unshare -rm mount -t tmpfs none "$tmp/small" 2>/dev/null; then
        echo "not run: full disk (no private mounts here)"
        return
    fi
    for size in 16k 400k 3m; do
        expect 8 'disk full' unshare -rm sh -c \
            "mount -t tmpfs -o size=$size none '$tmp/small' && '$tool' -q '$tmp/small/rocm'"
    done
    expect 7 'Read-only file system' unshare -rm sh -c \
        "mount -t tmpfs -o ro none '$tmp/small' && '$tool' -q '$tmp/small/rocm'"
}

test_rocm_prefix_rejects_wrong_arguments
test_rocm_prefix_names_a_missing_tool
test_rocm_prefix_reports_an_unreachable_mirror
test_rocm_prefix_asks_apt_for_the_mirror
test_rocm_prefix_refuses_folders_it_cannot_use
test_rocm_prefix_leaves_a_complete_prefix_alone
if make_archive; then
    export MXG_DEBIAN_MIRROR="file:$tmp/archive" MXG_DEBIAN_KEYRING="$tmp/key.gpg"
    test_rocm_prefix_lists_and_leaves_nothing
    test_rocm_prefix_makes_a_prefix_that_works
    test_rocm_prefix_goes_on_after_an_interruption
    test_rocm_prefix_waits_for_another_run
    test_rocm_prefix_rejects_forged_archives
    test_rocm_prefix_falls_back_to_older_suites
    test_rocm_prefix_reports_a_full_disk
    test_rocm_prefix_keeps_back_what_does_not_start
    test_rocm_prefix_falls_back_when_a_dependency_is_missing
else
    echo "not run: whole runs (gpg or a C compiler is missing, or fails)"
fi
echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
