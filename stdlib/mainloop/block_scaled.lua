-- The main loop of 8-bit floats with block scales. A row of A has a scale for each 128 elements of K, and B has
-- one for each 128 rows (columns of D) and 128 elements.
--
-- Such scales do not factor out of the sum over K. A consumer therefore goes another way than that of
-- mainloop/dense.lua. For each block of K
--
--   products  = A * B of that block          wgmma, into a first set of accumulators
--   sums     += products * A's * B's scale   CUDA cores, in f32, into the second set that the epilogue gets
--
-- which also adds in full f32 what the tensor cores' sums of 8-bit floats keep only 13 bits of (docs/silicon.md;
-- DeepSeek-V3, 2024, section 3.3.2). While one consumer adds, the tensor cores multiply for another. Where both sets do
-- not fit into the registers, a tile is multiplied in `parts` of its columns, with a wait for each.
--
-- A's scales come into the ring by TMA, with the stage that they belong to. B's come from global memory into registers,
-- one block of K before they are needed: there are one or two for a tile, the same for all its rows.

local roofline = require "wgrun.cost.roofline"
local dense = require "wgrun.mainloop.dense"
local tail = require "wgrun.mainloop.tail"
local native = require "wgrun.native"

local scale_block = 128 -- the elements of K that share scales, and the rows of B that do

local function common_divisor(a, b) return b == 0 and a or common_divisor(b, a % b) end

local fail, ceil_div = native.fail, roofline.ceil_div
local block_scaled = setmetatable({}, { __index = dense })

--- Adds to a plan what block scales need: `p.block_scaled`. Raises where the plan has no room for them.
function block_scaled.plan(p)
  p.round_k = p.block_k
  if p.block_k ~= scale_block then
    fail(("%s: tile[3] is %d, must be %d: the blocks of K that have scales"):format(p.what, p.block_k, scale_block))
  end
  -- TMA begins at multiples of 16 bytes. A group begins at any row: its scales come with up to three before them.
  local lines = p.m + (p.groups and 4 or 0)
  if lines > 256 then
    fail(("%s: tile[1] is %d: with block scales at most %s"):format(
      p.what, p.m, p.groups and "192, with groups" or "256"))
  end
  local segment = common_divisor(p.n, scale_block)
  local s = {
    segment = segment, -- columns of a tile that surely have the same scale of B, wherever the tile begins
    rows = ceil_div(p.n + scale_block - segment, scale_block), -- rows of B's scales that a tile can touch
    parts = 1,
    bytes = 4 * lines, -- of a stage: a scale for each row of A
    stride = ceil_div(4 * lines, 128) * 128, -- from stage to stage
    box = { dtype = "f32", box = { lines, 1 }, constant = true },
  }
  -- A product takes as many columns at a time as there are registers for besides the sums.
  local most = p.consumers == 3 and 128 or 192
  while p.blocks * p.n // 2 + p.n // s.parts // 2 > most or p.n % (8 * s.parts) ~= 0 do
    s.parts = s.parts + 1
    if p.n // s.parts < 32 then
      fail(
        ("%s: a tile of %d x %d leaves no registers for the products of a block of K: at most %d columns fit"):format(
          p.what, p.m, p.n, (most - 32) // p.blocks * 2))
    end
  end
  s.columns = p.n // s.parts
  p.block_scaled = s
end

function block_scaled.parameters(p, add)
  local of_groups = p.groups and " for each group" or ""
  add {
    name = "a_scales", map = p.block_scaled.box, value = function(l) return l.scales "a_scales" end,
    note = "ceil(K / 128) x M, M rounded up to a multiple of 4",
  }
  add {
    name = "b_scales", type = "const f32*", value = function(l) return l.scales "b_scales" end,
    note = "ceil(N / 128) x ceil(K / 128)" .. of_groups,
  }
end

function block_scaled.more_bytes(p) return p.block_scaled.stride end

function block_scaled.shared(k, p)
  return { scales = k:shared { bytes = p.stages * p.block_scaled.stride, align = 128, name = "scales" } }
end

-- A's scales for a block of K. TMA begins at multiples of 16 bytes, groups of rows at any row.
function block_scaled.producer(g, copies)
  if not copies.scales then return { bytes = 0, bytes_with_a = 0 } end
  local k, p, first_stage = g.k, g.p, g.k:address(g.buffers.scales)
  return {
    bytes = p.block_scaled.bytes, bytes_with_a = 0,
    before = function(row, first_k, stage, barrier)
      local first = p.groups and row & 0xFFFFFFFC or row
      k:cp_async_bulk_tensor_2d(
        first_stage + stage * p.block_scaled.stride, g.maps.a_scales, { first, first_k >> 7 }, barrier)
    end,
  }
end

-- What a consumer has: its registers for products and scales, and where its rows' scales of A lie in the first stage.
local function consumer_of(g, consumer, sums)
  local k, p, s, operands = g.k, g.p, g.p.block_scaled, consumer.operands
  local me = {
    k = k, p = p, s = s, sums = sums, sizes = g.sizes, ring = g.ring, cursor = consumer.cursor, lane = consumer.lane,
    multicast_producer = consumer.multicast_producer,
    number = consumer.number, thread = k:special "tid.x",
    operands = function(stage) return operands.of_stage(stage, operands.whole) end,
  }
  me.products = k:regs("f32", s.columns // 2)
  me.form = { n = s.columns, k = p.k_step, d = "f32", a = p.dtype, b = p.dtype }
  local first_row = me.number * (64 * p.blocks) + ((me.thread >> 5 & 3) << 4) + (me.lane >> 2)
  me.a_scales_at = k:address(g.buffers.scales, first_row << 2)
  me.a_scales = k:regs("f32", 2 * p.blocks) -- of the thread's two rows of each block of 64
  me.b_scales, me.next_b_scales = k:regs("f32", s.rows), k:regs("f32", s.rows)
  return me
end

-- products = (block `number` of 64 rows of A) * (part `part` of B's columns), for one block of K.
local function multiply(me, number, part, a, b)
  local k, form = me.k, me.form
  k:wgmma_fence()
  for step = 0, scale_block // form.k - 1 do
    form.scale_d = step == 0 and 0 or 1
    k:wgmma_mma_async(me.products, a(step, 64 * (number - 1)), b(step, form.n * part), form)
  end
  k:wgmma_commit_group()
end

-- Begins to load A's scales of the cursor's stage.
local function load_a_scales(me, from)
  local of_stage = from + me.cursor.stage * me.s.stride
  for i = 0, #me.a_scales - 1 do
    me.k:ld_shared_f32(me.a_scales[i], of_stage, { offset = 4 * (64 * (i // 2) + 8 * (i % 2)) })
  end
end

-- The addresses of B's first scales for a work unit, one for each of the rows of scales that the tile
-- touches; rows beyond the last one repeat it.
local function b_scale_addresses(me, work, column)
  local k, sizes, addresses = me.k, me.sizes, {}
  local blocks, last = (sizes.K + (scale_block - 1)) >> 7, (sizes.N - 1) >> 7
  for i = 0, me.s.rows - 1 do
    local row = k:min((column >> 7) + i, last)
    local first = (work.scales_first and row + work.scales_first or row) * blocks
    addresses[i] = k:element(sizes.b_scales, work.from == 0 and first or first + (work.from >> 7))
  end
  return addresses
end

-- Begins to load B's next scales, and moves the addresses on. apart: added to them.
local function load_next_b_scales(me, addresses, guard, apart)
  local k = me.k
  for i = 0, me.s.rows - 1 do
    k:ld_global_f32(me.next_b_scales[i], apart and addresses[i] + apart or addresses[i], { guard = guard })
    k:add(addresses[i], addresses[i], 4)
  end
end

-- The scale of B for a segment of the tile's columns, as a function of the segment's number: that of one row of scales,
-- or of one of two, where it depends on `inside`, the place in its first row at which the tile begins.
local function scale_of_segment(me, inside)
  local s, loaded = me.s, me.b_scales
  return function(segment)
    local first = segment * s.segment
    local least, most = first // scale_block, (first + scale_block - s.segment) // scale_block
    if least == most then return loaded[least] end
    return me.k:selp(loaded[most], loaded[least], inside:ge(most * scale_block - first))
  end
end

-- sums += products * scales, for one part of a block of 64 rows.
local function add_products(me, number, part, b_scale_of)
  local k, s, sums, factors = me.k, me.s, me.sums[number], {}
  for r = 0, s.columns // 2 - 1 do
    local sum = part * s.columns // 2 + r
    local segment, half = 2 * sum // s.segment, r // 2 % 2
    local key = 2 * segment + half
    factors[key] = factors[key] or k:mul(me.a_scales[2 * (number - 1) + half], b_scale_of(segment))
    k:fma(sums[sum], me.products[r], factors[key], sums[sum])
  end
end

-- A work unit at that row and column: its sums are 0 so far.
local function tile_of(me, work, row, column)
  local tile = {
    tail_n = work.tail_n, a_scales_at = me.p.groups and me.a_scales_at + ((row & 3) << 2) or me.a_scales_at,
  }
  tile.b_scale_of = scale_of_segment(me, column & (scale_block - 1))
  for number = 1, me.p.blocks do
    for r = 0, me.p.n // 2 - 1 do me.k:mov(me.sums[number][r], 0.0) end
  end
  return tile
end

-- Waits for the next block of K of a tile, and begins to multiply the first part of it. Returns the descriptors of its
-- stage.
local function begin_block(me, tile)
  local k = me.k
  me.ring:wait(me.cursor)
  local a, b = me.operands(me.cursor.stage)
  load_a_scales(me, tile.a_scales_at)
  for i = 0, me.s.rows - 1 do k:mov(me.b_scales[i], me.next_b_scales[i]) end
  multiply(me, 1, 0, a, b)
  k:fence_proxy_async { space = "shared::cta" } -- the scales have been read: the next copy may overwrite them,
  k:bar_warp_sync(0xFFFFFFFF) -- once one lane has arrived for its warp
  return { a = a, b = b }
end

-- Multiplies the parts that are left of a block of K, adds all of them to the sums, and releases the stage behind the
-- last product.
local function finish_block(me, tile, stage)
  local k, p = me.k, me.p
  local function multiply_parts(parts)
    for number = 1, p.blocks do
      for part = 0, parts - 1 do
        if number > 1 or part > 0 then multiply(me, number, part, stage.a, stage.b) end
        k:wgmma_wait_group(0)
        if number == p.blocks and part == parts - 1 then
          me.ring:release(me.cursor, { lane = me.lane, cluster = p.multicast_producers, to = me.multicast_producer })
        end
        add_products(me, number, part, tile.b_scale_of)
      end
    end
  end
  tail.either(k, tile.tail_n, function() multiply_parts(me.s.parts // 2) end, function()
    multiply_parts(me.s.parts)
  end)
  me.ring:advance(me.cursor)
end

-- The main loop that begins each tile by itself, with a wait for B's first scales.
local function each_by_itself(me)
  return function(work, place)
    local row, column = place()
    local addresses = b_scale_addresses(me, work, column)
    local tile = tile_of(me, work, row, column)
    load_next_b_scales(me, addresses)
    me.k:loop({ from = work.from, to = work.to, step = scale_block }, function(first_k)
      local stage = begin_block(me, tile)
      load_next_b_scales(me, addresses, (first_k + scale_block):lt(work.to)) -- behind the fence, which waits for loads
      finish_block(me, tile, stage)
    end)
    return row, column
  end
end

-- The main loop that looks ahead: while the last block of a tile is multiplied, the place of the next tile is computed,
-- and B's first scales there are asked for.
local function with_look_ahead(me)
  local k = me.k
  local next_row, next_column, addresses = k:reg "u32", k:reg "u32", k:regs("u64", me.s.rows)
  -- Zero, which the assembler can't know. Without it the scales, the same in all lanes, would move to uniform
  -- registers, and be awaited for that at once.
  local apart = k:cvt_u64_u32((me.thread >> 7) - 1 - me.number)
  local function look_ahead(place, work)
    local row, column = place()
    k:mov(next_row, row)
    k:mov(next_column, column)
    local found = b_scale_addresses(me, work, column)
    for i = 0, me.s.rows - 1 do k:mov(addresses[i], found[i]) end
    load_next_b_scales(me, addresses, nil, apart)
  end
  local fresh = k:mov(1, { type = "u32" }) -- 0 once the CTA's first tile has begun
  return function(work, place)
    k:if_(fresh:ne(0), function() look_ahead(place, work) end)
    k:mov(fresh, 0)
    local row, column = k:mov(next_row, { type = "u32" }), k:mov(next_column, { type = "u32" })
    local tile = tile_of(me, work, row, column)
    local left, stage = work.to - work.from, nil
    k:while_(function()
      stage = begin_block(me, tile)
      return left:gt(scale_block)
    end, function()
      k:sub(left, left, scale_block)
      load_next_b_scales(me, addresses, nil, apart)
      finish_block(me, tile, stage)
    end)
    look_ahead(work.following())
    finish_block(me, tile, stage)
    return row, column
  end
end

function block_scaled.consumer(g, consumer, sums)
  local p, me = g.p, consumer_of(g, consumer, sums)
  -- Three consumers hide what one of them does between two products: looking ahead makes their loop 2 to 3 percent
  -- slower, and that of two 4 percent faster. With slices of K a CTA has few tiles to look ahead to.
  local alone = p.groups or p.consumers == 3 or p.splits > 1
  return alone and each_by_itself(me) or with_look_ahead(me), function() end
end

return block_scaled
