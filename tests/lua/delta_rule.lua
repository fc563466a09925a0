-- wg.delta_rule on the simulator, which watches every access, against binary64: lengths, heads, types, states, packed sequences.
local wg = require "wgrun"
local check = require "check"

local dim = 128

local function normalised(rows, seed)
  local x = wg.randn { shape = { rows, dim }, dtype = "f32", seed = seed }
  return x / (x * x):sum { axis = 1 }:sqrt():convert "f32":reshape { rows, 1 }
end

-- The recurrence, token by token: calls each(token, o) with the row of O, and returns the state, both binary64.
local function recurrence(tokens, at, state, each)
  local s = {}
  for i = 1, dim do
    s[i] = {}
    for j = 1, dim do s[i][j] = state(i - 1, j - 1) end
  end
  for t = 0, tokens - 1 do
    local q, key, value, decay, beta, o = at(t)
    for i = 1, dim do
      local row, x = s[i], key[i]
      local e = decay(i)
      for j = 1, dim do
        row[j] = row[j] * e
        value[j] = value[j] - x * row[j]
      end
    end
    for j = 1, dim do o[j], value[j] = 0, value[j] * beta end
    for i = 1, dim do
      local row, x, y = s[i], key[i], q[i]
      for j = 1, dim do
        row[j] = row[j] + x * value[j]
        o[j] = o[j] + y * row[j]
      end
    end
    each(t, o)
  end
  return s
end

-- lengths: of each sequence; packed, or all the same. data: keys(rows, seed), decay() and beta() in place of the usual ones; allowed,
-- the error; before, tokens of no sequence before packed ones.
local function run(name, o, lengths, data)
  data = data or {}
  local dtype, heads, batch, total, longest = o.dtype or "bf16", o.heads or 1, #lengths, data.before or 0, 0
  local qk_heads = o.qk_heads or heads
  for _, length in ipairs(lengths) do total, longest = total + length, math.max(longest, length) end
  local delta = wg.delta_rule(o)
  for _, kernel in ipairs { "preparation", "summary", "kernel" } do
    assert(not rawget(delta, kernel) or #delta[kernel]:check() == 0, name)
  end
  local function shape(...) return o.packed and { total, ... } or { batch, longest, ... } end
  local function of_rows(make, count, seed)
    return make(total * count, seed):convert(dtype):reshape(shape(count, dim))
  end
  local keys = data.keys or normalised
  local Q, K = of_rows(normalised, qk_heads, 1), of_rows(keys, qk_heads, 2)
  local V = of_rows(function(rows, seed) return wg.randn { shape = { rows, dim }, dtype = "f32", seed = seed } end, heads, 3)
  local gates, betas, channels = {}, {}, o.decay == "channel" and dim or 1
  math.randomseed(5)
  for i = 1, total * heads do
    for c = 1, channels do gates[(i - 1) * channels + c] = data.decay and data.decay() or -math.random() ^ 8 end
    betas[i] = data.beta and data.beta() or math.random()
  end
  local g = wg.tensor("f32", channels == dim and shape(heads, dim) or shape(heads), gates)
  if o.g_dtype then
    g = g:convert(o.g_dtype)
    gates = g:reshape { -1 }:totable()
  end
  local beta = wg.tensor("f32", shape(heads), betas)
  local given = { g = g, beta = beta, scale = o.packed and 0.5 or nil }
  local states = { batch, heads, dim, dim }
  if o.initial_state then given.initial_state = wg.randn { shape = states, dtype = "f32", seed = 7 } end
  if o.packed then
    local starts = { data.before or 0 }
    for i, length in ipairs(lengths) do starts[i + 1] = starts[i] + length end
    given.starts = wg.tensor("s32", { batch + 1 }, starts)
  end
  local first
  for seed = 1, 2 do
    local O = wg.full(dtype, V.shape, 9)
    if o.final_state then given.final_state = wg.full("f32", states, 9) end
    if seed == 1 then
      local now = { backend = "sim", seed = seed }
      for key, value in pairs(given) do now[key] = value end
      delta:run(Q, K, V, O, now)
    else
      for number, launch in ipairs(delta:launches(Q, K, V, O, given)) do
        -- However many CTAs prepare chunks, the result is the same.
        if number == 1 and o.decay == "channel" then launch[2].grid = { 1 } end
        for _ = 1, o.decay == "channel" and 2 or 1 do -- nor does it matter how often a kernel runs
          launch[1]:run { backend = "sim", seed = seed, grid = launch[2].grid, args = launch[2].args }
        end
      end
    end
    first = first or O
    assert(wg.compare(O, first, 0), name .. ": the schedule changes the result")
  end
  local function flat(x) return x:reshape { -1 }:totable() end
  local q, key, v, out = flat(Q), flat(K), flat(V), flat(first)
  local initial, final = given.initial_state and flat(given.initial_state), given.final_state and flat(given.final_state)
  local scale, from = given.scale or 1 / math.sqrt(dim), data.before or 0
  local allowed = data.allowed or o.dtype == "f16" and 0.001 or 0.008
  local add, finish = check.compared(name, allowed)
  local add_state, finish_state = check.compared(name .. ", state", allowed)
  for b, length in ipairs(lengths) do
    for h = 0, heads - 1 do
      local matrix = ((b - 1) * heads + h) * dim * dim
      local function place(i, j) return matrix + (o.state_layout == "vk" and j * dim + i or i * dim + j) + 1 end
      local function at(t)
        local of_qk, of_v = ((from + t) * qk_heads + h // (heads // qk_heads)) * dim, ((from + t) * heads + h) * dim
        local index = (from + t) * heads + h + 1
        local function decay(i) return math.exp(gates[(index - 1) * channels + (channels == dim and i or 1)]) end
        return { table.unpack(q, of_qk + 1, of_qk + dim) }, { table.unpack(key, of_qk + 1, of_qk + dim) },
          { table.unpack(v, of_v + 1, of_v + dim) }, decay, betas[index], {}
      end
      local s = recurrence(length, at, function(i, j) return initial and initial[place(i, j)] or 0 end, function(t, row)
        local of_v = ((from + t) * heads + h) * dim
        for j = 1, dim do add(out[of_v + j], scale * row[j]) end
      end)
      for i = 0, final and dim - 1 or -1 do
        for j = 0, dim - 1 do add_state(final[place(i, j)], s[i + 1][j + 1]) end
      end
    end
    from = from + length
  end
  finish()
  finish_state()
end

run("one token", {}, { 1 })
run("one chunk", { final_state = true }, { 64 })
run("a token more", { final_state = true, dtype = "f16" }, { 65 })
run("many chunks", { heads = 2, qk_heads = 1, initial_state = true, final_state = true }, { 711 })
run("sequences", { heads = 3, initial_state = true, final_state = true, state_layout = "vk" }, { 100, 100 })
run("packed", { heads = 2, qk_heads = 1, packed = true, initial_state = true, final_state = true }, { 70, 0, 1, 128, 63 })
run("packed, states with V first", { packed = true, final_state = true, state_layout = "vk", dtype = "f16" }, { 3, 190 })

run("g of 16 bits", { g_dtype = "bf16", heads = 2, final_state = true }, { 100 })
run("packed, from somewhere", { packed = true, final_state = true }, { 70, 30 }, { before = 200 })

run("segments", { heads = 2, qk_heads = 1, segments = 4, initial_state = true, final_state = true }, { 711 })
run("two segments, two sequences", { segments = 2, final_state = true, dtype = "f16" }, { 150, 150 })
run("packed, in segments", { heads = 2, packed = true, segments = 3, initial_state = true, final_state = true, state_layout = "vk" }, { 70, 0, 1, 400 })
run("segments of more chunks than there are stages", { segments = 2, final_state = true }, { 1300 })
run("more segments than chunks", { segments = 5 }, { 130 })

-- The same key again and again: the largest elements below the diagonal, whose inverse is small. Each token replaces the one before, so
-- that a state is the sum of 64 differences, each of which is rounded.
local function same(rows) return normalised(1, 2) + wg.zeros("f32", { rows, dim }) end
run("one key, without decay", { final_state = true }, { 150 }, { keys = same, decay = function() return 0 end, beta = function() return 1 end, allowed = 0.04 })
run("what is forgotten at once", { final_state = true }, { 150 }, { decay = function() return -40 * math.random() end })

-- Decays for each channel, that grow large in a chunk.
local function by_channel(name, lengths, opts, data)
  opts.decay = "channel"
  run("by channel, " .. name, opts, lengths, data)
end
local function up_to(most) return function() return -most * math.random() end end
by_channel("one token", { 1 }, {})
by_channel("one chunk", { 64 }, { final_state = true })
by_channel("many chunks", { 711 }, { heads = 2, qk_heads = 1, initial_state = true, final_state = true })
by_channel("sequences", { 100, 100 }, { heads = 3, initial_state = true, final_state = true, state_layout = "vk" })
by_channel("packed", { 70, 0, 1, 128, 63 }, { heads = 2, qk_heads = 1, packed = true, initial_state = true, final_state = true })
by_channel("segments", { 711 }, { heads = 2, qk_heads = 1, segments = 4, initial_state = true, final_state = true })
by_channel("packed, in segments", { 70, 0, 1, 400 }, { packed = true, segments = 3, initial_state = true, final_state = true, state_layout = "vk" })
by_channel("large decays", { 150 }, { final_state = true }, { decay = up_to(5) })
by_channel("decays of all sizes", { 150 }, { final_state = true }, { decay = function() return -10 ^ (8 * math.random() - 4) end })
by_channel("what is forgotten at once", { 150 }, { final_state = true }, { decay = function() return math.random() < 0.5 and -math.huge or -0.1 end })
by_channel("g of 16 bits", { 100, 100 }, { g_dtype = "bf16", heads = 2, final_state = true })
by_channel("packed, from somewhere", { 70, 30 }, { packed = true, final_state = true }, { before = 200 })
by_channel("one key, without decay", { 150 }, { final_state = true }, { keys = same, decay = function() return 0 end, beta = function() return 1 end, allowed = 0.04 })
-- O of a first token is a multiple of q k, which is small beside its products here.
local function across(rows)
  local q, x = normalised(rows, 1), normalised(rows, 2)
  return x - q * (x * q):sum { axis = 1 }:convert "f32":reshape { rows, 1 }
end
by_channel("one token, keys across queries", { 1 }, { heads = 2 }, { keys = across })

check.refuses('wg.delta_rule: decay = "channel" requires bf16, not f16: products of K and decays leave its range', function() wg.delta_rule { decay = "channel", dtype = "f16" } end)
check.refuses("wg.delta_rule: 6 heads cannot share 4 heads of Q and K: qk_heads must divide heads", function() wg.delta_rule { heads = 6, qk_heads = 4 } end)
check.refuses("wg.delta_rule: unknown dtype `e4m3` (legal: bf16, f16)", function() wg.delta_rule { dtype = "e4m3" } end)
local made = wg.delta_rule { heads = 2 }
local function zeros(...) return wg.zeros("bf16", { ... }) end
local V, g = zeros(1, 8, 2, 128), wg.zeros("f32", { 1, 8, 2 })
check.refuses("delta_rule: Q must be 1 x 8 x 2 x 128, not 1 x 9 x 2 x 128", function() made:run(zeros(1, 9, 2, 128), V, V, V, { g = g, beta = g }) end)
check.refuses("delta_rule: V must have 4 dimensions (batch x tokens x heads x dim), not 8 x 256", function() made:run(V, V, zeros(8, 256), V, { g = g, beta = g }) end)
local channels, decays = wg.delta_rule { heads = 2, decay = "channel" }, wg.zeros("f32", { 1, 8, 2, 128 })
check.refuses("delta_rule: g must have 4 dimensions (batch x tokens x heads x dim), not 1 x 8 x 2", function() channels:run(V, V, V, V, { g = g, beta = g }) end)
check.refuses("delta_rule: there are 2 launches: delta_rule:launches", function() channels:launch(V, V, V, V, { g = decays, beta = g }) end)
local timed = channels:time(V, V, V, zeros(1, 8, 2, 128), { backend = "sim", rounds = 1, timeout_ms = 60000, g = decays, beta = g })
assert(#timed.parts == 2 and timed.median_us > 0)
assert(wg.delta_rule { heads = 8, problem = { 8192 }, decay = "channel" }.plan.segments == 8)
assert(wg.delta_rule { heads = 16, problem = { 8192 }, decay = "channel" }.plan.segments == 1)
assert(wg.delta_rule { heads = 32, problem = { 8192 } }.plan.segments == 2)
assert(wg.delta_rule { heads = 32, problem = { 8192 }, packed = true }.plan.segments == 1)
check.refuses("delta_rule:run: option `beta` is missing", function() made:run(V, V, V, V, { g = g }) end)
check.refuses("delta_rule: `final_state` is given, but wg.delta_rule was made without `final_state`", function() made:run(V, V, V, V, { g = g, beta = g, final_state = g }) end)
local none, no_gates = zeros(1, 0, 2, 128), wg.zeros("f32", { 1, 0, 2 })
check.refuses("delta_rule: V has no tokens, so there is nothing to compute", function() made:run(none, none, none, none, { g = no_gates, beta = no_gates }) end)
check.refuses("delta_rule: scale is -1.0, must be positive", function() made:run(V, V, V, V, { g = g, beta = g, scale = -1.0 }) end)
