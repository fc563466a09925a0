-- https://github.com/NVIDIA/Fuser/issues/3680: wgmma.fence was left out but for some cases. It is needed before the first
-- wgmma and after every access to the registers; a chain of the same shape needs no other.
-- bad: first after_read
-- good: fixed chain
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("fence", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  kit.fill(k, { a, b })
  local acc = k:regs("f32", 32)
  if not kit.is "first" then k:wgmma_fence() end
  k:mma(acc, { a = a, b = b, scale_d = 0 }) -- EXPECT(first): WG-FENCE-01
  if not kit.is "chain" then
    k:wgmma_wait_group(0)
    k:add(acc[0], acc[0], 1.0)
  end
  if kit.is "fixed" then k:wgmma_fence() end
  k:mma(acc, { a = a, b = b }) -- EXPECT(first after_read): WG-FENCE-01
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
