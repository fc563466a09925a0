-- A in registers, double-buffered: one fragment is loaded while the wgmma that uses the other runs.
-- good: k1 k3 k8
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")
local rounds = math.tointeger(tonumber(kit.variant:match "%d+" or 1))

local kernel = wg.kernel("fragments", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  kit.fill(k, { a, b })
  local acc, fragment = k:regs("f32", 32), { k:regs("b32", 4), k:regs("b32", 4) }
  local at = k:mad_lo_u32(k:special "tid.x", 16, k:mov(a, { type = "u32" }))
  for i = 0, 31 do k:mov(acc[i], 0) end
  local function multiply(i)
    k:wgmma_fence()
    k:wgmma_mma_async(acc, fragment[i], k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
    k:wgmma_commit_group()
  end
  k:ldmatrix_x4(fragment[1], at)
  k:loop(rounds, function()
    multiply(1)
    k:wgmma_wait_group(1)
    k:ldmatrix_x4(fragment[2], at)
    multiply(2)
    k:wgmma_wait_group(1)
    k:ldmatrix_x4(fragment[1], at)
  end)
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
