#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# rawdisk.sh - the rawdisk example keeps its promises: exit codes, messages,
# and above all what it writes and what it leaves alone.
#
# Nothing here depends on speed: every run is bounded by --requests.
set -u
: "${builddir:=.}"
rawdisk=$builddir/examples/rawdisk

if [ ! -x "$rawdisk" ]; then
    echo "skipped: rawdisk was not built (no liburing)"
    exit 77
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/rawdisk.XXXXXX") || exit 1
loop=
mounted=
shm=
# shellcheck disable=SC2317   # called by the trap
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    [ -z "$loop" ] || losetup -d "$loop"
    [ -z "$shm" ] || rm -f "$shm"
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

failed=0
tests=0

# run ARGUMENT...: status and both outputs into $status, $out, $err
run() {
    "$rawdisk" "$@" >"$dir/out" 2>"$dir/err"
    status=$?
    out=$(cat "$dir/out")
    err=$(cat "$dir/err")
}

# drive ARGUMENT...: the same on the file, with a policy that this build has
drive() {
    # shellcheck disable=SC2086   # $direct may be nothing
    run $direct --policy "$policy" "$@"
}

# it SENTENCE CONDITION...: report a test; the condition is a command
it() {
    sentence=$1
    shift
    tests=$((tests + 1))
    if "$@"; then
        echo "ok $tests - $sentence"
    else
        failed=$((failed + 1))
        echo "not ok $tests - $sentence"
        echo "    condition: $*"
        echo "    status $status, stdout: $out"
        echo "    stderr: $err"
    fi
}

# ended STATUS PATTERN: what the last run answered, and said on stderr
ended() {
    # shellcheck disable=SC2254   # a pattern is wanted
    [ "$status" -eq "$1" ] && case $err in $2) ;; *) false ;; esac
}

has() { case $1 in *"$2"*) ;; *) false ;; esac }
lacks() { ! has "$@"; }

# sum FILE [FROM [COUNT]]: checksum of its MiBs FROM .. FROM + COUNT - 1
sum() {
    dd if="$1" bs=1M skip="${2:-0}" ${3:+count="$3"} 2>/dev/null | sha256sum
}

same() { [ "$1" = "$2" ]; }
differ() { [ "$1" != "$2" ]; }

# --- Something to work on: 8 MiB of data -------------------------------------
disk=$dir/disk
dd if=/dev/urandom of="$disk" bs=1M count=8 2>/dev/null || exit 1

direct=
policy=$("$rawdisk" --policies | head -n 1)
drive --requests 1 "$disk"
case $err in
*"refuses io_uring"*)
    echo "skipped: $err"
    exit 77 ;;
*"O_DIRECT is refused"*)
    echo "note: O_DIRECT is refused in $dir; the tests there use --buffered"
    direct=--buffered ;;
esac

# --- The command line --------------------------------------------------------
run
it "a missing target is a usage error" ended 2 "*TARGET is missing*--help*"
run "$disk" "$disk"
it "two targets are a usage error" ended 2 "*more than one TARGET*"
run --nonsense "$disk"
it "an unknown option is a usage error" ended 2 "*nonsense*"
run --depth 0 "$disk"
it "a depth of 0 is a usage error" ended 2 "*--depth 0:*"
run --seconds never "$disk"
it "a run time that is no number is a usage error" ended 2 "*--seconds never*"
run --verify "$disk"
it "--verify without --write is a usage error" ended 2 "*--verify*--write*"
run --help
it "--help goes to stdout and succeeds" ended 0 ""
it "--help names --yes-destroy" has "$out" --yes-destroy
run --policies
it "--policies succeeds" ended 0 ""
it "--policies lists at least one" [ -n "$out" ]
policies=$out

drive --policy no-such-policy --requests 1 "$disk"
it "an unknown policy is a usage error" ended 2 "*no-such-policy*"
drive --policy "$policy,,=" --requests 1 "$disk"
it "a malformed policy string is a usage error" ended 2 "*$policy,,=*"

# --- Targets that will not do ------------------------------------------------
drive "$dir/nothing"
it "a target that is not there is an error" ended 1 "*nothing: No such file*"
drive "$dir"
it "a folder is no target" ended 2 "*neither a file nor a block device*"
head -c 16383 "$disk" >"$dir/short"
drive --requests 1 "$dir/short"
it "a file too short for 4 requests is refused" ended 2 "*too short*"
head -c 16384 "$disk" >"$dir/enough"
drive --requests 9 "$dir/enough"
it "a file of exactly 4 requests will do" ended 0 ""
drive --block 1000 --requests 1 "$disk"
it "a request of no whole blocks is refused" ended 2 "*--block 1000*"

# --- Reading -----------------------------------------------------------------
before=$(sum "$disk")
for policy in $policies; do
    drive --requests 3000 --depth 8 "$disk"
    it "$policy: reads succeed" ended 0 ""
    it "$policy: the random reader is reported" has "$out" random-reader
    it "$policy: the sequential reader is reported" \
        has "$out" sequential-reader
    it "$policy: nobody writes" lacks "$out" writer
    it "$policy: merges are reported" has "$out" "merges "
    it "$policy: depth and hold time are reported" has "$out" " of 8, held "
    it "$policy: without --write the file stays as it was" \
        same "$before" "$(sum "$disk")"
done
drive --requests 200 --csv "$disk"
it "--csv prints a line of 8 fields a stream and no more" \
    same "$(awk -F, '{ print NF }' "$dir/out" | tr '\n' ' ')" "8 8 "
drive --buffered --requests 200 "$disk"
it "--buffered reads" ended 0 ""

# --- Writing -----------------------------------------------------------------
for policy in $policies; do
    before=$(sum "$disk" 0 6)
    untouched=$(sum "$disk" 7)
    written=$(sum "$disk" 6 1)
    drive --write --verify --requests 256 "$disk"
    it "$policy: what was written is read back" ended 0 ""
    it "$policy: the writer is reported as verified" has "$out" yes
    it "$policy: the first three quarters stay as they were" \
        same "$before" "$(sum "$disk" 0 6)"
    it "$policy: 256 requests write the first MiB of the last quarter" \
        differ "$written" "$(sum "$disk" 6 1)"
    it "$policy: 256 requests leave the second MiB alone" \
        same "$untouched" "$(sum "$disk" 7)"
    it "$policy: the size of the file stays as it was" \
        [ "$(wc -c <"$disk")" -eq 8388608 ]
done
untouched=$(sum "$disk" 7)
drive --write --verify --requests 1300 "$disk"
it "a writer that comes round its region again is verified" ended 0 ""
it "it has filled the region" differ "$untouched" "$(sum "$disk" 7)"
drive --buffered --write --verify --requests 300 "$disk"
it "--buffered writes are verified" ended 0 ""
drive --write --verify --block 65536 --depth 2 --requests 40 "$disk"
it "large requests are verified" ended 0 ""

# --- Where O_DIRECT is refused -----------------------------------------------
run --policy "$policy" --requests 1 /proc/version
it "O_DIRECT refused is an error that names --buffered" \
    ended 1 "*O_DIRECT is refused*--buffered*"
if [ -d /dev/shm ] && shm=$(mktemp /dev/shm/rawdisk.XXXXXX); then
    cat "$disk" >"$shm"
    run --policy "$policy" --requests 100 "$shm"
    if [ "$status" -eq 0 ]; then
        echo "note: the tmpfs of this kernel takes O_DIRECT"
    else
        it "O_DIRECT refused by tmpfs is an error that names --buffered" \
            ended 1 "*O_DIRECT is refused*--buffered*"
    fi
    drive --buffered --write --verify --requests 100 "$shm"
    it "--buffered works on tmpfs" ended 0 ""
else
    shm=
    echo "left out: tmpfs; there is no /dev/shm to write to"
fi

# --- Block devices -----------------------------------------------------------
if [ "$(id -u)" -ne 0 ]; then
    echo "left out: block devices; only root may set up a loop device"
elif ! loop=$(losetup --show -f "$disk" 2>"$dir/why"); then
    loop=
    echo "left out: block devices; $(cat "$dir/why")"
else
    before=$(sum "$loop")
    drive --write --requests 10 "$loop"
    it "a block device is not written to without --yes-destroy" \
        ended 2 "*--yes-destroy $loop*"
    drive --write --requests 10 --yes-destroy /dev/other "$loop"
    it "the name of another device does not do" ended 2 "*/dev/other*"
    it "the device stays as it was" same "$before" "$(sum "$loop")"
    drive --requests 300 "$loop"
    it "a block device is read" ended 0 ""
    drive --write --verify --requests 300 --yes-destroy "$loop" "$loop"
    it "with --yes-destroy and its name it is written to and verified" \
        ended 0 ""
    it "writing it changed it" differ "$before" "$(sum "$loop")"

    if mkfs.ext2 -q "$loop" 2>"$dir/why" && mkdir "$dir/mnt" &&
            mount "$loop" "$dir/mnt" 2>"$dir/why"; then
        mounted=$dir/mnt
        drive --write --requests 10 --yes-destroy "$loop" "$loop"
        it "a mounted device is not written to" ended 1 "*mounted*"
        drive --requests 10 "$loop"
        it "a mounted device may be read" ended 0 ""
        umount "$mounted" && mounted=
    else
        echo "left out: a mounted device; $(cat "$dir/why")"
    fi

    # The device keeps its size while its file loses the upper half: reads
    # from there must be reported, whatever the kernel makes of them.
    truncate -s 4M "$disk"
    drive --requests 500 "$loop"
    it "I/O errors are reported and end the run" \
        ended 1 "rawdisk: $loop: read of * blocks at *"
fi

echo "$tests tests, $failed failed"
[ "$failed" -eq 0 ]
