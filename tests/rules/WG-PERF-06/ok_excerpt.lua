-- WG-PERF-06, kept: Between two batches of wgmma stands no wait_group 0 that nothing in between needs.
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
  for i = 0, 3 do
    k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=math.min(i, 1)})
    k:wgmma_commit_group()
    k:wgmma_wait_group(i < 3 and 1 or 0) -- PERF
  end
end)
kernel:run { grid = { 1 }, args = {} }
