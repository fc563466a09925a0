#!/bin/sh
# sdist.sh OUTPUT [PYTHON]: a source distribution of the Python package in the folder OUTPUT. It carries the project's sources, and pip
# builds these where it is installed, with the packages of cmake/install-packages.sh. PYTHON has the package `build`.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -rL "$source/bindings/python" "$work/package"
mkdir "$work/package/source"
git -C "$source" archive HEAD CMakeLists.txt README.md LICENSE CHANGELOG.md cmake engine bindings stdlib scripts docs \
    | tar -C "$work/package/source" -x
echo "graft source" > "$work/package/MANIFEST.in"
"${2:-python3}" -m build --sdist --outdir "$output" "$work/package" > /dev/null
