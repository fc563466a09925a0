-- https://github.com/sgl-project/sglang/pull/39124: __syncthreads between the stores and the MMA, and no proxy fence:
-- 86 to 100 wrong results of 100; with the fence none.
-- bad: bug fence_after
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("dense", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  kit.store(k, { a, b })
  if kit.is "fixed" then k:fence_proxy_async() end
  k:bar_sync(0)
  -- In one thread of many: it says nothing of the writes of the others' warps.
  if kit.is "fence_after" then k:fence_proxy_async { guard = k:special("tid.x"):eq(0) } end
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, scale_d = 0 }) -- EXPECT: WG-PROXY-01
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
