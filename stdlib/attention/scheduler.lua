-- The scheduler of wg.attention: tiles of queries, the blocks of keys that each of them visits, and which of these need
-- a mask.

local mask = require "wgrun.attention.mask"
local pages = require "wgrun.attention.pages"
local splits = require "wgrun.attention.splits"
local tensors = require "wgrun.attention.tensors"
local division = require "wgrun.builder.division"

local module = {}

-- What `block_mask` finds of a block of keys: at.rows, the tile's queries.
local function found(g, at, block) return mask.block(g, at, at.rows, mask.keys(g, at, block * g.p.block, g.p.block)) end

-- Whether the tile sees a block of keys.
local function is_seen(g, at, block) return (found(g, at, block)) end

-- How many blocks are looked at together, so that their latencies overlap.
local together <const> = 8

-- Moves `block`, a register, to the next one that the tile sees, or to `limit`: up, or down where `step` is -1.
local function skip(g, at, block, limit, step)
  local k = g.k
  local nearer = step > 0 and k.min or k.max
  local position, last = k:mov(block, { type = "s32" }), k:mov(limit, { type = "s32" })
  local hidden = k:reg "s32" -- the blocks before the first one that is seen
  k:repeat_(function()
    k:mov(hidden, together)
    for i = together - 1, 0, -1 do
      local one = nearer(k, position + step * i, last) -- the function may read memory
      k:mov(hidden, i, { guard = is_seen(g, at, k:mov(one, { type = "u32" })) | one:eq(last) })
    end
    k:mov(position, nearer(k, position + hidden * step, last))
    return hidden:eq(together)
  end)
  k:mov(block, position)
end

-- The tiles: find(number, same, body) calls body(at) for a tile of queries, with its first row, its head and batch, and
-- its range of key blocks; and their number. Tiles of one (batch, head) share K and V, which should stay in the L2
-- cache: all tiles of `group` such pairs come before the next ones; where their lengths differ, long ones first.
local function tiles_of(g)
  local k, p, sizes = g.k, g.p, g.sizes
  local tiles_of_rows = division.divided(k, sizes.queries + (p.m - 1), p.m)
  local pairs_of_heads = sizes.batches * p.heads
  local function signed(x) return k:mov(x, { type = "s32" }) end

  local function place(number)
    if not p.uneven then
      local pair = k:div(number, tiles_of_rows)
      return pair, number - pair * tiles_of_rows
    end
    local in_group = tiles_of_rows * sizes.group
    local first = k:div(number, in_group) * sizes.group
    local inside = number - first * tiles_of_rows
    local width = k:min(pairs_of_heads - first, sizes.group)
    local down = k:div(inside, width)
    return first + (inside - down * width), tiles_of_rows - 1 - down
  end

  -- Calls body(at) unless the tile lies beyond the end of a packed sequence, and else beyond().
  local function find(number, same, body, beyond)
    local pair, tile = place(number)
    local at = {
      batch = division.divided(k, pair, p.heads), queries = sizes.queries, keys = sizes.keys, query_start = 0,
      key_start = 0,
    }
    at.head, at.row = pair - at.batch * p.heads, tile * p.m
    if p.page then at.keys = pages.keys(k, p, sizes, at.batch, same) end
    if not p.packed then return body(at) end
    at.query_start, at.queries = tensors.sequence(k, sizes.query_starts, at.batch, same)
    if not p.page then at.key_start, at.keys = tensors.sequence(k, sizes.key_starts, at.batch, same) end
    k:if_(at.row:lt(at.queries), function() body(at) end, beyond)
  end

  -- The key blocks of a tile, from `first` to `last`; the blocks from `clear_from` to before `clear_to` need no mask.
  -- A query sees the keys from low(row) to before high(row); both grow with the row.
  local function range(at)
    local ahead = signed(at.keys - at.queries) -- the last query's place is that of the last key
    local before, after = mask.reach(p)
    local function high(row)
      local seen = after and row + ahead + (after + 1)
      return seen and k:min(signed(at.keys), seen) or signed(at.keys)
    end
    local function low(row) return row + ahead - before end
    at.high, at.low = high, before and low
    local first_row = signed(at.row)
    local function block_of(key) return division.divided(k, k:mov(k:max(key, 0), { type = "u32" }), p.block) end
    at.last = block_of(high(first_row + (p.m - 1)) - 1)
    at.first = before and k:min(block_of(low(first_row)), at.last) or 0
    at.clear_to = after and block_of(high(first_row))
    at.clear_from = before and block_of(low(first_row + (p.m - 1)) + (p.block - 1))
  end

  -- Leaves out blocks at both ends that `block_mask` hides. One is left in any case, in which `mask` then hides all; of
  -- a part of the keys none need be.
  local function leave_out(at)
    at.rows = mask.queries(g, at, at.row, p.m)
    local first, last = k:mov(at.first, { type = "u32" }), k:mov(at.last, { type = "u32" })
    at.first, at.last = first, last
    local function trim()
      skip(g, at, last, first, -1)
      skip(g, at, first, last, 1)
    end
    if not at.some then return trim() end
    local some = k:mov(0, { type = "u32" })
    k:if_(at.some, function()
      trim()
      k:mov(some, 1, { guard = is_seen(g, at, first) })
    end)
    at.some = some:ne(0)
  end

  return function(number, same, body, beyond)
    find(number, same, function(at)
      range(at)
      if p.splits > 1 then splits.part(k, p, at) end
      if p.block_mask then leave_out(at) end
      body(at)
    end, beyond)
  end, tiles_of_rows * pairs_of_heads
end

-- What a queue is where CTAs share a tile: their cluster has one, and as many clusters as tiles are launched.
local function one_tile(g, tiles)
  local k = g.k
  local number = division.divided(k, k:special "ctaid.x", g.p.cluster)
  local function visit(_, body) k:if_(number:lt(tiles), function() body(number, function() end) end) end
  return { init = function() end, draw = visit, each = visit }
end

--- The scheduler, with so many warps that receive tiles: each(body), for warps, calls body(at) for each tile of the
--- CTA, and draw(body), for one thread, body(at, draw), which calls draw() (queue:draw); init() comes before.
function module.scheduler(g, readers)
  local k = g.k
  local find, tiles = tiles_of(g)
  local queue = g.p.cluster > 1 and one_tile(g, tiles)
    or k:queue { counter = g.sizes.counter, tiles = tiles, readers = readers }
  local function same(x) return tensors.same_in_lanes(k, x) end
  return {
    init = function() queue:init() end,
    draw = function(body)
      queue:draw(function(number, draw)
        find(number, function(x) return x end, function(at) body(at, draw) end, draw)
      end)
    end,
    each = function(body) queue:each(function(number) find(number, same, body) end) end,
  }
end

--- Emits body(block) for each block that is visited after the tile's first one; without `block_mask` they follow each
--- other, and `block` is nil.
function module.each_later(g, at, body)
  local k = g.k
  if not g.p.block_mask then return k:loop({ from = at.first, to = at.last }, function() body() end) end
  local block = k:mov(at.last, { type = "u32" })
  k:while_(function() return block:gt(at.first) end, function()
    k:sub(block, block, 1)
    k:if_(block:ne(at.first) & ~is_seen(g, at, block), function() skip(g, at, block, at.first, -1) end)
    body(block)
  end)
end

--- A consumer's walk through the blocks of a tile: `block`, a register, begins with the last one, and step() moves it
--- to the next one, which look_ahead() has found, while products run. clear(): a predicate that holds where nothing of
--- the next one is hidden, or nil.
function module.walk(me, at)
  local k, block = me.k, me.k:mov(at.last, { type = "u32" })
  local function nothing() end
  if not me.p.block_mask then
    return { block = block, step = function() k:sub(block, block, 1) end, look_ahead = nothing, clear = nothing }
  end
  local following, clear = k:reg "u32", nil
  local function note(whole)
    if not whole then return end
    if at.clear_to then whole = whole & following:lt(at.clear_to) end
    if at.clear_from then whole = whole & following:ge(at.clear_from) end
    clear = clear or k:reg "u32"
    k:mov(clear, k:selp_u32(1, 0, whole))
  end
  return {
    block = block, step = function() k:mov(block, following) end,
    look_ahead = function()
      k:mov(following, block - 1)
      k:mov(following, at.first, { guard = block:eq(at.first) })
      local seen, whole = found(me, at, following)
      note(whole)
      k:if_(following:ne(at.first) & ~seen, function()
        skip(me, at, following, at.first, -1)
        if whole then note(select(2, found(me, at, following))) end
      end)
    end,
    clear = function() return clear and clear:ne(0) end,
  }
end

--- Returns hide(block), which sets a consumer's scores of keys that their query does not see to -inf.
function module.hider(me, at)
  local k, p, lane, mine = me.k, me.p, me.lane, me.query_tile
  local first_column = k:mov((lane & 3) << 1, { type = "s32" })
  local row = k:mov(at.row + (mine << 6) + (((k:special "tid.x" >> 5 & 3) << 4) + (lane >> 2)), { type = "s32" })
  local high, low = {}, at.low and {} -- by half, counted from the thread's first column
  for half = 0, 1 do
    high[half] = at.high(row + 8 * half) - first_column
    if low then low[half] = at.low(row + 8 * half) - first_column end
  end
  local hide_from = mask.hider(k, me.scores, high, low)
  return function(block) hide_from(k:mov(block * p.block, { type = "s32" })) end
end

return module
