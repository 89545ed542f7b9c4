#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A program outside the tree, built through pkg-config against what
# `make install DESTDIR=` installs: shared, and static where there is a static
# library.  Then the same against the build tree, by the -uninstalled file.
src=$(cd "${top_srcdir:-.}" && pwd)
build=$(pwd)
st=0
grep -q 'define HAVE_POLICY_DEADLINE 1' config.h 2>/dev/null || {
    echo "skipped: this build has no deadline policy, which the program uses"
    exit 77
}
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 77; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' 0
cc=${CC:-cc}
TEST_CFLAGS=${TEST_CFLAGS:-}          # what the library was built with
# Not the flags of the make that runs this test.
unset MAKEFLAGS MFLAGS MAKELEVEL
if ! ${MAKE:-make} -s install DESTDIR="$tmp/dest" >"$tmp/log" 2>&1; then
    cat "$tmp/log"
    exit 1
fi
pc=$(find "$tmp/dest" -name libiosched.pc)
[ -n "$pc" ] || { echo "libiosched.pc is not installed"; exit 1; }
PKG_CONFIG_PATH=$(dirname "$pc")
PKG_CONFIG_SYSROOT_DIR=$tmp/dest
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
libdir=$tmp/dest$(PKG_CONFIG_SYSROOT_DIR= pkg-config --variable=libdir libiosched)
mkdir "$tmp/prog" && cp "$src/examples/loop.c" "$tmp/prog" && cd "$tmp/prog" ||
    exit 1
want="$(pkg-config --modversion libiosched)"
echo "installed: libiosched $want in $(pkg-config --variable=libdir libiosched)"

if ls "$libdir"/libiosched.so >/dev/null 2>&1; then
    # shellcheck disable=SC2046
    $cc $TEST_CFLAGS loop.c -o shared $(pkg-config --cflags --libs libiosched) &&
        LD_LIBRARY_PATH=$libdir ./shared >out.shared || st=1
    grep -q 'block' out.shared || { echo "shared: no output"; st=1; }
    # It must be the installed one that was used.
    LD_LIBRARY_PATH=$libdir ldd ./shared | grep -q "$libdir/libiosched.so" ||
        { echo "shared: not linked with the installed library"; st=1; }
    echo "shared: ok"
else
    echo "shared: left out, this build has none"
fi
if [ -e "$libdir/libiosched.a" ]; then
    # shellcheck disable=SC2046
    $cc $TEST_CFLAGS loop.c -o static $(pkg-config --cflags libiosched) \
        -L"$libdir" -Wl,-Bstatic $(pkg-config --static --libs-only-l libiosched) \
        -Wl,-Bdynamic && ./static >out.static || st=1
    grep -q 'block' out.static || { echo "static: no output"; st=1; }
    echo "static: ok"
else
    echo "static: left out, this build has none"
fi
# Against the build tree, as an embedder's own build would in-tree.
if [ -e out.shared ]; then
    unset PKG_CONFIG_SYSROOT_DIR
    PKG_CONFIG_PATH=$build/libiosched
    # shellcheck disable=SC2046
    $cc $TEST_CFLAGS loop.c -o intree \
        $(pkg-config --cflags --libs libiosched-uninstalled) &&
        LD_LIBRARY_PATH=$build/.libs ./intree >out.intree &&
        cmp out.shared out.intree || st=1
    echo "uninstalled: ok"
fi
[ ! -e out.shared ] || [ ! -e out.static ] || cmp out.shared out.static || st=1
exit $st
