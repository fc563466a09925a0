-- Step 7 of the guide (docs/guide/07-gemm.md): a GEMM with warp roles. One warpgroup produces, that is, copies tiles
-- by TMA; two consume, that is, multiply 64 rows each. mbarriers connect them, and the CTAs walk over the tiles of D.
--   wgrun scripts/guide/07-gemm.lua
local wg = require "wgrun"

local consumers, stages = 2, 4
local block_m, block_n, block_k = 64 * consumers, 128, 64
local tile_a = wg.tile { dtype = "bf16", mn = block_m, k = block_k, major = "K", swizzle = "128B" }
local tile_b = wg.tile { dtype = "bf16", mn = block_n, k = block_k, major = "K", swizzle = "128B" }
local panel = wg.panel { dtype = "bf16", n = block_n } -- the shape in which accumulators leave by TMA

local gemm = wg.kernel("gemm_roles", { threads = 128 * (1 + consumers) }, function(k)
  local A, B = k:tensor_map("A", { tile = tile_a }), k:tensor_map("B", { tile = tile_b })
  local D = k:tensor_map("D", panel.box)
  local M, N, K = k:param("M", "u32"), k:param("N", "u32"), k:param("K", "u32")
  local a = k:shared { tile = tile_a, count = stages, name = "a" }
  local b = k:shared { tile = tile_b, count = stages, name = "b" }
  local out = k:shared { bytes = consumers * panel.count * panel.bytes, align = 1024, name = "out" }
  local ring = k:pipeline { stages = stages, arrivals = 4 * consumers } -- each consumer warp releases a stage once
  local thread = k:special "tid.x"

  k:if_(thread:eq(0), function() ring:init() end)
  k:bar_sync(0)

  local function each_tile(body)
    k:each_tile({ m = block_m, n = block_n, rows = M, columns = N }, body)
  end

  local function produce()
    local cursor = ring:cursor()
    each_tile(function(place)
      local row, col = place()
      k:loop({ from = 0, to = K, step = block_k }, function(first_k)
        ring:acquire(cursor)                                            -- wait until the stage is empty
        local barrier = ring:expect(cursor, tile_a.bytes + tile_b.bytes)
        k:load_tile { tile = tile_a, map = A, to = k:address(a, cursor.stage * tile_a.bytes), mn = row, k = first_k, barrier = barrier }
        k:load_tile { tile = tile_b, map = B, to = k:address(b, cursor.stage * tile_b.bytes), mn = col, k = first_k, barrier = barrier }
        ring:advance(cursor)
      end)
    end)
  end

  local function consume()
    local mine = (thread >> 7) - 1                                      -- consumer 0 or 1
    local my_rows = mine * ((tile_a:descriptor(0, 0, 64) - tile_a:descriptor(0)) << 4) -- bytes from row 0 to row 64
    local store, finish = k:epilogue {
      panel = panel, map = D, buffer = out, offset = mine * (panel.count * panel.bytes), buffers = panel.count, barrier = mine + 1,
    }
    local acc = k:regs("f32", block_n // 2)
    local cursor, previous = ring:cursor(), { stage = k:mov(0, { type = "u32" }) }

    each_tile(function(place)
      k:loop({ from = 0, to = K, step = block_k }, function(first_k)
        ring:wait(cursor)                                               -- wait until the stage is full
        local later = first_k:gt(0)
        k:wgmma_fence()
        k:mma(acc, { a = a, b = b, a_offset = my_rows + cursor.stage * tile_a.bytes, b_offset = cursor.stage * tile_b.bytes, scale_d = later })
        k:wgmma_wait_group(1)                                           -- the block before is complete
        ring:release(previous, { lane = thread & 31, guard = later })
        k:mov(previous.stage, cursor.stage)
        ring:advance(cursor)
      end)
      k:wgmma_wait_group(0)
      ring:release(previous, { lane = thread & 31 })
      local row, col = place()
      store(acc, row + (mine << 6), col)
    end)
    finish()
  end

  k:if_((thread >> 7):eq(0), function()
    k:setmaxnreg_dec(40)
    k:if_(thread:eq(0), produce)
  end, function()
    k:setmaxnreg_inc(232)
    consume()
  end)
end)

local M, N, K = 192, 264, 328
local A = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 } -- N rows of K elements: K-major
local D = wg.zeros("bf16", { M, N })
local ctas = 3 -- persistent: fewer than the six tiles of D; on a GPU as many as it has SMs
local backend = gemm:run { grid = { ctas }, args = { A, B, D, M, N, K } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local ok, worst, where = wg.compare(D, wg.matmul(A, B:transpose()):convert "bf16")
print(("gemm_roles %dx%dx%d on %s: worst error %.2g"):format(M, N, K, backend, worst))
if not ok then
  print(where)
  os.exit(5)
end
