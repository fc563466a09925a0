#!/bin/sh
# The Lua module in another interpreter: run.sh MODULE_FOLDER INTERPRETER. Exit code 77 where that is not here.
#   module.lua alone, and on several states and threads where INTERPRETER is the host of this folder
#   the scripts of tests/lua and two examples, as with the tool; those of the standard library's kernels and of verdicts
#   are the same bindings, and take long. The host, whose Lua differs in how errors leave C++, takes those of errors
#   Ctrl-C during a run on the simulator
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$here/../..
module=$(cd "$1" && pwd)/wgrun.so
interpreter=$2
command -v "$interpreter" > /dev/null || { echo "skipped: no ${interpreter:-interpreter} here (Debian and Ubuntu: lua5.4)"; exit 77; }
export LUA_CPATH="${module%/*}/?.so" LUA_PATH="$tree/tests/lua/?.lua" WGRUN_CUDA=off LC_ALL=C

# Only luaopen_wgrun is seen from outside, and no Lua is inside.
[ "$(nm -D --defined-only "$module" | awk '{print $3}')" = luaopen_wgrun ] || { echo "symbols: $(nm -D --defined-only "$module")"; exit 1; }
nm -D --undefined-only "$module" | grep -q 'U lua_pcallk' || { echo "the module has a Lua of its own"; exit 1; }

"$interpreter" "$here/module.lua"
case $interpreter in
*host*) "$interpreter" -j 3 "$here/module.lua" many ;;
esac
scripts="$tree/tests/lua/*.lua"
case $interpreter in
*host*) scripts="$tree/tests/lua/errors.lua $tree/tests/lua/wrong_types.lua $tree/tests/lua/finalizers.lua \
    $tree/tests/lua/try.lua $tree/tests/lua/leave.lua $tree/tests/lua/tensor.lua $tree/tests/lua/launch.lua" ;;
esac
for script in $scripts "$tree/scripts/hello_wgmma.lua" "$tree/scripts/mma_sync.lua"; do
    case $script in
    */check.lua | */gemm_*.lua | */*_gemm.lua | */attention*.lua | */verdict*.lua | */tune.lua | */scales.lua | */limits.lua) ;;
    */fusions.lua | */epilogue.lua | */schedule.lua | */delta_rule*.lua | */mla_decode*.lua | */ssd*.lua) ;;
    *) (cd "$tree/tests/lua" && "$interpreter" "$script" > /dev/null) || { echo "FAILED $script"; exit 1; } ;;
    esac
done

# lua5.4 answers Ctrl-C with a hook, which ends a long run in the middle. The host of this folder has no handler.
case $interpreter in *host*) exit 0 ;; esac
for how in plain coroutine proof; do
    code=0
    output=$(timeout --foreground -s INT -k 10 2 "$interpreter" "$here/interrupt.lua" $how 2>&1) || code=$?
    case $code$output in
    124*interrupted*) ;; # timeout's own: it ended by the first signal, not by the second
    *) echo "Ctrl-C ($how): exit code $code, $output"; exit 1 ;;
    esac
done
