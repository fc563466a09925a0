-- WG-GROUP-02, broken: Every wgmma is committed to a wgmma-group by a wgmma.commit_group after it.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local acc, da, db = kit.operands(k)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0}) -- EXPECT: WG-GROUP-02
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(X, k:special "tid.x"), acc[0])
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 200 }) } }
