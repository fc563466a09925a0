-- The kernel of wg.gemm{ b_type = }: weights of 4 or 8 bits become 16-bit operands in registers.
--
-- The roles of A and B are exchanged, so that D is computed transposed: 64 rows of weights are wgmma's A, which may be
-- in registers, and rows of A, of which there may be few, are its columns, in shared memory. A CTA has a tile of 64 or
-- 128 rows of weights and up to 256 rows of A; the CTAs of a cluster have parts of its K (`splits`), or each CTA has
-- pieces of tiles one after the other (`stream_k`).
--
--   copying warp       mixed/copies.lua    weights, scales and A, into a ring with a stage for each block of K
--   warpgroups         mixed/convert.lua   weights from shared memory to operands in registers
--                      mixed/sums.lua      times A's stages, one step of K converted while another is multiplied
--                      mixed/exchange.lua  the sums of parts of K, put together in one warpgroup
--                      k:epilogue          which stores them, transposed
--
-- Where a block of K is longer than 128, more warpgroups have a part of each block: more of them convert at a time.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local parameters = require "wgrun.builder.parameters"
local plan = require "wgrun.epilogue.plan"
local mixed_copies = require "wgrun.mixed.copies"
local exchange = require "wgrun.mixed.exchange"
local sums = require "wgrun.mixed.sums"
local mixed_work = require "wgrun.mixed.work"

local module = {}

local divided = division.divided

-- With stream_k: where a warpgroup stands in the ring, and what else lasts from piece to piece. `begun`: it has had a
-- stage to release; `round`: the parity of the exchange of sums.
local function place_of(k)
  local place = {}
  for _, name in ipairs { "stage", "phase", "begun", "round" } do place[name] = k:mov(0, { type = "u32" }) end
  return place
end

-- Stores the sums of the warpgroup's 64 rows. With stream_k those of a tile that several CTAs have go through a
-- workspace, and the CTA that comes last stores their sum.
local function storer(k, p, acc, buffers, sizes, work, mine, store)
  local function store_block() store(acc, work.row + (mine.block << 6), work.column) end
  if not p.stream then return store_block end
  return function()
    local parts, whole = work.parts(), k:mov(1, { type = "u32" })
    k:if_(parts.count:gt(1), function()
      local first = parts.first + mine.block * parts.places
      k:mov(whole, 0, { guard = ~k:sum_parts {
        acc = { acc }, partials = sizes.partials, counters = sizes.counters, tile = first, first = first,
        part = parts.part, splits = parts.count,
        barrier = mine.number + 1, flag = k:address(buffers.flags, mine.block << 3), early = true,
      } })
    end)
    k:if_(whole:ne(0), store_block)
  end
end

-- A consumer: warpgroup `number` of those that multiply.
local function consume(k, p, ring, maps, buffers, sizes, work, number)
  local mine = {
    number = number, block = divided(k, number, p.k_parts), part = number & (p.k_parts - 1),
    thread = k:special "tid.x" & 127,
  }
  local acc = k:regs("f32", p.n // 2)
  local exchanged = setmetatable({ M = sizes.N, N = sizes.M }, { __index = sizes }) -- as the accumulators have them
  local store, finish = k:epilogue(arguments.extended({
    panel = p.panel, map = maps.D, buffer = buffers.exchange,
    offset = divided(k, mine.block, p.splits) * p.exchange_bytes + p.panel_offset,
    barrier = number + 1,
  }, plan.operands(k, p, {
    maps = maps, sizes = exchanged, stages = buffers, mine = mine.block, factors = function() end,
  })))
  local given = { ring = ring, buffers = buffers, work = work, mine = mine, place = p.stream and place_of(k) or nil }
  local store_sums = storer(k, p, acc, buffers, sizes, work, mine, store)
  work.each(function()
    sums.emit(k, p, acc, given)
    exchange.emit(k, p, acc, given, function()
      store_sums()
      if not p.stream then finish() end
    end)
    if p.stream then k:xor(given.place.round, given.place.round, 1) end
  end)
  if p.stream then finish() end
end

-- What one thread does before all others begin.
local function begin(k, p, maps, buffers, work)
  for _, name in ipairs { "A", "A_few", "b_scales", "b_zeros", "C", "D" } do
    if maps[name] then k:prefetch_tensormap(maps[name]) end
  end
  if buffers.c then
    for c = 0, p.blocks - 1 do k:mbarrier_init(k:address(buffers.c, 8 * c), 1) end
  end
  local arrived = buffers.arrived and k:address(buffers.arrived)
  if arrived then k:mbarrier_init(arrived, p.splits == 1 and 128 * p.blocks * (p.k_parts - 1) or 1) end
  if buffers.free then k:mbarrier_init(k:address(buffers.free), 128 * p.blocks) end
  if p.splits > 1 or buffers.c then k:fence_mbarrier_init() end
  if p.splits > 1 then
    -- CTA r puts the blocks r, r + splits, ... together.
    local owned = divided(k, p.blocks + p.splits - 1 - work.part, p.splits)
    k:mbarrier_arrive_expect_tx(arrived, owned * ((p.parts - 1) * p.sum_bytes))
  end
end

-- Zeros in the stages of A, where boxes come with fewer rows than a tile has.
local function clear_a(k, p, buffer)
  local zeros, thread, bytes = k:regs("b32", 4), k:special "tid.x", p.stages * p.a.bytes
  for i = 0, 3 do k:mov(zeros[i], 0) end
  local at, step = k:address(buffer, thread << 4), 16 * 128 * p.consumers
  for offset = 0, bytes - 1, step do
    k:st_shared_v4_b32(
      at, zeros, { offset = offset, guard = offset + step > bytes and thread:lt((bytes - offset) // 16) or nil })
  end
  k:fence_proxy_async { space = "shared::cta" }
end

-- The buffers in shared memory: stages, mbarriers, and the sums that CTAs and warpgroups send each other, with D's
-- panels in their place.
local function shared_memory(k, p)
  local function eight_bytes(count, name) return k:shared { bytes = 8 * count, align = 8, name = name } end
  return {
    a = k:shared { tile = p.a, count = p.stages, name = "A" },
    exchange = k:shared { bytes = p.owned * p.exchange_bytes, align = p.panel.align, name = "D" },
    weights = k:shared { bytes = p.stages * p.blocks * p.weight_bytes, align = 128, name = "B" },
    b_scales = k:shared { bytes = p.stages * p.scale_bytes, align = 128, name = "b_scales" },
    b_zeros = p.zeros and k:shared { bytes = p.stages * p.scale_bytes, align = 128, name = "b_zeros" } or nil,
    free = p.stream and p.parts > 1 and eight_bytes(1, "sums_free") or nil,
    flags = p.stream and eight_bytes(p.blocks, "flags") or nil,
    arrived = p.parts > 1 and eight_bytes(1, "sums") or nil,
    c = (p.epilogue.beta or p.epilogue.residual) and eight_bytes(p.blocks, "C") or nil,
  }
end

--- The kernel of a plan (of plan.make).
function module.make(p)
  local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.splits } }, function(k)
    local maps, sizes = parameters.declare(k, p.parameters)
    local buffers = shared_memory(k, p)
    local ring = k:pipeline { stages = p.stages, arrivals = 4 * p.consumers }
    local warp, work = k:reg "u32", mixed_work.emit(k, p, sizes)
    k:shfl_sync_idx_b32(warp, k:special "tid.x" >> 5, 0, 31) -- the same in all lanes
    local copies = warp:eq(4 * p.consumers)
    local few = p.few and sizes.M:le(p.few) or nil
    local copy = mixed_copies.emit(
      k, p, ring, { maps = maps, buffers = buffers, sizes = sizes, work = work, few = few })
    k:griddepcontrol_launch_dependents()
    -- Weights come as soon as there are mbarriers that count them, before the other warps, and CTAs, are ready.
    k:if_(copies, function()
      local elected = k:elect_sync()
      k:if_(elected, function() ring:init() end)
      copy.begin()
      k:if_(elected, function() begin(k, p, maps, buffers, work) end)
    end)
    if few or p.prefetched > 0 then
      k:if_(warp:lt(4 * p.consumers), function()
        if p.prefetched > 0 then copy.prefetch() end
        if few then k:if_(few, function() clear_a(k, p, buffers.a) end) end
      end)
    end
    if p.splits == 1 then
      k:bar_sync(0)
    else
      -- fence.mbarrier_init has released what others must see, but for zeros
      k:barrier_cluster_arrive { sem = few and "release" or "relaxed" }
      k:barrier_cluster_wait()
    end
    k:if_(warp:ge(4 * p.consumers), function()
      if p.registers then k:setmaxnreg_dec(p.registers[1]) end
      k:if_(copies, copy.finish)
    end, function()
      if p.registers then k:setmaxnreg_inc(p.registers[2]) end
      consume(k, p, ring, maps, buffers, sizes, work, warp >> 2)
    end)
  end)
  kernel:launch_rule { notes = parameters.notes(p.parameters) }
  return kernel
end

return module
