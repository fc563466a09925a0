-- Score functions and masks of one's own in wg.attention, beside binary64.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local dim, heads = 64, 2

--- o: options of wg.attention; score(x, at) and seen(at) compute the same in Lua.
local function attend(name, o, queries, keys, score, seen)
  o.dim, o.heads, o.dtype, o.lse = dim, heads, "f16", true
  local function randn(rows, seed) return wg.randn { shape = { 1, rows, heads, dim }, dtype = "f16", seed = seed } end
  local Q, K, V, O = randn(queries, 1), randn(keys, 2), randn(keys, 3), wg.zeros("f16", { 1, queries, heads, dim })
  local lse = wg.zeros("f32", { 1, heads, queries })
  local grid = not o.splits and 2 or nil
  wg.attention(o):run(Q, K, V, O, { lse = lse, backend = "sim", grid = grid })
  local q, k, v, got, logs = Q:totable(), K:totable(), V:totable(), O:totable(), lse:totable()
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
        for j = 0, keys - 1 do want = want + scores[j] * v[row(v, j, h) + c] end
        want = total > 0 and want / total or 0
        if math.abs(got[row(got, i, h) + c] - want) > 4e-3 * (math.abs(want) + 0.5) then
          error(("%s: O[%d][%d][%d] is %g, not %g"):format(name, i, h, c - 1, got[row(got, i, h) + c], want))
        end
      end
      local log, logged = total > 0 and top + math.log(total) or -math.huge, logs[h * queries + i + 1]
      if not (logged == log or math.abs(logged - log) < 4e-3 * (math.abs(log) + 1)) then error(("%s: lse[%d][%d] is %g, not %g"):format(name, h, i, logged, log)) end
    end
  end
end

local function same(x) return x end
-- ALiBi: a slope for each head, times the distance.
attend("ALiBi", { causal = true, score = function(k, x, at)
  local slope = k:ex2_approx_ftz(k:neg(k:cvt_rn_f32_u32(at.head + 1)))
  return k:fma(slope, k:cvt_rn_f32_s32(at.key - at.place), x)
end }, 70, 200, function(x, at) return x + 2.0 ^ -(at.head + 1) * (at.key - at.place) end)
-- A function of the score alone, behind a bound.
attend("squares", { softcap = 2.0, score = function(k, x) return k:mul(x, x) end }, 65, 130, function(x) return x * x end)
-- Blocks of 48 keys that only some queries see; some see none.
local function in_same_block(at) return at.key // 48 == at.query // 32 end
attend("a mask", { mask = function(k, at) return k:div(k:mov(at.key, { type = "u32" }), 48):eq(k:div(k:mov(at.query, { type = "u32" }), 32)) end }, 200, 150, same, in_same_block)
attend("a mask and a score, causal", { causal = true, mask = function(_, at) return ((at.key + at.query) & 1):eq(0) end,
  score = function(k, x) return k:mul(x, 0.5) end }, 64, 130, function(x) return x / 2 end, function(at) return (at.key + at.query) % 2 == 0 end)
attend("in parts", { splits = 2, mask = function(_, at) return (at.key & 3):ne(1) end }, 40, 300, same, function(at) return at.key % 4 ~= 1 end)

check.raises("wg.attention: `score` and `mask` go with 16-bit types", wg.attention, { dtype = "e4m3", score = same })
check.raises("wg.attention, score", wg.attention, { score = function() end })
check.raises("wg.attention, score: the function must return a register of type f32, not number", wg.attention, { score = function() return 1.0 end })
check.raises("wg.attention, score: the function must return a register of type f32, not s32", wg.attention, { score = function(_, _, at) return at.key end })
check.raises("wg.attention, mask: the function must return a register of type pred, not boolean", wg.attention, { mask = function() return true end })
check.raises("wg.attention: option `mask`: expected a function, got number 3", wg.attention, { mask = 3 })
