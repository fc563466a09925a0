-- The simulator's rate: wgmma m64n256k16 of one warpgroup, and the steps around it.
local wg = require "wgrun"

local count = 2000
local tile_a = wg.tile { dtype = "bf16", mn = 64, k = 16, major = "K" }
local tile_b = wg.tile { dtype = "bf16", mn = 256, k = 16, major = "K" }
local kernel = wg.kernel("rate", { threads = 128 }, function(k)
  local A = k:param("A", "const bf16*")
  local a, b = k:shared(tile_a, "a"), k:shared(tile_b, "b")
  for _, pair in ipairs { { a, 64 }, { b, 256 } } do
    k:copy_tile { to = pair[1], from = A, ld = 16, line = 0, along = 0, lines = pair[2], length = 16, vector = true }
  end
  k:fence_proxy_async { space = "shared::cta" }
  k:bar_sync(0)
  local acc = k:regs("f32", 128)
  for i = 0, #acc - 1 do k:mov(acc[i], 0) end
  k:loop(count, function()
    k:wgmma_fence()
    k:mma(acc, { a = a, b = b })
    k:wgmma_wait_group(0)
  end)
end)

local A = wg.randn { shape = { 256, 16 }, dtype = "bf16", seed = 1 }
local timing = kernel:time { grid = { 1 }, args = { A }, rounds = 5 }
print(("simulator              %.0f wgmma m64n256k16 a second (bf16, race detection on)"):format(count / timing.median_us * 1e6))
