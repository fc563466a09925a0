-- WG-DESC-05, broken: All threads of a warpgroup give a wgmma the same descriptors and the same scale-d.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local thread = k:special "tid.x"
  local acc, da, db = kit.operands(k)
  da:set(da + k:cvt_u64_u32((thread >> 5) * 2))
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0}) -- EXPECT: WG-DESC-05
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
