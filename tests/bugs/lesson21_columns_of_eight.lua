-- https://github.com/tile-ai/tilelang/issues/2593 and #2603, fixed in #2931: tiles of N = 8 mod 16 columns were 97 % wrong
-- and nobody said so. Here such tiles give the right numbers, and one that wgmma reads past the end of is refused.
-- bad: past_the_end atom
-- good: n8 n24 n40
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local n = math.tointeger(tonumber(kit.variant:match "^n(%d+)$" or 24))
local dtype = "bf16"
local A, B = wg.randint { dtype = dtype, shape = { 64, 64 }, lo = -4, hi = 4, seed = 1 }, wg.randint { dtype = dtype, shape = { n, 64 }, lo = -4, hi = 4, seed = 2 }
local D = wg.zeros("f32", { 64, n })

local kernel = wg.kernel("columns", { threads = 128 }, function(k)
  local pa, pb, pd = k:param("A", "const bf16*"), k:param("B", "const bf16*"), k:param("D", "f32*")
  -- 24 columns of an MN-major tile are no whole number of 64-byte atoms.
  local tile = kit.is "atom" and wg.tile { dtype = dtype, mn = n, k = 64, major = "MN", swizzle = "64B" } -- EXPECT(atom): WG-LAYOUT-01
    or wg.tile { dtype = dtype, mn = n, k = 64, major = "K" }
  local a, b = k:shared(kit.tile, "a"), k:shared(tile, "b")
  local issued = kit.is "past_the_end" and 40 or n
  k:copy_tile { to = a, from = pa, ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
  k:copy_tile { to = b, from = pb, ld = 64, line = 0, along = 0, lines = n, length = 64, vector = true }
  k:fence_proxy_async()
  k:bar_sync(0)
  local acc = k:regs("f32", issued // 2)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, n = issued, scale_d = 0 }) -- EXPECT(past_the_end): WG-DESC-02
  k:wgmma_wait_group(0)
  k:store_accumulator(acc, { to = pd, ld = n, row = 0, col = 0, rows = 64, cols = n, vector = true })
end)
if kernel:run { grid = { 1 }, args = { A, B, D } } ~= "none" then
  for i = 0, 63 do
    for j = 0, n - 1 do assert(D[{ i, j }] == wg.dot(A, i * 64, 1, B, j * 64, 1, 64), "wrong result") end
  end
end
