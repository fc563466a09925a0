# A GPU is asked for where there is none: exit code 4 and the reason.
file kernel.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("empty", { threads = 128 }, function(k) end)
kernel:run { grid = { 1, 1, 1 } }
END
run --backend=gpu kernel.lua
exits 4
out ""
err_has "wgrun: kernel.lua:3: "
