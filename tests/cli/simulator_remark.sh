# Where the choice is left open and falls on the simulator, that is said once; not when it was asked for.
file kernel.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("empty", { threads = 128 }, function(k) end)
print(kernel:run { grid = { 1, 1, 1 } })
print(kernel:run { grid = { 1, 1, 1 } })
END
run kernel.lua
exits 0
out "sim
sim"
[ "$(grep -c "running on the simulator" err.txt)" = 1 ] || bad "the remark should come once"
run --backend=sim kernel.lua
exits 0
err ""
