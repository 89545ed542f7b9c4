#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The three lists of public functions agree: headers, version map, library.
src=${1:-${srcdir:-.}}; st=0
tmp=$(mktemp -d) || exit 1; trap 'rm -rf "$tmp"' 0
cat "$src"/include/iosched/*.h | tr '\n' ' ' | grep -o 'IOSCHED_API[^;{]*(' |
  grep -o 'iosched_[a-z0-9_]*(' | tr -d '(' | LC_ALL=C sort -u >"$tmp/headers"
sed -n 's/^ *\(iosched_[a-z0-9_]*\);.*/\1/p' "$src/libiosched/libiosched.map" | LC_ALL=C sort >"$tmp/map"
diff -u "$tmp/headers" "$tmp/map" || st=1
lib=$(ls .libs/libiosched.so 2>/dev/null)
if [ -n "$lib" ]; then
  ${NM:-nm} -D --defined-only "$lib" | sed -n 's/.* T \(iosched_[a-z0-9_]*\).*/\1/p' | LC_ALL=C sort >"$tmp/so"
  diff -u "$tmp/map" "$tmp/so" || st=1
fi
exit $st
