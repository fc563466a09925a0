-- https://github.com/HPMLL/NVIDIA-Hopper-Benchmark/issues/1 and https://github.com/Dao-AILab/flash-attention/issues/1658:
-- ptxas says C7519 "warpgroup.arrive is injected ... to allow use of registers in GMMA", and repairs the kernel in silence.
-- The accumulators are zeroed after the fence.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("zeroed", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  kit.fill(k, { a, b })
  local acc = k:regs("f32", 32)
  if kit.is "bug" then k:wgmma_fence() end
  for i = 0, 31 do k:mov(acc[i], 0) end
  if kit.is "fixed" then k:wgmma_fence() end
  k:mma(acc, { a = a, b = b }) -- EXPECT: WG-FENCE-01
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
