#!/bin/sh
# wheel.sh BUILD OUTPUT [PYTHON]: a wheel of the Python package in the folder OUTPUT, with the library and the tool of the build folder
# BUILD. PYTHON has pip, setuptools and wheel.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bindings"
cp "$source/CMakeLists.txt" "$work/"
cp -rL "$source/bindings/python" "$work/bindings/"
WGRUN_BUILD=$build "${3:-python3}" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$2" "$work/bindings/python"
find "$work/bindings/python/wgrun" "$work/bindings/python/bin" -type f -exec "$source/cmake/runpaths.sh" {} +
