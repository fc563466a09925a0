# Ctrl-C stops a kernel that runs into the debugger, also at the prompt; the script goes on behind `quit`.
file loop.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("forever", { threads = 32 }, function(k)
  local n = k:reg "u32"
  k:mov(n, 0)
  k:while_(function() return n:lt(4000000000) end, function()
    k:add(n, n, 1)
  end)
end)
kernel:run { grid = { 1 }, args = {} }
print "the script goes on"
END
mkfifo commands
ran="wgrun debug loop.lua"
"$WGRUN" debug loop.lua <commands >out.txt 2>err.txt &
child=$!
exec 7>commands
wait_for() {
    wait_until grep -qF "$1" out.txt && return
    kill -9 $child
    bad "it should print: $1"
}
wait_for 'before the first step'
kill -INT $child                    # at the prompt: nothing is lost
printf 'where\ncontinue\n' >&7
sleep 1
kill -INT $child
wait_for 'interrupted'
printf 'print n\nstep\nback\nquit\n' >&7
exec 7>&-
code=0
wait $child || code=$?
exits 0
out_has 'n (u32) = '
out_has 'the script goes on'
