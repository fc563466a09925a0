-- WG-SYNC-01, broken: half of the warpgroup waits for the wgmma, and half for a barrier.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "const u32*")
  local acc, da, db = kit.operands(k)
  local x = k:ld_global_u32(k:element(X, k:special "tid.x" >> 5))
  k:wgmma_fence()
  k:if_(x:eq(0), function() k:bar_sync(1, { threads = 128 }) end)
  k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }) -- EXPECT IN RUN: WG-SYNC-01
  k:if_(x:ne(0), function() k:bar_sync(1, { threads = 128 }) end)
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
local X = wg.zeros("u32", 4)
X[0] = 1
kernel:run { grid = { 1 }, args = { X } }
