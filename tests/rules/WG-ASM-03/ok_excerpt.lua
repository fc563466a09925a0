-- WG-ASM-03, kept: nothing is in flight when fragments get new values. WITH ptxas 13.0
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local b = k:shared(tile, "b")
  kit.fill(k, { b })
  local acc, db = k:regs("f32", 32), k:descriptor(b)
  local one, other = k:regs("b32", 4), k:regs("b32", 4)
  for i = 0, 3 do k:mov(one[i], 0) k:mov(other[i], 0) end
  k:wgmma_fence()
  k:wgmma_mma_async(acc, one, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }) -- ASSEMBLED
  k:wgmma_commit_group()
  k:wgmma_mma_async(acc, other, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(X, k:special "tid.x"), acc[0])
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
