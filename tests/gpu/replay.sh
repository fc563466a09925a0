#!/bin/sh
# Kernels that hang on the simulator hang on a GPU: replay.sh WGRUN, exit code 77 without an sm_90 device.
# Each finding of a kernel that hangs, in scripts of tests/rules and texts of tests/ptx, is replayed there. With
# REPLAY_ON=sim the simulator stands in the chip's place.
set -u
wgrun=$1
here=$(cd "$(dirname "$0")/.." && pwd)
backends=gpu
if ! "$wgrun" -e 'os.exit(require "wgrun".device() and 0 or 1)' > /dev/null 2>&1; then
    [ "${REPLAY_ON:-}" = sim ] || exit 77
    backends=sim
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0 all=0
for file in "$here"/rules/WG-MBAR-05/bad_*.lua "$here"/rules/WG-SYNC-0[24678]/bad_*.lua "$here"/rules/WG-REG-02/bad_*.lua \
    "$here"/ptx/one_row_less.ptx "$here"/ptx/sized.ptx; do
    for how in "" --dynamic; do
        case $how$file in --dynamic*.ptx) continue ;; esac
        # shellcheck disable=SC2086
        "$wgrun" check --json $how "$file" > all.json 2> /dev/null
        python3 - <<'P' || continue
import json, sys
found = [one for one in json.load(open("all.json"))["findings"] if one.get("launch") and "the kernel hangs" in one["message"]]
json.dump({"findings": found}, open("found.json", "w"))
sys.exit(0 if found else 1)
P
        for backend in $backends; do
            all=$((all + 1))
            said=$("$wgrun" check --replay found.json --backend "$backend" "$file" 2>&1)
            code=$?
            name=${file#"$here"/}
            case $(echo "$said" | tail -n 1) in
                *": 0 of "* | *wgrun:*) failed=$((failed + 1)); echo "FAILED  $name $how $backend ($code): $said" ;;
                *) echo "ok      $name $how $backend: $(echo "$said" | grep -m1 error: | sed 's/.*error: //')" ;;
            esac
        done
    done
done
echo "$failed of $all failed"
[ "$all" -gt 20 ] && [ "$failed" = 0 ]
