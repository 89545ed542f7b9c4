#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Pack a folder of scripts into a set, the same bytes for the same contents:
#     pack.sh FOLDER >VERSION-POLICY.tar.xz
# Wants GNU tar.
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: $0 FOLDER >SET" >&2; exit 2; }
cd "$1" || exit 2
LC_ALL=C ls | grep '\.\(script\|expected\|txt\)$' |
    LC_ALL=C tar --format=ustar --owner=0 --group=0 --numeric-owner \
        --mtime=@0 --mode=0644 -T - -cf - |
    xz -c -T1 --check=crc32 --lzma2=preset=9e,lc=4,pb=0
