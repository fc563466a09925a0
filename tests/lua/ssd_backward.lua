-- wg.ssd_backward on the simulator, which watches every access, against binary64: lengths, heads, types, steps, states, packed sequences,
-- slices, the gate.
local wg = require "wgrun"
local check = require "check"

local function softplus(x) return math.max(x, 0) + math.log(1 + math.exp(-math.abs(x))) end

-- The gradients of a head, token by token, in binary64. at(t) gives x, B, C, dy, lists, and dt; initial and final are matrices, rows of
-- dstate elements for each of the columns of x. Returns, by token, y and the gradients of x, B, C and dt, that of A, and that of the
-- initial state.
local function gradients(length, columns, dstate, rate, skip, at, initial, final)
  local before, s = {}, initial
  local out = { y = {}, x = {}, B = {}, C = {}, dt = {}, A = 0 }
  for t = 0, length - 1 do
    before[t] = s
    local x, b, c, _, dt = at(t)
    local decay, following, y = math.exp(dt * rate), {}, {}
    for j = 1, columns do
      local row, old, added, sum = {}, s[j], dt * x[j], skip[j] * x[j]
      for i = 1, dstate do
        row[i] = decay * old[i] + added * b[i]
        sum = sum + c[i] * row[i]
      end
      following[j], y[j] = row, sum
    end
    s, out.y[t] = following, y
  end
  before[length] = s
  local r = final
  for t = length - 1, 0, -1 do
    local x, b, c, dy, dt = at(t)
    local decay, old, new = math.exp(dt * rate), before[t], before[t + 1]
    local dx, db, dc, of_dt, of_decay, following = {}, {}, {}, 0, 0, {}
    for i = 1, dstate do db[i], dc[i] = 0, 0 end
    for j = 1, columns do
      local row, from, v, old_row, new_row = {}, r[j], 0, old[j], new[j]
      for i = 1, dstate do
        local value = from[i] + dy[j] * c[i]
        v = v + value * b[i]
        db[i] = db[i] + dt * value * x[j]
        dc[i] = dc[i] + new_row[i] * dy[j]
        of_decay = of_decay + value * old_row[i]
        row[i] = decay * value
      end
      dx[j], of_dt, following[j] = dt * v + skip[j] * dy[j], of_dt + x[j] * v, row
    end
    out.x[t], out.B[t], out.C[t], out.dt[t] = dx, db, dc, of_dt + rate * decay * of_decay
    out.A = out.A + dt * decay * of_decay
    r = following
  end
  out.initial = r
  return out
end

-- lengths: of each sequence; packed, or all the same. rate: A of a head.
local function run(name, o, lengths, rate)
  local dtype, heads, batch, total, longest = o.dtype or "bf16", o.heads or 1, #lengths, 0, 0
  local groups, columns, dstate = o.groups or 1, o.headdim or 64, o.dstate or 128
  for _, length in ipairs(lengths) do total, longest = total + length, math.max(longest, length) end
  local made = wg.ssd_backward(o)
  for _, kernel in ipairs { "gate", "summary", "states", "kernel", "join", "after", "ungate" } do
    if rawget(made, kernel) then check.equal(#made[kernel]:check(), 0, name) end
  end
  local function shape(...) return o.packed and { total, ... } or { batch, longest, ... } end
  local function random(type, seed, ...) return wg.randn { shape = shape(...), dtype = type, seed = seed } end
  local given = {
    x = random(dtype, 1, heads, columns), B = random(dtype, 2, groups, dstate), C = random(dtype, 3, groups, dstate),
    dy = random(dtype, 5, heads, columns), z = o.z and random(dtype, 6, heads, columns) or nil,
  }
  local of_dt = random("f32", 4, heads)
  if not o.dt_softplus then of_dt = of_dt * of_dt * 0.1 end
  given.dt = of_dt:convert(o.dt_dtype or "f32")
  local function of_heads(value, width)
    local list = {}
    for h = 1, heads * (width or 1) do list[h] = value(h) end
    return wg.tensor("f32", { heads, width }, list)
  end
  given.A = of_heads(function(h) return -(rate or 0.5) * h end)
  given.dt_bias = o.dt_bias and of_heads(function(h) return -2 + h end) or nil
  local width = o.D == "headdim" and columns or nil
  given.D = o.D and of_heads(function(h) return h % 7 - 2.5 end, width) or nil
  local states = { batch, heads, columns, dstate }
  local function state(seed) return wg.randn { shape = states, dtype = "f32", seed = seed } end
  given.initial_state, given.dfinal_state = o.initial_state and state(7) or nil, o.final_state and state(8) or nil
  if o.packed then
    local starts = { 0 }
    for i, length in ipairs(lengths) do starts[i + 1] = starts[i] + length end
    given.starts = wg.tensor("s32", { batch + 1 }, starts)
  end
  local results <const> = { "x", "dt", "A", "B", "C", "D", "z", "dt_bias", "initial_state" }
  local first, got = {}, {}
  for seed = 1, 2 do
    local all = { backend = "sim", seed = seed }
    for key, value in pairs(given) do all[key] = value end
    for _, one in ipairs(results) do
      if given[one] then all["d" .. one] = wg.full(given[one].dtype, given[one].shape, 9) end
    end
    made:run(all)
    for _, one in ipairs(results) do
      local tensor = all["d" .. one]
      first[one] = first[one] or tensor
      assert(not tensor or wg.compare(tensor, first[one], 0), name .. ": the schedule changes d" .. one)
    end
  end
  local lists = {}
  for key, tensor in pairs(given) do lists[key] = tensor:convert(key == "starts" and "s32" or "f32"):reshape { -1 }:totable() end
  for _, one in ipairs(results) do got[one] = first[one] and first[one]:convert("f32"):reshape { -1 }:totable() end
  local limit, from, compared, sums = o.dt_limit or { 0, math.huge }, 0, {}, { B = {}, C = {}, A = {}, D = {}, dt_bias = {} }
  for _, one in ipairs(results) do
    -- Few values are sums of many that cancel each other.
    local allowed = (one == "A" or one == "dt_bias") and 0.02 or dtype == "f16" and 0.002 or 0.006
    local add, finish = check.compared(name .. ", d" .. one, allowed)
    compared[one] = { add = add, finish = finish }
  end
  local function summed(which, place, value) sums[which][place] = (sums[which][place] or 0) + value end
  for b, length in ipairs(lengths) do
    for h = 1, heads do
      local group = (h - 1) // (heads // groups)
      local function place(t, count, number, size) return ((from + t) * count + number) * size end
      local function row(list, t, count, number, size)
        local p = place(t, count, number, size)
        return { table.unpack(list, p + 1, p + size) }
      end
      local function raw(t) return lists.dt[(from + t) * heads + h] + (o.dt_bias and lists.dt_bias[h] or 0) end
      local function smooth(t) return o.dt_softplus and softplus(raw(t)) or raw(t) end
      local function gate(t) return row(lists.z, t, heads, h - 1, columns) end
      local function at(t)
        local dy = row(lists.dy, t, heads, h - 1, columns)
        for j, z in ipairs(o.z and gate(t) or {}) do dy[j] = dy[j] * z / (1 + math.exp(-z)) end
        return row(lists.x, t, heads, h - 1, columns), row(lists.B, t, groups, group, dstate), row(lists.C, t, groups, group, dstate), dy,
          math.min(math.max(smooth(t), limit[1]), limit[2])
      end
      local function matrix(list)
        local out = {}
        for j = 1, columns do
          out[j] = {}
          for i = 1, dstate do out[j][i] = list and list[(((b - 1) * heads + h - 1) * columns + j - 1) * dstate + i] or 0 end
        end
        return out
      end
      local skip = {}
      for j = 1, columns do skip[j] = o.D and lists.D[width and (h - 1) * columns + j or h] or 0 end
      local want = gradients(length, columns, dstate, lists.A[h], skip, at, matrix(lists.initial_state), matrix(lists.dfinal_state))
      for t = 0, length - 1 do
        local of_dt_raw = want.dt[t] * (o.dt_softplus and 1 / (1 + math.exp(-raw(t))) or 1)
        if smooth(t) < limit[1] or smooth(t) > limit[2] then of_dt_raw = 0 end
        compared.dt.add(got.dt[(from + t) * heads + h], of_dt_raw)
        summed("dt_bias", h, of_dt_raw)
        local x, _, _, dy = at(t)
        for j = 1, columns do
          local number = place(t, heads, h - 1, columns) + j
          compared.x.add(got.x[number], want.x[t][j])
          summed("D", width and (h - 1) * columns + j or h, x[j] * dy[j])
          if o.z then
            local z = lists.z[number]
            local s = 1 / (1 + math.exp(-z))
            compared.z.add(got.z[number], lists.dy[number] * want.y[t][j] * s * (1 + z * (1 - s)))
          end
        end
        for i = 1, dstate do
          local number = place(t, groups, group, dstate) + i
          summed("B", number, want.B[t][i])
          summed("C", number, want.C[t][i])
        end
      end
      summed("A", h, want.A)
      for j = 1, o.initial_state and columns or 0 do
        for i = 1, dstate do
          compared.initial_state.add(got.initial_state[(((b - 1) * heads + h - 1) * columns + j - 1) * dstate + i], want.initial[j][i])
        end
      end
    end
    from = from + length
  end
  for which, values in pairs(sums) do
    for place, value in pairs(got[which] and values or {}) do compared[which].add(got[which][place], value) end
  end
  for _, one in ipairs(results) do
    if got[one] then compared[one].finish() end
  end
end

local mamba = { dt_bias = true, dt_softplus = true, D = true, final_state = true, initial_state = true }
local function with(options)
  for key, value in pairs(mamba) do
    if options[key] == nil then options[key] = value end
  end
  return options
end

run("one token", with {}, { 1 })
run("one chunk", {}, { 64 })
run("a token more", { final_state = true, dtype = "f16" }, { 65 })
run("chunks", with { heads = 2, groups = 2, dt_dtype = "bf16" }, { 200 })
run("heads of a group", with { heads = 4, groups = 2, z = true }, { 100, 100 })
run("D of columns, slices", with { heads = 4, D = "headdim", slices = 2, dt_dtype = "f16" }, { 150 })
run("wide heads", with { heads = 2, headdim = 128, D = "headdim", z = true, slices = 2 }, { 130 })
run("wide heads, smaller states", with { headdim = 128, dstate = 64, dtype = "f16" }, { 130 })
run("smaller states", { heads = 3, dstate = 64, D = true, z = true }, { 70 })
run("limits of dt", with { heads = 2, dt_limit = { 0.1, 0.9 } }, { 140 })
run("packed", with { heads = 2, packed = true, z = true }, { 70, 0, 1, 128, 63 })
run("packed, wide, slices", with { heads = 2, headdim = 128, packed = true, slices = 2, D = "headdim" }, { 0, 65, 2 })
run("segments", with { heads = 2, segments = 3 }, { 300, 300 })
run("packed, in segments, wide", with { headdim = 128, dstate = 64, packed = true, segments = 2 }, { 70, 0, 1, 200 })
run("more segments than chunks", with { segments = 4, heads = 2, groups = 2 }, { 130 })
run("what is forgotten at once", { D = true, initial_state = true, final_state = true }, { 150 }, 100)
run("what is never forgotten", with {}, { 150 }, 0)
