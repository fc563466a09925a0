-- WG-FENCE-01, broken: A wgmma.fence comes before the first wgmma of a warpgroup, and between an access to a register and a wgmma that uses it as accumulator or A fragment.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local acc, da, db = kit.operands(k)
  for i = 0, #acc - 1 do k:mov(acc[i], 0) end
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"}) -- EXPECT: WG-FENCE-01
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
