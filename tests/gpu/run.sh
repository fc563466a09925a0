#!/bin/sh
# What only a GPU can show: run.sh WGRUN [CASE...], exit code 77 without an sm_90 device.
# A case is a script of scripts/ (guide/05-tma.lua), run with the PTX (gpu) and with the CUDA C++ text (gpu-cuda), or `agree`: the two
# give the same bits, for every major-ness and with edges; or a script of this folder that compares instructions with the simulator
# (reductions.lua, changed_maps.lua, im2col.lua, wmma.lua,
# foreign_arithmetic.lua), or attention's functions of scores and options (scores.lua, attention_options.lua). Without a case: all of them.
# To carry it to another machine: the wgrun binary (it needs nothing else), tests/gpu/ and scripts/ in one folder.
set -u
wgrun=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
scripts=$here/../../scripts

if ! "$wgrun" -e 'os.exit(require "wgrun".device() and 0 or 1)' > /dev/null 2>&1; then
    echo "skipped: no device ($("$wgrun" -e 'print((select(2, require "wgrun".device())))' 2>&1))"
    exit 77
fi

failed=0
try() {
    if output=$("$@" 2>&1); then
        echo "ok      $*"
    else
        echo "FAILED  $* (exit code $?)"
        echo "$output"
        failed=1
    fi
}

agree() {
    work=$(mktemp -d) || exit 1
    for shape in "--m 256 --n 256 --k 256" "--m 129 --n 71 --k 37" "--m 1 --n 1 --k 1"; do
        for majors in "--a-major K --b-major K" "--a-major K --b-major N" "--a-major M --b-major K" "--a-major M --b-major N"; do
            for dtype in bf16 f16; do
                arguments="$shape $majors --dtype $dtype --rounds 1"
                for backend in gpu gpu-cuda sim; do
                    # shellcheck disable=SC2086
                    try "$wgrun" --backend=$backend "$scripts/gemm.lua" $arguments --d "$work/$backend.npy"
                done
                try cmp "$work/gpu.npy" "$work/gpu-cuda.npy"
                try "$wgrun" "$here/close.lua" "$work/gpu.npy" "$work/sim.npy"
            done
        done
    done
    rm -rf "$work"
}

[ $# -gt 0 ] || set -- agree reductions.lua changed_maps.lua im2col.lua wmma.lua foreign_arithmetic.lua scores.lua attention_options.lua $(cd "$scripts" && ls *.lua guide/*.lua)
for case in "$@"; do
    if [ "$case" = agree ]; then
        agree
    elif [ -f "$here/$case" ]; then
        try "$wgrun" --traceback "$here/$case"
    else
        for backend in gpu gpu-cuda; do
            try "$wgrun" --backend=$backend --traceback "$scripts/$case"
        done
    fi
done
exit $failed
