-- Score functions and masks of one's own in wg.attention, beside binary64.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local dim, heads = 64, 2

--- o: options of wg.attention; score(x, at) and seen(at) compute the same in Lua. poison: keys whose V is no number: blocks of them
--- must not be read. Of e4m3 the root of the mean square of the errors counts.
local function attend(name, o, queries, keys, score, seen, poison, tensors)
  o.dim, o.heads, o.dtype, o.lse = dim, heads, o.dtype or "f16", o.dtype ~= "e4m3"
  local errors, values = 0, 0
  local function randn(rows, seed) return wg.randn { shape = { 1, rows, heads, dim }, dtype = o.dtype, seed = seed } end
  local Q, K, V, O = randn(queries, 1), randn(keys, 2), randn(keys, 3), wg.zeros(o.lse and "f16" or "bf16", { 1, queries, heads, dim })
  local lse = o.lse and wg.zeros("f32", { 1, heads, queries }) or nil
  for key = 0, poison and keys - 1 or -1 do
    for h = 0, heads - 1 do
      for c = 0, poison(key) and dim - 1 or -1 do V[{ 0, key, h, c }] = 0 / 0 end
    end
  end
  local grid, descales = not o.splits and 2 or nil, o.descale and { wg.full("f32", { 1 }, 0.5), wg.full("f32", { 1 }, 2.0), wg.full("f32", { 1 }, 4.0) } or {}
  local attention = wg.attention(o)
  assert(#attention.kernel:check() == 0, name)
  attention:run(Q, K, V, O, { lse = lse, backend = "sim", grid = grid, q_descale = descales[1], k_descale = descales[2], v_descale = descales[3], tensors = tensors })
  local q, k, v, got, logs = Q:totable(), K:totable(), V:totable(), O:totable(), lse and lse:totable()
  local function row(rows, i, h) return (i * heads + h) * dim end
  for h = 0, heads - 1 do
    for i = 0, queries - 1, 5 do
      local top, scores = -math.huge, {}
      for j = 0, keys - 1 do
        local at = { query = i, key = j, place = i + keys - queries, head = h, batch = 0 }
        local visible = (not o.causal or j <= at.place) and (not seen or seen(at))
        local x = 0
        for c = 1, dim do x = x + q[row(q, i, h) + c] * k[row(k, j, h) + c] end
        x = x / math.sqrt(dim)
        if o.softcap then x = o.softcap * (1 - 2 / (math.exp(2 * x / o.softcap) + 1)) end
        scores[j] = visible and score(x, at) or -math.huge
        top = math.max(top, scores[j])
      end
      local total = 0
      for j = 0, keys - 1 do
        scores[j] = top > -math.huge and math.exp(scores[j] - top) or 0
        total = total + scores[j]
      end
      for c = 1, dim, 7 do
        local want = 0
        for j = 0, keys - 1 do want = want + (scores[j] > 0 and scores[j] * v[row(v, j, h) + c] or 0) end
        want = total > 0 and want / total * (o.descale and 4 or 1) or 0
        errors, values = errors + (got[row(got, i, h) + c] - want) ^ 2, values + want ^ 2
        if o.lse and not (math.abs(got[row(got, i, h) + c] - want) <= 4e-3 * (math.abs(want) + 0.5)) then
          error(("%s: O[%d][%d][%d] is %g, not %g"):format(name, i, h, c - 1, got[row(got, i, h) + c], want))
        end
      end
      local log, logged = total > 0 and top + math.log(total) or -math.huge, logs and logs[h * queries + i + 1]
      if logs and not (logged == log or math.abs(logged - log) < 4e-3 * (math.abs(log) + 1)) then
        error(("%s: lse[%d][%d] is %g, not %g"):format(name, h, i, logged, log))
      end
    end
  end
  assert(o.lse or errors <= 0.05 ^ 2 * values, ("%s: the error is %g of the values"):format(name, math.sqrt(errors / values)))
end

local function same(x) return x end
-- ALiBi: a slope for each head, times the distance.
attend("ALiBi", { causal = true, score = function(k, x, at)
  local slope = k:ex2_approx_ftz(k:neg(k:cvt_rn_f32_u32(at.head + 1)))
  return k:fma(slope, k:cvt_rn_f32_s32(at.key - at.place), x)
end }, 70, 200, function(x, at) return x + 2.0 ^ -(at.head + 1) * (at.key - at.place) end)
-- The same by `distance`; in 8 bits, too.
for _, dtype in ipairs { "f16", "e4m3" } do
  attend("distances, " .. dtype, { dtype = dtype, score = function(k, x, at) return k:fma(0.125, at.distance, x) end,
    mask = function(_, at) return at.distance:le(5.0) end }, 70, 200,
    function(x, at) return x + (at.key - at.place) / 8 end, function(at) return at.key - at.place <= 5 end)
end
-- A function of the score alone, behind a bound.
attend("squares", { softcap = 2.0, score = function(k, x) return k:mul(x, x) end }, 65, 130, function(x) return x * x end)
-- Blocks of 48 keys that only some queries see; some see none.
local function in_same_block(at) return at.key // 48 == at.query // 32 end
attend("a mask", { mask = function(k, at) return k:div(k:mov(at.key, { type = "u32" }), 48):eq(k:div(k:mov(at.query, { type = "u32" }), 32)) end }, 200, 150, same, in_same_block)
attend("a mask and a score, causal", { causal = true, mask = function(_, at) return ((at.key + at.query) & 1):eq(0) end,
  score = function(k, x) return k:mul(x, 0.5) end }, 64, 130, function(x) return x / 2 end, function(at) return (at.key + at.query) % 2 == 0 end)
attend("in parts", { splits = 2, mask = function(_, at) return (at.key & 3):ne(1) end }, 40, 300, same, function(at) return at.key % 4 ~= 1 end)

-- 8-bit elements.
local function alibi(k, x, at) return k:fma(k:cvt_rn_f32_s32(at.key - at.place), 0.125, x) end
local function alibi_of(x, at) return x + (at.key - at.place) / 8 end
attend("ALiBi, 8 bits", { dtype = "e4m3", causal = true, score = alibi }, 70, 200, alibi_of)
attend("8 bits, factors", { dtype = "e4m3", descale = "tensor", softcap = 4.0, score = function(k, x) return k:mul(x, 1.5) end }, 70, 200, function(x) return 1.5 * x end)
attend("a mask, 8 bits", { dtype = "e4m3", mask = function(_, at) return (at.key & 1):eq(at.query & 1) end }, 70, 300, same, function(at) return at.key % 2 == at.query % 2 end)

-- A score function that hides keys, also all of the block that is visited first.
for _, dtype in ipairs { "f16", "e4m3" } do
  attend("scores of -inf, " .. dtype, { dtype = dtype, score = function(k, x, at) return k:selp_f32(x, -math.huge, at.key:lt(40)) end }, 70, 200,
    function(x, at) return at.key < 40 and x or -math.huge end)
end

-- Documents of 64 places: blocks of other documents are not read.
local function document(_, at) return (at.key >> 6):eq(at.place >> 6) end
local function blocks(_, at) return (at.first_key >> 6):le(at.last_place >> 6) & (at.last_key >> 6):ge(at.first_place >> 6) end
local function same_document(at) return at.key // 64 == at.place // 64 end
local function before(key) return function(j) return j < key end end
for name, o in pairs { ["16 bits"] = {}, ["8 bits"] = { dtype = "e4m3" }, causal = { causal = true }, ["a window"] = { window = 40 }, ["in parts"] = { splits = 2 } } do
  o.mask, o.block_mask, o.block = document, blocks, 64
  if o.window then o.mask = function(_, at) return (at.key >> 6):eq(at.place >> 6) end end
  attend("documents, " .. name, o, 60, 500, same, function(at) return same_document(at) and (not o.window or math.abs(at.key - at.place) < o.window) end, before(384))
end
-- Blocks in the middle and at both ends; a tile that sees nothing; one head that sees other blocks than the other.
local function every_other(_, at) return ((at.key >> 6) & 1):eq(0) end
attend("every other block", { mask = every_other, block = 64, block_mask = function(_, at) return ((at.first_key >> 6) & 1):eq(0) end }, 70, 400, same,
  function(at) return at.key // 64 % 2 == 0 end, function(j) return j // 64 % 2 == 1 end)
attend("every other block, causal, 8 bits", { dtype = "e4m3", causal = true, mask = every_other, block = 64, block_mask = function(_, at) return ((at.first_key >> 6) & 1):eq(0) end }, 70, 400,
  same, function(at) return at.key // 64 % 2 == 0 end, function(j) return j // 64 % 2 == 1 end)
-- Many blocks between those that are seen, and at both ends.
local function far_apart(block) return block:eq(5) | block:eq(25) | block:eq(26) | block:eq(35) end
for name, o in pairs { ["16 bits"] = {}, ["8 bits"] = { dtype = "e4m3" }, ["in parts"] = { splits = 2 } } do
  o.block, o.mask = 32, function(_, at) return far_apart(at.key >> 5) end
  o.block_mask = function(_, at) return far_apart(at.first_key >> 5), far_apart(at.first_key >> 5) end
  local function seen(key) return ({ [5] = true, [25] = true, [26] = true, [35] = true })[key // 32] or false end
  attend("far apart, " .. name, o, 70, 1500, same, function(at) return seen(at.key) end, function(key) return not seen(key) end)
end
attend("nothing is seen", { mask = function(_, at) return at.key:lt(0) end, block_mask = function(_, at) return at.first_key:lt(0) end }, 70, 300, same, function() return false end)
attend("by head", { block = 64, mask = function(_, at) return (at.key >> 6):eq(at.head) end,
  block_mask = function(k, at) return k:mov(at.first_key >> 6, { type = "u32" }):eq(at.head) end }, 40, 300, same, function(at) return at.key // 64 == at.head end, function(j) return j >= 128 end)

-- What `causal` hides, by functions. In blocks that are whole `mask` does not run, but in the one that is visited first: there it would hide odd keys.
local function lower(_, at) return at.first_key:le(at.last_place), at.last_key:le(at.first_place) end
for name, o in pairs { ["16 bits"] = {}, ["8 bits"] = { dtype = "e4m3" }, ["in parts"] = { splits = 2 }, ["behind a score"] = { scores = true } } do
  local factor = o.scores and 0.5 or 1
  attend("whole blocks, " .. name, { dtype = o.dtype, splits = o.splits, block = 64, mask = function(_, at) return at.key:le(at.place) end, block_mask = lower,
    score = o.scores and function(k, x) return k:mul(x, 0.5) end or nil }, 150, 330, function(x) return factor * x end, function(at) return at.key <= at.place end)
end
for _, dtype in ipairs { "f16", "e4m3" } do
  attend("mask does not run in whole blocks, " .. dtype, { dtype = dtype, block = 64, mask = function(_, at) return (at.key & 1):eq(0) end,
    block_mask = function(_, at) return at.first_key:ge(0), at.first_key:ge(128) end }, 70, 300, same, function(at) return at.key >= 128 and at.key < 256 or at.key % 2 == 0 end)
end

-- Tensors that the functions read: documents of any lengths, whose numbers grow, and a bias for each distance.
local ends, list, biases = { 30, 95, 150, 151, 230 }, {}, {}
for i = 0, 229 do
  list[i + 1] = 0
  for _, last in ipairs(ends) do list[i + 1] = list[i + 1] + (i >= last and 1 or 0) end
end
for i = 1, 230 do biases[i] = (i * 37 % 64) / 64 end
local captured = { documents = wg.tensor("s32", { 230 }, list), bias = wg.tensor("f32", { 230 }, biases) }
local function of_document(k, at, which) return k:ld_global_s32(k:element(at.tensors.documents, at[which])) end
for name, more in pairs { ["16 bits"] = {}, ["8 bits"] = { dtype = "e4m3" }, ["in parts"] = { splits = 3 } } do
  attend("tensors, " .. name, { dtype = more.dtype, splits = more.splits, causal = true, block = 64, tensors = { documents = "s32", bias = "f32" },
    mask = function(k, at) return of_document(k, at, "query"):eq(of_document(k, at, "key")) end,
    block_mask = function(k, at)
      local queries = { of_document(k, at, "first_query"), of_document(k, at, "last_query") }
      local keys = { of_document(k, at, "first_key"), of_document(k, at, "last_key") }
      return queries[1]:le(keys[2]) & queries[2]:ge(keys[1]), queries[1]:eq(keys[2]) & queries[2]:eq(keys[1])
    end,
    score = function(k, x, at) return k:add(x, k:ld_global_f32(k:element(at.tensors.bias, k:max(at.place - at.key, 0)))) end,
  }, 230, 230, function(x, at) return x + biases[at.place - at.key + 1] end, function(at) return list[at.key + 1] == list[at.query + 1] end, nil, captured)
end
do
  local attention, T = wg.attention { dim = 64, tensors = { bias = "f32" }, score = function(k, x, at) return k:add(x, k:ld_global_f32(at.tensors.bias)) end }, wg.zeros("bf16", { 1, 8, 1, 64 })
  check.refuses("attention: `tensors` is missing", function() attention:run(T, T, T, T) end)
  check.refuses("attention: tensor `bias` is missing", function() attention:run(T, T, T, T, { tensors = {} }) end)
  check.refuses("attention: there is no tensor `bais`: did you mean `bias`?", function() attention:run(T, T, T, T, { tensors = { bais = T } }) end)
  check.refuses("attention: `tensors` is given, but wg.attention was made without `tensors`", function() wg.attention({ dim = 64 }):run(T, T, T, T, { tensors = {} }) end)
  check.raises("wg.attention, tensors: `1` is no name", wg.attention, { tensors = { "f32" } })
  check.raises("f31", wg.attention, { tensors = { bias = "f31" } })
end

check.raises("wg.attention: `block_mask` requires `mask`: it finds the blocks in which `mask` hides all keys", wg.attention, { block_mask = blocks })
check.raises("wg.attention, block_mask: the function must return a register of type pred, not boolean", wg.attention, { mask = document, block_mask = function() return true end })
check.raises("wg.attention, block_mask: the function must return a register of type pred, not u32", wg.attention,
  { mask = document, block_mask = function(_, at) return at.first_key:ge(0), at.head end })
check.raises("unknown option `score_slope` of wg.attention", wg.attention, { score_slope = same })
check.raises("wg.attention, score", wg.attention, { score = function() end })
check.raises("wg.attention, score: the function must return a register of type f32, not number", wg.attention, { score = function() return 1.0 end })
check.raises("wg.attention, score: the function must return a register of type f32, not s32", wg.attention, { score = function(_, _, at) return at.key end })
check.raises("wg.attention, mask: the function must return a register of type pred, not boolean", wg.attention, { mask = function() return true end })
check.raises("wg.attention: option `mask`: expected a function, got number 3", wg.attention, { mask = 3 })
