-- WG-GROUP-05, broken: the loop keeps one group pending, and nothing waits for the last one.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local n = k:param("n", "u32")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  kit.fill(k, { a, b })
  local da, db = k:descriptor(a), k:descriptor(b)
  local first, second = k:regs("f32", 32), k:regs("f32", 32)
  local form = { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }
  k:wgmma_fence()
  k:loop(n, function()
    k:wgmma_mma_async(first, da, db, form)
    k:wgmma_commit_group()
    k:wgmma_mma_async(second, da, db, form)
    k:wgmma_commit_group() -- EXPECT: WG-GROUP-05
    k:wgmma_wait_group(1)
  end)
end)
kernel:run { grid = { 1 }, args = { 3 } }
