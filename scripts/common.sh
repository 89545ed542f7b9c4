# SPDX-License-Identifier: BSD-2-Clause
# common.sh - what scripts/demo and scripts/check share: packages, build.
# shellcheck shell=sh

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# The packages of the groups named, from scripts/packages.
packages() {
    for group; do
        sed -n "/^# $group:/,/^\$/p" "$top/scripts/packages" | grep -v '^#'
    done
}

# Install what is missing of the groups named, as root or through sudo.
install_packages() {
    missing=
    for p in $(packages "$@"); do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = \
            installed ] || missing="$missing $p"
    done
    [ -n "$missing" ] || return 0
    say "installing:$missing"
    if [ "$(id -u)" -eq 0 ]; then
        sudo=
    elif command -v sudo >/dev/null; then
        sudo=sudo
    else
        die "these packages are missing, and there is neither root nor sudo to
install them with:$missing"
    fi
    log=$(mktemp) || exit 1
    # shellcheck disable=SC2086
    if ! { $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
           $sudo env DEBIAN_FRONTEND=noninteractive \
               apt-get install -y -q --no-install-recommends $missing
         } >"$log" 2>&1; then
        grep '^E: ' "$log" | tail -n 3 >&2
        rm -f "$log"
        die "apt-get could not install:$missing
Is there a network, or a mirror in /etc/apt/sources.list?  With these packages
installed by other means this script goes on from here."
    fi
    rm -f "$log"
}

# Run a command quietly; on failure show the end of what it printed.
# usage: quietly WHAT COMMAND...
quietly() {
    what=$1; shift
    log=$(mktemp) || exit 1
    if ! "$@" >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        echo "the whole log: $log" >&2
        die "$what failed"
    fi
    rm -f "$log"
}

# configure with the arguments given in the folder $1, made if need be.
configure_in() {
    dir=$1; shift
    [ -x "$top/configure" ] && [ "$top/configure" -nt "$top/configure.ac" ] ||
        (cd "$top" && quietly autoreconf autoreconf -fi) || exit 1
    mkdir -p "$dir" || exit 1
    (cd "$dir" && quietly configure "$top/configure" -q "$@") || exit 1
}

jobs=$(nproc 2>/dev/null || echo 1)
