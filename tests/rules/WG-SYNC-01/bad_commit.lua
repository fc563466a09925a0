-- Half of the lanes commit: that is one fault, and not another one of the wgmma that the others do not commit.
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  kit.fill(k, { a, b })
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
  k:if_((k:special "tid.x" & 1):eq(0), function()
    k:wgmma_commit_group() -- EXPECT: WG-SYNC-01
  end)
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
