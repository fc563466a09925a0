#!/bin/sh
# Prints docs/api.md, docs/api/ and meta/ anew, or with --check compares: reference.sh WGRUN [--check]
set -eu
wgrun=$1
tree=$(cd "$(dirname "$0")/../.." && pwd)
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
"$wgrun" help --markdown "$new/docs" --annotations "$new/meta"
if [ "${2:-}" = --check ]; then
    diff -ru "$tree/docs/api" "$new/docs/api" && diff -u "$tree/docs/api.md" "$new/docs/api.md" &&
        diff -ru "$tree/meta" "$new/meta" || { echo "stale: cmake --build build --target docs prints them anew"; exit 1; }
    for page in "$new"/meta/*.lua "$new"/meta/*/*.lua; do
        "$wgrun" -e "assert(loadfile(\"$page\"))" || exit 1
    done
else
    rm -rf "$tree/docs/api" "$tree/meta"
    mkdir -p "$tree/meta"
    cp -r "$new/docs/." "$tree/docs/"
    cp -r "$new/meta/." "$tree/meta/"
fi
