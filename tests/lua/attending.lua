-- What the tests of wg.attention share: it runs on the simulator, which watches every access, and is compared with binary64.
local wg = require "wgrun"

-- Where the elements of head h, sequence b begin in a tensor, and the distance of its rows.
local function place(layout, rows, heads, dim, b, h)
  if layout == "bhsd" then return (b * heads + h) * rows * dim, dim end
  return (b * rows * heads + h) * dim, heads * dim
end

-- One row of the result and its logarithm, in binary64. sink: of the head, or nil.
local function expected(o, Q, q_at, K, k_at, k_step, V, v_at, v_step, keys, own, factor, sink)
  local scale, probabilities, top, total = (factor or 1) * (o.scale or 1 / math.sqrt(o.dim)), {}, sink or -math.huge, 0
  for j = 0, keys - 1 do
    local seen = (not o.causal or j <= own) and (not o.window or (own - j < o.window and (o.causal or j - own < o.window)))
    local score = seen and scale * wg.dot(Q, q_at, 1, K, k_at + j * k_step, 1, o.dim) or -math.huge
    if o.softcap and seen then score = o.softcap * (1 - 2 / (math.exp(2 * score / o.softcap) + 1)) end
    probabilities[j + 1], top = score, math.max(top, score)
  end
  for j = 1, keys do
    probabilities[j] = top > -math.huge and math.exp(probabilities[j] - top) or 0
    total = total + probabilities[j]
  end
  if sink and top > -math.huge then total = total + math.exp(sink - top) end
  local row = keys > 0 and wg.tensor("f64", { keys }, probabilities)
  return function(c) return (total == 0 or keys == 0) and 0 or wg.dot(row, 0, 1, V, v_at + c, v_step, keys) / total end,
    total == 0 and -math.huge or top + math.log(total)
end

local function compare(name, got, want, relative)
  local allowed = (relative or 2 ^ -7) * (math.abs(want) + 0.5)
  assert(got == want or math.abs(got - want) <= allowed, ("%s: %g, not %g"):format(name, got, want))
end

-- compare(name, got, want) for elements of O, and finish(name). 8-bit inputs go with rounded probabilities, so that the root of the
-- mean square of the errors is what counts.
local function comparison(dtype)
  if dtype ~= "e4m3" then return compare, function() end end
  local errors, values = 0, 0
  local function add(_, got, want) errors, values = errors + (got - want) ^ 2, values + want ^ 2 end
  return add, function(name) assert(errors <= 0.04 ^ 2 * values, ("%s: the error is %g of the values"):format(name, math.sqrt(errors / values))) end
end

-- The factors of Q, K and V that a launch takes, and for a sequence and a head of K and V those of the scores and of O.
local function descales(o, batches, kv_heads)
  local given = {}
  for i, name in ipairs(o.descale and { "q", "k", "v" } or {}) do
    local count, values = o.descale == "head" and batches * kv_heads or 1, {}
    for at = 1, count do values[at] = 0.5 + (3 * i + 5 * at) % 8 / 8 end
    given[name .. "_descale"] = wg.tensor("f32", o.descale == "head" and { batches, kv_heads } or { 1 }, values)
  end
  return given, function(b, h)
    local function of(name) return given[name] and given[name]:reshape { -1 }[o.descale == "head" and b * kv_heads + h or 0] or 1 end
    return of "q_descale" * of "k_descale", of "v_descale"
  end
end

-- Without `sinks`, which are a launch's.
local function kernel_of(o, more)
  local options = more
  for key, value in pairs(o) do if key ~= "scale" and key ~= "numerics" and key ~= "sinks" then options[key] = value end end
  options.sink = o.sinks and true
  return wg.attention(options)
end
local function sinks_of(o) return o.sinks and wg.tensor("f32", { o.heads }, o.sinks) or nil end

--- o: options of wg.attention, besides scale, numerics and sinks, a list of those of the heads.
local function attend(name, o, batches, queries, keys, ctas)
  local dtype, layout = o.dtype or "bf16", o.layout or "bshd"
  local out = o.o or dtype == "f16" and "f16" or "bf16"
  local compare_o, finish = comparison(dtype)
  local kv_heads = o.kv_heads or o.heads
  local value_dim = o.value_dim or o.dim
  local function shape(rows, heads, dim)
    return layout == "bshd" and { batches, rows, heads, dim } or { batches, heads, rows, dim }
  end
  local function random(rows, heads, dim, seed) return wg.randn { shape = shape(rows, heads, dim), dtype = dtype, seed = seed } end
  local Q, K, V = random(queries, o.heads, o.dim, 1), random(keys, kv_heads, o.dim, 2), random(keys, kv_heads, value_dim, 3)
  local scale, numerics = o.scale, o.numerics
  local attention = kernel_of(o, {})
  assert(#attention.kernel:check() == 0, name)
  local first
  for seed = 1, 2 do
    local O = wg.zeros(out, shape(queries, o.heads, value_dim))
    local lse = o.lse and wg.zeros("f32", { batches, o.heads, queries }) or nil
    local given, factors_of = descales(o, batches, kv_heads)
    given.backend, given.seed, given.grid, given.lse, given.scale, given.numerics = "sim", seed, attention.plan.cluster == 1 and { ctas or 2 } or nil, lse, scale, numerics
    given.sink = sinks_of(o)
    attention:run(Q, K, V, O, given)
    assert(attention.counter[0] == 0, name .. ": the counter")
    first = first or O
    assert(wg.compare(O, first, 0), name .. ": the schedule changes the result")
    for b = 0, batches - 1 do
      for h = 0, o.heads - 1 do
        local q_at, q_step = place(layout, queries, o.heads, o.dim, b, h)
        local kv_head = h // (o.heads // kv_heads)
        local k_at, k_step = place(layout, keys, kv_heads, o.dim, b, kv_head)
        local v_at, v_step = place(layout, keys, kv_heads, value_dim, b, kv_head)
        local of_scores, of_o = factors_of(b, kv_head)
        for i = 0, queries - 1, seed == 1 and 23 or queries do
          local want, logarithm = expected(o, Q, q_at + i * q_step, K, k_at, k_step, V, v_at, v_step, keys, i + keys - queries, of_scores, o.sinks and o.sinks[h + 1])
          local at = ("%s: O[%d, %d, row %d]"):format(name, b, h, i)
          for c = 0, value_dim - 1, 7 do
            local index = layout == "bshd" and { b, i, h, c } or { b, h, i, c }
            compare_o(at, O[index], of_o * want(c))
          end
          if lse then compare(at .. " lse", lse[{ b, h, i }], logarithm, 1e-4) end
        end
      end
    end
  end
  finish(name)
end

-- Sequences of any lengths, one after another: also without queries, and without keys.
local function attend_packed(name, o, lengths)
  local query_starts, key_starts, most = { 0 }, { 0 }, 1
  for i, length in ipairs(lengths) do
    query_starts[i + 1], key_starts[i + 1] = query_starts[i] + length[1], key_starts[i] + length[2]
    most = math.max(most, length[1])
  end
  local rows, keys, kv_heads = query_starts[#query_starts], key_starts[#key_starts], o.kv_heads or o.heads
  local dtype, value_dim = o.dtype or "bf16", o.value_dim or o.dim
  local compare_o, finish = comparison(dtype)
  local Q = wg.randn { shape = { rows, o.heads, o.dim }, dtype = dtype, seed = 1 }
  local K = wg.randn { shape = { keys, kv_heads, o.dim }, dtype = dtype, seed = 2 }
  local V = wg.randn { shape = { keys, kv_heads, value_dim }, dtype = dtype, seed = 3 }
  local O, lse = wg.zeros(o.o or "bf16", { rows, o.heads, value_dim }), o.lse and wg.zeros("f32", { o.heads, rows }) or nil
  local attention = kernel_of(o, { packed = true })
  assert(#attention.kernel:check() == 0, name)
  local given, factors_of = descales(o, #lengths, kv_heads)
  given.backend, given.grid, given.lse, given.max_queries = "sim", attention.plan.cluster == 1 and { 2 } or nil, lse, most
  given.sink = sinks_of(o)
  given.query_starts = wg.tensor("s32", { #query_starts }, query_starts)
  given.key_starts = wg.tensor("s32", { #key_starts }, key_starts)
  attention:run(Q, K, V, O, given)
  for s, length in ipairs(lengths) do
    for h = 0, o.heads - 1 do
      local kv_head = h // (o.heads // kv_heads)
      local kv_at = key_starts[s] * kv_heads + kv_head
      local of_scores, of_o = factors_of(s - 1, kv_head)
      for i = 0, length[1] - 1, 17 do
        local row = query_starts[s] + i
        local want, logarithm = expected(o, Q, (row * o.heads + h) * o.dim, K, kv_at * o.dim, kv_heads * o.dim, V, kv_at * value_dim, kv_heads * value_dim, length[2], i + length[2] - length[1], of_scores, o.sinks and o.sinks[h + 1])
        local at = ("%s: sequence %d, head %d, row %d"):format(name, s, h, i)
        for c = 0, value_dim - 1, 7 do compare_o(at, O[{ row, h, c }], of_o * want(c)) end
        if lse then compare(at .. " lse", lse[{ h, row }], logarithm, 1e-4) end
      end
    end
  end
  finish(name)
end

return { attend = attend, attend_packed = attend_packed }
