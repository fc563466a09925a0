-- wg.delta_rule_backward on the simulator, which watches every access, against the derivative of the recurrence in binary64: lengths,
-- heads, states, packed sequences.
local wg = require "wgrun"
local check = require "check"

local dim = 128

local function normalised(rows, seed)
  local x = wg.randn { shape = { rows, dim }, dtype = "f32", seed = seed }
  return x / (x * x):sum { axis = 1 }:sqrt():convert "f32":reshape { rows, 1 }
end

local function matrix(of)
  local out = {}
  for i = 1, dim do
    out[i] = {}
    for j = 1, dim do out[i][j] = of(i - 1, j - 1) end
  end
  return out
end

-- The gradients of one sequence of a head, token by token: at(t) gives q, k, v, exp g of each channel, beta and dO of a token;
-- each(t, dq, dk, dv, dg, dbeta) is called from the last token to the first. Returns the gradient of the state before the first one.
local function gradients(tokens, scale, at, s, ds, each)
  local kept = {}
  for t = 0, tokens - 1 do
    local _, key, value, decay, beta = at(t)
    local w, before = { table.unpack(value) }, s -- what the token writes
    for i = 1, dim do
      local row, x = before[i], key[i] * decay[i]
      for j = 1, dim do w[j] = w[j] - x * row[j] end
    end
    s = {}
    for i = 1, dim do
      local row, of_channel, x = before[i], decay[i], key[i] * beta
      local out = { table.unpack(row) }
      for j = 1, dim do out[j] = row[j] * of_channel + x * w[j] end
      s[i] = out
    end
    kept[t] = { before, w, s }
  end
  for t = tokens - 1, 0, -1 do
    local q, key, _, decay, beta, d_o = at(t)
    local before, w, after = table.unpack(kept[t])
    local dq, dk, dv, dw, dg, dbeta = {}, {}, {}, {}, {}, 0
    for j = 1, dim do dw[j] = 0 end
    for i = 1, dim do
      local row, of, x, y, sum, written = after[i], ds[i], scale * q[i], key[i], 0, 0
      for j = 1, dim do
        local o = d_o[j]
        local left = of[j] + x * o
        sum = sum + row[j] * o
        of[j] = left
        dw[j] = dw[j] + left * y
        written = written + left * w[j]
      end
      dq[i], dk[i] = scale * sum, beta * written
    end
    for j = 1, dim do
      dbeta = dbeta + dw[j] * w[j]
      dv[j] = beta * dw[j]
    end
    for i = 1, dim do
      local row, of, y, sum, of_decay, of_channel = before[i], ds[i], key[i], 0, 0, decay[i]
      for j = 1, dim do
        local left = of[j] - y * dv[j]
        sum = sum + row[j] * dv[j]
        of_decay = of_decay + row[j] * left
        of[j] = left * of_channel
      end
      dk[i], dg[i] = dk[i] - sum * of_channel, of_decay * of_channel
    end
    each(t, dq, dk, dv, dg, dbeta)
  end
  return ds
end

-- lengths: of each sequence; packed, or all the same. data: keys(rows, seed), gradients(rows, seed), decay() and beta() in place of the usual ones; allowed, the
-- error, and of the gates; before, tokens of no sequence before packed ones.
local function run(name, o, lengths, data)
  data = data or {}
  local heads, batch, total, longest = o.heads or 1, #lengths, data.before or 0, 0
  local qk_heads = o.qk_heads or heads
  for _, length in ipairs(lengths) do total, longest = total + length, math.max(longest, length) end
  local backward = wg.delta_rule_backward(o)
  local channels = o.decay == "channel"
  for _, kernel in ipairs { channels and "preparation" or nil, "states", "reverse", "kernel" } do assert(#backward[kernel]:check() == 0, name .. ": " .. kernel) end
  local function shape(...) return o.packed and { total, ... } or { batch, longest, ... } end
  local function of_rows(make, count, seed) return make(total * count, seed):convert "bf16":reshape(shape(count, dim)) end
  local function random(rows, seed) return wg.randn { shape = { rows, dim }, dtype = "f32", seed = seed } end
  local given = {
    Q = of_rows(normalised, qk_heads, 1), K = of_rows(data.keys or normalised, qk_heads, 2),
    V = of_rows(random, heads, 3), dO = of_rows(data.gradients or random, heads, 4), scale = o.packed and 0.5 or nil,
  }
  local gates, betas = {}, {}
  math.randomseed(5)
  for i = 1, total * heads * (channels and dim or 1) do gates[i] = data.decay and data.decay() or -math.random() ^ 8 end
  for i = 1, total * heads do betas[i] = data.beta and data.beta() or math.random() end
  local of_gates = channels and shape(heads, dim) or shape(heads)
  local g = wg.tensor("f32", of_gates, gates)
  if o.g_dtype then
    g = g:convert(o.g_dtype)
    gates = g:reshape { -1 }:totable()
  end
  given.g, given.beta = g, wg.tensor("f32", shape(heads), betas)
  local states = { batch, heads, dim, dim }
  local function state(seed) return wg.randn { shape = states, dtype = "f32", seed = seed } end
  if o.initial_state then given.initial_state = state(7) end
  if o.final_state then given.d_final_state = state(8) end
  if o.packed then
    local starts = { data.before or 0 }
    for i, length in ipairs(lengths) do starts[i + 1] = starts[i] + length end
    given.starts = wg.tensor("s32", { batch + 1 }, starts)
  end
  local results, first = { "dQ", "dK", "dV", "dg", "dbeta", o.initial_state and "d_initial_state" or nil }, {}
  for seed = 1, 2 do
    given.dQ, given.dK, given.dV = wg.full("bf16", given.Q.shape, 9), wg.full("bf16", given.Q.shape, 9), wg.full("bf16", given.V.shape, 9)
    given.dg, given.dbeta = wg.full("f32", of_gates, 9), wg.full("f32", shape(heads), 9)
    if o.initial_state then given.d_initial_state = wg.full("f32", states, 9) end
    if seed == 1 then
      local now = { backend = "sim", seed = seed }
      for key, value in pairs(given) do now[key] = value end
      backward:run(now)
    else -- however many CTAs there are, the result is the same
      for _, launch in ipairs(backward:launches(given)) do
        local grid = launch[1] == backward.kernel and { 1 } or launch[2].grid
        launch[1]:run { backend = "sim", seed = seed, grid = grid, args = launch[2].args }
      end
    end
    for _, result in ipairs(results) do
      first[result] = first[result] or given[result]
      assert(wg.compare(given[result], first[result], 0), ("%s: the schedule changes %s"):format(name, result))
    end
  end
  local flat, add, finish, want = {}, {}, {}, {}
  for key, value in pairs(given) do flat[key] = key ~= "scale" and value:reshape { -1 }:totable() or nil end
  for _, result in ipairs(results) do
    local of_gates = result == "dg" or result == "dbeta"
    add[result], finish[result] = check.compared(("%s, %s"):format(name, result), (of_gates and data.of_gates or data.allowed) or 0.01)
  end
  for _, result in ipairs { "dQ", "dK" } do
    want[result] = {}
    for i = 1, #flat[result] do want[result][i] = 0 end
  end
  local scale, from, outside = given.scale or 1 / math.sqrt(dim), data.before or 0, {}
  for i = 1, from * qk_heads * dim do outside[#outside + 1] = i end
  for b, length in ipairs(lengths) do
    for h = 0, heads - 1 do
      local function place(i, j)
        return ((b - 1) * heads + h) * dim * dim + (o.state_layout == "vk" and j * dim + i or i * dim + j) + 1
      end
      local function of_qk(t) return ((from + t) * qk_heads + h // (heads // qk_heads)) * dim end
      local function of_v(t) return ((from + t) * heads + h) * dim end
      local function at(t)
        local function row(tensor, first_of) return { table.unpack(flat[tensor], first_of + 1, first_of + dim) } end
        local index = (from + t) * heads + h + 1
        local decay = {}
        for i = 1, dim do decay[i] = math.exp(gates[channels and of_v(t) + i or index]) end
        return row("Q", of_qk(t)), row("K", of_qk(t)), row("V", of_v(t)), decay, betas[index], row("dO", of_v(t))
      end
      local function state_of(tensor) return matrix(function(i, j) return flat[tensor] and flat[tensor][place(i, j)] or 0 end) end
      local d_state = gradients(length, scale, at, state_of "initial_state", state_of "d_final_state", function(t, dq, dk, dv, dg, dbeta)
        for i = 1, dim do
          want.dQ[of_qk(t) + i] = want.dQ[of_qk(t) + i] + dq[i]
          want.dK[of_qk(t) + i] = want.dK[of_qk(t) + i] + dk[i]
          add.dV(flat.dV[of_v(t) + i], dv[i])
        end
        local index = (from + t) * heads + h + 1
        local of_head = 0
        for i = 1, dim do
          of_head = of_head + dg[i]
          if channels then add.dg(flat.dg[of_v(t) + i], dg[i]) end
        end
        if not channels then add.dg(flat.dg[index], of_head) end
        add.dbeta(flat.dbeta[index], dbeta)
      end)
      for i = 0, o.initial_state and dim - 1 or -1 do
        for j = 0, dim - 1 do add.d_initial_state(flat.d_initial_state[place(i, j)], d_state[i + 1][j + 1]) end
      end
    end
    from = from + length
  end
  for _, result in ipairs { "dQ", "dK" } do
    for i, value in ipairs(want[result]) do
      if i > #outside then add[result](flat[result][i], value) else assert(flat[result][i] == 9) end -- rows of no sequence are left alone
    end
  end
  for _, result in ipairs(results) do finish[result]() end
end

run("one token", {}, { 1 })
run("one chunk", { initial_state = true, final_state = true }, { 64 })
run("a token more", { final_state = true }, { 65 })
run("many chunks", { heads = 2, qk_heads = 1, initial_state = true, final_state = true }, { 711 })
run("sequences", { heads = 3, initial_state = true, final_state = true, state_layout = "vk" }, { 100, 100 })
run("packed", { heads = 2, qk_heads = 1, packed = true, initial_state = true, final_state = true }, { 70, 0, 1, 128, 63 })
run("packed, states with V first", { packed = true, final_state = true, state_layout = "vk" }, { 3, 190 })
run("packed, from somewhere", { packed = true, heads = 4, qk_heads = 2 }, { 70, 30 }, { before = 200 })
run("g of 16 bits", { g_dtype = "bf16", heads = 2 }, { 100 })
run("what is forgotten at once", { final_state = true }, { 150 }, { decay = function() return -40 * math.random() end })
run("tokens that write nothing", {}, { 130 }, { beta = function() return math.random() < 0.5 and 0 or math.random() end })

run("decays of channels, one token", { decay = "channel", initial_state = true }, { 1 })
run("decays of channels, one chunk", { decay = "channel", initial_state = true, final_state = true }, { 64 })
run("decays of channels, many chunks", { decay = "channel", heads = 2, qk_heads = 1, initial_state = true, final_state = true }, { 327 })
run("decays of channels, packed", { decay = "channel", heads = 2, qk_heads = 1, packed = true, final_state = true }, { 70, 0, 1, 128, 63 }, { before = 5 })
run("decays of channels, of 16 bits, states with V first", { decay = "channel", heads = 3, g_dtype = "bf16", initial_state = true, state_layout = "vk" }, { 100, 100 })
run("decays of channels, of which some forget at once", { decay = "channel", final_state = true }, { 150 }, { decay = function()
  local decay = -40 * math.random() ^ 6
  return decay
end })

-- Factors of operands are up to e^40 then.
local function large(rows, seed) return wg.randn { shape = { rows, dim }, dtype = "f32", seed = seed } * 1e7 end
run("decays of channels, large gradients of what is forgotten", { decay = "channel" }, { 100 }, { decay = function() return -9.9 end, gradients = large })

-- The same key again and again, so that tokens take back much of what those before them have written.
local function same(rows) return normalised(1, 2) + wg.zeros("f32", { rows, dim }) end
run("one key, without decay", { final_state = true }, { 150 }, { keys = same, decay = function() return 0 end, beta = function() return 0.5 end, allowed = 0.04, of_gates = 0.1 })

check.refuses("wg.delta_rule_backward: unknown dtype `f16` (legal: bf16)", function() wg.delta_rule_backward { dtype = "f16" } end)
check.refuses("wg.delta_rule_backward: 6 heads cannot share 4 heads of Q and K: qk_heads must divide heads", function() wg.delta_rule_backward { heads = 6, qk_heads = 4 } end)
local made = wg.delta_rule_backward { heads = 2, initial_state = true }
local function zeros(...) return wg.zeros("bf16", { ... }) end
local function with(changes)
  local rows, gates, states = zeros(1, 8, 2, 128), wg.zeros("f32", { 1, 8, 2 }), wg.zeros("f32", { 1, 2, 128, 128 })
  local given = { Q = rows, K = rows, V = rows, dO = rows, dQ = rows, dK = zeros(1, 8, 2, 128), dV = zeros(1, 8, 2, 128), g = gates, beta = gates,
    dg = gates, dbeta = wg.zeros("f32", { 1, 8, 2 }), initial_state = states, d_initial_state = wg.zeros("f32", { 1, 2, 128, 128 }) }
  for name, value in pairs(changes) do given[name] = value end
  return given
end
assert(#made:launches(with {}) == 3 and #made:steps() == 3 and made:flops(8) == 12 * 8 * 2 * 128 * 128)
check.refuses("delta_rule_backward: dK must be 1 x 8 x 2 x 128, not 1 x 9 x 2 x 128", function() made:run(with { dK = zeros(1, 9, 2, 128) }) end)
check.refuses("delta_rule_backward: dg must be 1 x 8 x 2, not 1 x 8 x 4", function() made:run(with { dg = wg.zeros("f32", { 1, 8, 4 }) }) end)
check.refuses("delta_rule_backward: d_initial_state must be 1 x 2 x 128 x 128, not 2 x 128 x 128", function() made:run(with { d_initial_state = wg.zeros("f32", { 2, 128, 128 }) }) end)
check.refuses("delta_rule_backward: `d_final_state` is given, but wg.delta_rule_backward was made without `final_state`", function() made:run(with { d_final_state = wg.zeros("f32", { 1, 2, 128, 128 }) }) end)
check.refuses("delta_rule_backward: scale is -1.0, must be positive", function() made:run(with { scale = -1.0 }) end)
local timed = made:time(with { backend = "sim", rounds = 1, timeout_ms = 60000 })
assert(#timed.parts == 3 and timed.median_us > 0)
