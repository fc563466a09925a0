#!/bin/sh
# Prints docs/api.md and docs/api/ anew, or with --check compares, and reads the annotations: reference.sh WGRUN [--check]
set -eu
wgrun=$1
tree=$(cd "$(dirname "$0")/../.." && pwd)
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
"$wgrun" help --markdown "$new/docs" --annotations "$new/meta"
if [ "${2:-}" = --check ]; then
    diff -ru "$tree/docs/api" "$new/docs/api" && diff -u "$tree/docs/api.md" "$new/docs/api.md" || { echo "stale: cmake --build build --target docs prints them anew"; exit 1; }
    for page in "$new"/meta/*.lua "$new"/meta/*/*.lua; do
        "$wgrun" -e "assert(loadfile(\"$page\"))" || exit 1
    done
else
    rm -rf "$tree/docs/api"
    cp -r "$new/docs/." "$tree/docs/"
fi
