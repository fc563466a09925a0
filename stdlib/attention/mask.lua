-- Which keys a query sees, for wg.attention and its gradients: those of its sequence up to its own place (`causal`) or
-- near it (`window`). A script's functions choose among these (`mask`, attention/scores.lua; `block_mask`).

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

--- Whether a query of a block sees a key of another one, by the script's function. at: head and batch; queries, keys:
--- the numbers of those of the sequence; ranges: { first query, count, first key, count }; what lies behind the
--- sequence's end does not count.
function module.block_is_seen(g, at, ranges)
  local k, p = g.k, g.p
  local function signed(x) return k:mov(x, { type = "s32" }) end
  local function range(first, count, extent)
    first = signed(first)
    return first, k:max(k:min(first + count, signed(extent)) - 1, first) -- as if empty sequences had one
  end
  local first_query, last_query = range(ranges[1], ranges[2], at.queries)
  local first_key, last_key = range(ranges[3], ranges[4], at.keys)
  local ahead = signed(at.keys - at.queries)
  return scores.returned("block_mask", p.block_mask(k, {
    first_query = first_query, last_query = last_query, first_key = first_key, last_key = last_key,
    first_place = first_query + ahead, last_place = last_query + ahead, head = at.head, batch = at.batch,
    tensors = captured.pointers(g),
  }), "pred", p)
end

return module
