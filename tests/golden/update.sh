#!/bin/sh
# Writes the golden texts of the example scripts, and docs/rules.md, anew, or with --check compares: update.sh WGRUN [--check]
set -eu
wgrun=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
golden=$(cd "$(dirname "$0")" && pwd)
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

for script in hello_wgmma gemm gemm_fast; do
    "$wgrun" ptx "$golden/../../scripts/$script.lua" > "$new/$script.ptx" 2> /dev/null
    "$wgrun" cuda "$golden/../../scripts/$script.lua" > "$new/$script.cu" 2> /dev/null
done
# Their guarded builds: what is read before a guard changes.
for script in hello_wgmma gemm; do
    for text in ptx:ptx cuda:cu; do
        "$wgrun" "${text%:*}" --guarded "$golden/../../scripts/$script.lua" > "$new/$script.guarded.${text#*:}" 2> /dev/null
    done
done
# Kernels whose threads say something, or leave, and texts that name the script's lines, whose paths they have.
for text in ptx:ptx cuda:cu; do
    for script in say leaves; do
        "$wgrun" "${text%:*}" "$golden/$script.lua" > "$new/$script.${text#*:}" 2> /dev/null
    done
    (cd "$golden/../.." && "$wgrun" "${text%:*}" --lines scripts/hello_wgmma.lua) > "$new/hello_wgmma.lines.${text#*:}" 2> /dev/null
done
"$wgrun" rules --markdown > "$new/rules.md"
rules=$golden/../../docs/rules.md
if [ "${2:-}" = --check ]; then
    diff -u "$rules" "$new/rules.md"
    rm "$new/rules.md"
    for text in "$new"/*; do diff -u "$golden/$(basename "$text")" "$text"; done
else
    mv "$new/rules.md" "$rules"
    cp "$new"/* "$golden/"
fi
