# SPDX-License-Identifier: BSD-2-Clause
"""The C declarations of libiosched for cffi: its headers, preprocessed.

usage: cdef.py CC INCLUDE_DIR...        prints them

Never a copy: what the compiler sees is what Python gets.
"""
import glob
import os
import re
import subprocess
import sys


def headers(dirs):
    """The public headers below the include directories, by name."""
    found = set()
    for d in dirs:
        for path in glob.glob(os.path.join(d, "iosched", "*.h")):
            found.add(os.path.basename(path))
    return sorted(found)


def preprocessed(cc, dirs):
    """The declarations of all public headers as one text that cffi parses."""
    text = "".join("#include <iosched/%s>\n" % h for h in headers(dirs))
    out = subprocess.run(
        cc.split() + ["-E", "-x", "c", "-"] + ["-I" + d for d in dirs],
        input=text, stdout=subprocess.PIPE, check=True,
        universal_newlines=True).stdout
    keep, ours = [], False
    for line in out.splitlines():       # only what these headers contain
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = "/iosched/" in mark.group(1)
        elif ours:
            keep.append(line)
    return "\n".join(keep)


if __name__ == "__main__":
    print(preprocessed(sys.argv[1], sys.argv[2:]))
