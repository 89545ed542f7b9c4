#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each header compiles alone, twice included, and stays below 350 lines.
src=${1:-${srcdir:-.}}; st=0; cc=${CC:-cc}
tmp=$(mktemp -d) || exit 1; trap 'rm -rf "$tmp"' 0
for f in "$src"/include/iosched/*.h; do
    h=iosched/${f##*/}
    printf '#include <%s>\n#include <%s>\nint x;\n' "$h" "$h" >"$tmp/alone.c"
    $cc -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$src/include" -Iinclude \
        -fsyntax-only "$tmp/alone.c" || st=1
    [ "$(wc -l <"$f")" -lt 350 ] || { echo "$h: too long"; st=1; }
done
exit $st
