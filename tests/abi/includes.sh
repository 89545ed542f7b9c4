#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom: headers themselves and two of C's, policies the policy
# header and the primitives'.
src=${1:-${srcdir:-.}}; st=0
bad() { echo "$1"; st=1; }
for f in "$src"/include/iosched/*.h "$src"/include/iosched/version.h.in; do
    out=$(grep -n '^ *# *include' "$f" |
          grep -v -e '<iosched/[a-z]*\.h>' -e '<std\(def\|int\)\.h>')
    [ -z "$out" ] || bad "$f: $out"
done
for f in "$src"/libiosched/policy/*.c; do
    out=$(grep -n '^ *# *include' "$f" | grep -v '<iosched/\(policy\|stree\|rbtree\|fifo\)\.h>')
    [ -z "$out" ] || bad "$f: $out"
done
exit $st
