#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every recorded decision of these policies is taken again.
policies='noop deadline'

src=${srcdir:-.}/tests/conformance
build=${builddir:-.}
replay=$build/tests/conformance/replay
st=0 done=0
xz --version >/dev/null 2>&1 || { echo 'SKIP: no xz'; exit 77; }

# 1 if the library was configured without a policy.
left_out() {
    [ -f "$build/config.h" ] &&
        ! grep -q "define HAVE_POLICY_$(echo "$1" | tr a-z A-Z) 1" \
              "$build/config.h"
}

for policy in $policies; do
    if left_out "${policy%-groups}"; then
        echo "left out: the library was configured without $policy"
        continue
    fi
    for set in "$src"/vectors/*-"$policy".tar.xz; do
        want=$(xz -dc "$set" | tar tf - | grep -c '\.script$')
        out=$($replay "$set") || st=1
        echo "${set##*/}: $out"
        case $out in
        *"scripts $want, identical $want, decisions "*) ;;
        *) echo "${set##*/}: $want scripts are in it"; st=1 ;;
        esac
        done=$((done + 1))
    done
    for folder in "$src"/plain/*/"$policy"; do
        [ -d "$folder" ] || continue
        out=$($replay "$folder") || st=1
        echo "$folder: $out"
    done
done
[ $done -gt 0 ] || { echo 'SKIP: configured without these policies'; exit 77; }
exit $st
