-- The consumers of the main loop with block scales (mainloop/block_scaled.lua). A consumer adds the products of a block
-- of K to its sums by itself, in one of two ways:
--
--   one set of products   It waits for the products and adds them, while the tensor cores multiply for the other
--                         consumers. Where sums and products do not fit into the registers, a tile is multiplied in
--                         `parts` of its columns, with a wait for each.
--   two sets              The next block is multiplied while the products of the one before are added. Narrow tiles
--                         have the registers for this, and few products that others could hide.
--
-- One or two consumers must add a block's products in less time than all of them multiply for, or the tensor cores
-- wait. So little stands between their additions and the next products (`early`): whether the next block has arrived is
-- asked before the additions, and its place is computed before that, while the tensor cores multiply.

local b_scales = require "wgrun.mainloop.b_scales"
local tail = require "wgrun.mainloop.tail"
local descriptors = require "wgrun.tile.descriptors"

local module = {}

local scale_block = b_scales.block

-- What a consumer has: its registers for products and scales, and where its rows' scales of A lie in the first stage.
local function consumer_of(g, consumer, sums)
  local k, p, s, operands = g.k, g.p, g.p.block_scaled, consumer.operands
  local me = {
    k = k, p = p, s = s, sums = sums, ring = g.ring, cursor = consumer.cursor, lane = consumer.lane,
    multicast_producer = consumer.multicast_producer, sets = {},
    operands = function(stage) return operands.of_stage(stage, operands.whole) end,
  }
  if p.consumers < 3 or s.sets > 1 then
    local a, b = k:reg "u64", k:reg "u64"
    me.early = { arrived = k:reg "pred", a = a, b = b }
    me.at, me.scales_at = { a = descriptors.of(k, p.a, a), b = descriptors.of(k, p.b, b) }, k:reg "u32"
  end
  me.form = { n = s.columns, k = p.k_step, d = "f32", a = p.dtype, b = p.dtype }
  local first_row = consumer.number * (64 * p.blocks) + ((k:special "tid.x" >> 5 & 3) << 4) + (me.lane >> 2)
  me.a_scales_at = k:address(g.buffers.scales, first_row << 2)
  me.from_b = b_scales.new(k, g.sizes, s.rows, me.lane)
  for number = 1, s.sets do
    me.sets[number] = {
      products = k:regs("f32", s.columns // 2),
      a_scales = k:regs("f32", 2 * p.blocks), -- of the thread's two rows of each block of 64
      b_scales = k:regs("f32", s.rows),
      stage = s.sets > 1 and k:reg "u32" or nil, -- while the cursor is at the next one
    }
  end
  return me
end

-- products = (block `number` of 64 rows of A) * (part `part` of B's columns), for one block of K.
local function multiply(me, set, at, number, part)
  local k, form = me.k, me.form
  k:wgmma_fence()
  for step = 0, scale_block // form.k - 1 do
    form.scale_d = step == 0 and 0 or 1
    k:wgmma_mma_async(set.products, at.a(step, 64 * (number - 1)), at.b(step, form.n * part), form)
  end
  k:wgmma_commit_group()
end

-- The place of the cursor's stage: descriptors of A and B.
local function place_of_stage(me)
  local a, b = me.operands(me.cursor.stage)
  return { a = a, b = b }
end

-- Finds the place of the cursor's stage, and where A's scales are, for begin_block.
local function find_stage(me, tile)
  local k, early, at = me.k, me.early, place_of_stage(me)
  local scales = tile.a_scales_at + me.cursor.stage * me.s.stride
  if not early then
    me.at, me.scales_at = at, scales
    return
  end
  k:mov(early.a, at.a(0))
  k:mov(early.b, at.b(0))
  k:mov(me.scales_at, scales)
end

-- Waits for the cursor's stage, and finds it.
local function first_stage(me, tile)
  me.ring:wait(me.cursor)
  find_stage(me, tile)
end

-- Asks whether the cursor's stage has arrived; where `guard` holds, if it is given.
local function ask_for_stage(me, guard)
  me.ring:try_wait(me.cursor, { into = me.early.arrived, guard = guard })
end

-- Begins to load A's scales of the block.
local function load_a_scales(me, set)
  for i = 0, #set.a_scales - 1 do
    me.k:ld_shared_f32(set.a_scales[i], me.scales_at, { offset = 4 * (64 * (i // 2) + 8 * (i % 2)) })
  end
end

-- The scale of B for a segment of the tile's columns, of the loaded ones and the segment's number: that of one row of
-- scales, or of one of two, where it depends on `inside`, the place in its first row at which the tile begins.
local function scale_of_segment(me, inside)
  local s = me.s
  return function(loaded, segment)
    local first = segment * s.segment
    local least, most = first // scale_block, (first + scale_block - s.segment) // scale_block
    if least == most then return loaded[least] end
    return me.k:selp(loaded[most], loaded[least], inside:ge(most * scale_block - first))
  end
end

-- sums += products * scales, for one part of a block of 64 rows.
local function add_products(me, set, number, part, b_scale_of)
  local k, s, sums, factors = me.k, me.s, me.sums[number], {}
  for r = 0, s.columns // 2 - 1 do
    local sum = part * s.columns // 2 + r
    local segment, half = 2 * sum // s.segment, r // 2 % 2
    local key = 2 * segment + half
    factors[key] = factors[key] or k:mul(set.a_scales[2 * (number - 1) + half], b_scale_of(set.b_scales, segment))
    k:fma(sums[sum], set.products[r], factors[key], sums[sum])
  end
end

-- A work unit at that row and column: its sums are 0 so far.
local function tile_of(me, work, row, column)
  local tile = {
    tail_n = work.tail_n, a_scales_at = me.p.groups and me.a_scales_at + ((row & 3) << 2) or me.a_scales_at,
  }
  tile.b_scale_of = scale_of_segment(me, column & (scale_block - 1))
  me.from_b:restart()
  for number = 1, me.p.blocks do
    for r = 0, me.p.n // 2 - 1 do me.k:mov(me.sums[number][r], 0.0) end
  end
  return tile
end

-- Begins to multiply the first part of a block of K, whose stage has arrived and been found.
local function begin_block(me, set)
  local k = me.k
  load_a_scales(me, set)
  local first = me.from_b:take(set.b_scales)
  multiply(me, set, me.at, 1, 0)
  k:fence_proxy_async { space = "shared::cta" } -- the scales have been read: the next copy may overwrite them,
  k:bar_warp_sync(0xFFFFFFFF) -- once one lane has arrived for its warp
  me.from_b:advance(first) -- behind the fence, which waits for loads
  if not set.stage then return end
  k:mov(set.stage, me.cursor.stage)
  me.ring:advance(me.cursor)
end

-- Multiplies the parts that are left of a block of K, adds all of them to the sums, and releases the stage behind the
-- last product. later: the products that have begun behind those of the block. asks: goes on to the next stage before
-- it adds, and asks whether it has arrived; only where a predicate holds, if it is one.
local function finish_block(me, tile, set, later, asks)
  local k, p, cursor, ring = me.k, me.p, me.cursor, me.ring
  local at = me.early and (p.blocks > 1 or me.s.parts > 1) and place_of_stage(me) or me.at
  local function complete()
    local own = { stage = set.stage or cursor.stage, empty = cursor.empty }
    if asks and not set.stage then
      own.stage = k:mov(cursor.stage, { type = "u32" })
      ring:advance(cursor)
    end
    if asks then find_stage(me, tile) end
    k:wgmma_wait_group(later or 0)
    ring:release(own, { lane = me.lane, cluster = p.multicast_producers, to = me.multicast_producer })
    if asks then ask_for_stage(me, asks ~= true and asks or nil) end
  end
  local function multiply_parts(parts)
    for number = 1, p.blocks do
      for part = 0, parts - 1 do
        if number > 1 or part > 0 then multiply(me, set, at, number, part) end
        if number == p.blocks and part == parts - 1 then complete() else k:wgmma_wait_group(0) end
        add_products(me, set, number, part, tile.b_scale_of)
      end
    end
  end
  tail.either(k, tile.tail_n, function() multiply_parts(me.s.parts // 2) end, function()
    multiply_parts(me.s.parts)
  end)
  if not (set.stage or asks) then ring:advance(cursor) end
end

-- The blocks of K of a work unit, one after the other. look_ahead() is called while the last one is multiplied, if it
-- is given.
local function one_by_one(me, tile, work, look_ahead)
  local k, set = me.k, me.sets[1]
  if not me.early then
    return k:loop({ from = work.from, to = work.to, step = scale_block }, function()
      first_stage(me, tile)
      begin_block(me, set)
      finish_block(me, tile, set)
    end)
  end
  local left = work.to - work.from
  first_stage(me, tile)
  k:while_(function()
    begin_block(me, set)
    return left:gt(scale_block)
  end, function()
    k:sub(left, left, scale_block)
    finish_block(me, tile, set, nil, true)
    me.ring:wait(me.cursor, me.early.arrived)
  end)
  if look_ahead then look_ahead() end
  finish_block(me, tile, set)
end

-- Likewise, with two blocks in flight, of which one is added.
local function two_at_a_time(me, tile, work, look_ahead)
  local k, left, one, two = me.k, work.to - work.from, me.sets[1], me.sets[2]
  local even, done, more = k:label(), k:label(), k:reg "pred" -- the end of an even number of blocks; of all
  local function begin(set)
    begin_block(me, set)
    k:setp_gt_u32(more, left, scale_block)
    k:sub(left, left, scale_block)
  end
  local function go_on(set, last)
    me.ring:wait(me.cursor, me.early.arrived)
    begin(set)
    finish_block(me, tile, last, 1, more)
  end
  first_stage(me, tile)
  begin(one)
  find_stage(me, tile)
  ask_for_stage(me, more)
  k:while_(function() return more end, function()
    go_on(two, one)
    k:jump(even, ~more)
    go_on(one, two)
  end)
  if look_ahead then look_ahead() end
  finish_block(me, tile, one)
  k:jump(done)
  k:place(even)
  if look_ahead then look_ahead() end
  finish_block(me, tile, two)
  k:place(done)
end

-- Begins each tile by itself, with a wait for B's first scales.
local function each_by_itself(me, blocks_of_k)
  return function(work, place)
    local row, column = place()
    local tile = tile_of(me, work, row, column)
    me.from_b:ask_first(work, column)
    blocks_of_k(me, tile, work)
    return row, column
  end
end

-- Looks ahead: while the last blocks of a tile are multiplied, the place of the next tile is computed, and B's first
-- scales there are asked for.
local function with_look_ahead(me, blocks_of_k)
  local k = me.k
  local next_row, next_column = k:reg "u32", k:reg "u32"
  local function look_ahead(place, work)
    local row, column = place()
    k:mov(next_row, row)
    k:mov(next_column, column)
    me.from_b:ask_first(work, column)
  end
  local fresh = k:mov(1, { type = "u32" }) -- 0 once the CTA's first tile has begun
  local function sum(work, place)
    k:if_(fresh:ne(0), function() look_ahead(place, work) end)
    k:mov(fresh, 0)
    local row, column = k:mov(next_row, { type = "u32" }), k:mov(next_column, { type = "u32" })
    blocks_of_k(me, tile_of(me, work, row, column), work, function() look_ahead(work.following()) end)
    return row, column
  end
  return sum, function(work)
    k:mov(fresh, 0)
    look_ahead(work.following())
  end
end

--- What a kind of main loop has for its consumers (mainloop/dense.lua).
function module.emit(g, consumer, sums)
  local p, me = g.p, consumer_of(g, consumer, sums)
  -- Three consumers hide what one of them does between two products: looking ahead makes their loop 2 to 3 percent
  -- slower, and that of two 4 percent faster. With slices of K a CTA has few tiles to look ahead to.
  local alone = p.consumers == 3 or p.splits > 1
  local blocks_of_k = p.block_scaled.sets == 2 and two_at_a_time or one_by_one
  local sum, passed = (alone and each_by_itself or with_look_ahead)(me, blocks_of_k)
  return sum, function() end, passed
end

return module
