# Colour only where it is asked for or standard error is a terminal, and NO_COLOR is not set.
file kernel.lua <<'END'
local wg = require "wgrun"
wg.kernel("k", { threads = 128 }, function(k) k:wgmma_mma_async(k:regs("f32", 33), k:reg "u64", k:reg "u64", { n = 65, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = false }) end)
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
