#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# One changed word in what is expected is always noticed: 20 scripts drawn by
# a seed (FLIP_SEED) are identical, and 20 of 20 differ after the change.
policies='noop deadline'
wanted=20

src=${srcdir:-.}/tests/conformance
build=${builddir:-.}
replay=$build/tests/conformance/replay
seed=${FLIP_SEED:-1}
xz --version >/dev/null 2>&1 || { echo 'SKIP: no xz'; exit 77; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' 0
trap 'exit 1' 1 2 15

for policy in $policies; do
    name=$(echo "${policy%-groups}" | tr a-z A-Z)
    [ ! -f "$build/config.h" ] ||
        grep -q "define HAVE_POLICY_$name 1" "$build/config.h" || continue
    for set in "$src"/vectors/*-"$policy".tar.xz; do
        into=$tmp/all/$(basename "$set" .tar.xz)
        mkdir -p "$into"
        xz -dc "$set" | (cd "$into" && tar xf -) || exit 1
    done
done
[ -d "$tmp/all" ] || { echo 'SKIP: configured without these policies'; exit 77; }

n=$(find "$tmp/all" -name '*.expected' | wc -l)
[ "$n" -ge "$wanted" ] || {
    echo "SKIP: $n scripts for the policies of this build, too few to draw from"
    exit 77
}

# Draw without replacement: "NUMBER NAME" for each, the number for the flip.
find "$tmp/all" -name '*.expected' | LC_ALL=C sort |
awk -v seed="$seed" -v wanted=$wanted '
    function draw(n) { x = (x * 16807) % 2147483647; return x % n }
    { name[NR - 1] = $0 }
    END {
        x = seed % 2147483646 + 1
        for (i = draw(1000); i > 0; i--) draw(2)
        for (i = 0; i < wanted && i < NR; i++) {
            k = i + draw(NR - i)
            t = name[i]; name[i] = name[k]; name[k] = t
            print draw(1000000), name[i]
        }
    }' >"$tmp/drawn"
[ "$(wc -l <"$tmp/drawn")" -eq $wanted ] || { echo 'too few scripts'; exit 1; }

# Change one word of one line: another last digit (never 0), back for front,
# R for W, or a merge that was none.
n=0
while read -r number name; do
    n=$((n + 1))
    for side in good bad; do
        mkdir -p "$tmp/$side/$n"
        cp "${name%.expected}.script" "$tmp/$side/$n"
    done
    cp "$name" "$tmp/good/$n"
    awk -v number="$number" '
        function other(w,  d) {
            d = substr(w, length(w))
            return substr(w, 1, length(w) - 1) (d < 9 ? d + 1 : 8)
        }
        { line[NR] = $0 }
        $2 == "add" || $2 == "disp" { at[found++] = NR }
        END {
            at_line = at[number % found]
            $0 = line[at_line]
            pick = int(number / 7)
            if ($2 == "disp" && $3 == "-") k = 1
            else if ($2 == "disp") k = substr("13456", pick % 5 + 1, 1)
            else if (NF == 4) k = substr("134", pick % 3 + 1, 1)
            else if (NF == 5) k = substr("1345", pick % 4 + 1, 1)
            else k = substr("134578", pick % 6 + 1, 1)
            k += 0
            if ($k == "R") $k = "W"
            else if ($k == "W") $k = "R"
            else if ($k == "back") $k = "front"
            else if ($k == "front") $k = "back"
            else if ($k == "queue") $k = "back 1"
            else $k = other($k)
            print "flip: " FILENAME ":" at_line ": " line[at_line] " -> " $0 \
                >"/dev/stderr"
            line[at_line] = $0
            for (i = 1; i <= NR; i++) print line[i]
        }' "$name" >"$tmp/bad/$n/${name##*/}" || exit 1
done <"$tmp/drawn"

good=$($replay "$tmp/good" | tail -n 1)
echo "as recorded: $good"
case $good in
"scripts $wanted, identical $wanted, "*) ;;
*) exit 1 ;;
esac
bad=$($replay "$tmp/bad" >"$tmp/out"; echo "exit $?")
last=$(tail -n 1 "$tmp/out")
echo "one word changed: $last, $bad"
[ "$(grep -c ': differs$' "$tmp/out")" -eq $wanted ] || exit 1
case "$last, $bad" in
"scripts $wanted, identical 0, decisions "*", exit 1") exit 0 ;;
esac
exit 1
