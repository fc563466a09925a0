-- WG-GROUP-01, broken: one arm of a branch waits for its wgmma, the other leaves another one in flight.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  local thread = k:special "tid.x"
  local form = { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }
  local acc, da, db = kit.operands(k)
  k:if_(n:gt(3), function()
    k:wgmma_fence()
    k:wgmma_mma_async(acc, da, db, form)
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end, function()
    k:wgmma_fence()
    k:wgmma_mma_async(acc, da, db, form)
    k:wgmma_commit_group()
  end)
  k:st_global_f32(k:element(X, thread), acc[0]) -- EXPECT: WG-GROUP-01
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }), 5 } }
