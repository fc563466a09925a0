-- What becomes of a block's scores before the softmax: the options `softcap`, `score` and `mask` of wg.attention.

local arguments = require "wgrun.arguments"
local native = require "wgrun.native"

local module = {}

-- Where the thread's scores stand: place(r, block) returns what `score` and `mask` get of accumulator r in that block
-- of keys.
local function places(me, at)
  local k, p = me.k, me.p
  local function signed(x) return k:mov(x, { type = "s32" }) end
  local queries, first_column = {}, signed((me.lane & 3) << 1)
  local row = signed(at.row + (me.number << 6) + (((me.thread >> 5 & 3) << 4) + (me.lane >> 2)))
  local ahead = signed(at.keys - at.queries) -- the last query's place is that of the last key
  for half = 0, 1 do
    local query = half == 0 and row or row + 8
    queries[half] = { query = query, place = query + ahead }
  end
  return function(block)
    local first, keys = signed(block * p.block) + first_column, {}
    return function(r)
      local column, of = 8 * (r // 4) + r % 2, queries[r // 2 % 2]
      keys[column] = keys[column] or (column == 0 and first or first + column)
      return { query = of.query, place = of.place, key = keys[column], head = at.head, batch = at.batch }
    end
  end
end

-- The register of that type that the option returned.
local function returned(option, value, type)
  arguments.made("wg.attention, " .. option, value)
  local got = arguments.describe(value) == "wgrun.reg" and value.type or arguments.describe(value)
  if got ~= type then
    native.fail(("wg.attention, %s: the function must return a register of type %s, not %s"):format(option, type, got))
  end
  return value
end

--- Returns scored(block): computes the scores of a block of keys, whose products are complete, in natural units where
--- the plan has a function for them, and hides what its `mask` hides.
function module.emit(me, at)
  local k, p, scores, cap = me.k, me.p, me.scores, me.factors.cap
  local place_of = (p.score or p.mask) and places(me, at)
  return function(block)
    local place = place_of and place_of(block)
    for r = 0, #scores - 1 do
      if p.softcap then k:tanh_approx(scores[r], scores[r] * cap) end
      if p.score then
        local x = p.softcap and scores[r] * p.softcap or scores[r] * cap
        k:mov(scores[r], returned("score", p.score(k, x, place(r)), "f32"))
      end
      if p.mask then
        k:mov(scores[r], -math.huge, { guard = ~returned("mask", p.mask(k, place(r)), "pred") })
      end
    end
  end
end

--- The arguments `scale` and `cap` of a launch whose scores have that factor (emit).
function module.score_arguments(p, scale)
  local log2e = 1 / math.log(2)
  local cap = p.softcap and scale / p.softcap or p.score and scale or nil
  return (p.score and 1 or p.softcap or scale) * log2e, cap
end

return module
