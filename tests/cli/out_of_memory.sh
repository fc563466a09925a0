# A process that runs out of memory says so and fails, whatever the command: it neither aborts nor claims success.
file hungry.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("k", { threads = 128 }, function(k) k:bar_sync(0) end)
kernel:run { grid = 1 }
local list = {}
for i = 1, 1e9 do list[i] = ("x"):rep(100) .. i end
END
# With less than it needs to start, ptxas or the sanitizers' shadow included, there is nothing to see.
limited() { (ulimit -v 100000 && "$WGRUN" "$@" >out.txt 2>err.txt); }
limited --version || exit 77
for command in "" check ptx cuda "check --json" "check --dynamic"; do
    code=0
    # shellcheck disable=SC2086
    limited $command hungry.lua || code=$?
    ran="wgrun $command hungry.lua, with little memory"
    exits 1
    case $command in
        *json) out_has "not enough memory" ;;
        *) err_has "not enough memory" ;;
    esac
done
# However little there is: a word and a code, no signal, wherever the process can begin at all.
size=8000
while [ $size -lt 40000 ]; do
    size=$((size + 700))
    (ulimit -v $size && exec "$WGRUN" --version >out.txt 2>err.txt) || continue
    code=0
    (ulimit -v $size && exec "$WGRUN" -e 'local wg = require "wgrun" print(wg.layout "8:1")' >out.txt 2>err.txt) || code=$?
    ran="wgrun with $size KiB"
    case $code in
        0) ;;
        1) err_has "not enough memory" ;;
        *) bad "$ran: exit code 0 or 1 expected" ;;
    esac
done
