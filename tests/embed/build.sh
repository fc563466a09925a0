#!/bin/sh
# build.sh install BUILD PREFIX                     installs, and looks at what has come
# build.sh package static|shared FOLDER PREFIX WORK an outside project, from what is installed
# build.sh worker PREFIX FAKE WORK                  a program whose workers the installed library finds; FAKE: the folder
#                                                   of the made-up libcuda.so.1
# build.sh folder SOURCE BUILD WORK                 all of them, with the source as a folder of theirs; of what they then
#                                                   compile of wgrun, as BUILD did, BUILD's objects are taken (compile.sh)
#
# CC, CXX, CXXFLAGS and LDFLAGS are those of the build. 77: skipped.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
jobs=${JOBS:-2}

fail() { echo "FAULT: $*"; exit 1; }

install() {
    build=$1 prefix=$2
    rm -rf "$prefix"
    cmake --install "$build" --prefix "$prefix" > "$build/embed.log" || { cat "$build/embed.log"; fail "cmake --install"; }

    for header in $(cd "$prefix/include" && find . -type f | sort); do
        case $header in
            ./wgrun.h | ./wgrun/*.hpp) ;;
            *) fail "$header is no public header" ;;
        esac
        grep -o '#include "[^"]*"' "$prefix/include/$header" | cut -d'"' -f2 | while read -r included; do
            [ -f "$prefix/include/$included" ] || fail "$header includes $included, which is not installed"
        done
    done
    # Each can be included first: the build has compiled those that a source includes first. All stand without what
    # only wgrun is compiled with.
    find "$root/engine" "$root/bindings" -name '*.cpp' -exec grep -m1 -h '#include' {} \; | sort -u > "$build/embed.first"
    (cd "$prefix/include" && find . -name '*.hpp' | sort | sed 's|^\./||') > "$build/embed.headers"
    while read -r header; do
        grep -qF "\"$header\"" "$build/embed.first" || echo "$header"
    done < "$build/embed.headers" > "$build/embed.never"
    alone() {
        $CXX -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -isystem /usr/include/lua5.4 -I "$prefix/include" -x c++ -
    }
    sed 's|.*|#include <&>|' "$build/embed.headers" | alone || fail "the headers do not stand together"
    while read -r header; do
        echo "#include <$header>" | alone || fail "$header does not stand alone"
    done < "$build/embed.never"

    find "$prefix" -type f -exec "$root/cmake/runpaths.sh" {} + || fail "a RUNPATH leads elsewhere"

    libdir=$(dirname "$(find "$prefix" -name 'libwgrun.so')")
    for library in wgrun wgrun_lua wgrun_c; do
        shared=$libdir/lib$library.so
        [ -e "$shared" ] || continue
        case $library in
            wgrun_c) soname='[0-9]+' ;;
            *) soname='[0-9]+\.[0-9]+' ;;  # C++ may change with each minor version
        esac
        readelf -d "$shared" | grep -qE "SONAME.*\[lib$library\.so\.($soname)\]" || fail "$shared has no soname, or another one"
        nm -D --defined-only "$shared" | awk '{ print $NF }' > "$build/embed.symbols"
        case $library in
            wgrun) allowed='^_Z(T[IVS])?NK?5wgrun' ;;
            wgrun_lua) allowed='^luaopen_wgrun$|^_ZN5wgrun3lua' ;;
            wgrun_c) allowed='^wgrun_' ;;
        esac
        ! grep -vE "$allowed" "$build/embed.symbols" || fail "$shared shows what is not public"
        ! grep -E '5wgrun(5check|3sim|4emit|4file|6memory)|5wgrun3gpu(6Driver|7Context)|5wgrun3isa(7Machine|7Effects)' \
            "$build/embed.symbols" || fail "$shared shows the engine's inside"
        # What is not Lua's, libwgrun's or the system's must be there.
        if [ $library = wgrun_lua ]; then
            nm -D --undefined-only "$shared" | awk '{ print $NF }' | grep -E '5wgrun' | sort -u > "$build/embed.needed"
            nm -D --defined-only "$libdir/libwgrun.so" | awk '{ print $NF }' | sort -u > "$build/embed.given"
            missing=$(comm -23 "$build/embed.needed" "$build/embed.given")
            [ -z "$missing" ] || fail "libwgrun.so does not show: $(echo "$missing" | c++filt)"
        fi
    done
    # The static C library shows as little: a program may have another Lua.
    if [ -e "$libdir/libwgrun_c.a" ]; then
        ! nm -g --defined-only "$libdir/libwgrun_c.a" 2>/dev/null | awk 'NF == 3 { print $NF }' | grep -v '^wgrun_' ||
            fail "libwgrun_c.a shows what is not public"
    fi

    for package in "$libdir"/pkgconfig/*.pc; do
        name=$(basename "$package" .pc)
        flags=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --define-variable=pcfiledir="$libdir/pkgconfig" --cflags --libs "$name")
        echo "$name: $flags"
    done
    PKG_CONFIG_PATH=$libdir/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046,SC2086  # lists of flags
    $CXX -std=c++20 ${CXXFLAGS-} ${LDFLAGS-} "$here"/generate/*.cpp $(pkg-config --cflags --libs wgrun) \
        -o "$build/embed.generate" || fail "pkg-config's flags do not build a program"
    LD_LIBRARY_PATH=$libdir "$build/embed.generate" > /dev/null || fail "a program built with pkg-config's flags"
}

package() {
    kind=$1 project=$2 prefix=$3 work=$4
    needed=$(sed -n 's/.*NOT TARGET wgrun::\([a-z]*\).*/\1/p' "$project/CMakeLists.txt")
    case $needed in
        wgrun) ;;
        *) [ -n "$(find "$prefix" -name "libwgrun_$needed.so")" ] || { echo "skipped: wgrun::$needed is not installed"; exit 77; } ;;
    esac
    # A copy: nothing of the source lies beside it.
    rm -rf "$work"
    mkdir -p "$work"
    cp -r "$project" "$work/source"
    shared=OFF
    [ "$kind" = static ] || shared=ON
    cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=$shared
    cmake --build "$work/build" -j "$jobs"
    ninja -C "$work/build" -t deps | grep "$root/\(engine\|bindings\|tests\)/" && fail "it was compiled with files of the source"
    ctest --test-dir "$work/build" --output-on-failure --no-tests=error
}

worker() {
    prefix=$1 fake=$2 work=$3
    unset WGRUN_WORKER WGRUN_CUDA
    rm -rf "$work"
    mkdir -p "$work/alone" "$work/beside"
    libdir=$(dirname "$(find "$prefix" -name 'libwgrun.so')")
    PKG_CONFIG_PATH=$libdir/pkgconfig
    export PKG_CONFIG_PATH XDG_CACHE_HOME="$work/cache"
    # shellcheck disable=SC2046,SC2086  # lists of flags
    $CXX -std=c++20 -Wall -Wextra -Werror ${CXXFLAGS-} ${LDFLAGS-} "$here/worker/worker.cpp" $(pkg-config --cflags --libs wgrun) \
        -o "$work/program" || fail "the program does not build"
    runs() { # FOLDER-OF-LIBRARY WHERE
        echo "$1:"
        (cd / && LD_LIBRARY_PATH=$1:$fake "$work/program" "$2") || fail "the worker of a library in $1"
    }
    runs "$libdir" "$prefix/bin/wgrun"
    # A prefix that was moved has its own tool.
    cp -r "$prefix" "$work/moved"
    runs "$work/moved${libdir#"$prefix"}" "$work/moved/bin/wgrun"
    cp "$libdir"/libwgrun.so.* "$prefix/bin/wgrun" "$work/beside"
    runs "$work/beside" "$work/beside/wgrun"
    cp "$libdir"/libwgrun.so.* "$work/alone"
    runs "$work/alone" none
    runs "$work/alone" own
    WGRUN_WORKER=$prefix/bin/wgrun runs "$work/alone" "$prefix/bin/wgrun"
}

folder() {
    source=$1 work=$3
    export OWN_BUILD="$2" OWN_CXX="$CXX" HOST_BUILD="$work/wgrun" TAKEN="$work/taken" CXX="$here/compile.sh"
    rm -rf "$work"
    mkdir -p "$work"
    : > "$TAKEN"
    # Not to be found: what wgrun needs only for its tool and its tests.
    cmake -S "$here" -B "$work" -G Ninja -DWGRUN_SOURCE="$source" -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON \
        -DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON
    cmake --build "$work" -j "$jobs"
    echo "objects taken from the build: $(sort -u "$TAKEN" | wc -l)"
    ctest --test-dir "$work" --output-on-failure --no-tests=error
}

what=$1
shift
"$what" "$@"
