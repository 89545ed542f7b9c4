#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The preprocessed headers parse as a cffi cdef, and a request goes round.
if [ "${PYTHON_CFFI:-no}" = no ]; then
    echo "skipped: no Python 3 with cffi"
    exit 77
fi
if [ ! -e .libs/libiosched.so ]; then
    echo "skipped: no shared library in this build"
    exit 77
fi
grep -q 'define HAVE_POLICY_DEADLINE 1' config.h 2>/dev/null || {
    echo "skipped: this build has no deadline policy, which the program uses"
    exit 77
}
exec "$PYTHON_CFFI" -B "${top_srcdir:-.}/bindings/python/tests/smoke.py" \
    "${CC:-cc}" "$(pwd)/.libs/libiosched.so" "${top_srcdir:-.}/include" include
