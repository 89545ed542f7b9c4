#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Bad input ends with status 2 and one line that names the file, the line and
# what is wrong; good input does not.
build=${builddir:-.}
replay=$build/tests/conformance/replay
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' 0
trap 'exit 1' 1 2 15
st=0 cases=0

# refused PREFIX WHAT ARGUMENT...: status 2, nothing on stdout, and one line
# that begins with PREFIX and has WHAT in it.
refused() {
    prefix=$1 what=$2; shift 2
    cases=$((cases + 1))
    "$replay" "$@" >"$tmp/stdout" 2>"$tmp/stderr"
    rc=$?
    line=$(cat "$tmp/stderr")
    if [ $rc -ne 2 ] || [ -s "$tmp/stdout" ] ||
       [ "$(wc -l <"$tmp/stderr")" -ne 1 ]; then
        echo "FAIL: $prefix $what: status $rc: $line"; st=1; return
    fi
    case $line in
    "$prefix"*"$what"*) ;;
    *) echo "FAIL: wanted $prefix...$what..., got $line"; st=1 ;;
    esac
}

# bad LINE WHAT TEXT: the commands of TEXT (lines 3 and on), refused at LINE.
bad() {
    printf 'version 2.6.32\npolicy noop\n%b\n' "$3" >"$tmp/bad.script"
    refused "$tmp/bad.script:$1: " "$2" --parse "$tmp/bad.script"
    refused "$tmp/bad.script:$1: " "$2" "$tmp/bad.script"
}

# whole LINE WHAT TEXT: the same for a script without the usual first lines.
whole() {
    printf '%b\n' "$3" >"$tmp/bad.script"
    refused "$tmp/bad.script:$1: " "$2" --parse "$tmp/bad.script"
}

# answer LINE WHAT TEXT: a good script, and TEXT is what is expected of it.
answer() {
    printf '%b\n' "$3" >"$tmp/good.expected"
    refused "$tmp/good.expected:$1: " "$2" "$tmp/good.script"
}

echo '0 end queued 0 driver 0' >"$tmp/bad.expected"
one='stream 1 be 4\nadd 1 1 R sync 0 8'

bad 3 'unknown command jump'        'jump 3\nend'
bad 3 'add takes'                   'add 1 1 R sync 0\nend'
bad 3 'add takes'                   'add 1 1 R sync 0 8 8\nend'
bad 3 'stream 1 is unknown'         'add 1 1 R sync 0 8\nend'
bad 5 'request 1 is already there'  "$one"'\nadd 1 1 R sync 8 8\nend'
bad 4 'neither R nor W'             'stream 1 be 4\nadd 1 1 X sync 0 8\nend'
bad 4 'flags sync,fast?'            'stream 1 be 4\nadd 1 1 R sync,fast 0 8\nend'
bad 4 'flags sync,async?'           'stream 1 be 4\nadd 1 1 W sync,async 0 8\nend'
bad 4 'flags sync,?'                'stream 1 be 4\nadd 1 1 R sync, 0 8\nend'
bad 4 'neither sync nor async'      'stream 1 be 4\nadd 1 1 W meta 0 8\nend'
bad 4 'a read is sync'              'stream 1 be 4\nadd 1 1 R async 0 8\nend'
bad 4 '-8 is no sector'             'stream 1 be 4\nadd 1 1 R sync -8 8\nend'
bad 4 '0 is no length'              'stream 1 be 4\nadd 1 1 R sync 0 0\nend'
bad 4 '0 is no request'             'stream 1 be 4\nadd 0 1 R sync 0 8\nend'
bad 4 '1000001 is no request'       'stream 1 be 4\nadd 1000001 1 R sync 0 8\nend'
bad 4 '99999999999999999999 is no sector' \
    'stream 1 be 4\nadd 1 1 R sync 99999999999999999999 8\nend'
bad 3 'request 7 is unknown'        'complete 7\nend'
bad 6 'request 1 is over'           "$one"'\ncomplete 1\ncomplete 1\nend'
bad 3 'request 7 is unknown'        'requeue 7\nend'
bad 3 'best is no class'            'stream 1 best 4\nend'
bad 3 '8 is no level'               'stream 1 be 8\nend'
bad 3 'group 5 is unknown'          'stream 1 be 4 5\nend'
bad 4 'stream 1 is already there'   'stream 1 be 4\nstream 1 be 4\nend'
bad 3 'stream 2 is unknown'         'ioprio 2 be 4\nend'
bad 5 'stream 1 is over'            'stream 1 be 4\nexit 1\nexit 1\nend'
bad 5 'stream 1 is over'            'stream 1 be 4\nexit 1\nadd 1 1 R sync 0 8\nend'
bad 3 'group 5 is unknown'          'group 1 5 100\nend'
bad 4 'group 1 is already there'    'group 1 0 100\ngroup 1 0 100\nend'
bad 3 '4096 is no group'            'group 4096 0 100\nend'
bad 3 '0 is no weight'              'group 1 0 0\nend'
bad 3 'group 1 is unknown'          'weight 1 100\nend'
bad 4 'group 1 is unknown'          'stream 1 be 4\nmove 1 1\nend'
bad 3 'soon is no time'             't soon\nend'
bad 3 '1.2345 is no time'           't 1.2345\nend'
bad 3 '1. is no time'               't 1.\nend'
bad 3 '-1 is no time'               't -1\nend'
bad 4 'time goes back'              't 5\nt 4.999\nend'
bad 4 'dispatch after auto'         'auto 1\ndispatch\nend'
bad 3 '0 is no depth'               'auto 0\nend'
bad 3 '0 is no count'               'dispatch 0\nend'
bad 3 'queue depth?'                'queue depth 1\nend'
bad 3 '2 is no switch'              'queue nonrot 2\nend'
bad 3 'merge maybe?'                'merge maybe\nend'
bad 3 '9 sectors are no whole KiB'  'max_sectors 9\nend'
bad 3 'much is no value'            'tunable fifo_batch much\nend'
bad 3 'second policy'               'policy deadline\nend'
bad 4 'second version'              't 0\nversion 2.6.32\nend'
bad 4 'dispatch after end'          'end\ndispatch'
bad 3 'no end'                      't 0'
bad 3 'is no text'                  't\0001 0\nend'
bad 3 'too many words'              't 0 0 0 0 0 0 0 0 0 0 0 0 0\nend'
bad 3 'line too long'               "t $(printf '%0300d' 0)\nend"
bad 5 'unknown command jump'        '# a comment\n\njump # and more\nend'
whole 1 'before version and policy' 't 0\nend'
whole 2 'before version and policy' 'version 2.6.32\nend'

printf 'version 2.6.32\npolicy noop\nend\n' >"$tmp/good.script"
answer 1 'no decision: jump'    '0 jump'
answer 1 'x is no time'         'x add 1 queue'
answer 2 'queue, back or front' '0 add 1 queue\n0 add 2 aside 1'
answer 1 'malformed add line'   '0 add 2 back 1 join 3'
answer 1 'malformed disp line'  '0 disp 1 0 8'
answer 1 'malformed disp line'  '0 disp -'
answer 1 'x is no RQID'         '0 add x queue'
answer 1 'no decision: end'     '0 end queued 1'
: >"$tmp/good.expected"
refused "$tmp/good.expected: " 'no decisions'      "$tmp/good.script"
rm "$tmp/good.expected"
refused "$tmp/good.expected: " 'no such file'      "$tmp/good.script"
refused "$tmp/none.script: "   'No such file'      "$tmp/none.script"
refused "$tmp/none.tar.xz: "   'No such file'      "$tmp/none.tar.xz"
: >"$tmp/other.txt"
refused "$tmp/other.txt: "     'neither a script'  "$tmp/other.txt"
refused 'replay: ' 'no scripts given'
refused 'replay: ' 'unknown option --fast'         --fast "$tmp"
refused 'replay: ' 'a value is missing'            --min
refused 'replay: ' '--min 101: no percentage'      --min 101 "$tmp"
refused 'replay: ' '--block-size 1000: no power'   --block-size 1000 "$tmp"
if xz --version >/dev/null 2>&1; then
    echo 'not packed' >"$tmp/broken.tar.xz"
    "$replay" "$tmp/broken.tar.xz" >/dev/null 2>"$tmp/stderr"
    rc=$? cases=$((cases + 1))
    [ $rc -eq 2 ] && tail -n 1 "$tmp/stderr" | grep -q "^$tmp/broken.tar.xz: " ||
        { echo "FAIL: a damaged set: status $rc"; st=1; }
fi

# What is right is accepted, or the above would prove nothing.
mkdir "$tmp/right"
cat >"$tmp/right/h_all.script" <<'EOF'
version 4.20
policy cfq
# every command there is
tunable slice_idle 0.5
queue nonrot 1
max_sectors 256
merge off
group 1 0 500
group 2 1 500 250
stream 1 rt 0
stream 2 none 7 2
stream 3 idle 0	# a tab before this comment
t 0
add 1 1 R sync,meta,nomerge 0 8
add 2 2 W async 8 8
add 3 3 W sync,noidle 1000000000000 8
ioprio 1 be 7
move 1 2
weight 2 100
weight 0 100 200
merge on
t 0.125
dispatch
requeue 1
dispatch 2
complete 1
drain
exit 1
auto 4
t 12.5
complete 2
end
EOF
echo '0 add 1 queue' >"$tmp/right/h_all.expected"
out=$("$replay" --parse "$tmp/right") || st=1
[ "$out" = 'scripts 1, commands 29' ] || { echo "FAIL: $out"; st=1; }
echo "$cases bad inputs"
exit $st
