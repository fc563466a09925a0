#!/bin/sh
# Exported kernels outside of the tree: run.sh WGRUN c|cuda [--update]. Exit code 77 without what that needs.
#   c     NAME.h and NAME.c with a C99 and a C++ compiler, and before a driver that says what it is asked for (driver.c);
#         the texts for hello_wgmma are those of golden/ (--update writes them anew)
#   cuda  NAME.cu with nvcc, one file alone, and NAME.c with the toolkit's cuda.h
set -eu
here=$(cd "$(dirname "$0")" && pwd)
wgrun=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

WGRUN_CUDA=off "$wgrun" export "$here/names.lua" -o kernels > /dev/null 2> log || { cat log; exit 1; }
for script in "$here/gemms.lua" "$here/../../scripts/hello_wgmma.lua" "$here/../../scripts/attention.lua"; do
    WGRUN_CUDA=off "$wgrun" export "$script" -o kernels > /dev/null 2> log || { cat log; exit 1; }
done
strict="-Wall -Wextra -Wconversion -Wno-sign-conversion -pedantic -Werror"

in_c() { # INCLUDE FOLDER
    for source in kernels/*.c; do
        # shellcheck disable=SC2086  # lists of words
        for compiler in "${CC:-cc} -std=c99" "${CC:-cc} -std=c11" "${CXX:-c++} -x c++ -std=c++11 -Wno-missing-field-initializers"; do
            case $compiler in
            *c++11*) sed 's/.*/#include "&"/; s/\.c"/.h"/' > header.cpp <<EOF
$(basename "$source")
EOF
                $compiler $strict -Ikernels -isystem "$1" -fsyntax-only header.cpp ;;
            *) $compiler $strict -Ikernels -isystem "$1" -c "$source" -o "$(basename "$source" .c).o" ;;
            esac
        done
    done
}

case $2 in
c)
    # What does not depend on the kernel's text is kept: host code without the image, the manifest without hashes.
    mkdir golden
    sed -n '/pragma nv_diag_default/,$p' kernels/hello_wgmma.cu > golden/hello_wgmma.cu
    sed '/^ *[0-9][0-9,]*$/d; /^ *[0-9,]*}};$/d; s/bytes\[[0-9]*\]/bytes[0]/' kernels/hello_wgmma.c > golden/hello_wgmma.c
    sed 's/"sha256": ".*"/"sha256": ""/; s/"bytes": [0-9]*/"bytes": 0/; s/"no_cubin": ".*"/"no_cubin": ""/' kernels/hello_wgmma.json > golden/hello_wgmma.json
    cp kernels/hello_wgmma.h golden/
    sed -n '/pragma nv_diag_default/,$p' kernels/gemm_cluster.cu > golden/gemm_cluster.cu
    cp kernels/gemm_cluster.h golden/
    in_c "$here/stub"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c99 $strict -Ikernels -I"$here/stub" "$here/use.c" "$here/driver.c" double.o exp.o main.o -o use
    ./use > golden/use.txt
    FAIL=map ./use | sed 's/^/map fails: /' >> golden/use.txt
    for what in load function allow; do
        if FAIL=$what ./use > failed.txt; then
            echo "a failure of $what is no error"
            exit 1
        fi
        sed "s/^/$what fails: /" failed.txt >> golden/use.txt
    done
    if [ "${3:-}" = --update ]; then
        mkdir -p "$here/golden"
        cp golden/* "$here/golden/"
    fi
    diff -ru "$here/golden" golden
    ;;
cuda)
    nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
    [ -x "$nvcc" ] || { echo "skipped: no nvcc here"; exit 77; }
    include=${nvcc%/bin/nvcc}/include
    if [ -f "$include/cuda.h" ]; then in_c "$include"; fi
    for source in kernels/*.cu; do
        mkdir alone
        cp "$source" alone/
        (cd alone && "$nvcc" -arch=sm_90a -Werror all-warnings -O1 -c ./*.cu -o kernel.o) || { echo "FAILED $source"; exit 1; }
        rm -r alone
    done
    ;;
esac
