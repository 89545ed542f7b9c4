#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each header compiles alone, included twice, as C99 and as C++11, without a
# warning, and stays below 350 lines.
src=${1:-${top_srcdir:-.}}
st=0
cc=${CC:-cc}
cxx=${CXX:-}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' 0
for f in "$src"/include/iosched/*.h include/iosched/version.h; do
    h=iosched/${f##*/}
    printf '#include <%s>\n#include <%s>\nextern int x;\nint x;\n' "$h" "$h" \
        >"$tmp/alone.c"
    $cc -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$src/include" -Iinclude \
        -fsyntax-only "$tmp/alone.c" || st=1
    if [ -n "$cxx" ] && command -v "${cxx%% *}" >/dev/null; then
        cp "$tmp/alone.c" "$tmp/alone.cpp"
        $cxx -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$src/include" \
            -Iinclude -fsyntax-only "$tmp/alone.cpp" || st=1
    fi
    [ "$(wc -l <"$f")" -lt 350 ] || { echo "$h: too long"; st=1; }
done
exit $st
