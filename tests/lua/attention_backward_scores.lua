-- Score functions and masks of one's own in wg.attention_backward, beside binary64: derivatives that follow from the function's
-- instructions, and blocks that are left out.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

-- Scores, probabilities and their gradients of a head, in binary64. score(x, at) returns the score and its derivative.
local function reference(o, t, h, queries, keys, score, seen)
  local dim, group = o.dim, o.heads // o.kv_heads
  local function row(tensor, heads, i, head) return function(c) return tensor[(i * heads + head) * dim + c] end end
  local function dot(a, b)
    local sum = 0
    for c = 1, dim do sum = sum + a(c) * b(c) end
    return sum
  end
  local P, dS, scale = {}, {}, 1 / math.sqrt(dim)
  for i = 0, queries - 1 do
    local top, total, delta, x, slope, dp = -math.huge, 0, 0, {}, {}, {}
    for j = 0, keys - 1 do
      local at = { query = i, key = j, place = i + keys - queries, head = h }
      if (not o.causal or j <= at.place) and (not seen or seen(at)) then
        x[j], slope[j] = score(scale * dot(row(t.Q, o.heads, i, h), row(t.K, o.kv_heads, j, h // group)), at)
        dp[j], top = dot(row(t.dO, o.heads, i, h), row(t.V, o.kv_heads, j, h // group)), math.max(top, x[j])
      end
    end
    for j, value in pairs(x) do total = total + math.exp(value - top) end
    P[i], dS[i] = {}, {}
    for j, value in pairs(x) do
      P[i][j] = math.exp(value - top) / total
      delta = delta + P[i][j] * dp[j]
    end
    for j in pairs(x) do dS[i][j] = scale * slope[j] * P[i][j] * (dp[j] - delta) end
  end
  return P, dS
end

--- o: options, the gradients' own `mask` besides; score and seen as above. poison: keys whose K and V are infinite: blocks of them must not be read.
local function differentiate(name, o, queries, keys, score, seen, poison, tensors)
  o.dim, o.heads, o.dtype = o.dim or 64, o.heads or 2, "f16"
  local own_mask = o.own_mask
  o.own_mask = nil
  o.kv_heads = o.kv_heads or o.heads
  local function randn(rows, heads, seed) return wg.randn { shape = { 1, rows, heads, o.dim }, dtype = "f16", seed = seed } end
  local given = { Q = randn(queries, o.heads, 1), K = randn(keys, o.kv_heads, 2), V = randn(keys, o.kv_heads, 3), dO = randn(queries, o.heads, 4) }
  for key = 0, poison and keys - 1 or -1 do
    if poison(key) then
      for c = 0, o.dim - 1 do
        for h = 0, o.kv_heads - 1 do given.K[{ 0, key, h, c }], given.V[{ 0, key, h, c }] = math.huge, math.huge end
      end
    end
  end
  given.O, given.lse = wg.zeros("f16", given.Q.shape), wg.zeros("f32", { 1, o.heads, queries })
  for tensor, of in pairs { dQ = "Q", dK = "K", dV = "V" } do given[tensor] = wg.full("f16", given[of].shape, 99) end
  local forward = { lse = true }
  for key, value in pairs(o) do if key ~= "score_slope" then forward[key] = value end end
  wg.attention(forward):run(given.Q, given.K, given.V, given.O, { lse = given.lse, backend = "sim", grid = 2, tensors = tensors })
  o.mask = own_mask or o.mask
  local backward = wg.attention_backward(o)
  assert(#backward.kernel:check() == 0, name)
  given.backend, given.tensors = "sim", tensors
  backward:run(given)
  local t = {}
  for tensor, value in pairs(given) do t[tensor] = type(value) == "userdata" and value:totable() or value end
  local heads = {}
  for h = 0, o.heads - 1 do
    heads[h] = {}
    heads[h].P, heads[h].dS = reference(o, t, h, queries, keys, score, seen)
  end
  local group = o.heads // o.kv_heads
  local function compare(result, rows, of_heads, want)
    local worst, size = 0, 0
    for h = 0, of_heads - 1 do
      for i = 0, rows - 1, 7 do
        for c = 1, o.dim, 5 do
          local exact, got = want(h, i, c), t[result][(i * of_heads + h) * o.dim + c]
          assert(got == got, name .. ": " .. result .. " is no number")
          worst, size = math.max(worst, math.abs(got - exact)), math.max(size, math.abs(exact))
        end
      end
    end
    assert(size > 0 and worst <= 0.01 * size + 1e-4, ("%s: %s is off by %g of %g"):format(name, result, worst, size))
  end
  compare("dQ", queries, o.heads, function(h, i, c)
    local sum = 0
    for j, value in pairs(heads[h].dS[i]) do sum = sum + value * t.K[(j * o.kv_heads + h // group) * o.dim + c] end
    return sum
  end)
  for result, from in pairs { dK = { "dS", "Q" }, dV = { "P", "dO" } } do
    compare(result, keys, o.kv_heads, function(kv, j, c)
      local sum = 0
      for h = kv * group, kv * group + group - 1 do
        for i = 0, queries - 1 do sum = sum + (heads[h][from[1]][i][j] or 0) * t[from[2]][(i * o.heads + h) * o.dim + c] end
      end
      return sum
    end)
  end
end

local function same(x) return x, 1 end
local function tanh(x) return 1 - 2 / (math.exp(2 * x) + 1) end

-- ALiBi: the slope is 1, whatever the bias is.
differentiate("ALiBi", { causal = true, heads = 4, kv_heads = 2, score = function(k, x, at)
  local slope = k:ex2_approx_ftz(k:neg(k:cvt_rn_f32_u32(at.head + 1)))
  return k:fma(slope, k:cvt_rn_f32_s32(at.key - at.place), x)
end }, 70, 150, function(x, at) return x + 2.0 ^ -(at.head + 1) * (at.key - at.place), 1 end)
differentiate("a factor", { dim = 128, heads = 1, score = function(k, x) return k:mul(x, 0.5) end }, 70, 150, function(x) return x / 2, 0.5 end)
differentiate("a bound", { softcap = 2.0 }, 65, 130, function(x) return 2 * tanh(x / 2), 1 - tanh(x / 2) ^ 2 end)
-- A slope that is another register for each score, in each of the kernels' shapes.
for _, dim in ipairs { 64, 96, 128, 192, 256 } do
  differentiate("squares behind a bound, " .. dim, { dim = dim, heads = 1, softcap = 3.0, score = function(k, x) return k:mul(x, x) end }, 70, 140, function(x)
    local y = 3 * tanh(x / 3)
    return y * y, 2 * y * (1 - (y / 3) ^ 2)
  end)
end
differentiate("a product with the score itself, whose slope is given", { score = function(k, x) return x * k:tanh_approx(x) end,
  score_slope = function(k, x)
    local y = k:tanh_approx(x)
    return k:fma(x, k:fma(k:neg(y), y, 1.0), y)
  end }, 65, 130, function(x) return x * tanh(x), tanh(x) + x * (1 - tanh(x) ^ 2) end)
differentiate("a slope that is given, behind a bound", { softcap = 2.0, score = function(k, x) return k:mul(x, x) end, score_slope = function(k, x) return k:mul(x, 2.0) end },
  65, 130, function(x) return (2 * tanh(x / 2)) ^ 2, 4 * tanh(x / 2) * (1 - tanh(x / 2) ^ 2) end)
-- 1 / |x| of zeros, which stand behind the last key and query, has no slope: their gradients are 0 all the same.
differentiate("a pole", { score = function(k, x) return k:neg(k:rcp_approx_ftz(k:fma(x, x, k:selp_f32(0.0, 1.0, x:eq(0.0))))) end }, 65, 130,
  function(x) return -1 / (x * x + 1), 2 * x / (x * x + 1) ^ 2 end)

differentiate("scores of -inf", { score = function(k, x, at) return k:selp_f32(k:mul(x, x), -math.huge, at.key:lt(40)) end }, 65, 130,
  function(x, at) return at.key < 40 and x * x or -math.huge, at.key < 40 and 2 * x or 0 end)
-- The derivative of each instruction, beside a difference quotient; operators of registers; what does not depend on the score has none.
local function square(k, x) return k:fma(x, x, 1.0) end
for name, one in pairs {
  add = { function(k, x) return k:add(k:add(x, x), 1.0) end, function(x) return 2 * x + 1 end },
  sub = { function(k, x) return k:sub(1.0, k:mul(x, x)) end, function(x) return 1 - x * x end },
  fma = { function(k, x) return k:fma(x, k:mul(x, 0.5), x) end, function(x) return x * x / 2 + x end },
  div = { function(k, x) return k:div_full(x, square(k, x)) end, function(x) return x / (x * x + 1) end },
  ["div by a number"] = { function(k, x) return k:div_full(k:mul(x, x), 4.0) end, function(x) return x * x / 4 end },
  abs = { function(k, x) return k:abs(k:sub(x, 0.25)) end, function(x) return math.abs(x - 0.25) end },
  min = { function(k, x) return k:min(0.3, k:mul(x, 2.0)) end, function(x) return math.min(0.3, 2 * x) end },
  max = { function(k, x) return k:max(k:mul(x, x), x) end, function(x) return math.max(x * x, x) end },
  selp = { function(k, x) return k:selp(k:mul(x, 3.0), k:neg(x), x:gt(0.1)) end, function(x) return x > 0.1 and 3 * x or -x end },
  ex2 = { function(k, x) return k:ex2_approx_ftz(x) end, function(x) return 2 ^ x end },
  lg2 = { function(k, x) return k:lg2_approx_ftz(square(k, x)) end, function(x) return math.log(x * x + 1, 2) end },
  tanh = { function(k, x) return k:tanh_approx(x) end, tanh },
  rcp = { function(k, x) return k:rcp_approx_ftz(square(k, x)) end, function(x) return 1 / (x * x + 1) end },
  sqrt = { function(k, x) return k:sqrt_approx(square(k, x)) end, function(x) return math.sqrt(x * x + 1) end },
  rsqrt = { function(k, x) return k:rsqrt_approx_ftz(square(k, x)) end, function(x) return 1 / math.sqrt(x * x + 1) end },
  sin = { function(k, x) return k:sin_approx(x) end, math.sin },
  cos = { function(k, x) return k:cos_approx(x) end, math.cos },
  operators = { function(k, x, at) return k:mov(-(2.0 * x - x * x) / (x * x + 1.5) + k:cvt_rn_f32_s32((at.key & 3) * 2 - at.query % 2)) end, function(x, at)
    return -(2 * x - x * x) / (x * x + 1.5) + (at.key & 3) * 2 - at.query % 2
  end },
} do
  differentiate(name, { heads = 1, score = one[1] }, 6, 9, function(x, at) return one[2](x, at), (one[2](x + 1e-6, at) - one[2](x - 1e-6, at)) / 2e-6 end)
end

-- Documents of 64 that do not see each other: what their keys and values are does not matter where no query sees them.
local function documents(_, at) return (at.key >> 6):eq(at.place >> 6) end
local function of_documents(_, at) return (at.first_key >> 6):le(at.last_place >> 6) & (at.last_key >> 6):ge(at.first_place >> 6) end
local function same_document(at) return at.key // 64 == at.place // 64 end
differentiate("a mask", { mask = documents, causal = true }, 150, 200, same, same_document)
for _, dim in ipairs { 64, 128, 192, 256 } do
  differentiate("blocks that are left out, " .. dim, { dim = dim, heads = 2, kv_heads = 1, mask = documents, block_mask = of_documents }, 100, 460, same, same_document,
    function(key) return key < 256 end)
end
-- Blocks in which `mask` does not run: there it would hide odd keys.
for _, dim in ipairs { 64, 128, 192, 256 } do
  differentiate("whole blocks, " .. dim, { dim = dim, heads = 2, kv_heads = 1, mask = function(_, at) return at.key:ge(64) | (at.key & 1):eq(0) end,
    own_mask = function(_, at) return (at.key & 1):eq(0) end, block_mask = function(_, at) return at.first_key:ge(0), at.first_key:ge(64) end },
    70, 200, same, function(at) return at.key >= 64 or at.key % 2 == 0 end)
end
differentiate("distances", { heads = 1, score = function(k, x, at) return x * k:ex2_approx_ftz(at.distance * 0.03125) end,
  mask = function(_, at) return at.distance:le(3.0) end }, 70, 130,
  function(x, at) return x * 2 ^ ((at.key - at.place) / 32), 2 ^ ((at.key - at.place) / 32) end, function(at) return at.key - at.place <= 3 end)
differentiate("a mask for each head", { mask = function(_, at) return (at.key >> 6):eq(at.head) end,
  block_mask = function(k, at) return k:mov(at.first_key >> 6, { type = "u32" }):le(at.head) & k:mov(at.last_key >> 6, { type = "u32" }):ge(at.head) end, score = function(k, x) return k:mul(x, 2.0) end },
  100, 140, function(x) return 2 * x, 2 end, function(at) return at.key // 64 == at.head end)

-- Tensors that the functions read: documents of any lengths, and a factor for each distance.
do
  local list, factors = {}, {}
  for i = 0, 149 do list[i + 1], factors[i + 1] = i < 40 and 0 or i < 41 and 1 or i < 110 and 2 or 3, 0.5 + (i * 7 % 32) / 32 end
  local function document(k, at, which) return k:ld_global_s32(k:element(at.tensors.documents, at[which])) end
  differentiate("tensors", { causal = true, tensors = { documents = "s32", factors = "f32" },
    mask = function(k, at) return document(k, at, "query"):eq(document(k, at, "key")) end,
    block_mask = function(k, at) return document(k, at, "first_query"):le(document(k, at, "last_key")) & document(k, at, "last_query"):ge(document(k, at, "first_key")) end,
    score = function(k, x, at) return k:mul(x, k:ld_global_f32(k:element(at.tensors.factors, k:max(at.place - at.key, 0)))) end,
  }, 150, 150, function(x, at)
    local factor = factors[at.place - at.key + 1]
    return factor * x, factor
  end, function(at) return list[at.key + 1] == list[at.query + 1] end, nil, { documents = wg.tensor("s32", { 150 }, list), factors = wg.tensor("f32", { 150 }, factors) })
end

-- Packed sequences are what each of them is by itself.
do
  local lengths, o = { { 70, 130 }, { 65, 40 } }, {
    dim = 64, heads = 2, dtype = "f16", causal = true, score = function(k, x, at) return k:fma(k:cvt_rn_f32_s32(at.key - at.place), 0.125, k:mul(x, x)) end,
    mask = function(_, at) return ((at.key + at.query) & 3):ne(0) end, block_mask = function(_, at) return at.first_place:ge(0) | at.last_query:ge(0) end,
  }
  local function run(options, t, more)
    local forward = { lse = true }
    for key, value in pairs(options) do forward[key] = value end
    local forwarded, back = { lse = t.lse, backend = "sim", grid = 2 }, { backend = "sim" }
    for key, value in pairs(more or {}) do
      if key ~= "max_keys" then forwarded[key] = value end
      back[key] = value
    end
    for key, value in pairs(t) do back[key] = value end
    wg.attention(forward):run(t.Q, t.K, t.V, t.O, forwarded)
    wg.attention_backward(options):run(back)
  end
  local rows, starts = { Q = 0, K = 0 }, { Q = { 0 }, K = { 0 } }
  for i, length in ipairs(lengths) do
    rows.Q, rows.K = rows.Q + length[1], rows.K + length[2]
    starts.Q[i + 1], starts.K[i + 1] = rows.Q, rows.K
  end
  local of = { Q = "Q", O = "Q", dO = "Q", dQ = "Q", K = "K", V = "K", dK = "K", dV = "K" }
  local packed = { lse = wg.zeros("f32", { 2, rows.Q }) }
  for name, side in pairs(of) do packed[name] = wg.randn { shape = { rows[side], 2, 64 }, dtype = "f16", seed = #name + name:byte(-1) } end
  o.packed = true
  run(o, packed, { query_starts = wg.tensor("s32", { 3 }, starts.Q), key_starts = wg.tensor("s32", { 3 }, starts.K), max_queries = 70, max_keys = 130 })
  o.packed = nil
  for i, length in ipairs(lengths) do
    local function part(name) return packed[name]:rows(starts[of[name]][i], starts[of[name]][i + 1]) end
    local alone = { lse = wg.zeros("f32", { 1, 2, length[1] }) }
    for name, side in pairs(of) do
      alone[name] = part(name):copy():reshape { 1, length[side == "Q" and 1 or 2], 2, 64 }
    end
    run(o, alone)
    for _, name in ipairs { "O", "dK", "dV", "dQ" } do
      assert(wg.compare(alone[name]:reshape(part(name).shape), part(name), name == "dQ" and 1e-2 or 0), ("packed: %s of sequence %d"):format(name, i))
    end
  end
end

check.raises("wg.attention_backward, score: the function must return a register of type f32, not number", wg.attention_backward, { score = function() return 1.0 end })
check.raises("wg.attention_backward, score: the function returns nothing", wg.attention_backward, { score = function() end })
check.raises("wg.attention_backward, mask: the function must return a register of type pred, not boolean", wg.attention_backward, { mask = function() return true end })
check.raises("wg.attention_backward, score: no derivative of cvt_rn_f16_f32 is known: give `score_slope`", wg.attention_backward,
  { score = function(k, x) return k:cvt_f32_f16(k:cvt_rn_f16_f32(x)) end })
check.raises("wg.attention_backward, score: no derivative of mul is known with a destination or a guard: give `score_slope`", wg.attention_backward,
  { score = function(k, x) return k:mul(k:reg "f32", x, 2.0) end })
check.raises("wg.attention_backward: `score_slope` requires `score`: it is the derivative of that function", wg.attention_backward, { score_slope = function() end })
check.raises("wg.attention_backward: `block_mask` requires `mask`: it finds the blocks in which `mask` hides all keys", wg.attention_backward, { block_mask = function() end })
