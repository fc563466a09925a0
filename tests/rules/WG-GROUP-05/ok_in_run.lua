-- WG-GROUP-05, kept: a launch in which the wait follows the group.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local n = k:param("n", "u32")
  local acc, da, db = kit.operands(k)
  k:if_(n:gt(3), function()
    k:wgmma_fence()
    k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
    k:wgmma_commit_group()
  end)
  k:if_(n:gt(5), function() k:wgmma_wait_group(0) end)
end)
kernel:run { grid = { 1 }, args = { 6 } }
