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
# Kernels whose threads print, or leave.
for script in say leaves; do
    "$wgrun" ptx "$golden/$script.lua" > "$new/$script.ptx" 2> /dev/null
    "$wgrun" cuda "$golden/$script.lua" > "$new/$script.cu" 2> /dev/null
done
# What an option changes in a text: the difference. Texts that name the script's lines have its path.
changes() {
    (cd "$golden/../.." && "$wgrun" "$1" "--$2" "$3.lua") 2> /dev/null | diff "$new/$(basename "$3").$4" - > "$new/$(basename "$3").$2.$4.diff" || true
}
for script in hello_wgmma gemm; do
    changes ptx guarded scripts/$script ptx
    changes cuda guarded scripts/$script cu
done
changes ptx lines scripts/hello_wgmma ptx
changes cuda lines tests/golden/leaves cu
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
