#!/bin/sh
# One case of tests/rules/ID/: run.sh WGRUN FILE
# Every finding of `wgrun check` must stand in FILE as a comment at its line, `-- EXPECT: ID`, and the other way
# round. Findings that only a run can make are `-- EXPECT IN RUN: ID`. A file that expects nothing must also run
# clean on the simulator, unless it says CHECK ONLY.
set -u
wgrun=$1
file=$2
export WGRUN_CUDA=off

expected() { sed -n "/-- $1: /{=;s/.*-- $1: //p}" "$file" | paste -d ' ' - - ; }
found() { sed -n 's/^[^ ]*:\([0-9][0-9]*\): \(error\|warning\): .*\[\(WG-[A-Z0-9-]*\)\]$/\1 \3/p'; }
compare() {
    [ "$1" = "$2" ] && return
    printf '%s of %s\nexpected:\n%s\nfound:\n%s\n' "$3" "$file" "$1" "$2"
    exit 1
}

compare "$(expected EXPECT)" "$("$wgrun" check "$file" 2>&1 | found)" "check"
in_run=$(expected 'EXPECT IN RUN')
if [ -n "$in_run" ]; then
    compare "$in_run" "$("$wgrun" --backend=sim "$file" 2>&1 | found)" "run"
elif ! grep -q -e '-- EXPECT: ' -e '-- CHECK ONLY' "$file"; then
    compare "" "$("$wgrun" --backend=sim "$file" 2>&1)" "run"
fi
