#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh [BENCH-DIR [LIB-DIR]] - run the benchmarks and print tables.
#
# BENCH-DIR holds the programs (bench), LIB-DIR the libraries (.libs).  Times
# are CPU ns; machines are noisy, so every configuration runs once a round and
# the median and the least of all rounds are printed.  Instructions come from
# valgrind's callgrind and hardly change from run to run: trust those.
#
#   BENCH_ROUNDS=5        rounds of everything that is timed
#   BENCH_CYCLES=200000   cycles of each timed run; half of that at N=65536
#   BENCH_COUNTED=20000   cycles of each run under callgrind
#   BENCH_PARTS="time count primitives sizes targets"
set -eu
LC_ALL=C
export LC_ALL

bin=${1:-bench}
libs=${2:-.libs}
rounds=${BENCH_ROUNDS:-5}
cycles=${BENCH_CYCLES:-200000}
counted=${BENCH_COUNTED:-20000}
parts=${BENCH_PARTS:-time count primitives sizes targets}
sizes='16 256 4096 65536'
streams='1 16 256'

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
: >"$tmp/ns"
: >"$tmp/ir"

wanted() {
    case " $parts " in *" $1 "*) return 0 ;; esac
    return 1
}

# A policy that is not built in, or a preset it has not, is left out.
policies=
for p in noop deadline deadline:2.6.32 deadline:4.20; do
    if "$bin/cycle" --policy $p --queued 16 --cycles 1 >/dev/null 2>&1; then
        policies="$policies $p"
    else
        echo "$p: not in this build, left out"
    fi
done
if test -z "$policies"; then
    echo "run.sh: no policy runs:" >&2
    "$bin/cycle" --policy noop --queued 16 --cycles 1 >&2 || exit 1
    exit 1
fi
if grep -q '^#define IOSCHED_ASSERT_ON' config.h 2>/dev/null; then
    echo "Built with invariant checks (--enable-assert): numbers are too high."
fi
grind=yes
if ! command -v valgrind >/dev/null 2>&1; then
    grind=no
    echo "valgrind not found: times only, no instructions, no targets."
fi

# run_cycle PROGRAM POLICY N S LOOKUP CYCLES: prints ns
run_cycle() {
    set -- "$1" "$6" --queued "$3" --streams "$4" --policy "$2" \
        $(test "$5" = on || echo --nomerge-lookup) \
        $(test "$2" != empty || echo --empty)
    prog=$1 n=$2
    shift 2
    "$bin/$prog" "$@" --cycles "$n"
}

# count LOOP-NAME-PATTERN OPS COMMAND...: prints instructions an operation
count() {
    loop=$1 ops=$2
    shift 2
    rm -f "$tmp/grind.out"
    if ! valgrind --tool=callgrind --toggle-collect="$loop" \
        --callgrind-out-file="$tmp/grind.out" "$@" >"$tmp/grind.log" 2>&1
    then
        cat "$tmp/grind.log" >&2
        exit 1
    fi
    if ! awk -v ops="$ops" '/^(summary|totals):/ { n = $2 }
        END { if (n == 0) exit 1; printf "%.1f\n", n / ops }' "$tmp/grind.out"
    then
        echo "run.sh: callgrind saw nothing of $loop in: $*" >&2
        exit 1
    fi
}

# Lines "key... value", sorted by key and value, to "key... median least".
medians() {
    sort | awk '
        function flush() {
            if (n == 0)
                return
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && v[j] < v[j - 1]; j--) {
                    t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
                }
            print last, v[int((n + 1) / 2)], v[1]
            n = 0
        }
        {
            x = $NF + 0
            sub(/ [^ ]*$/, "")
            if ($0 != last)
                flush()
            last = $0
            v[++n] = x
        }
        END { flush() }'
}

# --- Times ------------------------------------------------------------------
time_round() {
    for n in $sizes; do
        c=$cycles
        test $n -lt 65536 || c=$(((cycles + 1) / 2))
        for s in $streams; do
            for p in empty $policies; do
                echo "$p $n $s off cycle" \
                    "$(run_cycle cycle $p $n $s off $c)"
            done
        done
        for p in $policies; do
            echo "$p $n 16 on cycle $(run_cycle cycle $p $n 16 on $c)"
            echo "$p $n 16 off cycle-shared" \
                "$(run_cycle cycle-shared $p $n 16 off $c)"
        done
    done
}

ns_row() {  # POLICY N S LOOKUP PROGRAM: "median / least"
    awk -v k="$1 $2 $3 $4 $5" '$1 " " $2 " " $3 " " $4 " " $5 == k {
        printf "%.0f / %.0f", $6, $7; exit }' "$tmp/ns"
}

if wanted time; then
    r=0
    while test $r -lt "$rounds"; do
        time_round >>"$tmp/ns.raw"
        r=$((r + 1))
    done
    medians <"$tmp/ns.raw" >"$tmp/ns"
    echo
    echo "CPU ns a cycle, median / least of $rounds; net: less the least of"
    echo "the loop alone (empty).  S: streams; shared: as a shared library."
    echo
    printf '%-16s %6s  %13s %13s %13s  %8s  %13s %13s\n' policy N 'S=1' \
        'S=16' 'S=256' 'net S=16' 'lookup, S=16' 'shared, S=16'
    for p in empty $policies; do
        for n in $sizes; do
            net=$(awk -v p=$p -v n=$n '
                $2 == n && $3 == 16 && $4 == "off" && $5 == "cycle" {
                    least[$1] = $7 }
                END { printf "%.0f", least[p] - least["empty"] }' "$tmp/ns")
            printf '%-16s %6s  %13s %13s %13s  %8s  %13s %13s\n' $p $n \
                "$(ns_row $p $n 1 off cycle)" "$(ns_row $p $n 16 off cycle)" \
                "$(ns_row $p $n 256 off cycle)" "$net" \
                "$(ns_row $p $n 16 on cycle)" \
                "$(ns_row $p $n 16 off cycle-shared)"
        done
    done
fi

# --- Instructions -----------------------------------------------------------
if test $grind = yes && { wanted count || wanted targets; }; then
    for n in $sizes; do
        for p in empty $policies; do
            for look in off on; do
                set -- --queued $n --streams 16 --cycles $counted --policy $p
                test $look = on || set -- "$@" --nomerge-lookup
                if test $p = empty; then
                    test $look = off || continue
                    set -- "$@" --empty
                fi
                i=$(count 'cycle_loop*' $counted "$bin/cycle" "$@")
                echo "$p $n $look $i" >>"$tmp/ir"
            done
        done
    done
    echo
    echo "Instructions a cycle inside the loop, S=16; net: less noop's"
    echo
    printf '%-16s %6s  %10s %8s  %10s %8s  %8s\n' policy N 'no lookup' net \
        lookup net adds
    for p in empty $policies; do
        for n in $sizes; do
            awk -v p=$p -v n=$n '
                $2 == n { i[$1, $3] = $4 }
                function net(look) {
                    return p ~ /^(empty|noop)$/ || !(("noop", look) in i) ? \
                        "-" : sprintf("%.1f", i[p, look] - i["noop", look])
                }
                END {
                    if ((p, "on") in i) {
                        on = sprintf("%.1f", i[p, "on"])
                        adds = sprintf("%.1f", i[p, "on"] - i[p, "off"])
                    } else {
                        on = adds = "-"
                    }
                    printf "%-16s %6s  %10.1f %8s  %10s %8s  %8s\n", p, n,
                        i[p, "off"], net("off"), on, net("on"), adds
                }' "$tmp/ir"
        done
    done
    for p in $policies; do
        i=$(count 'cycle_loop*' $counted "$bin/cycle-shared" --queued 256 \
            --streams 16 --cycles $counted --policy $p --nomerge-lookup)
        echo "as a shared library, N=256, no lookup: $p $i"
    done
fi

# --- Primitives -------------------------------------------------------------
if wanted primitives; then
    echo
    echo "Primitives: ns an operation, median and least of $rounds" \
        "(loop/none is in all of them); instructions"
    echo
    printf '%-20s %6s %9s %9s  %9s\n' operation N median least instr
    for prog in primitives primitives_boost; do
        test -x "$bin/$prog" || continue
        "$bin/$prog" --rounds "$rounds" >"$tmp/prim"
        while read -r kind n median least; do
            i=-
            test $grind = no || i=$(count 'op_loop*' $counted "$bin/$prog" \
                --only "$kind" --n "$n" --ops $counted --rounds 1 </dev/null)
            printf '%-20s %6s %9s %9s  %9s\n' "$kind" "$n" "$median" \
                "$least" "$i"
        done <"$tmp/prim"
    done
    if test ! -x "$bin/primitives_boost"; then
        echo "(no Boost.Intrusive here: not compared with)"
    fi
    case $("$bin/primitives" --list) in
    */bsd*) ;;
    *) echo "(no <bsd/sys/tree.h> here: not compared with)" ;;
    esac
fi

# --- Sizes ------------------------------------------------------------------
if wanted sizes; then
    echo
    echo "Bytes"
    echo
    "$bin/sizes"
    if command -v size >/dev/null 2>&1; then
        for lib in "$libs/libiosched.a" "$libs/libiosched.so"; do
            test -f "$lib" || continue
            echo "size $(basename "$lib")"
            case $lib in
            *.a) size -t "$lib" | sed 's/ (ex .*//; s/^/  /' ;;
            *) size "$lib" | sed 's/^/  /' ;;
            esac
        done
    else
        echo "(no size(1) here: code size not shown)"
    fi
fi

# --- Targets ----------------------------------------------------------------
# What is compared with are Linux's own schedulers in the same loop, outside of
# a kernel: deadline of 2.6.32 took 360 instructions more than noop's 705 at
# N=256, that of 4.20 265 more than 701.
if wanted targets && test $grind = yes; then
    echo
    echo "Targets, in instructions a cycle (S=16)"
    echo
    awk '
        function verdict(what, value, most) {
            if (value == "none")
                printf "%-58s %8s %8s  %s\n", what, "-", most, "not measured"
            else
                printf "%-58s %8.1f %8.1f  %s\n", what, value, most,
                    value <= most ? "holds" : "MISSED"
        }
        function less(a, b) { return a == "" || b == "" ? "none" : a - b }
        { i[$1, $2, $3] = $4; seen[$1] = 1; n[$2] = 1 }
        END {
            printf "%-58s %8s %8s\n", "", "measured", "at most"
            verdict("noop, N=256, lookup off, gross", \
                    less(i["noop", 256, "off"], 0), 500)
            verdict("deadline net of noop, N=256, lookup off", \
                    less(i["deadline", 256, "off"], \
                         i["noop", 256, "off"]), 260)
            verdict("deadline:2.6.32 likewise, against the original", \
                    less(i["deadline:2.6.32", 256, "off"], \
                         i["noop", 256, "off"]), 360)
            verdict("deadline:4.20 likewise, against the original", \
                    less(i["deadline:4.20", 256, "off"], \
                         i["noop", 256, "off"]), 265)
            np = split("noop deadline deadline:2.6.32 deadline:4.20", p, " ")
            for (k = 1; k <= np; k++) {
                if (!(p[k] in seen))
                    continue
                worst = "none"
                for (m in n) {
                    d = less(i[p[k], m, "on"], i[p[k], m, "off"])
                    if (d != "none" && (worst == "none" || d > worst))
                        worst = d
                }
                verdict(p[k] ": merge lookup adds, worst N", worst, 80)
            }
            for (k = 1; k <= np; k++)
                for (m = 1; m <= 2; m++) {
                    look = m == 1 ? "off" : "on"
                    if (!((p[k], 65536, look) in i))
                        continue
                    verdict(p[k] ": N=65536 over twice N=16, lookup " look, \
                            i[p[k], 65536, look], 2 * i[p[k], 16, look])
                }
        }' "$tmp/ir"
fi
