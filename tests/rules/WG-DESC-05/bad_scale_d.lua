-- WG-DESC-05, broken in a run: half of the warpgroup adds to the accumulators, the other half overwrites them.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local thread = k:special "tid.x"
  local acc, da, db = kit.operands(k)
  for i = 0, 31 do k:mov(acc[i], 0) end
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=thread:lt(64)}) -- EXPECT: WG-DESC-05
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
