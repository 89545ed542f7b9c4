#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Something else happens in the middle of every recorded script, and nothing is
# lost.  inject leaves out the sets of policies that the library does not have.
policies='noop deadline'

src=${srcdir:-.}/tests/conformance/vectors
build=${builddir:-.}
sets=
xz --version >/dev/null 2>&1 || { echo 'SKIP: no xz'; exit 77; }
for policy in $policies; do
    if [ -f "$build/config.h" ] &&
       ! grep -q "define HAVE_POLICY_$(echo "$policy" | tr a-z A-Z) 1" \
             "$build/config.h"; then
        echo "SKIP: the library was configured without $policy"
        exit 77
    fi
    sets="$sets $(echo "$src"/*-"$policy".tar.xz)"
done
exec "$build"/tests/property/inject $sets
