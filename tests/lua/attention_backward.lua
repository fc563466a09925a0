-- wg.attention_backward on the simulator, which watches every access, against binary64: head sizes, masks, layouts, groups.
local wg = require "wgrun"
local check = require "check"

-- Rows of head h, sequence b: where they begin in a tensor, and the distance from one to the next.
local function place(o, rows, heads, b, h)
  if o.layout == "bhsd" then return (b * heads + h) * rows * o.dim, o.dim end
  return (b * rows * heads + h) * o.dim, heads * o.dim
end

-- P and dS of one head in binary64, queries x keys, and the rows' delta and log-sum-exp.
local function head_of(o, t, b, h, queries, keys)
  local q_at, q_step = place(o, queries, o.heads, b, h)
  local k_at, k_step = place(o, keys, o.kv_heads or o.heads, b, h // (o.heads // (o.kv_heads or o.heads)))
  local scale, P, dS, lse = o.scale or 1 / math.sqrt(o.dim), {}, {}, {}
  for i = 0, queries - 1 do
    local own = i + keys - queries
    local function seen(j) return (not o.causal or j <= own) and (not o.window or (own - j < o.window and (o.causal or j - own < o.window))) end
    local top, sum, delta, dp = -math.huge, 0, 0, {}
    for j = 1, keys do
      local s = seen(j - 1) and scale * wg.dot(t.Q, q_at + i * q_step, 1, t.K, k_at + (j - 1) * k_step, 1, o.dim) or -math.huge
      P[i * keys + j], top = s, math.max(top, s)
    end
    for j = 1, keys do sum = sum + (seen(j - 1) and math.exp(P[i * keys + j] - top) or 0) end
    lse[i] = top > -math.huge and top + math.log(sum) or -math.huge
    for j = 1, keys do
      local p = seen(j - 1) and math.exp(P[i * keys + j] - lse[i]) or 0
      dp[j] = seen(j - 1) and wg.dot(t.dO, q_at + i * q_step, 1, t.V, k_at + (j - 1) * k_step, 1, o.dim) or 0
      P[i * keys + j], delta = p, delta + p * dp[j]
    end
    for j = 1, keys do dS[i * keys + j] = scale * P[i * keys + j] * (dp[j] - delta) end
  end
  return wg.tensor("f64", { queries * keys }, P), wg.tensor("f64", { queries * keys }, dS), lse
end

local function worst_of(o, t, got, name, want, b, h, rows, heads, step)
  local worst, size, at, row_step = 0, 0, place(o, rows, heads, b, h)
  local count = 1
  for _, extent in ipairs(got.shape) do count = count * extent end
  local flat = got:reshape { count }
  for i = 0, rows - 1, step do
    for c = 0, o.dim - 1, 5 do
      local value = want(i, c)
      worst, size = math.max(worst, math.abs(flat[at + i * row_step + c] - value)), math.max(size, math.abs(value))
      assert(worst == worst, name .. " is nan")
    end
  end
  return worst, size
end

local function differentiate(name, o, batches, queries, keys)
  local dtype, kv_heads = o.dtype or "bf16", o.kv_heads or o.heads
  local function shape(rows, heads) return o.layout == "bhsd" and { batches, heads, rows, o.dim } or { batches, rows, heads, o.dim } end
  local function random(rows, heads, seed) return wg.randn { shape = shape(rows, heads), dtype = dtype, seed = seed } end
  local t = { Q = random(queries, o.heads, 1), K = random(keys, kv_heads, 2), V = random(keys, kv_heads, 3), dO = random(queries, o.heads, 4) }
  local options = {}
  for key, value in pairs(o) do if key ~= "scale" then options[key] = value end end
  t.O, t.lse = wg.zeros(dtype, shape(queries, o.heads)), wg.zeros("f32", { batches, o.heads, queries })
  options.lse = true
  wg.attention(options):run(t.Q, t.K, t.V, t.O, { lse = t.lse, scale = o.scale, backend = "sim" })
  options.lse = nil
  local backward = wg.attention_backward(options)
  for _, kernel in ipairs { backward.before, backward.kernel, backward.after } do assert(#kernel:check() == 0, name) end

  local first
  for seed = 1, 2 do
    t.dQ, t.dK, t.dV = wg.zeros(dtype, t.Q.shape), wg.zeros(dtype, t.K.shape), wg.zeros(dtype, t.V.shape)
    t.scale, t.backend, t.seed = o.scale, "sim", seed
    assert(backward:run(t) == "sim")
    first = first or { t.dQ, t.dK, t.dV }
    assert(wg.compare(t.dK, first[2], 0) and wg.compare(t.dV, first[3], 0), name .. ": the schedule changes the result")
  end
  for b = 0, batches - 1 do
    for kv = 0, kv_heads - 1 do
      local group, heads = o.heads // kv_heads, {}
      for i = 1, group do
        local h = kv * group + i - 1
        local P, dS, lse = head_of(o, t, b, h, queries, keys)
        heads[i] = { P = P, dS = dS, at = place(o, queries, o.heads, b, h) }
        for row = 0, queries - 1, 19 do
          local got = t.lse[{ b, h, row }]
          assert(got == lse[row] or math.abs(got - lse[row]) < 1e-3, ("%s: lse %g, not %g"):format(name, got, lse[row]))
        end
        local k_at, k_step = place(o, keys, kv_heads, b, kv)
        local function dq(row, c) return wg.dot(dS, row * keys, 1, t.K, k_at + c, k_step, keys) end
        local worst, size = worst_of(o, t, t.dQ, name .. ": dQ", dq, b, h, queries, o.heads, 7)
        assert(worst <= 0.01 * size + 1e-4, ("%s: dQ is off by %g of %g"):format(name, worst, size))
      end
      local _, q_step = place(o, queries, o.heads, b, 0)
      local function summed(matrix, tensor)
        return function(key, c)
          local sum = 0
          for _, head in ipairs(heads) do sum = sum + wg.dot(head[matrix], key, keys, tensor, head.at + c, q_step, queries) end
          return sum
        end
      end
      for result, want in pairs { dK = summed("dS", t.Q), dV = summed("P", t.dO) } do
        local worst, size = worst_of(o, t, t[result], name .. ": " .. result, want, b, kv, keys, kv_heads, 7)
        assert(worst <= 0.01 * size + 1e-4, ("%s: %s is off by %g of %g"):format(name, result, worst, size))
      end
    end
  end
end

differentiate("one block", { dim = 64, heads = 1 }, 1, 5, 7)
differentiate("one query, one key", { dim = 128, heads = 1, causal = true }, 1, 1, 1)
differentiate("one key", { dim = 64, heads = 2, kv_heads = 1, causal = true, layout = "bhsd" }, 2, 129, 1)
differentiate("edges", { dim = 64, heads = 2 }, 2, 200, 300)
differentiate("edges, 128", { dim = 128, heads = 2 }, 1, 150, 200)
differentiate("causal", { dim = 64, heads = 1, causal = true, scale = 0.2 }, 1, 300, 300)
differentiate("short", { dim = 128, heads = 1, causal = true, problem = { 150, 140 } }, 1, 150, 140)
differentiate("more keys than queries", { dim = 128, heads = 1, causal = true }, 1, 70, 300)
differentiate("queries that see nothing", { dim = 128, heads = 1, causal = true }, 1, 190, 60)
differentiate("96", { dim = 96, heads = 1, causal = true }, 1, 150, 200)
differentiate("96, the other layout", { dim = 96, heads = 2, kv_heads = 1, layout = "bhsd", dtype = "f16" }, 2, 70, 130)
-- Clusters of two CTAs: keys of one CTA alone, blocks that only one of them sees, and no blocks at all.
differentiate("192", { dim = 192, heads = 2, causal = true, window = 90 }, 1, 150, 200)
differentiate("192, grouped, the other layout", { dim = 192, heads = 2, kv_heads = 1, layout = "bhsd", scale = 0.1 }, 2, 90, 70)
differentiate("192, queries that see nothing", { dim = 192, heads = 1, causal = true }, 1, 300, 60)
differentiate("256, many blocks", { dim = 256, heads = 1, dtype = "f16", window = 200 }, 1, 330, 260)
differentiate("256, more keys than queries", { dim = 256, heads = 1, causal = true }, 1, 60, 400)
differentiate("256, keys that no query sees", { dim = 256, heads = 2, causal = true, window = 33 }, 1, 60, 400)
differentiate("256", { dim = 256, heads = 2, kv_heads = 1, causal = true }, 1, 140, 150)
differentiate("256, the other layout", { dim = 256, heads = 1, layout = "bhsd", scale = 0.1 }, 2, 90, 70)
differentiate("256, one query, one key", { dim = 256, heads = 1 }, 1, 1, 1)
differentiate("groups of heads, the other layout", { dim = 128, heads = 4, kv_heads = 2, layout = "bhsd", dtype = "f16" }, 2, 60, 140)
differentiate("a window before the query", { dim = 64, heads = 1, causal = true, window = 50 }, 1, 300, 300)
differentiate("a window on both sides", { dim = 128, heads = 1, window = 70 }, 1, 250, 400)
differentiate("keys that no query sees", { dim = 64, heads = 2, causal = true, window = 33 }, 1, 60, 400)
differentiate("one head of K and V", { dim = 64, heads = 3, kv_heads = 1, causal = true }, 1, 150, 140)

-- Blocks of 64 queries where those of 80 would waste much.
local function rows_of(options) return wg.attention_backward(options).plan.rows end
assert(rows_of { problem = { 1024, 1024 } } == 80 and rows_of { causal = true } == 80)
assert(rows_of { causal = true, problem = { 1024, 1024 } } == 64 and rows_of { causal = true, problem = { 8192, 8192 } } == 80)

check.refuses("wg.attention_backward: problem[2] is nil, must be an integer from 1 to 1073741823", function() wg.attention_backward { problem = { 128 } } end)
check.refuses("unknown option `head` of wg.attention_backward: did you mean `heads`? (legal: dtype, dim, heads...", function() wg.attention_backward { head = 2 } end)
check.refuses("wg.attention_backward: unknown dim `80` (legal: 64, 96, 128, 192, 256)", function() wg.attention_backward { dim = 80 } end)
check.refuses("wg.attention_backward: unknown dtype `e4m3` (legal: bf16, f16)", function() wg.attention_backward { dtype = "e4m3" } end)
check.refuses("wg.attention_backward: unknown layout `sbhd`: did you mean `bshd`? (legal: bshd, bhsd)", function() wg.attention_backward { layout = "sbhd" } end)
check.refuses("wg.attention_backward: 6 heads cannot share 4 heads of K and V: kv_heads must divide heads", function() wg.attention_backward { heads = 6, kv_heads = 4 } end)

check.refuses('wg.attention_backward: `packed` excludes `layout` = "bhsd": packed tensors are sequence x head x dim', function() wg.attention_backward { packed = true, layout = "bhsd" } end)

local made = wg.attention_backward { dim = 64, heads = 2, kv_heads = 1 }
local function given(changes)
  local t = { lse = wg.zeros("f32", { 1, 2, 8 }) }
  for _, name in ipairs { "Q", "O", "dO", "dQ" } do t[name] = wg.zeros("bf16", { 1, 8, 2, 64 }) end
  for _, name in ipairs { "K", "V", "dK", "dV" } do t[name] = wg.zeros("bf16", { 1, 9, 1, 64 }) end
  for key, value in pairs(changes) do t[key] = value end
  return t
end
local function refuses(message, changes) check.refuses(message, function() made:run(given(changes)) end) end
refuses("attention_backward: `max_keys` is given, but wg.attention_backward was made without `packed`", { max_keys = 9 })
refuses("attention_backward:run: option `dQ`: expected a tensor, got number 3", { dQ = 3 })
refuses("attention_backward: K has heads = 2, and wg.attention_backward was made for 1", { K = wg.zeros("bf16", { 1, 9, 2, 64 }) })
refuses("attention_backward: rows is 9 in K, but 7 in dK", { dK = wg.zeros("bf16", { 1, 7, 1, 64 }) })
refuses("attention_backward: lse must be f32, 1 x 2 x 8, not 1 x 8 x 2", { lse = wg.zeros("f32", { 1, 8, 2 }) })
local no_keys = wg.zeros("bf16", { 1, 0, 1, 64 })
refuses("attention_backward: 1 sequences of 8 queries and 0 keys leave nothing to compute", { K = no_keys, V = no_keys, dK = no_keys, dV = no_keys })
refuses("attention_backward: scale is 0.0, must be positive", { scale = 0.0 })
refuses("unknown option `dq` of attention_backward:run: did you mean `dQ`? (legal: Q, K, V, O...", { dq = 1 })
check.refuses("an attention_backward has no `runs`: did you mean `run`?", function() made:runs {} end)

local prepared = made:prepare(given { backend = "sim" })
prepared:start()
prepared:wait()
prepared:download()
check.refuses("prepared launches has no `begin`...", function() prepared:begin() end)
