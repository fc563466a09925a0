-- The launch names a stage behind the last one, where another buffer's tile lies: of the same shape, and not the one that was meant.
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local stage = k:param("stage", "u32")
  local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
  local a, b = k:shared { tile = tile, count = 3, name = "a" }, k:shared(tile, "b")
  kit.fill(k, { a, b })
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, a_offset = stage * tile.bytes, scale_d = 0 }) -- EXPECT: WG-DESC-03
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { 3 } }
