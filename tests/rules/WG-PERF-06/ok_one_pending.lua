-- WG-PERF-06, kept: one group stays on its way from turn to turn.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local n = k:param("n", "u32")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local function fill() kit.fill(k, { a, b }) end
  fill()
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  for i = 0, 31 do k:mov(acc[i], 0) end
  k:loop(n, function()
    k:wgmma_fence()
    k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
    k:wgmma_commit_group()
    k:wgmma_wait_group(1) -- nothing is refilled; but without it no proof ends
  end)
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { 3 } }
