-- The warp that copies for wg.gemm{ b_type = }: weights, their scales and zero points, and A, to the stages of a ring,
-- one stage for each block of K. One lane issues the copies; the others go round with it, so that what the copies need
-- lives in uniform registers.
--
-- Copies are served in the order in which they are issued. Constant weights may come before the previous launch has
-- ended, and A may not: the first `p.ahead` stages get their weights at once, and A and the scales when the launch has
-- waited. These are as many as arrive in that time anyway; with more of them A would wait for weights. The
-- `p.prefetched` blocks behind them are brought to the L2 cache only, by the warps that multiply, which have nothing to
-- do yet: their requests do not stand in the way of the copies.

local division = require "wgrun.builder.division"
local packed = require "wgrun.mixed_input.packed"
local pipeline = require "wgrun.pipeline.pipeline"

local module = {}

local divided = division.divided

-- What the warp has: its cursor in the ring, the block of K that comes next, and where everything goes and comes from.
local function copier_of(g)
  local k, p, ring, buffers, work = g.k, g.p, g.ring, g.buffers, g.work
  local me = {
    k = k, p = p, ring = ring, maps = g.maps, sizes = g.sizes, work = work, small_m = g.small_m,
    cursor = ring:cursor(), elected = k:elect_sync(), next_k = k:mov(work.from, { type = "u32" }),
  }
  me.weights, me.a = k:address(buffers.weights), k:address(buffers.a)
  me.policy = pipeline.evict_first(k) -- each weight is read by one CTA
  me.scales = {}
  if not p.fp4 then me.scales[1] = { map = me.maps.b_scales, to = k:address(buffers.b_scales) } end
  if p.zeros then me.scales[2] = { map = me.maps.b_zeros, to = k:address(buffers.b_zeros) } end
  local a_bytes = p.a.bytes
  if me.small_m then
    a_bytes = k:selp_b32(p.small_m * p.block_k * p.element_bytes, a_bytes, me.small_m, { type = "u32" })
  end
  me.bytes = a_bytes + (p.blocks * p.weight_bytes + #me.scales * p.scale_bytes) -- of a stage
  me.weights_of = packed.blocks(g)
  return me
end

-- The weights of a stage, which also announces all of its bytes.
local function copy_weights(me)
  local k, p = me.k, me.p
  local barrier = me.ring:expect(me.cursor, me.bytes)
  local to = me.weights + me.cursor.stage * (p.blocks * p.weight_bytes)
  for i = 0, p.blocks - 1 do
    local from = k:mad_wide_u32(me.next_k, p.bytes_of_k, me.from[i])
    k:cp_async_bulk(i == 0 and to or to + i * p.weight_bytes, from, p.weight_bytes, barrier, { policy = me.policy })
  end
end

-- A box with many rows outside of A comes slowly: where A has few rows, boxes have as many. They come a panel of 128
-- bytes of each at a time, whose rows lie side by side, however many are copied.
local function copy_a(me, to, barrier)
  local k, p = me.k, me.p
  local function copy_tile()
    k:load_tile { tile = p.a, map = me.maps.A, to = to, mn = me.work.column, k = me.next_k, barrier = barrier }
  end
  if not me.small_m then return copy_tile() end
  k:if_(me.small_m, function()
    for column = 0, p.block_k - 1, 128 // p.element_bytes do
      local panel, from = column == 0 and to or to + p.a:offset(0, column),
        column == 0 and me.next_k or me.next_k + column
      k:cp_async_bulk_tensor_2d(panel, me.maps.A_few, { from, me.work.column }, barrier)
    end
  end, copy_tile)
end

-- Scales, zero points and A of a stage.
local function copy_scales_and_a(me)
  local k, p, stage, barrier = me.k, me.p, me.cursor.stage, me.ring:full_barrier(me.cursor)
  for _, scales in ipairs(me.scales) do
    for slice = 0, p.scale_copies - 1 do
      local group = divided(k, slice == 0 and me.next_k or me.next_k + slice * p.slice_k, p.group_size)
      k:cp_async_bulk_tensor_2d(
        scales.to + stage * p.scale_bytes + slice * p.slice_scale_bytes, scales.map, { me.work.row, group }, barrier)
    end
  end
  copy_a(me, me.a + stage * p.a.bytes, barrier)
end

-- Fills a stage for each block of K up to `to`, by copy(me). free: the stages are known to be free.
local function fill_stages(me, to, free, copy)
  local k = me.k
  k:while_(function() return me.next_k:lt(to) end, function()
    if not free then me.ring:acquire(me.cursor) end
    k:if_(me.elected, function() copy(me) end)
    me.ring:advance(me.cursor)
    k:add(me.next_k, me.next_k, me.p.block_k)
  end)
end

-- Back to the first block and stage, whose weights have been copied.
local function rewind(me)
  me.k:mov(me.next_k, me.work.from)
  me.k:mov(me.cursor.stage, 0)
  me.k:mov(me.cursor.phase, 0)
end

-- Brings the blocks of weights behind those before `ahead` to the L2 cache: each thread asks for lines of 128 bytes.
local function prefetch(me, ahead)
  local k, p = me.k, me.p
  local first = k:special "tid.x" << 7
  local size = k:min(me.work.to - ahead, p.prefetched * p.block_k) * p.bytes_of_k
  for i = 0, p.blocks - 1 do
    local lines = k:add(k:mad_wide_u32(ahead, p.bytes_of_k, me.from[i]), k:cvt_u64_u32(first))
    for offset = 0, p.prefetched * p.weight_bytes - 1, 128 * 128 * p.consumers do
      k:prefetch_global_L2(lines, { offset = offset, guard = (first + offset):lt(size) })
    end
  end
end

-- Brings the first weights of the product behind this one to the L2 cache: what memory can bring while this one ends.
local function prefetch_next(me)
  local k, p = me.k, me.p
  local size = k:min(me.work.to - me.work.from, p.prefetched_next * p.block_k) * p.bytes_of_k
  for i = 0, p.blocks - 1 do
    k:cp_async_bulk_prefetch(k:mad_wide_u32(me.work.from, p.bytes_of_k, me.weights_of(me.sizes.next, i)), size)
  end
end

--- The copies of a CTA, in two steps: begin() before the warps of the CTA, or cluster, have met, and finish() after it.
--- The warps that multiply may call prefetch() before it. g.small_m: whether A has so few rows that boxes of A_few hold
--- them, nil where there is no such map.
function module.emit(g)
  local k, p, me, work = g.k, g.p, copier_of(g), g.work
  me.from = {} -- the weights of each 64 rows of the tile
  for i = 0, p.blocks - 1 do me.from[i] = k:mov(me.weights_of(me.sizes.weights, i), { type = "u64" }) end
  local ahead = k:min(work.to, work.from + p.ahead * p.block_k)
  local copies = {}

  function copies.prefetch() prefetch(me, ahead) end

  function copies.begin()
    if p.constant then fill_stages(me, ahead, true, copy_weights) end
  end

  function copies.finish()
    k:griddepcontrol_wait()
    if p.constant then
      rewind(me)
      fill_stages(me, ahead, true, copy_scales_and_a)
    end
    p.scheduler.each(g, {
      moved = function() -- another work unit of a tile
        k:mov(me.next_k, work.from)
        for i = 0, p.blocks - 1 do k:mov(me.from[i], me.weights_of(me.sizes.weights, i)) end
      end,
    }, function()
      fill_stages(me, work.to, false, function()
        copy_weights(me)
        copy_scales_and_a(me)
      end)
    end)
    if p.prefetched_next > 0 then
      if work.again then work.again() end
      k:if_(me.elected, function() prefetch_next(me) end)
    end
  end
  return copies
end

return module
