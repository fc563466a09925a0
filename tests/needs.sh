#!/bin/sh
# What the tests need besides what the build does: numpy and ml_dtypes, what the servers for agents and editors are made with, and,
# where there is no CUDA toolkit, ptxas, NVRTC and nvdisasm. All come as Python wheels into FOLDER, and nothing of the machine's
# Python is touched. Prints the environment that ctest is to run in: needs.sh FOLDER. What cannot be had (no network) is said on
# standard error, and its tests are skipped.
set -u
folder=$1
cuda=13.0    # docs/experiments was measured with it
nvdisasm="nvidia-cuda-nvdisasm>=13,<14"    # reads what older ones assemble; there is no wheel of 13.0
# CUDA_TOOLKITS: where toolkits are looked for besides the PATH
toolkits="${CUDA_HOME:-} ${CUDA_PATH:-} ${CUDA_TOOLKITS:-/usr/local/cuda}"

deps=--no-deps    # or empty: with the wheels comes what they need
# fetch WHAT WHEEL...: into FOLDER/WHAT, once
fetch() {
    what=$1
    shift
    [ "$(cat "$folder/$what/complete" 2> /dev/null)" = "$*" ] && return
    if ! python3 -m pip --version > /dev/null 2>&1; then
        PACKAGES="python3 python3-pip" "$(dirname "$0")/../cmake/install-packages.sh" >&2 || return
    fi
    rm -rf "${folder:?}/$what"
    mkdir -p "$folder/$what"
    if ! python3 -m pip install --quiet --disable-pip-version-check --no-cache-dir $deps --only-binary :all: \
            --target "$folder/$what" "$@" > "$folder/$what.log" 2>&1; then
        echo "no $*: $(tail -n 1 "$folder/$what.log"); tests that need them are skipped" >&2
        return 1
    fi
    echo "$*" > "$folder/$what/complete"
}

has_toolkit() {
    command -v ptxas > /dev/null && return
    for toolkit in $toolkits; do [ -x "$toolkit/bin/ptxas" ] && return; done
    return 1
}

if ! has_toolkit && fetch cuda "nvidia-cuda-nvcc~=$cuda.0" "nvidia-cuda-nvrtc~=$cuda.0" "$nvdisasm"; then
    echo "CUDA_HOME=$folder/cuda/nvidia/cu13"
fi
path=${PYTHONPATH:-}
if ! python3 -c "import numpy, ml_dtypes" 2> /dev/null && fetch python numpy ml_dtypes; then
    path=$folder/python${path:+:$path}
fi
deps=
if ! python3 -c "import mcp, pygls, pytest, pre_commit" 2> /dev/null && fetch agents "mcp>=2,<3" "pygls>=2,<3" "pytest>=8" pre-commit; then
    path=${path:+$path:}$folder/agents
fi
[ "$path" = "${PYTHONPATH:-}" ] || echo "PYTHONPATH=$path"
exit 0
