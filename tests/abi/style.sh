#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What needs no eye to see: no line over 80 columns, no tab, no blank at the
# end of a line, no file over 800 lines (headers: headers.sh).
src=${top_srcdir:-.}
st=0
n=0
for f in "$src"/include/iosched/*.h "$src"/libiosched/*.h \
    "$src"/libiosched/*/*.[ch] "$src"/examples/*.[ch] "$src"/bench/*.[ch] \
    "$src"/tests/*/*.[ch]; do
    [ -e "$f" ] || continue
    n=$((n + 1))
    awk -v f="$f" '
        length > 80 { print f ":" FNR ": over 80 columns"; bad = 1 }
        /\t/ { print f ":" FNR ": a tab"; bad = 1 }
        / $/ { print f ":" FNR ": a blank at the end"; bad = 1 }
        END { if (FNR > 800) { print f ": " FNR " lines"; bad = 1 }
              exit bad }' "$f" || st=1
done
echo "$n files"
[ "$n" -gt 60 ] || { echo "that is too few"; st=1; }
exit $st
