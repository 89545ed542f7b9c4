#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The README has exactly one C block, and it is examples/loop.c, which compiles
# from there and prints what the README says it prints.
src=${top_srcdir:-.}
grep -q 'define HAVE_POLICY_DEADLINE 1' config.h 2>/dev/null || {
    echo "skipped: this build has no deadline policy, which the program uses"
    exit 77
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' 0
blocks=$(grep -c '^```c$' "$src/README.md")
[ "$blocks" -eq 1 ] || { echo "README.md has $blocks C blocks, not 1"; exit 1; }
sed -n '/^```c$/,/^```$/p' "$src/README.md" | sed '1d;$d' >"$tmp/loop.c"
diff -u "$src/examples/loop.c" "$tmp/loop.c" || exit 1
lib=.libs/libiosched.so
[ -e $lib ] || lib=.libs/libiosched.a
# shellcheck disable=SC2086
${CC:-cc} ${TEST_CFLAGS:-} -std=c99 -Wall -Wextra -Werror \
    -I"$src/include" -Iinclude "$tmp/loop.c" -o "$tmp/loop" $lib ${ATOMIC_OPS_LIBS:-} || exit 1
LD_LIBRARY_PATH=.libs "$tmp/loop" >"$tmp/out" || exit 1
while read -r line; do
    grep -q -F "$line" "$src/README.md" ||
        { echo "README.md does not show: $line"; exit 1; }
done <"$tmp/out"
echo "compiled from the README and run: $(wc -l <"$tmp/out") lines"
