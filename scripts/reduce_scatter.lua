-- A product of two devices (docs/devices.md): each has half of K, and gets half of the rows of the sum. A device
-- multiplies the other one's rows first, stores these tiles into the other one's inbox by TMA, and says so by flags;
-- then it multiplies its own rows, and adds what is in its inbox, which has arrived meanwhile.
--   wgrun scripts/reduce_scatter.lua
local wg = require "wgrun"

local consumers, stages = 2, 4
local block_m, block_n, block_k = 64 * consumers, 256, 64
local group = 8 -- rows of tiles that follow each other; a device has whole groups, and sends before it waits
local tile_a = wg.tile { dtype = "bf16", mn = block_m, k = block_k, major = "K", swizzle = "128B" }
local tile_b = wg.tile { dtype = "bf16", mn = block_n, k = block_k, major = "K", swizzle = "128B" }
local panel = wg.panel { dtype = "bf16", n = block_n }

local kernel = wg.kernel("reduce_scatter", { threads = 128 * (1 + consumers) }, function(k)
  local A, B = k:tensor_map("A", { tile = tile_a }), k:tensor_map("B", { tile = tile_b })
  local D, inbox = k:tensor_map("D", panel.box), k:tensor_map("inbox", panel.box)
  local peer_inbox = k:tensor_map("peer_inbox", panel.box)
  -- A flag for 64 rows of a tile: the number of the last launch that has stored them.
  local flags, peer_flags = k:param("flags", "u32*"), k:param("peer_flags", "u32*")
  local M, N, K = k:param("M", "u32"), k:param("N", "u32"), k:param("K", "u32")
  local rank, launch = k:param("rank", "u32"), k:param("launch", "u32")
  local a = k:shared { tile = tile_a, count = stages, name = "a" }
  local b = k:shared { tile = tile_b, count = stages, name = "b" }
  local out = k:shared { bytes = consumers * panel.bytes, align = 1024, name = "out" }
  local arrived = k:shared { bytes = 8 * consumers, align = 8, name = "arrived" }
  local ring = k:pipeline { stages = stages, arrivals = 4 * consumers }
  local thread, half = k:special "tid.x", M >> 1

  k:if_(thread:eq(0), function()
    ring:init()
    for c = 0, consumers - 1 do k:mbarrier_init(k:address(arrived, 8 * c), 1) end
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)

  -- Calls body(place): place() gives a row of A, a row of the half that the tile belongs to, a column, and whether that
  -- half is the other device's: those come first.
  local function each_tile(body)
    k:each_tile({ m = block_m, n = block_n, rows = M, columns = N, group = group }, function(place)
      body(function()
        local row, column = place()
        local sent = row:lt(half)
        local inside = k:selp(row, row - half, sent)
        local owner = k:selp(rank ~ 1, rank, sent)
        return inside + owner * half, inside, column, sent
      end)
    end)
  end

  local function produce()
    local cursor = ring:cursor()
    each_tile(function(place)
      local row, _, column = place()
      k:loop({ from = 0, to = K, step = block_k }, function(first_k)
        ring:acquire(cursor)
        local barrier = ring:expect(cursor, tile_a.bytes + tile_b.bytes)
        local function copy(tile, from, buffer, mn)
          local to = k:address(buffer, cursor.stage * tile.bytes)
          k:load_tile { tile = tile, map = from, to = to, mn = mn, k = first_k, barrier = barrier }
        end
        copy(tile_a, A, a, row)
        copy(tile_b, B, b, column)
        ring:advance(cursor)
      end)
    end)
  end

  local function consume()
    local mine = (thread >> 7) - 1
    local leader = (thread & 127):eq(0)
    local my_rows = mine * ((tile_a:descriptor(0, 0, 64) - tile_a:descriptor(0)) << 4)
    local offset = mine * panel.bytes -- of the consumer's panel, for both
    local function output(map, residual)
      return k:epilogue {
        panel = panel, map = map, residual = residual, buffer = out, offset = offset, barrier = mine + 1,
      }
    end
    local send = output(peer_inbox)
    local keep, finish = output(D, { map = inbox, barrier = k:address(arrived, mine << 3) })
    local function flag_of(list, row, column)
      return k:element(list, (row + (mine << 6) >> 6) * k:div(N, block_n) + k:div(column, block_n))
    end
    -- A tile that has been sent is announced a tile later, when its copies have long ended.
    local announced = k:mov(0, { type = "u64" })
    local function announce()
      k:if_(leader & announced:ne(0), function()
        k:cp_async_bulk_wait_group(0)
        k:st_release_sys_global_u32(announced, launch)
      end)
      k:mov(announced, 0)
    end

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
      local _, row, column, sent = place()
      announce()
      k:if_(sent, function()
        send(acc, row + (mine << 6), column)
        k:mov(announced, flag_of(peer_flags, row, column))
      end, function()
        local flag = flag_of(flags, row, column)
        k:if_(leader, function()
          k:while_(function() return k:ld_acquire_sys_global_u32(flag):ne(launch) end, function() end)
          k:fence_proxy_async()
        end)
        keep(acc, row + (mine << 6), column)
      end)
    end)
    announce()
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

local M, N, K = 2 * group * block_m, 256, 128 -- K of each device
local whole, of_device = nil, {}
local inbox, flags = {}, {}
for d = 1, 2 do
  inbox[d] = wg.zeros("bf16", { M // 2, N })
  flags[d] = wg.zeros("u32", { M // 128, N // block_n })
end
for d = 1, 2 do
  local A = wg.randn { shape = { M, K }, dtype = "bf16", seed = 2 * d }
  local B = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 * d + 1 }
  local product = wg.matmul(A, B:transpose())
  whole = whole and whole + product or product
  of_device[d] = {
    A, B, wg.zeros("bf16", { M // 2, N }), inbox[d], inbox[3 - d], flags[d], flags[3 - d], M, N, K, d - 1, 1,
  }
end
local backend = kernel:run { grid = { 4 }, backend = "sim", devices = of_device }
if backend == "none" then return kernel end -- wgrun check, ptx and cuda trace kernels without running them

for d = 1, 2 do
  local want = whole:rows((d - 1) * M // 2, d * M // 2)
  -- The part that was sent is rounded to bf16.
  local ok, worst, at = wg.compare(of_device[d][3], want:convert "bf16", { absolute = 0.15, relative = 1 / 128 })
  print(("reduce_scatter, device %d: worst error %.2g"):format(d - 1, worst))
  if not ok then
    print(at)
    os.exit(5)
  end
end
