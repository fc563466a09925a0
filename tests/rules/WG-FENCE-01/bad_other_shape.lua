-- WG-FENCE-01, broken: the second iteration's wgmma follows one of another shape on the same accumulators.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local n = k:param("n", "u32")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  kit.fill(k, { a, b })
  local da, db = k:descriptor(a), k:descriptor(b)
  local form = { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }
  local narrow = { n = 32, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }
  local acc, half = k:regs("f32", 32), {}
  for i = 0, 15 do half[i + 1] = acc[i] end
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, form)
  k:loop(n, function()
    k:wgmma_mma_async(acc, da, db, form) -- EXPECT: WG-FENCE-01
    k:wgmma_fence()
    k:wgmma_mma_async(half, da, db, narrow)
  end)
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { 2 } }
