#!/bin/sh
# The conformance suite on this machine's GPU, families side by side: conformance.sh WGRUN [SAMPLES [JOBS]]
# (without a GPU: on the simulator alone). Exit code 1 when a family disagrees.
set -eu
wgrun=$(realpath "$1")
samples=${2:-32}
jobs=${3:-$(nproc)}
folder=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

families="f32.f16.f16 f16.f16.f16 f32.bf16.bf16 f32.tf32.tf32"
for d in f32 f16; do for a in e4m3 e5m2; do for b in e4m3 e5m2; do families="$families $d.$a.$b"; done; done; done
for a in s8 u8; do for b in s8 u8; do families="$families s32.$a.$b"; done; done
sparse=$(for family in $families; do echo "$family.sp"; done)

status=0
# The largest first.
echo $sparse $families s32.b1.b1 | tr ' ' '\n' |
    xargs -P "$jobs" -I{} sh -c \
        '"$0" "$1/conformance.lua" --family {} --samples "$2" > "$3/{}" 2>&1 || { echo "exit code $?" >> "$3/{}"; exit 1; }' \
        "$wgrun" "$folder" "$samples" "$work" || status=1
head -n 1 "$work/f32.tf32.tf32"
for family in $families s32.b1.b1 $sparse; do grep -v '^family \|^[0-9]* forms' "$work/$family"; done
cat "$work"/* | awk '/^[0-9]+ forms/ { forms += $1; cases += $3; agreed += $5 }
    END { printf "%d forms, %d cases, %d agreed\n", forms, cases, agreed }'
exit $status
