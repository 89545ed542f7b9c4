#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every source, script and page says its licence near the top.  (Recorded
# vectors and the fuzz corpus are data and say it in their folder's README.)
src=${top_srcdir:-.}
st=0
n=0
for f in $(cd "$src" && find . \( -name '*.[ch]' -o -name '*.cpp' \
        -o -name '*.py' -o -name '*.sh' -o -name '*.am' -o -name '*.ac' \
        -o -name '*.map' -o -name '*.md' -o -name '*.in' \) \
        ! -path './build*' ! -path './_build/*' ! -path './_inst/*' ! -path '*/autom4te.cache/*' ! -path './m4/*' \
        ! -path './.git/*' ! -name Makefile.in ! -name config.h.in ! -name config.h \
        ! -path './libiosched-*' ! -name '*.pc.in' -print; ls scripts/*); do
    f=$src/$f
    [ -f "$f" ] || continue
    n=$((n + 1))
    head -n 3 "$f" | grep -q 'SPDX-License-Identifier: BSD-2-Clause' ||
        { echo "$f: no SPDX line"; st=1; }
done
echo "$n files"
[ "$n" -gt 50 ] || { echo "that is too few"; st=1; }
exit $st
