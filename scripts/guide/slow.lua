-- Why is it slow (docs/guide/slow.md)? One product, and four repairs that the words on the command line choose.
--   wgrun timeline scripts/guide/slow.lua [ring] [overlap] [wide] [panel]
local wg = require "wgrun"

local with = {}
for _, word in ipairs(arg) do with[word] = true end

local stages = with.ring and 4 or 1                            -- buffers that copies fill ahead of the products
local consumers = with.wide and 2 or 1                         -- warpgroups that share a tile of B
local m, n, block_k, K = 64 * consumers, 128, 64, 1024
local tile_a = wg.tile { dtype = "bf16", mn = m, k = block_k, major = "K", swizzle = "128B" }
local tile_b = wg.tile { dtype = "bf16", mn = n, k = block_k, major = "K", swizzle = "128B" }
local panel = wg.panel { dtype = "bf16", n = n }

local product = wg.kernel("product", { threads = 128 * (1 + consumers) }, function(k)
  local A, B = k:tensor_map("A", { tile = tile_a }), k:tensor_map("B", { tile = tile_b })
  local D = k:tensor_map("D", with.panel and panel.box or { dtype = "bf16", box = { n, 64 } })
  local a = k:shared { tile = tile_a, count = stages, name = "a" }
  local b = k:shared { tile = tile_b, count = stages, name = "b" }
  local out = k:shared { bytes = consumers * 64 * n * 2, align = 1024, name = "out" } -- D on its way to global memory
  local ring = k:pipeline { stages = stages, arrivals = 4 * consumers, name = "ring" }
  local thread = k:special "tid.x"
  local row, column = k:special "ctaid.y" * m, k:special "ctaid.x" * n
  k:if_(thread:eq(0), function() ring:init() end)
  k:bar_sync(0)

  -- 64 rows of D go through shared memory, so that whole lines leave.
  local function store(acc, mine, first_row, first_column)
    if with.panel then
      local emit, finish = k:epilogue {
        panel = panel, map = D, buffer = out, offset = mine * (panel.count * panel.bytes), buffers = panel.count, barrier = mine + 1,
      }
      emit(acc, first_row, first_column)
      return finish()
    end
    local lane, warp = thread & 31, thread >> 5 & 3
    local here = k:address(out, mine * (64 * n * 2))
    for j = 0, #acc - 1, 2 do                                  -- acc[j] and acc[j + 1] are neighbours of one row
      local line = (warp << 4) + (lane >> 2) + 8 * (j // 2 % 2)
      local place = here + (line * (2 * n) + ((lane & 3) << 2) + j // 4 * 16)
      k:st_shared_b32(place, k:cvt_rn_bf16x2_f32(acc[j + 1], acc[j]))
    end
    k:fence_proxy_async()
    k:bar_sync(mine + 1, { threads = 128 })
    k:if_((thread & 127):eq(0), function()
      k:cp_async_bulk_tensor_store_2d(D, { first_column, first_row }, here)
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group_read(0)
    end)
  end

  local function produce()
    local cursor = ring:cursor()
    k:loop({ from = 0, to = K, step = block_k }, function(first_k)
      ring:acquire(cursor)
      local full = ring:expect(cursor, tile_a.bytes + tile_b.bytes)
      k:load_tile { tile = tile_a, map = A, to = k:address(a, cursor.stage * tile_a.bytes), mn = row, k = first_k, barrier = full }
      k:load_tile { tile = tile_b, map = B, to = k:address(b, cursor.stage * tile_b.bytes), mn = column, k = first_k, barrier = full }
      ring:advance(cursor)
    end)
  end

  local function consume()
    local mine = (thread >> 7) - 1
    local my_rows = mine * (64 * 2 * block_k)                 -- bytes of 64 rows of the tile
    local acc = k:regs("f32", n // 2)
    local cursor, previous = ring:cursor(), { stage = k:mov(0, { type = "u32" }) }
    k:loop({ from = 0, to = K, step = block_k }, function(first_k)
      local later = first_k:gt(0)
      ring:wait(cursor)
      k:wgmma_fence()
      k:mma(acc, { a = a, b = b, a_offset = my_rows + cursor.stage * tile_a.bytes, b_offset = cursor.stage * tile_b.bytes, scale_d = later })
      if with.overlap then
        k:wgmma_wait_group(1)                                  -- the products of the block before
        ring:release(previous, { lane = thread & 31, guard = later })
        k:mov(previous.stage, cursor.stage)
      else
        k:wgmma_wait_group(0)                                  -- these products: the tensor core idles until the next
        ring:release(cursor, { lane = thread & 31 })
      end
      ring:advance(cursor)
    end)
    k:wgmma_wait_group(0)
    store(acc, mine, row + (mine << 6), column)
  end

  k:if_((thread >> 7):eq(0), function() k:if_(thread:eq(0), produce) end, consume)
end)

local A = wg.randn { shape = { m, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { n, K }, dtype = "bf16", seed = 2 }
local D = wg.zeros("bf16", { m, n })
local launch = { grid = { 1 }, args = { A, B, D } }
local backend = product:run(launch)
if backend == "none" then return end -- wgrun check and wgrun timeline trace kernels without running them

local ok, worst, where = wg.compare(D, wg.matmul(A, B:transpose()):convert "bf16")
print(("product %dx%dx%d on %s: worst error %.2g"):format(m, n, K, backend, worst))
if not ok then
  print(where)
  os.exit(5)
end
return product, launch -- for scripts/guide/pictures.lua
