-- WG-GROUP-01, kept: a branch in a loop goes the same way each time, so that the arms never follow each other.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local thread = k:special "tid.x"
  kit.fill(k, { a, b })
  local da, db = k:descriptor(a), k:descriptor(b)
  local form = { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }
  local acc, other = k:regs("f32", 32), k:regs("f32", 32)
  for i = 0, 31 do
    k:mov(acc[i], 0)
    k:mov(other[i], 0)
  end
  local same = n:gt(3)
  k:loop(2, function()
    k:if_(same, function()
      k:wgmma_fence()
      k:wgmma_mma_async(acc, da, db, form)
      k:wgmma_commit_group()
    end, function()
      k:add(acc[0], acc[0], 1)
      k:wgmma_fence()
      k:wgmma_mma_async(other, da, db, form)
      k:wgmma_commit_group()
    end)
  end)
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(X, thread), acc[0] + other[0])
end)
for n = 3, 4 do kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }), n } } end
