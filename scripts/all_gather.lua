-- A product of two devices (docs/devices.md): each has half of the rows of A and half of the columns of D, which need
-- all of A. A warp of each CTA fetches the other device's rows, piece by piece, and counts them. The others multiply
-- the device's own rows meanwhile, and then the fetched ones. Fetched rows slow the product less than sent ones do.
--   wgrun scripts/all_gather.lua
local wg = require "wgrun"

local consumers, stages = 2, 4
local block_m, block_n, block_k = 64 * consumers, 256, 64
local piece = 16384 -- bytes
local group = 8     -- rows of tiles that follow each other; a device's rows are whole groups, and come first
local tile_a = wg.tile { dtype = "bf16", mn = block_m, k = block_k, major = "K", swizzle = "128B" }
local tile_b = wg.tile { dtype = "bf16", mn = block_n, k = block_k, major = "K", swizzle = "128B" }
local panel = wg.panel { dtype = "bf16", n = block_n }

local kernel = wg.kernel("all_gather", { threads = 128 * (1 + consumers) }, function(k)
  local A, gathered = k:tensor_map("A", { tile = tile_a }), k:tensor_map("gathered", { tile = tile_a })
  local B, D = k:tensor_map("B", { tile = tile_b }), k:tensor_map("D", panel.box)
  local from, to = k:param("A_from", "const bf16*"), k:param("A_to", "bf16*") -- the other device's A, and `gathered`
  local counts = k:param("counts", "u32*") -- of each block of rows: the pieces that all launches so far have fetched
  -- The launch whose A the other device has written, and the pieces that it has fetched here in all launches so far.
  local flags, peer_flags = k:param("flags", "u32*"), k:param("peer_flags", "u32*")
  local M, N, K = k:param("M", "u32"), k:param("N", "u32"), k:param("K", "u32")
  local rank, launch = k:param("rank", "u32"), k:param("launch", "u32")
  local a = k:shared { tile = tile_a, count = stages, name = "a" }
  local b = k:shared { tile = tile_b, count = stages, name = "b" }
  local out = k:shared { bytes = consumers * panel.bytes, align = 1024, name = "out" }
  local fetched_piece = k:shared { bytes = piece, align = 128, name = "fetched" }
  local loaded = k:shared { bytes = 8, align = 8, name = "loaded" }
  local ring = k:pipeline { stages = stages, arrivals = 4 * consumers }
  local thread, half = k:special "tid.x", M >> 1
  local pieces = k:div(K, piece // (2 * block_m)) -- of a block of rows
  local all = k:mul(k:div(half, block_m), pieces)

  -- Waits until a word of global memory is `least` or more, and for what was written before it.
  local function await(word, least, scope)
    k:while_(function() return k["ld_acquire_" .. scope .. "_global_u32"](k, word):lt(least) end, function() end)
  end

  k:if_(thread:eq(0), function()
    ring:init()
    k:mbarrier_init(k:address(loaded), 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)

  -- Calls body(place): place() gives a row of the half that the tile belongs to, a column, and whether that half is the
  -- device's own: those come first.
  local function each_tile(body)
    k:each_tile({ m = block_m, n = block_n, rows = M, columns = N, group = group }, function(place)
      body(function()
        local row, column = place()
        local own = row:lt(half)
        return k:selp(row, row - half, own), column, own
      end)
    end)
  end

  local function produce()
    local cursor = ring:cursor()
    each_tile(function(place)
      local row, column, own = place()
      local function load(map)
        k:loop({ from = 0, to = K, step = block_k }, function(first_k)
          ring:acquire(cursor)
          local barrier = ring:expect(cursor, tile_a.bytes + tile_b.bytes)
          local function copy(tile, from, buffer, mn)
            local to = k:address(buffer, cursor.stage * tile.bytes)
            k:load_tile { tile = tile, map = from, to = to, mn = mn, k = first_k, barrier = barrier }
          end
          copy(tile_a, map, a, row)
          copy(tile_b, B, b, column)
          ring:advance(cursor)
        end)
      end
      k:if_(own, function() load(A) end, function()
        await(k:element(counts, k:div(row, block_m)), k:mul(launch, pieces), "gpu")
        k:fence_proxy_async()
        load(gathered)
      end)
    end)
  end

  -- A launch of the other device may not begin before this one, nor this one end while the other one still reads its A.
  local function fetch()
    local first = k:special "ctaid.x"
    local phase, fetched = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
    k:if_(first:eq(0), function() k:red_global_max_u32(peer_flags, launch, { sem = "release.sys" }) end)
    await(flags, launch, "sys")
    k:fence_proxy_async()
    k:loop({ from = first, to = all, step = k:special "nctaid.x" }, function(number)
      local barrier, place = k:address(loaded), k:mul_wide_u32(number, piece)
      k:mbarrier_arrive_expect_tx(barrier, piece)
      k:cp_async_bulk(k:address(fetched_piece), from + place, piece, barrier)
      k:mbarrier_wait(barrier, phase)
      k:xor(phase, phase, 1)
      k:cp_async_bulk_store(to + place, k:address(fetched_piece), piece)
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
      k:red_global_add_u32(k:element(counts, k:div(number, pieces)), 1, { sem = "release.gpu" })
      k:add(fetched, fetched, 1)
    end)
    k:red_global_add_u32(peer_flags + 4, fetched, { sem = "release.sys" })
    k:if_(first:eq(0), function() await(flags + 4, k:mul(launch, all), "sys") end)
  end

  local function consume()
    local mine = (thread >> 7) - 1
    local my_rows = mine * ((tile_a:descriptor(0, 0, 64) - tile_a:descriptor(0)) << 4)
    local store, finish = k:epilogue {
      panel = panel, map = D, buffer = out, offset = mine * panel.bytes, barrier = mine + 1,
    }
    local acc = k:regs("f32", block_n // 2)
    local cursor, previous = ring:cursor(), { stage = k:mov(0, { type = "u32" }) }
    each_tile(function(place)
      k:loop({ from = 0, to = K, step = block_k }, function(first_k)
        ring:wait(cursor)
        local later = first_k:gt(0)
        k:wgmma_fence()
        local of_a, of_b = my_rows + cursor.stage * tile_a.bytes, cursor.stage * tile_b.bytes
        k:mma(acc, { a = a, b = b, a_offset = of_a, b_offset = of_b, scale_d = later })
        k:wgmma_wait_group(1)
        ring:release(previous, { lane = thread & 31, guard = later })
        k:mov(previous.stage, cursor.stage)
        ring:advance(cursor)
      end)
      k:wgmma_wait_group(0)
      ring:release(previous, { lane = thread & 31 })
      local row, column, own = place()
      local owner = k:selp(rank, rank ~ 1, own)
      store(acc, row + owner * half + (mine << 6), column)
    end)
    finish()
  end

  k:if_((thread >> 7):eq(0), function()
    k:setmaxnreg_dec(40)
    k:if_(thread:eq(0), produce)
    k:if_(thread:eq(32), fetch)
  end, function()
    k:setmaxnreg_inc(232)
    consume()
  end)
end)

local M, N, K = 2 * group * block_m, 256, 128 -- N of each device
local A, gathered, flags, of_device = {}, {}, {}, {}
for d = 1, 2 do
  A[d] = wg.randn { shape = { M // 2, K }, dtype = "bf16", seed = d }
  gathered[d] = wg.zeros("bf16", { M // 2, K })
  flags[d] = wg.zeros("u32", { 2 })
end
for d = 1, 2 do
  local B = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 + d }
  of_device[d] = {
    A[d], gathered[d], B, wg.zeros("bf16", { M, N }), A[3 - d], gathered[d], wg.zeros("u32", { M // 2 // block_m }),
    flags[d], flags[3 - d], M, N, K, d - 1, 1,
  }
end
local backend = kernel:run { grid = { 4 }, backend = "sim", devices = of_device }
if backend == "none" then return kernel end -- wgrun check, ptx and cuda trace kernels without running them

for d = 1, 2 do
  local B, D = of_device[d][3], of_device[d][4]
  for half = 1, 2 do
    local got, want = D:rows((half - 1) * M // 2, half * M // 2), wg.matmul(A[half], B:transpose()):convert "bf16"
    local ok, worst, at = wg.compare(got, want)
    print(("all_gather, device %d, rows of device %d: worst error %.2g"):format(d - 1, half - 1, worst))
    if not ok then
      print(at)
      os.exit(5)
    end
  end
end
