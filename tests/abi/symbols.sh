#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The three lists of public functions agree: headers, version map, library.
# The shared library also has no writable global: .data and .bss hold nothing
# of ours.
src=${1:-${top_srcdir:-.}}
st=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' 0
cat "$src"/include/iosched/*.h | tr '\n' ' ' |
    grep -o 'IOSCHED_API[^;{]*(' | grep -o 'iosched_[a-z0-9_]*(' | tr -d '(' |
    LC_ALL=C sort -u >"$tmp/headers"
sed -n 's/^ *\(iosched_[a-z0-9_]*\);.*/\1/p' "$src/libiosched/libiosched.map" |
    LC_ALL=C sort >"$tmp/map"
[ -s "$tmp/headers" ] || { echo "no function found in $src/include"; st=1; }
diff -u "$tmp/headers" "$tmp/map" || st=1
lib=.libs/libiosched.so
if [ -e "$lib" ]; then
    ${NM:-nm} -D --defined-only "$lib" |
        sed -n 's/.* [TDBRV] \(iosched_[a-z0-9_]*\).*/\1/p' |
        LC_ALL=C sort >"$tmp/so"
    diff -u "$tmp/map" "$tmp/so" || st=1
    # Constant tables with pointers in them live in .data.rel.ro.
    if command -v objdump >/dev/null; then
        objdump -t "$lib" | awk '$4 == ".data" || $4 == ".bss" || $5 == ".data" || $5 == ".bss"' |
            grep -E 'iosched| O ' | grep -v -E 'completed\.|__dso_handle|__TMC_END__' >"$tmp/writable" || :
        [ ! -s "$tmp/writable" ] || {
            echo "writable globals:"; cat "$tmp/writable"; st=1; }
    fi
    echo "$(wc -l <"$tmp/so") functions"
else
    echo "no shared library in this build: headers and map compared only"
fi
exit $st
