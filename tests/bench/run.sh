#!/bin/sh
# The figures of docs/experiments that this machine can give: run.sh WGRUN
set -eu
wgrun=$1
folder=$(dirname "$0")
scripts=$folder/../../scripts

echo "binary                 $(wc -c < "$wgrun") bytes"
"$wgrun" --version
"$wgrun" "$folder/trace.lua" "$scripts/gemm.lua"
"$wgrun" "$folder/gemm.lua"
"$wgrun" "$folder/ring.lua"
"$wgrun" --backend=sim "$folder/simulator.lua"
python3 "$folder/verdicts.py" "$wgrun"

if "$wgrun" -e 'os.exit(require "wgrun".device() and 0 or 1)'; then
    echo "start to result, seconds (three processes):"
    for _ in 1 2 3; do
        start=$(date +%s%N)
        "$wgrun" "$scripts/hello_wgmma.lua" > /dev/null
        echo "  $(( ($(date +%s%N) - start) / 1000000 )) ms"
    done
    "$wgrun" "$folder/launch.lua"
    for size in 1024 4096 8192; do
        for backend in gpu gpu-cuda; do
            "$wgrun" --backend=$backend "$scripts/gemm.lua" --m $size --n $size --k $size --b-major K --against cublas
        done
    done
    "$wgrun" "$scripts/gemm_fast.lua" --bench all --rounds 20
else
    echo "no GPU: its figures are left out"
fi
