-- WG-PERF-06, kept: the next wgmma uses the same accumulators in another shape.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local function fill() kit.fill(k, { a, b }) end
  fill()
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0) -- PERF
  local half = {}
  for i = 1, 16 do half[i] = acc[i - 1] end
  k:wgmma_fence()
  k:wgmma_mma_async(half, da, db, { n = 32, k = 16, d = "f32", a = "bf16", b = "bf16" })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
