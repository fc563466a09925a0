-- Step 6 of the guide (docs/guide/06-pipeline.md): the product of step 5 with four stages. While one block of K is
-- multiplied, the copies of the next three are in flight.
--   wgrun scripts/guide/06-pipeline.lua
local wg = require "wgrun"

local block, stages = 64, 4
local tile = wg.tile { dtype = "bf16", mn = block, k = block, major = "K", swizzle = "128B" }

local gemm = wg.kernel("gemm_pipeline", { threads = 128 }, function(k)
  local A, B = k:tensor_map("A", { tile = tile }), k:tensor_map("B", { tile = tile })
  local D = k:param("D", "f32*")
  local M, N, K = k:param("M", "u32"), k:param("N", "u32"), k:param("K", "u32")
  local a = k:shared { tile = tile, count = stages, name = "a" }
  local b = k:shared { tile = tile, count = stages, name = "b" }
  local full = k:shared { bytes = 8 * stages, align = 8, name = "full" }
  local leader = k:special "tid.x":eq(0)
  local row, col = k:special "ctaid.y" * block, k:special "ctaid.x" * block

  k:if_(leader, function()
    for s = 0, stages - 1 do k:mbarrier_init(k:address(full, 8 * s), 1) end
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)

  -- Starts the copies of the block of K that begins at `first_k` into a stage. By one thread.
  local function fetch(stage, first_k)
    local barrier = k:address(full, stage * 8)
    k:mbarrier_arrive_expect_tx(barrier, 2 * tile.bytes)
    k:load_tile { tile = tile, map = A, to = k:address(a, stage * tile.bytes), mn = row, k = first_k, barrier = barrier }
    k:load_tile { tile = tile, map = B, to = k:address(b, stage * tile.bytes), mn = col, k = first_k, barrier = barrier }
  end

  k:if_(leader, function()
    for s = 0, stages - 2 do
      k:if_(K:gt(s * block), function() fetch(s, s * block) end)
    end
  end)

  local acc = k:regs("f32", block // 2)
  for i = 0, #acc - 1 do k:mov(acc[i], 0) end
  local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })

  k:loop({ from = 0, to = K, step = block }, function(first_k)
    k:mbarrier_wait(k:address(full, stage << 3), phase)
    k:wgmma_fence()
    k:mma(acc, { a = a, b = b, a_offset = stage * tile.bytes, b_offset = stage * tile.bytes })
    k:wgmma_wait_group(1)           -- the product of the block before is complete...
    k:bar_sync(0)                   -- ...for all four warps: its stage may be overwritten
    local ahead = first_k + (stages - 1) * block
    k:if_(leader & ahead:lt(K), function()
      fetch(k:rem(stage + (stages - 1), stages), ahead)
    end)

    k:add(stage, stage, 1)
    local wrapped = stage:eq(stages)
    k:mov(stage, 0, { guard = wrapped })
    k:xor(phase, phase, 1, { guard = wrapped })
  end)
  k:wgmma_wait_group(0)

  k:store_accumulator(acc, { to = D, ld = N, row = row, col = col, rows = M, cols = N, vector = true })
end)

local M, N, K = 100, 136, 520
local A = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 } -- N rows of K elements: K-major
local D = wg.zeros("f32", { M, N })
local grid = { (N + block - 1) // block, (M + block - 1) // block }
local backend = gemm:run { grid = grid, args = { A, B, D, M, N, K } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local ok, worst, where = wg.compare(D, wg.matmul(A, B:transpose()), 1e-3)
print(("gemm_pipeline %dx%dx%d on %s: worst error %.1g"):format(M, N, K, backend, worst))
if not ok then
  print(where)
  os.exit(5)
end
