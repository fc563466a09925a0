#!/bin/sh
# playground.sh BUILD: wgrun in WebAssembly, with what its page loads, in BUILD/playground (docs/playground.md). Needs Debian's or Ubuntu's
# emscripten; ends with 77 where it is not here. Libraries come from the distribution's packages, unpacked into BUILD/wasm-needs, because their
# headers must not bring this machine's libc along; Lua and isl are compiled from its source packages.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
needs=$build/wasm-needs root=$build/wasm-needs/root
if ! command -v emcc > /dev/null; then
    echo "skipped: no emcc (the package emscripten)" >&2
    exit 77
fi
export NODE_PATH=/usr/share/nodejs # where emscripten's own parser is, also for a node of another origin

fetch() {
    rm -rf "$needs"
    mkdir -p "$needs/debs" "$needs/apt/sources" "$needs/apt/lists/partial" "$needs/apt/cache" "$root"
    # {fmt}'s CMake files look for the shared library, too.
    fmt=$(apt-cache depends libfmt-dev | sed -n 's/.*Depends: \(libfmt[0-9.]*[a-z0-9]*\)$/\1/p')
    (cd "$needs/debs" && apt-get -qq download libfmt-dev "$fmt" libcli11-dev nlohmann-json3-dev liblua5.4-dev libjs-codemirror)
    for package in "$needs"/debs/*.deb; do dpkg -x "$package" "$root"; done
    cp "$root"/usr/include/*/lua5.4-* "$root/usr/include/lua5.4/"
    # It refuses a target whose pointers have another size; what is used of it are headers.
    sed -i '/set(PACKAGE_VERSION_UNSUITABLE TRUE)/d' "$root"/usr/lib/*/cmake/fmt/fmt-config-version.cmake
    # The same archives with sources, which machines seldom list.
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        case $list in
            *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" ;;
            *.list) sed -n 's/^deb /deb-src /p' "$list" ;;
            *) continue ;;
        esac > "$needs/apt/sources/${list##*/}"
    done
    apt="apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$needs/apt/sources -o Dir::State::Lists=$needs/apt/lists -o Dir::Cache=$needs/apt/cache"
    $apt update || true # archives without sources
    (cd "$needs" && $apt source --download-only lua5.4 isl && dpkg-source --no-check -x lua5.4_*.dsc lua && dpkg-source --no-check -x isl_*.dsc isl)
}

# As C++, whose exceptions unwind it. The names keep C's linkage, by a patch of Debian's.
lua() {
    for file in "$needs"/lua/src/l[a-z]*.c; do
        case $file in */lua.c | */luac.c) continue ;; esac
        em++ -x c++ -std=c++17 -O2 -fwasm-exceptions -DLUA_COMPAT_5_3 -w -I"$root/usr/include/lua5.4" -c "$file" -o "${file%.c}.o"
    done
    emar rcs "$root/usr/lib/liblua5.4-c++.a" "$needs"/lua/src/l*.o
}

isl() {
    cd "$needs/isl"
    ac_cv_have_decl___builtin_ffs=yes emconfigure ./configure --with-int=imath-32 --disable-shared --host=wasm32-unknown-linux CFLAGS=-O2
    emmake make -j"$(nproc)" gitversion.h libisl.la
    cp .libs/libisl.a "$root/usr/lib/"
    mkdir -p "$root/usr/include/isl"
    cp include/isl/*.h "$root/usr/include/isl/"
}

if [ ! -e "$needs/complete" ]; then
    fetch > "$build/wasm.log" 2>&1 || { tail -n 5 "$build/wasm.log" >&2; exit 1; }
    lua >> "$build/wasm.log" 2>&1 || { tail -n 5 "$build/wasm.log" >&2; exit 1; }
    (isl) >> "$build/wasm.log" 2>&1 || { tail -n 5 "$build/wasm.log" >&2; exit 1; }
    touch "$needs/complete"
fi

cd "$source"
emcmake cmake --preset wasm -B "$build/wasm" -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_FIND_ROOT_PATH="$root/usr" \
    -Dfmt_DIR="$(dirname "$root"/usr/lib/*/cmake/fmt/fmt-config.cmake)" -Wno-dev > "$build/wasm.log" 2>&1 || { tail -n 20 "$build/wasm.log" >&2; exit 1; }
cmake --build "$build/wasm" --target wgrun --parallel "$(nproc)"

codemirror=$root/usr/share/javascript/codemirror
mkdir -p "$build/playground"
cp "$build/wasm/wgrun.js" "$build/wasm/wgrun.wasm" bindings/wasm/tool.js packaging/site/playground/*.js packaging/site/playground/*.css \
    "$codemirror/lib/codemirror.js" "$codemirror/lib/codemirror.css" "$codemirror/mode/lua/lua.js" "$codemirror/addon/mode/simple.js" "$build/playground/"
