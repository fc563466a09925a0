-- wg.attention of 8-bit floats on the simulator, against binary64: head sizes, masks, layouts, options, factors.
local wg = require "wgrun"
local check = require "check"
local attending = require "attending"

local function attend(name, o, ...)
  o.dtype = "e4m3"
  attending.attend(name, o, ...)
end

local function attend_packed(name, o, ...)
  o.dtype = "e4m3"
  attending.attend_packed(name, o, ...)
end

-- The order of keys in which P is packed and V transposed (stdlib/attention/fp8.lua), from the layouts of the fragments.
local a, d = wg.fragment { of = "wgmma_a", dtype = "e4m3" }, wg.fragment { of = "wgmma_d", dtype = "f32", n = 32 }
local loaded, stored = wg.fragment { of = "ldmatrix", matrices = 4, trans = true }, wg.fragment { of = "stmatrix", matrices = 4 }
local packed_from = { [0] = 0, 1, 4, 5 } -- of the accumulators from 8 (word / 2) + 2 (word % 2) on, the bytes of a word of A
for place = 0, 31 do
  local thread, value = a:owner(0, place)
  local word = value // 4
  local row, key = d:at(thread, 8 * (word // 2) + 2 * (word % 2) + packed_from[value % 4])
  local inside = place % 16
  assert(row == 0 and key == place - inside + 8 * (inside // 2 % 2) + 2 * (inside // 4) + inside % 2, place)
  -- V: matrices 2 m and 2 m + 1 have keys 16 m to 16 m + 15; a thread's bytes of both become four neighbours of a line.
  local matrix = place // 16
  for line = 0, 7 do
    local owner = stored:owner(line, inside // 2) -- the pair of bytes in matrix 0, which are two of a register
    local source = 2 * matrix + inside // 2 % 2
    local from, pair = loaded:at(owner, 2 * source + inside % 2) -- rows are keys, columns pairs of dims
    assert(from == key and pair == line, ("place %d, line %d: key %d, dims %d"):format(place, line, from, pair))
  end
end

attend("one key", { dim = 128, heads = 1, lse = true }, 1, 1, 1, 1)
attend("one block", { dim = 64, heads = 1 }, 1, 5, 7, 1)
attend("edges", { dim = 128, heads = 2, lse = true }, 2, 200, 300, 3)
attend("causal", { dim = 128, heads = 2, causal = true, lse = true }, 1, 300, 300)
attend("short sequences", { dim = 128, heads = 2, causal = true, problem = { 200, 200 } }, 1, 200, 200)
attend("short sequences of 64", { dim = 64, heads = 2, causal = true, problem = { 200, 200 } }, 1, 200, 200)
attend("queries that see nothing", { dim = 64, heads = 1, causal = true, lse = true }, 1, 300, 190)
attend("96", { dim = 96, heads = 2, causal = true, lse = true }, 1, 140, 300)
attend("192", { dim = 192, heads = 1, scale = 0.3 }, 2, 140, 210)
attend("256", { dim = 256, heads = 2, causal = true, layout = "bhsd" }, 1, 200, 200, 1)
attend("256, full", { dim = 256, heads = 1, lse = true }, 1, 200, 500)
attend("f16 out, groups of heads", { dim = 128, heads = 4, kv_heads = 2, layout = "bhsd", o = "f16" }, 2, 60, 290)
attend("a window", { dim = 64, heads = 1, causal = true, window = 50, lse = true }, 1, 400, 400)
attend("a window on both sides", { dim = 256, heads = 1, window = 140 }, 1, 300, 400)
attend("bounded scores", { dim = 64, heads = 2, kv_heads = 1, softcap = 2.0, causal = true, lse = true, descale = "head" }, 2, 150, 150)
attend("exact", { dim = 128, heads = 1, exact = true }, 1, 140, 450)
attend("exact, causal", { dim = 64, heads = 2, causal = true, exact = true }, 1, 200, 200)
attend("maxima that grow", { dim = 64, heads = 1, causal = true, scale = 1.0, lse = true }, 1, 400, 400)
attend("scores beyond f32 exponents", { dim = 128, heads = 1, scale = 30.0, block = 32, lse = true }, 1, 130, 300)
-- The chip cuts off what it adds to large accumulators: sums of P there would be wrong.
attend("many keys, as the chip adds", { dim = 64, heads = 1, numerics = "h200" }, 1, 40, 3000)
attend("factors of tensors", { dim = 128, heads = 2, lse = true, descale = "tensor" }, 2, 100, 200)
attend("factors of heads", { dim = 128, heads = 4, kv_heads = 2, causal = true, lse = true, descale = "head" }, 2, 100, 200)
for _, block in ipairs { 32, 64, 160, 192 } do attend("blocks of " .. block, { dim = 128, heads = 1, block = block }, 1, 130, 450) end

-- A key with the weight 2^x beside 63 keys of weight 1, whose block comes first: up to x = 3.8 it is made as it is, and beyond, where e4m3 has no
-- number, the block once more. Keys 0 to 15 of a block have their exponentials by ex2, 16 to 31 by codes, of which four make a word.
local one_key = wg.attention { dtype = "e4m3", dim = 64, heads = 1, block = 32 }
local Q, V = wg.zeros("e4m3", { 1, 64, 1, 64 }), wg.randn { shape = { 1, 64, 1, 64 }, dtype = "e4m3", seed = 3 }
for i = 0, 63 do Q[{ 0, i, 0, 0 }] = 1 end
for _, key in ipairs { 3, 20, 21, 28, 29 } do
  local K = wg.zeros("e4m3", { 1, 64, 1, 64 })
  for _, x in ipairs { -20, -3, 2, 3.5, 3.7, 3.76, 3.79, 3.82, 3.86, 3.9, 3.92, 3.96, 4, 4.1, 7, 19.95, 20.1, 35, 200 } do
    local O, weight = wg.zeros("bf16", { 1, 64, 1, 64 }), 2.0 ^ x
    K[{ 0, key, 0, 0 }] = x < 0 and -1 or 1
    one_key:run(Q, K, V, O, { backend = "sim", scale = math.abs(x) * math.log(2) })
    for c = 0, 63 do
      local rest = 0
      for j = 0, 63 do rest = rest + (j == key and 0 or V[{ 0, j, 0, c }]) end
      local got, want = O[{ 0, 5 * key % 64, 0, c }], (rest + weight * V[{ 0, key, 0, c }]) / (63 + weight)
      assert(math.abs(got - want) < 0.05, ("key %d, 2^%g: %g, not %g"):format(key, x, got, want))
    end
  end
end

-- Without codes O is off by less: the root of the mean square.
local function off(exact)
  local dim, keys, wrong, size = 64, 1024, 0.0, 0.0
  local function random(seed) return wg.randn { shape = { 1, keys, 1, dim }, dtype = "e4m3", seed = seed } end
  local q, k, v, o = wg.randn { shape = { 1, 64, 1, dim }, dtype = "e4m3", seed = 1 }, random(2), random(3), wg.zeros("bf16", { 1, 64, 1, dim })
  wg.attention { dtype = "e4m3", dim = dim, exact = exact }:run(q, k, v, o, { backend = "sim" })
  for i = 0, 63, 5 do
    local weights, sum = {}, 0
    for j = 1, keys do
      weights[j] = math.exp(wg.dot(q, i * dim, 1, k, (j - 1) * dim, 1, dim) / 8)
      sum = sum + weights[j]
    end
    local p = wg.tensor("f64", { keys }, weights)
    for c = 0, dim - 1 do
      local want = wg.dot(p, 0, 1, v, c, dim, keys) / sum
      wrong, size = wrong + (o[{ 0, i, 0, c }] - want) ^ 2, size + want ^ 2
    end
  end
  return math.sqrt(wrong / size)
end
local by_ex2, by_codes = off(true), off(false)
assert(by_ex2 < 0.029 and by_ex2 < 0.92 * by_codes, ("%g by ex2, %g by codes"):format(by_ex2, by_codes))

attend_packed("packed", { dim = 64, heads = 2, lse = true }, { { 200, 300 }, { 0, 40 }, { 1, 1 }, { 70, 0 }, { 193, 129 } })
attend_packed("packed, factors", { dim = 128, heads = 2, kv_heads = 1, causal = true, lse = true, descale = "head", o = "f16" }, { { 140, 140 }, { 30, 300 }, { 129, 100 } })

local function made(o)
  o.dtype = "e4m3"
  return function() return wg.attention(o) end
end
check.refuses("wg.attention: unknown o `e4m3` (legal: bf16, f16)", made { o = "e4m3" })
check.refuses("wg.attention: unknown descale `row` (legal: tensor, head)", made { descale = "row" })
check.refuses("wg.attention: block is 48, must be a multiple of 32 (a K step)", made { block = 48 })
check.refuses("wg.attention: blocks of 256 keys take 446464 bytes of shared memory, and there are 231424", made { dim = 256, block = 256 })
check.refuses("wg.attention: `exact` requires 8-bit elements: others make all probabilities so", function() wg.attention { exact = true } end)
check.refuses("wg.attention: `descale` requires 8-bit elements: others have no scales", function() wg.attention { descale = "head" } end)

local function zeros(dtype) return wg.zeros(dtype, { 2, 8, 2, 64 }) end
local attention = wg.attention { dtype = "e4m3", dim = 64, heads = 2, descale = "head" }
local Q, O, one = zeros "e4m3", zeros "bf16", wg.zeros("f32", { 1 })
check.refuses("attention: `k_descale` is missing", function() attention:run(Q, Q, Q, O, { q_descale = one, v_descale = one }) end)
check.refuses("attention: q_descale must be f32, 2 x 2, not 1", function() attention:run(Q, Q, Q, O, { q_descale = one, k_descale = one, v_descale = one }) end)
local plain = wg.attention { dtype = "e4m3", dim = 64, heads = 2 }
check.refuses("attention: `q_descale` is given, but wg.attention was made without `descale`", function() plain:run(Q, Q, Q, O, { q_descale = one }) end)
