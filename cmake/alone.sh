#!/bin/sh
# alone.sh BUILD COMMAND...: runs the command while no other one of this kind runs in the folder BUILD: two builds or test runs at a time
# would write the same files.
command -v flock > /dev/null || { shift; exec "$@"; } # util-linux: not everywhere
mkdir -p "$1"
exec 9> "$1/.lock"
if ! flock --nonblock 9; then
    echo "another make builds or tests in $1: wait until it ends" >&2
    exit 75
fi
shift
"$@" 9>&- # which processes that outlive it would hold
