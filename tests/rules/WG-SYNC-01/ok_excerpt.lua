-- WG-SYNC-01, kept: An .aligned instruction is executed by all threads of the warp or warpgroup together: the conditions around it are the same for all of them.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local acc, da, db = kit.operands(k)
  local tid = k:special "tid.x"
  k:if_((tid >> 7):eq(0), function()
    k:wgmma_fence()
    k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end)
end)
kernel:run { grid = { 2 }, args = {} }
