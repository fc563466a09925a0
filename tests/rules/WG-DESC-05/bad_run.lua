-- WG-DESC-05, broken in a run: the K step of each warp comes from memory.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local thread = k:special "tid.x"
  local acc, da, db = kit.operands(k)
  local steps = k:param("steps", "const u32*")
  db:set(db + k:cvt_u64_u32(k:ld_global_u32(k:element(steps, thread >> 5)) * 2))
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0}) -- EXPECT IN RUN: WG-DESC-05
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(k:param("D", "f32*"), k:special "ctaid.x" * 128 + thread), acc[0])
end)
kernel:run { grid = { 2 }, args = { wg.tensor { 1, 1, 1, 2, dtype = "u32" }, wg.zeros("f32", 256) } }
