#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom: an arrow never runs upward.
#
#   include/iosched         itself, <stddef.h>, <stdint.h>
#   libiosched/ds           its own header, util.h, port.h
#   libiosched/policies     <iosched/policy.h> and the primitives, nothing else
#                           (builtin.c: config.h, for what this build has)
#   libiosched/core         <iosched/*.h>, internal.h, util.h, port.h, and the
#                           inner side of tags: device/tags_internal.h
#   libiosched/device       <iosched/*.h>, its own *_internal.h, util.h, port.h
#   examples, bench, tests  but tests/unit: <iosched/*.h>, their own, the system
src=${1:-${top_srcdir:-.}}
st=0

# usage: only FILES-PATTERN ALLOWED-ERE...
check() {
    file=$1; shift
    bad=$(grep -n '^ *# *include' "$file" | grep -v -E "$@")
    [ -z "$bad" ] || { echo "$file: $bad"; st=1; }
}
n=0
for f in "$src"/include/iosched/*.h "$src"/include/iosched/version.h.in; do
    n=$((n + 1))
    check "$f" '<iosched/[a-z]+\.h>|<std(def|int)\.h>'
done
for f in "$src"/libiosched/ds/*.c; do
    n=$((n + 1))
    own=$(basename "$f" .c)
    check "$f" "<iosched/$own\\.h>|\"(util|port)\\.h\""
done
for f in "$src"/libiosched/policies/*.c "$src"/libiosched/policies/*/*.[ch]; do
    [ -e "$f" ] || continue
    n=$((n + 1))
    case $f in
    */builtin.c) check "$f" '<iosched/policy\.h>|<config\.h>' ;;
    */policies/*/*) check "$f" '<iosched/(policy|stree|rbtree|fifo)\.h>|"[a-z]+\.h"' ;;
    *) check "$f" '<iosched/(policy|stree|rbtree|fifo)\.h>' ;;
    esac
done
for f in "$src"/libiosched/core/*.[ch]; do
    n=$((n + 1))
    check "$f" '<iosched/[a-z]+\.h>|"(hot|internal|util|port)\.h"|"device/tags_internal\.h"'
done
for f in "$src"/libiosched/device/*.[ch]; do
    n=$((n + 1))
    check "$f" '<iosched/[a-z]+\.h>|"([a-z]+_internal|util|port)\.h"'
done
for f in "$src"/examples/*.[ch] "$src"/bench/*.[ch] "$src"/tests/api/*.c \
    "$src"/tests/walkthrough/*.[ch] "$src"/tests/property/*.[ch] \
    "$src"/tests/fuzz/*.[ch] "$src"/tests/conformance/*.[ch]; do
    [ -e "$f" ] || continue
    n=$((n + 1))
    bad=$(grep -n -E '^ *# *include *"(.*/)?(internal|tags_internal|device_internal|util|port|config)\.h"' "$f")
    [ -z "$bad" ] || { echo "$f: $bad"; st=1; }
    bad=$(grep -n -E '^ *# *include.*libiosched/' "$f")
    [ -z "$bad" ] || { echo "$f: $bad"; st=1; }
done
echo "$n files looked at"
[ "$n" -gt 40 ] || { echo "that is too few: is $src the source?"; st=1; }
exit $st
