#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The memory table of doc/PORTING.md is true where it was measured: LP64, both
# policies, atomics.
src=${top_srcdir:-.}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' 0
for have in HAVE_POLICY_NOOP HAVE_POLICY_DEADLINE HAVE_ATOMIC_OPS; do
    grep -q "define $have 1" config.h 2>/dev/null || {
        echo "skipped: the table is for a build with $have"
        exit 77
    }
done
cat >"$tmp/sizes.c" <<'END'
#include <stdio.h>
#include <iosched/iosched.h>
static void row(const char *what, uint32_t flags, uint32_t depth,
                uint32_t streams, uint32_t groups, uint32_t hint)
{
    struct iosched_cfg cfg;

    iosched_cfg_init(&cfg);
    cfg.flags = flags;
    cfg.depth = depth;
    cfg.max_streams = streams;
    cfg.max_groups = groups;
    cfg.queued_hint = hint;
    printf("| %s | %lu |\n", what, (unsigned long)iosched_size(&cfg));
}
int main(void)
{
    const uint32_t n = IOSCHED_F_NO_SWITCH, o = IOSCHED_F_ORDER_OVERLAPS;

    if (sizeof(void *) != 8)
        return 77;
    row("depth 1, 1 stream, 1 group, hint 1, NO_SWITCH", n, 1, 1, 1, 1);
    row("depth 4, 1 stream, 1 group, hint 8, NO_SWITCH", n, 4, 1, 1, 8);
    row("all defaults", 0, 0, 0, 0, 0);
    row("all defaults, NO_SWITCH", n, 0, 0, 0, 0);
    row("all defaults, ORDER_OVERLAPS", o, 0, 0, 0, 0);
    row("depth 32", 0, 32, 0, 0, 0);
    row("depth 256, 1024 streams", 0, 256, 1024, 0, 0);
    return 0;
}
END
lib=.libs/libiosched.so
[ -e $lib ] || lib=.libs/libiosched.a
# shellcheck disable=SC2086
${CC:-cc} ${TEST_CFLAGS:-} -I"$src/include" -Iinclude "$tmp/sizes.c" \
    -o "$tmp/sizes" $lib ${ATOMIC_OPS_LIBS:-} || exit 1
LD_LIBRARY_PATH=.libs "$tmp/sizes" >"$tmp/out"
case $? in
0) ;;
77) echo "skipped: pointers are not of 64 bits here"; exit 77 ;;
*) exit 1 ;;
esac
st=0
while read -r line; do
    grep -q -F "$line" "$src/doc/PORTING.md" ||
        { echo "doc/PORTING.md does not say: $line"; st=1; }
done <"$tmp/out"
echo "$(wc -l <"$tmp/out") rows compared"
exit $st
