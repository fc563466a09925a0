# Ctrl-C stops a loop, also inside a coroutine and under pcall: exit code 130.
interrupt() {
    ran="$1"
    : >out.txt # or the `ready` of the case before is taken for this one's
    "$WGRUN" -e "io.stdout:setvbuf 'no' print 'ready' $1" >out.txt 2>err.txt &
    child=$!
    wait_until grep -q ready out.txt
    kill -INT $child
    code=0
    wait $child || code=$?
    exits 130
    grep -qE "$2" err.txt || bad "$ran: expected in err.txt: $2"
}
interrupt 'while true do end' '^wgrun: \(command line\):1: interrupted'
interrupt 'coroutine.wrap(function() while true do end end)()' '^wgrun: \(command line\):1: interrupted'
interrupt 'while true do pcall(function() while true do end end) end' '^wgrun: \(command line\):1: interrupted'
# The signal may also come between the script's `print` and its `run`.
interrupt 'local wg = require "wgrun"
local k = wg.kernel("k", { threads = 128 }, function(k) k:loop(4000000000, function() end) end)
k:run { grid = { 1, 1, 1 }, backend = "sim" }' '^wgrun: \(command line\):[123]: (the simulation was )?interrupted'
# Lua's C functions look at nothing: the script is ended.
interrupt 'string.find(("a"):rep(40), ("a?"):rep(40) .. ("a"):rep(40) .. "b")' '^wgrun: interrupted; the script did not stop and was ended$'
