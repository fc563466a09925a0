-- Step 5 of the guide (docs/guide/05-tma.md): D = A * B of any size. TMA brings the operand tiles, one 64-wide block
-- of K after the other, and each CTA computes a 64 x 64 block of D.
--   wgrun scripts/guide/05-tma.lua
local wg = require "wgrun"

local block = 64
local tile = wg.tile { dtype = "bf16", mn = block, k = block, major = "K", swizzle = "128B" }

local gemm = wg.kernel("gemm_tma", { threads = 128 }, function(k)
  local A, B = k:tensor_map("A", { tile = tile }), k:tensor_map("B", { tile = tile })
  local D = k:param("D", "f32*")
  local M, N, K = k:param("M", "u32"), k:param("N", "u32"), k:param("K", "u32")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local leader = k:special "tid.x":eq(0)
  local row, col = k:special "ctaid.y" * block, k:special "ctaid.x" * block

  k:if_(leader, function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)

  local acc = k:regs("f32", block // 2)
  for i = 0, #acc - 1 do k:mov(acc[i], 0) end
  local barrier, phase = k:address(full), k:mov(0, { type = "u32" })

  k:loop({ from = 0, to = K, step = block }, function(first_k)
    k:if_(leader, function()
      k:mbarrier_arrive_expect_tx(full, 2 * tile.bytes)
      k:load_tile { tile = tile, map = A, to = k:address(a), mn = row, k = first_k, barrier = barrier }
      k:load_tile { tile = tile, map = B, to = k:address(b), mn = col, k = first_k, barrier = barrier }
    end)
    k:mbarrier_wait(barrier, phase)
    k:xor(phase, phase, 1)          -- the next phase of the barrier has the other parity

    k:wgmma_fence()
    k:mma(acc, { a = a, b = b })
    k:wgmma_wait_group(0)           -- this warp's part of the product is complete...
    k:bar_sync(0)                   -- ...and that of the others: the tiles may be overwritten
  end)

  k:store_accumulator(acc, { to = D, ld = N, row = row, col = col, rows = M, cols = N, vector = true })
end)

local M, N, K = 100, 136, 200 -- TMA wants rows of whole 16 bytes: K is a multiple of 8
local A = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 } -- N rows of K elements: K-major
local D = wg.zeros("f32", { M, N })
local grid = { (N + block - 1) // block, (M + block - 1) // block }
local backend = gemm:run { grid = grid, args = { A, B, D, M, N, K } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local ok, worst, where = wg.compare(D, wg.matmul(A, B:transpose()), 1e-3)
print(("gemm_tma %dx%dx%d on %s: worst error %.1g"):format(M, N, K, backend, worst))
if not ok then
  print(where)
  os.exit(5)
end
