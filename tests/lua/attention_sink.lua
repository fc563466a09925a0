-- Sinks in wg.attention, its gradients and wg.attention_decode: logits of all sizes, beside binary64.
local wg = require "wgrun"
local check = require "check"
local attending = require "attending"
local attend, attend_packed = attending.attend, attending.attend_packed

-- Beside scores of a few units: far greater, so that all else vanishes, far less, none, and like them.
local sinks = { 1.5, 150.0, -200.0, -math.huge }
attend("sinks", { dim = 64, heads = 4, sinks = sinks, lse = true }, 1, 70, 200)
attend("sinks of shared heads, causal, rows that see nothing", { dim = 128, heads = 4, kv_heads = 2, causal = true, sinks = sinks, lse = true }, 2, 100, 60)
attend("sinks, a window, softcap", { dim = 64, heads = 2, causal = true, window = 20, softcap = 2.0, sinks = { 2.5, -1.0 }, lse = true, layout = "bhsd" }, 1, 90, 130)
attend("sinks, in parts", { dim = 64, heads = 4, splits = 3, sinks = sinks, lse = true }, 1, 40, 300)
attend("sinks, in parts, rows that see nothing", { dim = 64, heads = 2, splits = 2, causal = true, sinks = { 0.5, -math.huge }, lse = true }, 1, 70, 40)
for _, lse in ipairs { true, false } do
  attend("sinks, 8 bits", { dtype = "e4m3", dim = 64, heads = 2, sinks = { 1.5, 6.0 }, lse = lse }, 1, 70, 200)
  attend("sinks, 8 bits, factors", { dtype = "e4m3", dim = 128, heads = 2, descale = "head", causal = true, sinks = { 3.0, -math.huge }, lse = lse }, 1, 70, 200)
end
attend_packed("sinks, packed", { dim = 64, heads = 4, causal = true, sinks = sinks, lse = true }, { { 70, 100 }, { 0, 5 }, { 33, 0 }, { 40, 20 } })

-- Decoding, beside wg.attention, which has been compared above: heads in one part and in many, rows that see nothing.
local function decode(name, o, lengths, ctas)
  local heads, longest = o.heads, 0
  for _, length in ipairs(lengths) do longest = math.max(longest, length) end
  local queries, kv_heads = o.queries or 1, o.kv_heads or heads
  local function randn(rows, of, seed) return wg.randn { shape = { #lengths, rows, of, o.dim }, dtype = "f16", seed = seed } end
  local Q, K, V, O = randn(queries, heads, 1), randn(longest, kv_heads, 2), randn(longest, kv_heads, 3), randn(queries, heads, 4)
  local sink, lse = wg.tensor("f32", { heads }, o.sinks), wg.zeros("f32", { #lengths, heads, queries })
  local kernel = wg.attention_decode { dtype = "f16", dim = o.dim, heads = heads, kv_heads = kv_heads, queries = queries, lse = true, sink = true }
  assert(#kernel.kernel:check() == 0, name)
  kernel:run(Q, K, V, O, { lengths = wg.tensor("s32", { #lengths }, lengths), sink = sink, lse = lse, grid = ctas, backend = "sim" })
  local forward = wg.attention { dtype = "f16", dim = o.dim, heads = heads, kv_heads = kv_heads, causal = true, packed = true, lse = true, sink = true }
  for b, length in ipairs(lengths) do
    local function rows(x, count) return x:rows(b - 1, b):reshape { x.shape[2], x.shape[3], o.dim }:rows(0, count) end
    local want, want_lse = wg.zeros("f16", { queries, heads, o.dim }), wg.zeros("f32", { heads, queries })
    forward:run(rows(Q, queries), rows(K, math.max(length, 1)), rows(V, math.max(length, 1)), want, { lse = want_lse, sink = sink, backend = "sim",
      query_starts = wg.tensor("s32", { 2 }, { 0, queries }), key_starts = wg.tensor("s32", { 2 }, { 0, length }), max_queries = queries })
    local same, worst = wg.compare(rows(O, queries), want, 4e-3)
    assert(same, ("%s: O of sequence %d is off by %g"):format(name, b, worst))
    for h = 0, heads - 1 do
      for i = 0, queries - 1 do
        local got, exact = lse[{ b - 1, h, i }], want_lse[{ h, i }]
        assert(got == exact or math.abs(got - exact) < 1e-3, ("%s: lse of head %d is %g, not %g"):format(name, h, got, exact))
      end
    end
  end
end
decode("decode", { dim = 64, heads = 4, kv_heads = 2, sinks = sinks }, { 200, 1, 0, 65 }, 3)
decode("decode, 512 columns", { dim = 512, heads = 4, kv_heads = 2, sinks = sinks }, { 70, 0 }, 3)
decode("decode, many parts", { dim = 128, heads = 4, kv_heads = 1, queries = 2, sinks = sinks }, { 700 }, 7)

-- Gradients: of one head in binary64, with that of the sink.
local function gradients(o, t, b, h, queries, keys, sink)
  local dim, kv_head, scale = o.dim, h // (o.heads // o.kv_heads), 1 / math.sqrt(o.dim)
  local function row(x, rows, heads, i, head) return ((b * rows + i) * heads + head) * dim end
  local P, dS, dsink = {}, {}, 0
  for i = 0, queries - 1 do
    local seen, top, total, delta = math.min(keys, o.causal and i + keys - queries + 1 or keys), sink, 0, 0
    for j = 0, seen - 1 do
      P[i * keys + j + 1] = scale * wg.dot(t.Q, row(t.Q, queries, o.heads, i, h), 1, t.K, row(t.K, keys, o.kv_heads, j, kv_head), 1, dim)
      top = math.max(top, P[i * keys + j + 1])
    end
    for j = 1, seen do total = total + math.exp(P[i * keys + j] - top) end
    local log = top > -math.huge and top + math.log(total + math.exp(sink - top)) or 0
    for j = 1, keys do
      local at = i * keys + j
      P[at] = j <= seen and math.exp(P[at] - log) or 0
      dS[at] = wg.dot(t.dO, row(t.dO, queries, o.heads, i, h), 1, t.V, row(t.V, keys, o.kv_heads, j - 1, kv_head), 1, dim)
      delta = delta + P[at] * dS[at]
    end
    for j = 1, keys do dS[i * keys + j] = scale * P[i * keys + j] * (dS[i * keys + j] - delta) end
    dsink = dsink - math.exp(sink - log) * delta
  end
  return P, dS, dsink
end

local function differentiate(name, o, batches, queries, keys, packed)
  o.kv_heads = o.kv_heads or o.heads
  local function randn(rows, heads, seed) return wg.randn { shape = { batches, rows, heads, o.dim }, dtype = "f16", seed = seed } end
  local t = { Q = randn(queries, o.heads, 1), K = randn(keys, o.kv_heads, 2), V = randn(keys, o.kv_heads, 3), dO = randn(queries, o.heads, 4) }
  t.O, t.lse, t.sink = wg.zeros("f16", t.Q.shape), wg.zeros("f32", { batches, o.heads, queries }), wg.tensor("f32", { o.heads }, o.sinks)
  t.dQ, t.dK, t.dV, t.dsink = randn(queries, o.heads, 5), randn(keys, o.kv_heads, 6), randn(keys, o.kv_heads, 7), wg.full("f32", { o.heads }, 99)
  local options = { dtype = "f16", dim = o.dim, heads = o.heads, kv_heads = o.kv_heads, causal = o.causal, sink = true, packed = packed }
  local given = { backend = "sim" }
  if packed then -- each sequence behind one without queries
    local starts = { {}, {} }
    for b = 0, batches do
      for i, rows in ipairs { queries, keys } do
        starts[i][2 * b + 1] = b * rows
        if b < batches then starts[i][2 * b + 2] = b * rows end
      end
    end
    given.query_starts, given.key_starts = wg.tensor("s32", { 2 * batches + 1 }, starts[1]), wg.tensor("s32", { 2 * batches + 1 }, starts[2])
    given.max_queries, given.max_keys = queries, keys
  end
  local launch = { lse = t.lse, sink = t.sink }
  for key, tensor in pairs(t) do
    if packed and key ~= "lse" and #tensor.shape == 4 then tensor = tensor:reshape { batches * tensor.shape[2], tensor.shape[3], o.dim } end
    given[key] = tensor
  end
  if packed then
    given.lse = wg.zeros("f32", { o.heads, batches * queries })
    for _, key in ipairs { "query_starts", "key_starts", "max_queries" } do launch[key] = given[key] end
    launch.lse = given.lse
  end
  launch.backend, options.lse = "sim", true
  wg.attention(options):run(given.Q, given.K, given.V, given.O, launch)
  options.lse = nil
  local backward = wg.attention_backward(options)
  for _, kernel in ipairs { backward.before, backward.kernel, backward.after } do assert(#kernel:check() == 0, name) end
  backward:run(given)
  local first = given.dsink:totable()
  backward:run(given)
  local dsink, wanted = given.dsink:totable(), {}
  for tensor, rows in pairs { dQ = queries, dK = keys, dV = keys } do
    local got, of = given[tensor]:totable(), tensor == "dQ" and o.heads or o.kv_heads
    local other, group = ({ dQ = "K", dK = "Q", dV = "dO" })[tensor], o.heads // o.kv_heads
    for b = 0, batches - 1 do
      for h = 0, of - 1 do
        local heads = {}
        for head = tensor == "dQ" and h or h * group, tensor == "dQ" and h or h * group + group - 1 do
          local P, dS, sum = gradients(o, t, b, head, queries, keys, o.sinks[head + 1])
          heads[head] = wg.tensor("f64", { queries * keys }, tensor == "dV" and P or dS)
          if tensor == "dQ" then wanted[head + 1] = (wanted[head + 1] or 0) + sum end
        end
        for i = 0, rows - 1, 13 do
          for c = 0, o.dim - 1, 17 do
            local want = 0
            for head, weights in pairs(heads) do
              local n = tensor == "dQ" and o.kv_heads or o.heads
              local from = (b * (tensor == "dQ" and keys or queries) * n + (tensor == "dQ" and head // group or head)) * o.dim + c
              want = want + (tensor == "dQ" and wg.dot(weights, i * keys, 1, t[other], from, n * o.dim, keys)
                or wg.dot(weights, i, keys, t[other], from, n * o.dim, queries))
            end
            local value = got[((b * rows + i) * of + h) * o.dim + c + 1]
            assert(math.abs(value - want) <= 0.01 * (math.abs(want) + 0.3), ("%s: %s[%d][%d][%d] is %g, not %g"):format(name, tensor, i, h, c, value, want))
          end
        end
      end
    end
  end
  for h = 1, o.heads do
    assert(dsink[h] == first[h], name .. ": dsink differs from run to run")
    assert(math.abs(dsink[h] - wanted[h]) <= 4e-3 * (math.abs(wanted[h]) + 1), ("%s: dsink of head %d is %g, not %g"):format(name, h - 1, dsink[h], wanted[h]))
  end
end
differentiate("gradients", { dim = 64, heads = 4, kv_heads = 2, sinks = sinks }, 2, 150, 70)
differentiate("gradients, causal, rows that see nothing", { dim = 128, heads = 2, causal = true, sinks = { 0.5, 3.0 } }, 1, 100, 60)
differentiate("gradients, wide", { dim = 192, heads = 2, causal = true, sinks = { 0.5, -0.5 } }, 1, 70, 70)
differentiate("gradients, packed", { dim = 64, heads = 2, causal = true, sinks = { 0.5, 2.0 } }, 2, 90, 100, true)

do
  local T, forward = wg.zeros("bf16", { 1, 8, 2, 64 }), wg.attention { dim = 64, heads = 2, sink = true }
  check.refuses("attention: `sink` is missing", function() forward:run(T, T, T, T) end)
  check.refuses("attention: sink must be f32, 2, not 3", function() forward:run(T, T, T, T, { sink = wg.zeros("f32", { 3 }) }) end)
  check.refuses("attention: `sink` is given, but wg.attention was made without `sink`", function() wg.attention({ dim = 64, heads = 2 }):run(T, T, T, T, { sink = wg.zeros("f32", { 2 }) }) end)
end
