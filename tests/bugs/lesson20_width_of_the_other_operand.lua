-- https://github.com/tile-ai/tilelang/pull/2161: B's descriptor was computed with A's element width: another tile, or
-- steps along K of half the bytes.
-- bad: tile step
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local narrow = wg.tile { dtype = "e4m3", mn = 64, k = 128, major = "K" }

local kernel = wg.kernel("width", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.is "tile" and narrow or kit.tile, "b")
  kit.fill(k, { a, b })
  local acc = k:regs("f32", 32)
  local db = k:descriptor(b)
  if not kit.is "tile" then
    -- The second step of K: 16 elements of 2 bytes.
    local fields = kit.tile:descriptor(0, 0, 0) & ~0x3FFF
    db = k:matrix_descriptor(k:mov(b, { type = "u32" }) + (kit.is "step" and 16 or 32), fields)
  end
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }) -- EXPECT(tile): WG-DESC-03 -- EXPECT(step): WG-DESC-02
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
