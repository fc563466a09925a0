-- wg.ssd on the simulator, which watches every access, against binary64: lengths, heads, types, steps, states, packed sequences, segments.
local wg = require "wgrun"
local check = require "check"

-- What the recurrence makes of a head, token by token, in binary64: calls each(t, y), and returns the state, rows of dstate elements for
-- each of the columns of x. at(t) gives x, B and C, lists, and dt.
local function recurrence(length, columns, dstate, rate, skip, at, state, each)
  local s = {}
  for j = 1, columns do
    s[j] = {}
    for i = 1, dstate do s[j][i] = state(j - 1, i - 1) end
  end
  for t = 0, length - 1 do
    local x, b, c, dt = at(t)
    local decay, y = math.exp(dt * rate), {}
    for j = 1, columns do
      local row, added, sum = s[j], dt * x[j], skip(j) * x[j]
      for i = 1, dstate do
        row[i] = decay * row[i] + added * b[i]
        sum = sum + c[i] * row[i]
      end
      y[j] = sum
    end
    each(t, y)
  end
  return s
end

local function softplus(x) return math.max(x, 0) + math.log(1 + math.exp(-math.abs(x))) end

-- lengths: of each sequence; packed, or all the same. rate: A of a head, by default as Mamba-2 begins with, and the state lives for some
-- tokens or some hundreds.
local function run(name, o, lengths, rate)
  local dtype, heads, batch, total, longest = o.dtype or "bf16", o.heads or 1, #lengths, 0, 0
  local groups, columns, dstate = o.groups or 1, o.headdim or 64, o.dstate or 128
  for _, length in ipairs(lengths) do total, longest = total + length, math.max(longest, length) end
  local ssd = wg.ssd(o)
  for _, kernel in ipairs { "kernel", ssd.plan.segments > 1 and "summary" or nil } do assert(#ssd[kernel]:check() == 0, name) end
  local function shape(...) return o.packed and { total, ... } or { batch, longest, ... } end
  local function random(type, seed, ...) return wg.randn { shape = shape(...), dtype = type, seed = seed } end
  local x, y_shape = random(dtype, 1, heads, columns), shape(heads, columns)
  local B, C = random(dtype, 2, groups, dstate), random(dtype, 3, groups, dstate)
  local of_dt = wg.randn { shape = shape(heads), dtype = "f32", seed = 4 }
  if not o.dt_softplus then of_dt = of_dt * of_dt * 0.1 end
  local dt = of_dt:convert(o.dt_dtype or "f32")
  local function of_heads(value, width)
    local list = {}
    for h = 1, heads * (width or 1) do list[h] = value(h) end
    return wg.tensor("f32", { heads, width }, list)
  end
  local given = { dt_bias = o.dt_bias and of_heads(function(h) return -4 + h end), z = o.z and random(dtype, 6, heads, columns) }
  local width = o.D == "headdim" and columns or nil
  given.D = o.D and of_heads(function(h) return h % 8 - 2.5 end, width)
  local A = of_heads(function(h) return -(rate or 0.5) * h end)
  local states = { batch, heads, columns, dstate }
  if o.initial_state then given.initial_state = wg.randn { shape = states, dtype = "f32", seed = 7 } end
  if o.packed then
    local starts = { 0 }
    for i, length in ipairs(lengths) do starts[i + 1] = starts[i] + length end
    given.starts = wg.tensor("s32", { batch + 1 }, starts)
  end
  local first
  for seed = 1, 2 do
    local y = wg.full(dtype, y_shape, 9)
    if o.final_state then given.final_state = wg.full("f32", states, 9) end
    given.backend, given.seed = "sim", seed
    ssd:run(x, dt, A, B, C, y, given)
    first = first or y
    assert(wg.compare(y, first, 0), name .. ": the schedule changes the result")
  end
  local function flat(tensor) return tensor and tensor:reshape { -1 }:totable() end
  local of_x, of_b, of_c, out, steps = flat(x), flat(B), flat(C), flat(first), flat(dt:convert "f32")
  local of_z, initial, final, bias, skip, rates = flat(given.z), flat(given.initial_state), flat(given.final_state), flat(given.dt_bias), flat(given.D), flat(A)
  local limit, from, allowed = o.dt_limit or { 0, math.huge }, 0, dtype == "f16" and 0.001 or 0.006
  local add, finish = check.compared(name, allowed)
  local add_state, finish_state = check.compared(name .. ", state", allowed)
  for b, length in ipairs(lengths) do
    for h = 1, heads do
      local group = (h - 1) // (heads // groups)
      local function row(list, t, count, number, width)
        local place = ((from + t) * count + number) * width
        return { table.unpack(list, place + 1, place + width) }
      end
      local function at(t)
        local step = steps[(from + t) * heads + h] + (bias and bias[h] or 0)
        if o.dt_softplus then step = softplus(step) end
        return row(of_x, t, heads, h - 1, columns), row(of_b, t, groups, group, dstate), row(of_c, t, groups, group, dstate),
          math.min(math.max(step, limit[1]), limit[2])
      end
      local function skip_of(j) return skip and skip[width and (h - 1) * columns + j or h] or 0 end
      local function place(j, i) return (((b - 1) * heads + h - 1) * columns + j) * dstate + i + 1 end
      local s = recurrence(length, columns, dstate, rates[h], skip_of, at, function(j, i)
        return initial and initial[place(j, i)] or 0
      end, function(t, y)
        local got, z = row(out, t, heads, h - 1, columns), of_z and row(of_z, t, heads, h - 1, columns)
        for j = 1, columns do add(got[j], z and y[j] * z[j] / (1 + math.exp(-z[j])) or y[j]) end
      end)
      for j = 0, final and columns - 1 or -1 do
        for i = 0, dstate - 1 do add_state(final[place(j, i)], s[j + 1][i + 1]) end
      end
    end
    from = from + length
  end
  finish()
  finish_state()
end

local mamba = { dt_bias = true, dt_softplus = true, D = true, final_state = true }
local function with(options)
  for key, value in pairs(mamba) do options[key] = options[key] or value end
  return options
end

run("one token", {}, { 1 })
run("one chunk", { final_state = true }, { 64 })
run("a token more", { final_state = true, dtype = "f16" }, { 65 })
run("many chunks", with { heads = 2, initial_state = true }, { 711 })
run("many chunks, two heads of a CTA", with { heads = 2, pairs = true, initial_state = true }, { 711 })
run("sequences", with { heads = 4, groups = 2, pairs = true, initial_state = true, dt_dtype = "bf16" }, { 150, 150 })
run("dt as f16, smaller states", with { dt_dtype = "f16", dtype = "f16", dstate = 64 }, { 200 })
run("wide heads", with { headdim = 128, initial_state = true }, { 200 })
run("two pairs, which share copies", with { heads = 4, pairs = true, initial_state = true }, { 300 })
run("two wide heads, which share copies", with { heads = 2, headdim = 128, packed = true }, { 65, 130 })
-- A box for each of B and C, and of the summaries one for both CTAs of a cluster.
run("smaller states, which share copies", with { heads = 2, headdim = 128, dstate = 64, packed = true }, { 52, 215, 111 })
run("smaller states in segments", with { heads = 2, dstate = 64, segments = 2 }, { 700 })
run("limits of dt", { heads = 2, groups = 2, dt_limit = { 0.01, 0.2 }, final_state = true }, { 140 })
run("packed", with { heads = 2, packed = true, initial_state = true }, { 70, 0, 1, 128, 63 })
run("packed pairs", with { heads = 2, pairs = true, packed = true, dtype = "f16" }, { 0, 129, 2, 64 })
run("segments", with { heads = 2, pairs = true, segments = 4, initial_state = true }, { 711 })
run("two segments, two sequences, wide", with { segments = 2, headdim = 128, dstate = 64, dtype = "f16" }, { 150, 150 })
run("packed, in segments", with { heads = 2, pairs = true, packed = true, segments = 3, initial_state = true }, { 70, 0, 1, 400 })
run("more segments than chunks", { segments = 5 }, { 130 })
run("what is forgotten at once", { final_state = true }, { 150 }, 1000)
run("what is never forgotten", { final_state = true }, { 150 }, 0)

run("a gate", with { heads = 2, z = true }, { 300 })
run("a gate, two heads of a CTA, D of columns", with { heads = 4, groups = 2, pairs = true, z = true, packed = true, D = "headdim" }, { 70, 0, 200 })
run("a gate, wide, D of columns", with { headdim = 128, z = true, D = "headdim", segments = 2, dtype = "f16" }, { 300 })
run("a gate, smaller states", { heads = 2, dstate = 64, pairs = true, z = true }, { 150 })
run("an odd number of heads", with { heads = 3, initial_state = true }, { 100 })

-- What the plan chooses: one head a CTA and no segments where heads fill the SMs, segments where they do not.
local function chosen(opts)
  local plan = wg.ssd(opts).plan
  return { plan.gated, plan.segments > 1 }
end
check.equal(chosen { heads = 128, groups = 8, problem = { 8192 } }, { 1, false })
check.equal(chosen { heads = 16, problem = { 8192 } }, { 1, true })
check.equal(chosen { heads = 80, pairs = true, problem = { 65536 } }, { 2, true })
check.equal(chosen { heads = 3, problem = { 100, 1000 } }, { 1, false })
local pairs_refused = "wg.ssd: pairs require headdim = 64, and an even number of heads in each group"
check.refuses(pairs_refused, function() wg.ssd { heads = 3, pairs = true } end)
check.refuses(pairs_refused, function() wg.ssd { heads = 2, headdim = 128, pairs = true } end)

check.refuses("wg.ssd: 6 heads cannot share 4 groups of B and C: groups must divide heads", function() wg.ssd { heads = 6, groups = 4 } end)
check.refuses("wg.ssd: groups is 3, must be an integer from 1 to 2", function() wg.ssd { heads = 2, groups = 3 } end)
check.refuses("wg.ssd: unknown headdim `96` (legal: 64, 128)", function() wg.ssd { headdim = 96 } end)
check.refuses("wg.ssd: unknown dtype `f32`...", function() wg.ssd { dtype = "f32" } end)
local limits = "wg.ssd: dt_limit must be two numbers, the smallest dt and the largest one, from 0 on: { 0, math.huge }"
check.refuses(limits, function() wg.ssd { dt_limit = { 1, 0.5 } } end)
check.refuses(limits, function() wg.ssd { dt_limit = { -1, 1 } } end)
check.refuses("wg.ssd: problem[1] is 0, must be an integer from 1 to 1073741823", function() wg.ssd { problem = { 0 } } end)
local made = wg.ssd { heads = 2 }
local function zeros(...) return wg.zeros("bf16", { ... }) end
local x, B, dt, A = zeros(1, 8, 2, 64), zeros(1, 8, 1, 128), wg.zeros("f32", { 1, 8, 2 }), wg.zeros("f32", { 2 })
check.refuses("ssd: x must have 4 dimensions (batch x tokens x heads x headdim), not 8 x 128", function() made:run(zeros(8, 128), dt, A, B, B, x) end)
check.refuses("ssd: B must be 1 x 8 x 1 x 128, not 1 x 9 x 1 x 128", function() made:run(x, dt, A, zeros(1, 9, 1, 128), B, x) end)
check.refuses("ssd: dt must be 1 x 8 x 2, not 1 x 8 x 3", function() made:run(x, wg.zeros("f32", { 1, 8, 3 }), A, B, B, x) end)
check.refuses("ssd: A must be 2, not 3", function() made:run(x, dt, wg.zeros("f32", { 3 }), B, B, x) end)
check.refuses("ssd: `D` is given, but wg.ssd was made without `D`", function() made:run(x, dt, A, B, B, x, { D = A }) end)
check.refuses("ssd: `dt_bias` is missing", function() wg.ssd { heads = 2, dt_bias = true }:run(x, dt, A, B, B, x) end)
check.refuses("ssd: `final_state` is given, but wg.ssd was made without `final_state`", function() made:run(x, dt, A, B, B, x, { final_state = dt }) end)
local none, no_groups, no_dt = zeros(1, 0, 2, 64), zeros(1, 0, 1, 128), wg.zeros("f32", { 1, 0, 2 })
check.refuses("ssd: x has no tokens, so there is nothing to compute", function() made:run(none, no_dt, A, no_groups, no_groups, none) end)
check.refuses("ssd: with `segments` there are two launches: ssd:launches", function() wg.ssd { heads = 2, segments = 2 }:launch(x, dt, A, B, B, x) end)
