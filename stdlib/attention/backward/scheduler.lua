-- The tile of a CTA in wg.attention_backward: a block of keys, and the blocks of queries that see it.

local mask = require "wgrun.attention.mask"
local tensors = require "wgrun.attention.tensors"
local division = require "wgrun.builder.division"

local module = {}

local function signed(k, x) return k:mov(x, { type = "s32" }) end

--- The block of keys of a CTA, or of a cluster, whose CTAs have parts of it: the CTA's begins with the key `own`. And
--- the blocks of queries that see one of the keys: from `first` to before `last`. The last query's place is that of the
--- last key. A key is seen by the queries from low(key) to before high(key); both grow with it. `stride` is the number
--- of blocks that each head has in the stats and sums.
function module.tile(g)
  local k, p, sizes = g.k, g.p, g.sizes
  -- head of K and V
  local at = { head = k:special "ctaid.y", batch = k:special "ctaid.z", queries = sizes.queries, keys = sizes.keys }
  local function blocks(rows) return division.divided(k, rows + (p.rows - 1), p.rows) end
  if p.cluster == 1 then
    at.key = k:special "ctaid.x" * p.keys
    at.own = at.key
  else
    at.rank = k:special "cluster_ctarank"
    at.key = k:div(k:special "ctaid.x", p.cluster) * p.keys
    at.own = at.key + at.rank * p.own_keys
  end
  if p.packed then
    at.query_start, at.queries = tensors.sequence(k, sizes.query_starts, at.batch)
    at.key_start, at.keys = tensors.sequence(k, sizes.key_starts, at.batch)
  end
  at.first, at.last = 0, blocks(at.queries)
  at.stride = p.packed and blocks(sizes.queries) or at.last
  local ahead = signed(k, at.keys - at.queries)
  local function block_of(query) return division.divided(k, k:mov(k:max(query, 0), { type = "u32" }), p.rows) end
  local before, after = mask.reach(p)
  if after then
    at.low = function(key) return after == 0 and key - ahead or key - ahead - after end
    at.first = block_of(at.low(signed(k, at.key)))
  end
  if before then
    at.high = function(key) return key - ahead + (before + 1) end
    at.last = k:min(at.last, block_of(at.high(signed(k, at.key + (p.keys - 1))) + (p.rows - 1)))
  end
  return at
end

-- The tile, of that head of the queries.
local function of_head(at, head) return setmetatable({ head = head }, { __index = at }) end

-- The blocks of a head's queries, without those that `block_mask` hides from the tile's keys.
local function each_seen(g, head, body)
  local k, p, at = g.k, g.p, g.at
  local block = k:mov(at.first, { type = "u32" })
  local keys = mask.keys(g, at, at.key, p.keys)
  local function is_seen()
    local inside = k:min(block, at.last - 1) -- the function may read memory
    return (mask.block(g, of_head(at, head), mask.queries(g, at, inside * p.rows, p.rows), keys))
  end
  k:while_(function()
    k:while_(function() return block:lt(at.last) & ~is_seen() end, function() k:add(block, block, 1) end)
    return block:lt(at.last)
  end, function()
    body(block, head)
    k:add(block, block, 1)
  end)
end

--- Calls body(block, head) for each block of queries that sees the tile, of each head that shares its K and V.
function module.each(g, body)
  local k, p, at = g.k, g.p, g.at
  local function each_of(head)
    if p.block_mask then return each_seen(g, head, body) end
    k:loop({ from = at.first, to = at.last }, function(block) body(block, head) end)
  end
  if p.group == 1 then return each_of(at.head) end
  k:loop(p.group, function(i) each_of(at.head * p.group + i) end)
end

--- Whether `mask` hides nothing of a consumer's scores, whose first query and key those are, by `block_mask`: a
--- predicate, or nil.
function module.is_whole(me, head, query, key)
  local k, p, at = me.k, me.p, me.at
  if not p.block_mask then return nil end
  local queries = mask.queries(me, at, k:min(query, at.queries - 1), p.part) -- the function may read memory
  return select(2, mask.block(me, of_head(at, head), queries, mask.keys(me, at, k:min(key, at.keys - 1), 64)))
end

--- The number of a block of queries among those of all heads and batches.
function module.number(p, at, block, head) return (at.batch * p.heads + head) * at.stride + block end

return module
