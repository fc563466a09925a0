-- wg.attention on the simulator, which watches every access, against binary64: each head size, mask, layout and option.
local wg = require "wgrun"
local check = require "check"

-- Where the elements of head h, sequence b begin in a tensor, and the distance of its rows.
local function place(layout, rows, heads, dim, b, h)
  if layout == "bhsd" then return (b * heads + h) * rows * dim, dim end
  return (b * rows * heads + h) * dim, heads * dim
end

-- One row of the result and its logarithm, in binary64.
local function expected(o, Q, q_at, K, V, kv_at, kv_step, keys, own)
  local scale, probabilities, top, total = o.scale or 1 / math.sqrt(o.dim), {}, -math.huge, 0
  for j = 0, keys - 1 do
    local seen = (not o.causal or j <= own) and (not o.window or (own - j < o.window and (o.causal or j - own < o.window)))
    local score = seen and scale * wg.dot(Q, q_at, 1, K, kv_at + j * kv_step, 1, o.dim) or -math.huge
    if o.softcap and seen then score = o.softcap * (1 - 2 / (math.exp(2 * score / o.softcap) + 1)) end
    probabilities[j + 1], top = score, math.max(top, score)
  end
  for j = 1, keys do
    probabilities[j] = top > -math.huge and math.exp(probabilities[j] - top) or 0
    total = total + probabilities[j]
  end
  local row = keys > 0 and wg.tensor("f64", { keys }, probabilities)
  return function(c) return total == 0 and 0 or wg.dot(row, 0, 1, V, kv_at + c, kv_step, keys) / total end,
    total == 0 and -math.huge or top + math.log(total)
end

local function compare(name, got, want, relative)
  local allowed = (relative or 2 ^ -7) * (math.abs(want) + 0.5)
  assert(got == want or math.abs(got - want) <= allowed, ("%s: %g, not %g"):format(name, got, want))
end

local function attend(name, o, batches, queries, keys, ctas)
  local dtype, layout = o.dtype or "bf16", o.layout or "bshd"
  local kv_heads = o.kv_heads or o.heads
  local function random(rows, heads, seed)
    local shape = layout == "bshd" and { batches, rows, heads, o.dim } or { batches, heads, rows, o.dim }
    return wg.randn { shape = shape, dtype = dtype, seed = seed }
  end
  local Q, K, V = random(queries, o.heads, 1), random(keys, kv_heads, 2), random(keys, kv_heads, 3)
  local options, scale = {}, o.scale
  for key, value in pairs(o) do if key ~= "scale" then options[key] = value end end
  local attention = wg.attention(options)
  assert(#attention.kernel:check() == 0, name)
  local first
  for seed = 1, 2 do
    local O = wg.zeros(dtype, Q.shape)
    local lse = o.lse and wg.zeros("f32", { batches, o.heads, queries }) or nil
    attention:run(Q, K, V, O, { backend = "sim", seed = seed, grid = { ctas or 2 }, lse = lse, scale = scale })
    assert(attention.counter[0] == 0, name .. ": the counter")
    first = first or O
    assert(wg.compare(O, first, 0), name .. ": the schedule changes the result")
    for b = 0, batches - 1 do
      for h = 0, o.heads - 1 do
        local q_at, q_step = place(layout, queries, o.heads, o.dim, b, h)
        local kv_at, kv_step = place(layout, keys, kv_heads, o.dim, b, h // (o.heads // kv_heads))
        for i = 0, queries - 1, seed == 1 and 23 or queries do
          local want, logarithm = expected(o, Q, q_at + i * q_step, K, V, kv_at, kv_step, keys, i + keys - queries)
          local at = ("%s: O[%d, %d, row %d]"):format(name, b, h, i)
          for c = 0, o.dim - 1, 7 do
            local index = layout == "bshd" and { b, i, h, c } or { b, h, i, c }
            compare(at, O[index], want(c))
          end
          if lse then compare(at .. " lse", lse[{ b, h, i }], logarithm, 1e-4) end
        end
      end
    end
  end
end

attend("one block", { dim = 64, heads = 1 }, 1, 5, 7, 1)
attend("edges", { dim = 64, heads = 2, lse = true }, 2, 200, 300, 3)
attend("causal", { dim = 64, heads = 2, causal = true, lse = true }, 1, 300, 300)
attend("short sequences", { dim = 64, heads = 2, causal = true, problem = { 200, 200 } }, 1, 200, 200)
attend("more keys than queries", { dim = 128, heads = 1, causal = true }, 1, 130, 500)
attend("queries that see nothing", { dim = 128, heads = 1, causal = true, lse = true }, 1, 300, 190)
attend("groups of heads, the other layout", { dim = 128, heads = 4, kv_heads = 2, layout = "bhsd", dtype = "f16" }, 2, 60, 290)
attend("one head of K and V", { dim = 64, heads = 3, kv_heads = 1, causal = true }, 1, 210, 210, 1)
attend("96", { dim = 96, heads = 2, causal = true, lse = true }, 1, 140, 300)
attend("192", { dim = 192, heads = 1, scale = 0.3 }, 2, 140, 210)
attend("256", { dim = 256, heads = 2, causal = true, layout = "bhsd" }, 1, 200, 200, 1)
attend("a window before the query", { dim = 64, heads = 1, causal = true, window = 50, lse = true }, 1, 400, 400)
attend("a wide window", { dim = 128, heads = 1, causal = true, window = 300 }, 1, 500, 700)
attend("a window on both sides", { dim = 64, heads = 1, window = 140 }, 1, 400, 600)
attend("a window of one key", { dim = 64, heads = 1, causal = true, window = 1 }, 1, 200, 200)
attend("bounded scores", { dim = 64, heads = 1, softcap = 2.0, causal = true, lse = true }, 1, 200, 200)
attend("small blocks", { dim = 64, heads = 1, block = 48, causal = true }, 1, 200, 333)

-- Sequences of any lengths, one after another: also without queries, and without keys.
local function attend_packed(name, o, lengths)
  local query_starts, key_starts, most = { 0 }, { 0 }, 1
  for i, length in ipairs(lengths) do
    query_starts[i + 1], key_starts[i + 1] = query_starts[i] + length[1], key_starts[i] + length[2]
    most = math.max(most, length[1])
  end
  local rows, keys, kv_heads = query_starts[#query_starts], key_starts[#key_starts], o.kv_heads or o.heads
  local Q = wg.randn { shape = { rows, o.heads, o.dim }, dtype = "bf16", seed = 1 }
  local K = wg.randn { shape = { keys, kv_heads, o.dim }, dtype = "bf16", seed = 2 }
  local V = wg.randn { shape = { keys, kv_heads, o.dim }, dtype = "bf16", seed = 3 }
  local O, lse = wg.zeros("bf16", { rows, o.heads, o.dim }), o.lse and wg.zeros("f32", { o.heads, rows }) or nil
  local options = { packed = true }
  for key, value in pairs(o) do options[key] = value end
  local attention = wg.attention(options)
  assert(#attention.kernel:check() == 0, name)
  attention:run(Q, K, V, O, {
    backend = "sim", grid = { 2 }, lse = lse, max_queries = most,
    query_starts = wg.tensor("s32", { #query_starts }, query_starts), key_starts = wg.tensor("s32", { #key_starts }, key_starts),
  })
  for s, length in ipairs(lengths) do
    for h = 0, o.heads - 1 do
      local kv_at = (key_starts[s] * kv_heads + h // (o.heads // kv_heads)) * o.dim
      for i = 0, length[1] - 1, 17 do
        local row = query_starts[s] + i
        local want, logarithm = expected(o, Q, (row * o.heads + h) * o.dim, K, V, kv_at, kv_heads * o.dim, length[2], i + length[2] - length[1])
        local at = ("%s: sequence %d, head %d, row %d"):format(name, s, h, i)
        for c = 0, o.dim - 1, 7 do compare(at, O[{ row, h, c }], want(c)) end
        if lse then compare(at .. " lse", lse[{ h, row }], logarithm, 1e-4) end
      end
    end
  end
end

attend_packed("packed", { dim = 64, heads = 2, lse = true }, { { 200, 300 }, { 0, 40 }, { 1, 1 }, { 70, 0 }, { 193, 129 } })
attend_packed("packed, causal", { dim = 128, heads = 2, kv_heads = 1, causal = true, lse = true }, { { 140, 140 }, { 30, 300 }, { 129, 100 } })
attend_packed("packed, a window", { dim = 64, heads = 1, causal = true, window = 60 }, { { 200, 333 }, { 250, 250 } })

-- Tensors that stay on the device have a shape, too; a product takes them as well.
check.refuses("unknown option `head` of wg.attention: did you mean `heads`? (legal: dtype, dim, heads...", function() wg.attention { head = 2 } end)
check.refuses("wg.attention: dim is 80 (legal: 64, 96, 128, 192, 256)", function() wg.attention { dim = 80 } end)
check.refuses("wg.attention: dtype is `f32` (legal: bf16, f16)", function() wg.attention { dtype = "f32" } end)
check.refuses("wg.attention: unknown layout `bsdh` (legal: bhsd, bshd): did you mean `bshd`?", function() wg.attention { layout = "bsdh" } end)
check.refuses("wg.attention: 6 heads cannot share 4 heads of K and V: kv_heads must divide heads", function() wg.attention { heads = 6, kv_heads = 4 } end)
check.refuses("wg.attention: blocks of 256 keys take 327680 bytes of shared memory, and there are 231424", function() wg.attention { block = 256, dim = 128 } end)
check.refuses("wg.attention: `packed` tensors are sequence x head x dim: they have no layout", function() wg.attention { packed = true, layout = "bhsd" } end)
check.refuses("wg.attention: softcap is -1.0, must be positive", function() wg.attention { softcap = -1.0 } end)

local made = wg.attention { dim = 64, heads = 2 }
local function zeros(...) return wg.zeros("bf16", { ... }) end
local Q, K = zeros(1, 8, 2, 64), zeros(1, 9, 2, 64)
check.refuses("attention: rows is 9 in K, but 8 in V", function() made:run(Q, K, zeros(1, 8, 2, 64), Q) end)
check.refuses("attention: Q has heads = 3, and wg.attention was made for 2", function() made:run(zeros(1, 8, 3, 64), K, K, Q) end)
check.refuses("attention: O must have 4 dimensions (bshd), not 8 x 64", function() made:run(Q, K, K, zeros(8, 64)) end)
check.refuses("attention: O must have 4 dimensions (bshd), not no tensor", function() made:run(Q, K, K) end)
check.refuses("attention: `lse` is given, but wg.attention was made without `lse`", function() made:run(Q, K, K, Q, { lse = Q }) end)
check.refuses("attention: Q has no rows, so there is nothing to compute", function() made:run(zeros(0, 8, 2, 64), zeros(0, 9, 2, 64), zeros(0, 9, 2, 64), zeros(0, 8, 2, 64)) end)
check.refuses("attention: scale is -1.0, must be positive", function() made:run(Q, K, K, Q, { scale = -1.0 }) end)
check.refuses("attention has no `runs`: did you mean `run`?", function() made:runs(Q, K, K, Q) end)
