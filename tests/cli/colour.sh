# Colour only where it is asked for or standard error is a terminal, and NO_COLOR is not set.
file kernel.lua <<'END'
local wg = require "wgrun"
wg.kernel("k", { threads = 128 }, function(k) k:wgmma_wait_group(99) end)
END
escape=$(printf '\033')
run kernel.lua
exits 1
err_lacks "$escape"
run --color=always kernel.lua
exits 1
err_has "$escape"
export NO_COLOR=1
run --color=auto kernel.lua
err_lacks "$escape"
