-- Dropout in wg.attention and its gradients, beside binary64 and a generator of its own.
local wg = require "wgrun"
local check = require "check"

-- Philox 4x32 with so many rounds.
local function philox(counter, key, rounds)
  local c0, c1, c2, c3, k0, k1 = counter[1], counter[2], counter[3], counter[4], key[1], key[2]
  for _ = 1, rounds do
    local x, z = 0xD2511F53 * c0, 0xCD9E8D57 * c2
    c0, c1, c2, c3 = (z >> 32) ~ c1 ~ k0, z & 0xFFFFFFFF, (x >> 32) ~ c3 ~ k1, x & 0xFFFFFFFF
    k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
  end
  return { c0, c1, c2, c3 }
end
do -- the known answers of Random123 for 7 and 10 rounds
  local function is(want, got) for i = 1, 4 do assert(want[i] == got[i], ("philox: %x, not %x"):format(got[i], want[i])) end end
  is({ 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 }, philox({ 0, 0, 0, 0 }, { 0, 0 }, 10))
  is({ 0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48 }, philox({ 0, 0, 0, 0 }, { 0, 0 }, 7))
end

local seed, offset = 0x123456789ABCDEF0, 0x700000008
local function keeps(p, pair, i, j)
  local words = philox({ 4 * (j // 16) + j // 2 % 4, 8 * (i // 16) + i % 8, pair, offset & 0xFFFFFFFF }, { seed & 0xFFFFFFFF, seed >> 32 }, 7)
  return words[1 + i // 8 % 2 + 2 * (j // 8 % 2)] >> 16 * (j % 2) & 0x7FFF >= math.floor(p * 0x8000 + 0.5)
end

-- P with what is dropped as 0, multiplied by 1 / (1 - p), and dS, of one head in binary64.
local function head_of(o, t, b, h, queries, keys)
  local dim, kv_head, scale, P, dS = o.dim, h // (o.heads // o.kv_heads), 1 / math.sqrt(o.dim), {}, {}
  local factor = o.p < 1 and 1 / (1 - o.p) or 0
  local function row(rows, heads, i, head) return ((b * rows + i) * heads + head) * dim end
  for i = 0, queries - 1 do
    local seen, top, total, delta, x = math.min(keys, o.causal and i + keys - queries + 1 or keys), -math.huge, 0, 0, {}
    for j = 0, seen - 1 do
      x[j] = scale * wg.dot(t.Q, row(queries, o.heads, i, h), 1, t.K, row(keys, o.kv_heads, j, kv_head), 1, dim)
      if o.score then x[j] = 2 * x[j] end
      top = math.max(top, x[j])
    end
    for j = 0, seen - 1 do total = total + math.exp(x[j] - top) end
    local plain, dp = {}, {}
    for j = 0, keys - 1 do
      plain[j] = j < seen and math.exp(x[j] - top) / total or 0
      local kept = keeps(o.p, b * o.heads + h, i, j) and factor or 0
      P[i * keys + j + 1] = plain[j] * kept
      dp[j] = kept * wg.dot(t.dO, row(queries, o.heads, i, h), 1, t.V, row(keys, o.kv_heads, j, kv_head), 1, dim)
      delta = delta + plain[j] * dp[j]
    end
    for j = 0, keys - 1 do dS[i * keys + j + 1] = (o.score and 2 or 1) * scale * plain[j] * (dp[j] - delta) end
  end
  return wg.tensor("f64", { queries * keys }, P), wg.tensor("f64", { queries * keys }, dS)
end

local function drop(name, o, batches, queries, keys, packed)
  local dtype = o.dtype or "f16"
  o.kv_heads = o.kv_heads or o.heads
  local function randn(rows, heads, from) return wg.randn { shape = { batches, rows, heads, o.dim }, dtype = dtype, seed = from } end
  local t = { Q = randn(queries, o.heads, 1), K = randn(keys, o.kv_heads, 2), V = randn(keys, o.kv_heads, 3), dO = randn(queries, o.heads, 4) }
  t.O, t.dQ, t.dK, t.dV = randn(queries, o.heads, 5), randn(queries, o.heads, 5), randn(keys, o.kv_heads, 6), randn(keys, o.kv_heads, 7)
  local options = { dtype = dtype, dim = o.dim, heads = o.heads, kv_heads = o.kv_heads, causal = o.causal, dropout = true, packed = packed, score = o.score }
  local given = { backend = "sim", dropout_p = o.p, dropout_state = wg.tensor("s64", { 2 }, { seed, offset }) }
  local launch = { backend = "sim", dropout_p = o.p, dropout_state = given.dropout_state }
  given.lse = wg.zeros("f32", packed and { o.heads, batches * queries } or { batches, o.heads, queries })
  launch.lse = given.lse
  for key, tensor in pairs(t) do given[key] = packed and tensor:reshape { batches * tensor.shape[2], tensor.shape[3], o.dim } or tensor end
  if packed then
    local starts = { {}, {} }
    for b = 0, batches do starts[1][b + 1], starts[2][b + 1] = b * queries, b * keys end
    given.query_starts, given.key_starts = wg.tensor("s32", { batches + 1 }, starts[1]), wg.tensor("s32", { batches + 1 }, starts[2])
    given.max_queries, given.max_keys = queries, keys
    for _, key in ipairs { "query_starts", "key_starts", "max_queries" } do launch[key] = given[key] end
  end
  options.lse, options.splits = true, o.splits
  local forward = wg.attention(options)
  assert(#forward.kernel:check() == 0, name)
  forward:run(given.Q, given.K, given.V, given.O, launch)
  options.lse, options.splits = nil, nil
  local backward = wg.attention_backward(options)
  for _, kernel in ipairs { backward.before, backward.kernel, backward.after } do assert(#kernel:check() == 0, name) end
  backward:run(given)
  local group = o.heads // o.kv_heads
  for b = 0, batches - 1 do
    local P, dS = {}, {}
    for h = 0, o.heads - 1 do P[h], dS[h] = head_of(o, t, b, h, queries, keys) end
    -- of a row of queries: weights times rows of keys; of a row of keys: sums over all heads that share it.
    local function compare(tensor, rows, heads, want)
      local got = given[tensor]:totable()
      for h = 0, heads - 1 do
        for i = 0, rows - 1, 7 do
          for c = 0, o.dim - 1, 29 do
            local value, exact = got[((b * rows + i) * heads + h) * o.dim + c + 1], want(h, i, c)
            assert(math.abs(value - exact) <= (dtype == "bf16" and 0.04 or 0.01) * (math.abs(exact) + 0.5), ("%s: %s[%d][%d][%d][%d] is %g, not %g"):format(name, tensor, b, i, h, c, value, exact))
          end
        end
      end
    end
    local function of_queries(weights, tensor)
      return function(h, i, c) return wg.dot(weights[h], i * keys, 1, t[tensor], (b * keys * o.kv_heads + h // group) * o.dim + c, o.kv_heads * o.dim, keys) end
    end
    local function of_keys(weights, tensor)
      return function(h, j, c)
        local sum = 0
        for head = h * group, h * group + group - 1 do sum = sum + wg.dot(weights[head], j, keys, t[tensor], (b * queries * o.heads + head) * o.dim + c, o.heads * o.dim, queries) end
        return sum
      end
    end
    compare("O", queries, o.heads, of_queries(P, "V"))
    compare("dQ", queries, o.heads, of_queries(dS, "K"))
    compare("dK", keys, o.kv_heads, of_keys(dS, "Q"))
    compare("dV", keys, o.kv_heads, of_keys(P, "dO"))
  end
end

drop("dropout", { dim = 64, heads = 2, p = 0.3 }, 2, 140, 150)
drop("dropout, causal, shared heads", { dim = 128, heads = 4, kv_heads = 2, causal = true, p = 0.1 }, 1, 100, 170)
drop("dropout, 96", { dim = 96, heads = 1, p = 0.5 }, 1, 70, 140)
drop("dropout, wide", { dtype = "bf16", dim = 192, heads = 2, causal = true, p = 0.25 }, 1, 80, 80)
drop("dropout, packed", { dim = 64, heads = 2, causal = true, p = 0.2 }, 2, 90, 75, true)
drop("dropout, in parts", { dim = 64, heads = 1, splits = 2, p = 0.4 }, 1, 50, 300)
drop("dropout behind a score", { dim = 64, heads = 1, p = 0.4, score = function(k, x) return k:add(x, x) end }, 1, 70, 140)
drop("all is dropped", { dim = 64, heads = 1, p = 1.0 }, 1, 64, 64)
drop("nearly all is dropped", { dim = 64, heads = 1, p = 31 / 32 }, 1, 64, 128)
drop("nothing is dropped", { dim = 64, heads = 1, p = 0.0 }, 1, 64, 64)

do -- how many are kept, of 2^16
  local count = 0
  for i = 0, 255 do
    for j = 0, 255 do count = count + (keeps(0.3, 5, i, j) and 1 or 0) end
  end
  assert(math.abs(count / 65536 - 0.7) < 0.01, count)
  local T, forward = wg.zeros("bf16", { 1, 8, 1, 64 }), wg.attention { dim = 64, dropout = true }
  local state = wg.zeros("s64", { 2 })
  check.refuses("attention: `dropout_state` is missing", function() forward:run(T, T, T, T, { dropout_p = 0.5 }) end)
  check.refuses("attention: dropout_p is 1.5, must be from 0 to 31 / 32, or 1", function() forward:run(T, T, T, T, { dropout_p = 1.5, dropout_state = state }) end)
  check.refuses("attention: dropout_p is -0.25, must be from 0 to 31 / 32, or 1", function() forward:run(T, T, T, T, { dropout_p = -0.25, dropout_state = state }) end)
  check.refuses("attention: dropout_state must be s64, 2, not 3", function() forward:run(T, T, T, T, { dropout_p = 0.5, dropout_state = wg.zeros("s64", { 3 }) }) end)
  check.raises("wg.attention: `dropout` excludes 8-bit elements: it is for training", wg.attention, { dtype = "e4m3", dropout = true })
end
