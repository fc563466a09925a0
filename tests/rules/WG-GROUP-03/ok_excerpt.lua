-- WG-GROUP-03, kept: The operand of wgmma.wait_group is at most 7.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local acc, da, db = kit.operands(k)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(7)
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
