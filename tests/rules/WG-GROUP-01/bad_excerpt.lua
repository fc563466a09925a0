-- WG-GROUP-01, broken: The accumulators and the A fragment of a wgmma are not accessed before a wgmma.wait_group that covers its wgmma-group.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local acc, da, db = kit.operands(k)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:st_global_f32(k:element(X, k:special "tid.x"), acc[0]) -- EXPECT: WG-GROUP-01
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 200 }) } }
