#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# firmware.sh - isr.c and the library as firmware: built freestanding, without
# a libc, for Cortex-M3 and RV32, and run on emulated boards.  The exit status
# of the firmware itself decides.  Exit 77: a cross compiler or qemu is missing.
set -eu
root=${FIRMWARE_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
here=$root/tests/walkthrough
dir=$(mktemp -d "${TMPDIR:-/tmp}/firmware.XXXXXX")
trap 'rm -rf "$dir"' EXIT
ran=0 skipped=

# The generated header: of this build, or made here.
if test -f include/iosched/version.h; then
    generated=$(pwd)/include
else
    generated=$dir/include
    mkdir -p "$generated/iosched"
    sed -e 's/@VERSION_MAJOR@/0/; s/@VERSION_MINOR@/1/; s/@VERSION_PATCH@/0/' \
        -e 's/@VERSION_NUMBER@/0x000100u/; s/@[A-Z_]*VERSION@/0.1.0/' \
        "$root/include/iosched/version.h.in" >"$generated/iosched/version.h"
fi

linker_script() {       # where code goes, where data goes
    cat <<END
ENTRY($1)
MEMORY { code : ORIGIN = $2, LENGTH = 256K
         data : ORIGIN = $3, LENGTH = 64K }
SECTIONS {
    .text : { KEEP(*(.start)) *(.text .text.*) *(.rodata .rodata.* .srodata*) } >code
    .ARM.exidx : { *(.ARM.exidx*) } >code
    .data : { *(.data .data.* .sdata .sdata.*) . = ALIGN(8); } >data
    .bss (NOLOAD) : { . = ALIGN(8); board_bss = .; *(.sbss .sbss.* .bss .bss.* COMMON)
                      . = ALIGN(8); board_bss_end = .; } >data
    board_stack_top = ORIGIN(data) + LENGTH(data);
}
END
}

# board NAME PREFIX QEMU "CPU FLAGS" "MACHINE" ENTRY CODE DATA
board() {
    name=$1 cc=$2-gcc qemu=$3 cpu=$4 machine=$5
    if ! command -v "$cc" >/dev/null; then
        skipped="$skipped $cc"
        return 0
    fi
    linker_script "$6" "$7" "$8" >"$dir/$name.ld"
    mkdir "$dir/$name"
    for c in "$root"/libiosched/ds/*.c "$root"/libiosched/core/*.c \
             "$root"/libiosched/device/tags.c \
             "$root"/libiosched/policies/deadline.c \
             "$root"/libiosched/policies/builtin.c "$here"/isr.c; do
        # shellcheck disable=SC2086
        "$cc" $cpu -std=gnu99 -ffreestanding -Os -ffunction-sections \
            -fdata-sections -Wall -Wextra -Werror -DIOSCHED_BUILTIN_ATOMICS \
            -DHAVE_POLICY_DEADLINE=1 -I"$root/include" -I"$generated" \
            -I"$root/libiosched" -c "$c" -o "$dir/$name/$(basename "$c" .c).o"
    done
    # shellcheck disable=SC2086
    "$cc" $cpu -nostdlib -Wl,--gc-sections -Wl,-T,"$dir/$name.ld" \
        -o "$dir/$name.elf" "$dir/$name"/*.o -lgcc
    echo "$name: code, data, bss in bytes; the bss has the scheduler's memory"
    "$2-size" "$dir/$name.elf"
    if ! command -v "$qemu" >/dev/null; then
        skipped="$skipped $qemu"
        return 0
    fi
    # shellcheck disable=SC2086
    timeout 60 "$qemu" $machine -display none -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel "$dir/$name.elf" \
        </dev/null || {
        echo "$name: the firmware ended with status $?" >&2
        exit 1
    }
    echo "$name: ran"
    ran=$((ran + 1))
}

board cortex-m3 arm-none-eabi qemu-system-arm "-mcpu=cortex-m3 -mthumb" \
    "-M mps2-an385" board_reset 0x00000000 0x20000000
board rv32imac riscv64-unknown-elf qemu-system-riscv32 \
    "-march=rv32imac -mabi=ilp32" "-M virt -bios none" \
    board_start_here 0x80000000 0x80100000
if test -n "$skipped"; then
    echo "skipped, for these are not there:$skipped ($ran boards ran)"
    exit 77
fi
