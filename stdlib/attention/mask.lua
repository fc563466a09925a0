-- Which keys a query sees, for wg.attention and its gradients: those of its sequence up to its own place (`causal`) or
-- near it (`window`). A script's functions choose among these (`mask`, attention/scores.lua; `block_mask`).

local arguments = require "wgrun.arguments"
local captured = require "wgrun.attention.captured"
local scores = require "wgrun.attention.scores"

local module = {}

--- How many keys before and after its own place a query sees; nil: all of them.
function module.reach(p)
  return p.window and p.window - 1, p.causal and 0 or p.window and p.window - 1
end

--- Returns hide(from): sets scores of columns that their row does not see to -inf. high and low: by half of the
--- thread's two rows, the first column behind those that the row sees, and the first one that it sees, counted like
--- `from`, the thread's first column; either may be nil.
function module.hider(k, accumulators, high, low)
  return function(from)
    local limits = {}
    for half = 0, 1 do limits[half] = { high = high and high[half] - from, low = low and low[half] - from } end
    for r = 0, #accumulators - 1 do
      local limit, column = limits[r // 2 % 2], 8 * (r // 4) + r % 2
      if high then k:mov(accumulators[r], -math.huge, { guard = limit.high:le(column) }) end
      if low then k:mov(accumulators[r], -math.huge, { guard = limit.low:gt(column) }) end
    end
  end
end

-- The first and the last number of a block: as if empty sequences had one.
local function range(k, first, count, extent)
  first = k:mov(first, { type = "s32" })
  return first, k:max(k:min(first + count, k:mov(extent, { type = "s32" })) - 1, first)
end

--- A block of queries, for module.block: so many from `first` on, without those behind the sequence's end. at.queries
--- and at.keys: the lengths of the sequence.
function module.queries(g, at, first, count)
  local first_query, last_query = range(g.k, first, count, at.queries)
  local ahead = g.k:mov(at.keys - at.queries, { type = "s32" })
  return {
    first_query = first_query, last_query = last_query, first_place = first_query + ahead,
    last_place = last_query + ahead,
  }
end

--- A block of keys, likewise.
function module.keys(g, at, first, count)
  local first_key, last_key = range(g.k, first, count, at.keys)
  return { first_key = first_key, last_key = last_key }
end

--- What the script's function finds of a block of queries and a block of keys: two predicates, whether a query sees a
--- key, and whether `mask` hides nothing; the second is nil where the function does not return one. at: head and batch.
function module.block(g, at, queries, keys)
  local p, block = g.p, arguments.merged(queries, keys)
  block.head, block.batch, block.tensors = at.head, at.batch, captured.pointers(g)
  local seen, whole = p.block_mask(g.k, block)
  return scores.returned("block_mask", seen, "pred", p),
    whole ~= nil and scores.returned("block_mask", whole, "pred", p) or nil
end

return module
