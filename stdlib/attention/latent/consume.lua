-- The consumers of wg.mla_decode: two warpgroups, each with half of the columns of O (FlashMLA 2025). Of each two
-- blocks of keys, each consumer makes the scores and probabilities of one; both weigh the values of both, each its
-- columns. While one computes exponentials, the other one multiplies:
--
--   first    exponentials of 0               | values of 0                     | values of 1 | scores of 2
--   second   scores of 1                     | values of 0; exponentials of 1  | values of 1 | scores of 3
--
-- A block is copied 1,200 cycles after its place is free (docs/experiments/mla_decoding.md), so that the way of every
-- other block through the CTA decides: the first consumer weighs nothing while the second one multiplies scores.
--
-- Where memory is the limit, the second consumer waits with scores of 1 until it has weighed the values of 0, so that
-- these make place as soon as possible. Both keep the same running maximum of each row: who makes a block's
-- probabilities tells the other one.

local decode_finish = require "wgrun.attention.decode.finish"
local block_of = require "wgrun.attention.latent.block"
local completion = require "wgrun.attention.latent.completion"
local parts = require "wgrun.attention.latent.parts"
local division = require "wgrun.builder.division"

local module = {}

-- Named barriers: all consumers meet; one of them alone (two); the second one has scores.
local all, alone, scored = 3, 4, 6

local cursor_fields = { "stage", "phase" }

-- What a consumer has. number: u32, 0 or 1.
local function consumer_of(g, number)
  local k, p = g.k, g.p
  local me = { k = k, p = p, g = g, number = number, thread = k:special "tid.x" & 127 }
  me.lane = me.thread & 31
  me.scores, me.acc = k:regs("f32", p.block // 2), k:regs("f32", p.value_dim // 4)
  me.descale = p.descale and k:ld_global_f32(g.sizes.descale) -- the scheduler has waited for the launch before
  local scale = p.descale and g.sizes.scale_log2 * me.descale or g.sizes.scale_log2
  me.soft = k:softmax { scores = me.scores, scale = scale }
  me.row = ((me.thread >> 5) << 4) + (me.lane >> 2) -- the first of the thread's rows, of 64
  me.rows = { [0] = me.row, me.row + 8 }
  me.column = (me.lane & 3) << 1
  me.first_lane = (me.lane & 3):eq(0)
  me.in_panel = ((((me.thread >> 5) << 4) + (me.lane & 15)) << 7) + (((me.lane >> 4) ~ (me.lane & 7)) << 4)
  local ring = g.pieces[1].ring -- all rings are at the same stage
  me.here, me.there, me.query = ring:cursor(), ring:cursor(), g.queries:cursor()
  function me.advance(cursor) ring:advance(cursor) end
  function me.meet() k:bar_sync(all, { threads = 256 }) end
  function me.sync() k:bar_sync(number + alone, { threads = 128 }) end
  return me
end

-- The consumer `me` as it is known to be the first (0) or second one (1).
local function known(me, number)
  local k, p = me.k, me.p
  local one = setmetatable({ number = number }, { __index = me })
  block_of.add_products(one)
  function one.sync() k:bar_sync(number + alone, { threads = 128 }) end
  -- Waits for the products with values of a block, and gives its pieces back to the CTA that copies them.
  function one.release(cursor)
    k:wgmma_wait_group(0)
    for _, piece in ipairs(me.g.pieces) do
      if piece.readers[number + 1] and p.cluster > 1 then
        local barrier = k:mapa(piece.ring:empty_barrier(cursor), piece.copier)
        k:mbarrier_arrive(barrier, { space = "shared::cluster", guard = me.lane:eq(0) })
      elseif piece.readers[number + 1] then
        piece.ring:release(cursor, { lane = me.lane })
      end
    end
  end
  return one
end

-- Nothing has been seen yet. limits: the keys that the thread's rows see; clear_to: the blocks that all rows see whole.
local function begin(me, at)
  local k, p = me.k, me.p
  for r = 0, #me.acc - 1 do k:mov(me.acc[r], 0.0) end
  local hidden = p.causal and p.queries - 1 or 0
  me.limits, me.clear_to = {}, division.divided(k, k:max(at.length, hidden) - hidden, p.block)
  for half = 0, 1 do
    k:mov(me.soft.top[half], decode_finish.nothing)
    k:mov(me.soft.sum[half], 0.0)
    me.limits[half] = k:mov(at.length, { type = "s32" })
    if hidden > 0 then -- the last query sees all keys, the one before all but the last
      local query = division.divided(k, completion.first_row(me.g, at) + me.rows[half], p.heads)
      me.limits[half] = me.limits[half] - hidden + k:mov(query, { type = "s32" })
    end
  end
  me.g.queries:wait(me.query)
  k:fence_proxy_async { space = "shared::cta" } -- threads have copied them
end

-- Weighs the values of a block by probabilities that are there.
local function weigh(me, at, block, cursor, rescale)
  rescale(me.acc)
  block_of.clear_values(me, at, block, cursor)
  me.weigh(cursor)
end

-- What each consumer does with two blocks, of which the second may be missing. if_(n, body) emits a body for n blocks
-- or more that are left.
local steps = {}

steps[0] = function(me, at, block, if_)
  me.release_queries(function() return me.left:lt(3) end)
  block_of.hide(me, block)
  local rescale = block_of.share(me, me.here)
  if not me.p.memory_bound then if_(2, function() me.k:bar_sync(scored, { threads = 256 }) end) end
  weigh(me, at, block, me.here, rescale)
  me.release(me.here)
  if_(2, function()
    weigh(me, at, block + 1, me.there, block_of.take(me))
    me.release(me.there)
  end)
  me.next_pair(if_)
  if_(3, function() me.score(me.here) end)
end

steps[1] = function(me, at, block, if_)
  local serial = me.p.memory_bound
  local function release_here() me.release(me.here) end
  -- Of a unit with one block it makes no scores.
  local function last_scores() return (me.left:ge(2) & me.left:lt(4)) | me.count:eq(1) end
  if not serial then
    me.release_queries(last_scores)
    if_(2, function() me.k:bar_arrive(scored, { threads = 256 }) end)
  end
  weigh(me, at, block, me.here, block_of.take(me))
  if serial then release_here() end
  if_(2, function()
    if serial then me.score(me.there) end
    block_of.hide(me, block + 1)
    local rescale = block_of.share(me, me.there)
    if not serial then release_here() end
    weigh(me, at, block + 1, me.there, rescale)
    me.release(me.there)
  end, not serial and release_here or nil)
  if serial then me.release_queries(last_scores) end
  me.next_pair(if_)
  if not serial then if_(4, function() me.score(me.there) end) end
end

-- The blocks of a work unit, two at a time. Where all rows see two blocks whole, and two more follow, they need neither
-- masks nor branches; but where memory is the limit, less code is faster.
local function each_pair(me, at, count)
  local k = me.k
  local block = k:mov(at.block, { type = "u32" })
  me.count, me.left = count, k:mov(count, { type = "s32" })
  local function if_left(blocks, body, otherwise) k:if_(me.left:ge(blocks), body, otherwise) end
  local function always(_, body) body() end
  local function copy_cursor(to, from)
    for _, name in ipairs(cursor_fields) do k:mov(to[name], from[name]) end
  end
  local function look_there()
    copy_cursor(me.there, me.here)
    me.advance(me.there)
  end
  function me.next_pair(if_)
    copy_cursor(me.here, me.there)
    if_(2, function() me.advance(me.here) end)
    look_there()
  end
  function me.release_queries(guard)
    if not me.clear then me.g.queries:release(me.query, { lane = me.lane, guard = guard() }) end
  end
  local function two_blocks(if_)
    steps[me.number](me, at, block, if_)
    k:sub(me.left, me.left, 2)
    k:add(block, block, 2)
  end

  look_there()
  if me.number == 0 then
    me.score(me.here)
  elseif not me.p.memory_bound then
    if_left(2, function() me.score(me.there) end)
  end
  if not me.p.memory_bound then
    me.clear = true
    k:while_(function() return me.left:ge(4) & (block + 2):le(me.clear_to) end, function() two_blocks(always) end)
    me.clear = false
  end
  k:while_(function() return me.left:gt(0) end, function() two_blocks(if_left) end)
end

--- The role of the consumers. number: u32, 0 or 1.
function module.emit(g, work, number)
  local k, me = g.k, consumer_of(g, number)
  work.each_unit(function(at, count)
    begin(me, at)
    local function pairs_of(one) return function() each_pair(known(me, one), at, count) end end
    k:if_(number:eq(0), pairs_of(0), pairs_of(1))
    g.queries:advance(me.query)
    completion.unit(me, at, count, work)
  end)
  parts.emit(me, work)
end

return module
