-- One warpgroup, one product D = A * B of 64 x 64 x 64, every step of the ISA's sequence in sight.
--   wgrun scripts/hello_wgmma.lua
local wg = require "wgrun"

local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }

local hello = wg.kernel("hello_wgmma", { threads = 128, grid = 1 }, function(k)
  local A = k:param("A", "const bf16*") -- 64 x 64, row-major: K-major
  local B = k:param("B", "const bf16*") -- 64 x 64, B transposed: N rows of K elements
  local D = k:param("D", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")

  -- 1. Fill the operand tiles: ordinary stores, made through the generic proxy.
  for _, pair in ipairs { { a, A }, { b, B } } do
    k:copy_tile { to = pair[1], from = pair[2], ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
  end
  -- 2. Make them visible to the async proxy, which wgmma reads through; then wait for every writer.
  k:fence_proxy_async { space = "shared::cta" }
  k:bar_sync(0)
  -- 3. Order earlier accesses of the registers before wgmma's.
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  -- 4. Four steps of K = 16, the first of which overwrites the accumulator.
  for step = 0, 3 do
    local da, db = k:descriptor(a, { kstep = step }), k:descriptor(b, { kstep = step })
    k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = step > 0 })
  end
  -- 5. Close the group, and wait for it before touching the accumulator.
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:store_accumulator(acc, { to = D, ld = 64, row = 0, col = 0, rows = 64, cols = 64, vector = true })
end)

local A = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 2 }
local D = wg.zeros("f32", { 64, 64 })
local backend = hello:run { grid = { 1, 1, 1 }, args = { A, B, D } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local worst = 0
for i = 0, 63 do
  for j = 0, 63 do
    local sum = wg.dot(A, 64 * i, 1, B, 64 * j, 1, 64) -- in binary64
    worst = math.max(worst, math.abs(sum - D[{ i, j }]))
  end
end
print(("hello_wgmma on %s: worst error %.3g"):format(backend, worst))
if worst > 1e-4 then os.exit(5) end
