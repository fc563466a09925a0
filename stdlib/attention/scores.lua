-- What becomes of scores before the softmax, for wg.attention and its gradients: the options `softcap`, `score` and
-- `mask`.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local captured = require "wgrun.attention.captured"
local derivative = require "wgrun.builder.derivative"
local division = require "wgrun.builder.division"
local native = require "wgrun.native"

local module = {}

--- The register of that type that the function of an option returned.
function module.returned(option, value, type, p)
  arguments.made(("%s, %s"):format(p.what, option), value)
  local got = arguments.describe(value) == "wgrun.reg" and value.type or arguments.describe(value)
  if got ~= type then
    native.fail(("%s, %s: the function must return a register of type %s, not %s"):format(p.what, option, type, got))
  end
  return value
end

-- Numbers from `first` on, a register each: of(i) is first + i, or the last one of `extent`, where the functions read
-- tensors.
local function numbers(k, p, first, extent)
  local known, last = {}, p.tensors and k:max(k:mov(extent, { type = "s32" }) - 1, 0) -- 0 of an empty sequence
  return function(i)
    if not known[i] then
      known[i] = i == 0 and first or first + i
      if last then known[i] = k:min(known[i], last) end
    end
    return known[i]
  end
end

-- How far accumulator r is from the thread's first one: down and to the right.
local function offsets(r) return 8 * (r // 2 % 2), 8 * (r // 4) + r % 2 end

-- Returns with_distance(fields, down, right): the table that functions get, whose field `distance` is key - place of
-- that accumulator, f32. It costs an addition: conversions have a quarter of its speed or less. first(down): that of
-- the row's first column, s32; it grows by `step` to the right.
local function distances(k, step, first)
  local base = { [0] = k:cvt_rn_f32_s32(first(0)), [8] = k:cvt_rn_f32_s32(first(8)) }
  return function(fields, down, right)
    return setmetatable(fields, { __index = function(_, name)
      if name ~= "distance" then return nil end
      return right == 0 and base[down] or base[down] + step * right
    end })
  end
end

-- Forward: the thread's rows are queries. place(r, block) returns what the functions get of accumulator r in that block
-- of keys.
local function places(me, at)
  local k, p = me.k, me.p
  local function signed(x) return k:mov(x, { type = "s32" }) end
  local first_column = signed((me.lane & 3) << 1)
  local row = signed(at.row + (me.query_tile << 6) + (((me.thread >> 5 & 3) << 4) + (me.lane >> 2)))
  local ahead = signed(at.keys - at.queries) -- the last query's place is that of the last key
  local query, queries, tensors = numbers(k, p, row, at.queries), {}, captured.pointers(me)
  for down = 0, 8, 8 do queries[down] = { query = query(down), place = query(down) + ahead } end
  return function(block)
    local first = signed(block * p.block) + first_column
    local key = numbers(k, p, first, at.keys)
    local with_distance = distances(k, 1.0, function(down) return first - (row + ahead + down) end)
    return function(r)
      local down, right = offsets(r)
      local of = queries[down]
      return with_distance({
        query = of.query, place = of.place, key = key(right), head = at.head, batch = at.batch, tensors = tensors,
      }, down, right)
    end
  end
end

-- Returns each(change), which calls change(score, at, r) for the accumulators `scores` of a thread; place(r): what
-- functions get of accumulator r, or nil where that is none.
local function each_of(scores, place)
  return function(change)
    for r = 0, #scores - 1 do
      local at = place(r)
      if at then change(scores[r], at, r) end
    end
  end
end

-- Hides what `mask` hides. whole: a predicate that holds where that is nothing, or nil.
local function hide(k, p, each, whole)
  local function emit()
    each(function(score, at)
      k:mov(score, -math.huge, { guard = ~module.returned("mask", p.mask(k, at), "pred", p) })
    end)
  end
  if whole then k:if_(~whole, emit) else emit() end
end

-- Makes scores of the products `scores`, in natural units where the plan has a function for them, and hides those that
-- `mask` hides unless `whole`. cap: as scores.score_arguments returns it. place: of each_of.
local function compute(k, p, scores, cap, place, whole)
  local each = each_of(scores, place)
  if p.softcap or p.score then
    each(function(score, at)
      if p.softcap then k:tanh_approx(score, score * cap) end
      if not p.score then return end
      local x = p.softcap and score * p.softcap or score * cap
      k:mov(score, module.returned("score", p.score(k, x, at), "f32", p))
    end)
  end
  if p.mask and not whole then hide(k, p, each) end
end

--- Returns scored(block, whole): computes the scores of a block of keys, whose products are complete, and hides what
--- `mask` hides; whole: it hides nothing.
function module.emit(me, at)
  local place_of = (me.p.score or me.p.mask) and places(me, at) or function() return function() return {} end end
  return function(block, whole) compute(me.k, me.p, me.scores, me.factors.cap, place_of(block), whole) end
end

-- Decoding: what functions get of the row of that number, of queries and heads that share K and V.
local function packed_row(me, at, number)
  local k, p = me.k, me.p
  if p.tensors then number = k:min(number, p.rows - 1) end -- of no row
  local query = division.divided(k, number, p.sharing)
  local signed = k:mov(query, { type = "s32" })
  return {
    query = signed, place = k:mov(at.length, { type = "s32" }) - p.queries + signed, batch = at.batch,
    head = at.head * p.sharing + (number - query * p.sharing), tensors = captured.pointers(me),
  }
end

--- The same for wg.attention_decode: scored(at, key), in a block whose first key of this thread that is; nil where
--- nothing becomes of the scores.
function module.emit_packed(me, cap)
  local k, p = me.k, me.p
  if not (p.softcap or p.score or p.mask) then return nil end
  return function(at, key)
    local rows, keys = {}, numbers(k, p, key, at.length)
    for half = 0, p.row_halves - 1 do rows[8 * half] = packed_row(me, at, me.rows[half].number) end
    local with_distance = distances(k, 1.0, function(down) return key - (rows[down] or rows[0]).place end)
    compute(k, p, me.scores, cap, function(r)
      local down, right = offsets(r)
      return rows[down] and with_distance(arguments.merged(rows[down], { key = keys(right) }), down, right)
    end)
  end
end

-- The score of a product `x`, which is in natural units, and its slope by x: a register or a number.
local function score_and_slope(k, p, x, place)
  local what = p.what .. ", score"
  local function bounded(b, score)
    return p.softcap and b:mul(b:tanh_approx(b:mul(score, 1 / p.softcap)), p.softcap) or score
  end
  local function made(b, score, at)
    score = bounded(b, score)
    if not p.score then return score end
    return p.score(b, score, at)
  end
  if not p.score_slope then
    local score, slope = derivative.of(k, what, made, x, place)
    return module.returned("score", score, "f32", p), slope or 0
  end
  local score, slope = derivative.of(k, what, bounded, x, {})
  local own = module.returned("score_slope", p.score_slope(k, score, place), "f32", p)
  return module.returned("score", p.score(k, score, place), "f32", p), slope == 1 and own or k:mul(own, slope)
end

--- Whether the slopes of a plan's scores are other ones for each score, rather than a number.
function module.slopes_vary(p)
  if not p.score or p.softcap then return p.softcap ~= nil end
  local slope
  wg.kernel("slope", { threads = 128 }, function(k) -- emitted for its slope alone
    local place = { head = k:reg "u32", batch = k:reg "u32", tensors = {}, distance = k:reg "f32" }
    for name, kind in pairs(p.tensors or {}) do place.tensors[name] = k:param(name, ("const %s*"):format(kind)) end
    for _, name in ipairs { "query", "key", "place" } do place[name] = k:reg "s32" end
    slope = select(2, score_and_slope(k, p, k:reg "f32", place))
  end)
  return type(slope) ~= "number"
end

--- Gradients: the thread's rows are keys, from `key` on. Returns scored(query, head), which makes scores of products,
--- me.acc.s, in the block whose first query that is, and hides what `mask` hides. Where there is a function for them,
--- they are in natural units then, and me.slopes has for each the factor between its gradient and the product's,
--- besides that of all: a number, or true where it is in the register of `held`. whole(query, head): a predicate that
--- holds where `mask` hides none, or nil.
function module.emit_with_slopes(me, key, held, whole)
  local k, p, at, products = me.k, me.p, me.at, me.acc.s
  if not (p.softcap or p.score or p.mask) then return function() end end
  local function signed(x) return k:mov(x, { type = "s32" }) end
  local row, first_column = signed(key + ((me.warp << 4) + (me.lane >> 2))), signed((me.lane & 3) << 1)
  local keys, ahead, tensors = numbers(k, p, row, at.keys), signed(at.keys - at.queries), captured.pointers(me)
  keys(0) -- here, not in a branch
  keys(8)
  return function(query, head)
    local first = signed(query) + first_column
    local queries, places_of = numbers(k, p, first, at.queries), {}
    local with_distance = distances(k, -1.0, function(down) return row + down - (first + ahead) end)
    local function place(r)
      local down, right = offsets(r)
      places_of[right] = places_of[right] or queries(right) + ahead
      return with_distance({
        query = queries(right), place = places_of[right], key = keys(down), head = head, batch = at.batch,
        tensors = tensors,
      }, down, right)
    end
    local each = each_of(products, place)
    if p.softcap or p.score then
      each(function(product, of, r)
        local score, slope = score_and_slope(k, p, product * me.sizes.scale, of)
        k:mov(product, score)
        me.slopes[r] = type(slope) == "number" and slope or true
        if me.slopes[r] == true then k:mov(held[r], slope) end
      end)
    end
    if p.mask then hide(k, p, each, whole and whole(query, head)) end
  end
end

--- The arguments `scale` and `cap` of a launch whose scores have that factor (emit).
function module.score_arguments(p, scale)
  local log2e = 1 / math.log(2)
  local cap = p.softcap and scale / p.softcap or p.score and scale or nil
  return (p.score and 1 or p.softcap or scale) * log2e, cap
end

return module
