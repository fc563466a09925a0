#!/bin/sh
# Writes the golden texts of the example scripts anew, or with --check compares: update.sh WGRUN [--check]
set -eu
wgrun=$1
golden=$(cd "$(dirname "$0")" && pwd)
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

for script in hello_wgmma gemm; do
    "$wgrun" ptx "$golden/../../scripts/$script.lua" > "$new/$script.ptx" 2> /dev/null
    "$wgrun" cuda "$golden/../../scripts/$script.lua" > "$new/$script.cu" 2> /dev/null
done
if [ "${2:-}" = --check ]; then
    for text in "$new"/*; do diff -u "$golden/$(basename "$text")" "$text"; done
else
    cp "$new"/* "$golden/"
fi
