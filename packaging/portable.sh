#!/bin/sh
# portable.sh BUILD: builds the tool and the C library in the folder BUILD for every Linux on x86-64 with glibc 2.28 or newer
# (manylinux_2_28), on a Debian machine of any age. Zig's compiler has the headers and the symbols of each version of glibc. The other
# libraries come from Debian's packages, unpacked into BUILD: their headers must not bring this machine's glibc along.
set -eu
glibc=2.28 zig=0.17.1
packages="libfmt-dev libcli11-dev nlohmann-json3-dev liblua5.4-dev libedit-dev libisl-dev libgmp-dev libncurses-dev libbsd-dev libmd-dev"
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
[ "$(uname -m)" = x86_64 ] || { echo "portable.sh: for x86-64 alone" >&2; exit 1; }

[ -x "$build/zig/bin/python3" ] || python3 -m venv "$build/zig"
"$build/zig/bin/python3" -m pip install --quiet --disable-pip-version-check "ziglang==$zig"
for tool in cc c++ ar ranlib; do
    target=
    case $tool in cc | c++) target="-target x86_64-linux-gnu.$glibc" ;; esac
    printf '#!/bin/sh\nexec %s -m ziglang %s %s "$@"\n' "$build/zig/bin/python3" "$tool" "$target" > "$build/zig-$tool"
    chmod +x "$build/zig-$tool"
done

mkdir -p "$build/debs" "$build/root"
# {fmt}'s CMake files look for the shared library, too.
fmt=$(apt-cache depends libfmt-dev | sed -n 's/.*Depends: \(libfmt[0-9.]*\)$/\1/p')
# shellcheck disable=SC2086  # lists of words
(cd "$build/debs" && apt-get -qq download $packages $fmt 2> /dev/null)
for package in "$build"/debs/*.deb; do dpkg -x "$package" "$build/root"; done
headers=$build/root/usr/include
cp "$headers"/x86_64-linux-gnu/lua5.4-* "$headers/lua5.4/" # which the others of Lua include

cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWGRUN_TESTS=OFF -DWGRUN_UNITY=ON -DWGRUN_ISL_INSIDE=ON \
    -DCMAKE_C_COMPILER="$build/zig-cc" -DCMAKE_CXX_COMPILER="$build/zig-c++" -DCMAKE_AR="$build/zig-ar" \
    -DCMAKE_RANLIB="$build/zig-ranlib" -DCMAKE_OBJCOPY="$(command -v objcopy)" -DCMAKE_PREFIX_PATH="$build/root/usr" \
    -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu > /dev/null
cmake --build "$build" --target wgrun wgrun_lib_c_shared --parallel "$(nproc)"
