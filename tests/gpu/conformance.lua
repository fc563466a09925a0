-- Every form of wgmma on the chip, against the simulator.
--   wgrun tests/gpu/conformance.lua [--family f32.bf16.bf16.sp] [--samples 32] [--small]
-- Forms: every type combination, dense and sparse; every N with A in shared memory, four N with A in registers; all
-- scale, trans, satfinite and selector immediates. Each runs on `samples` sets of random data and layouts: 16 have
-- every pair of swizzles of A and B, 32 also both variants of each layout, 64 base offsets. On a GPU the result is compared bit for bit
-- with numerics = "h200", and everywhere with exact sums within a bound. --small: a few forms, for the test on the
-- simulator. Exit code 5 when something disagrees.
local folder = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = folder .. "/?.lua;" .. package.path
local wg = require "wgrun"
local mma = require "mma"

local o = { samples = 32 }
do
  local i = 1
  while arg[i] do
    if arg[i] == "--small" then
      o.small, o.samples = true, 4
    elseif arg[i] == "--family" and arg[i + 1] then
      i, o.family = i + 1, arg[i + 1]
    elseif arg[i] == "--samples" and math.tointeger(tonumber(arg[i + 1])) then
      i, o.samples = i + 1, math.tointeger(tonumber(arg[i + 1]))
    else
      io.stderr:write("conformance.lua: " .. arg[i] .. ": see the first lines of the script\n")
      os.exit(2)
    end
    i = i + 1
  end
end

local families = {}
local function family(d, a, b)
  for _, sparse in ipairs { false, true } do
    if not (sparse and a == "b1") then families[#families + 1] = { d = d, a = a, b = b, sparse = sparse } end
  end
end
for _, d in ipairs { "f32", "f16" } do family(d, "f16", "f16") end
family("f32", "bf16", "bf16")
family("f32", "tf32", "tf32")
for _, d in ipairs { "f32", "f16" } do
  for _, a in ipairs { "e4m3", "e5m2" } do for _, b in ipairs { "e4m3", "e5m2" } do family(d, a, b) end end
end
for _, a in ipairs { "s8", "u8" } do for _, b in ipairs { "s8", "u8" } do family("s32", a, b) end end
family("s32", "b1", "b1")

-- All forms of a family with A in one place.
local function forms_of(f, registers)
  local integer, wide = f.d == "s32", mma.types[f.a].bits
  local list, four = {}, { [8] = true, [64] = true, [integer and 128 or 136] = true, [256] = true }
  local function each(values, visit) for _, value in ipairs(values) do visit(value) end end
  local one, two = { 0 }, { 0, 1 }
  local sixteen = wide == 16
  local turn = 0
  for n = 8, 256, 8 do
    local legal = not integer or n <= 32 or n % 16 == 0
    if legal and (not registers or four[n]) and not (o.small and n ~= 8 and n ~= 64) then
      each(integer and one or { 1, -1 }, function(scale_a)
        each(integer and one or { 1, -1 }, function(scale_b)
          each(sixteen and not registers and two or one, function(trans_a)
            each(sixteen and two or one, function(trans_b)
              each(integer and f.a ~= "b1" and two or one, function(satfinite)
                each(f.sparse and wide > 8 and two or one, function(selector)
                  turn = turn + 1
                  local form = { n = n, d = f.d, registers = registers, scale_d = ({ 1, 0, 1, "true", 1, "false", 1 })[turn % 7 + 1] }
                  if not integer then form.scale_a, form.scale_b = scale_a, scale_b end
                  if sixteen then
                    form.trans_b = trans_b
                    if not registers then form.trans_a = trans_a end
                  end
                  if integer and f.a ~= "b1" then form.satfinite = satfinite end
                  if f.a == "b1" then form.op = "and.popc" end
                  if f.sparse then form.sp_sel = selector end
                  if not (o.small and turn % 5 ~= 1) then list[#list + 1] = form end
                end)
              end)
            end)
          end)
        end)
      end)
    end
  end
  return list
end

-- What may lie between a sum and the exact one: cut-off addends (operands and D are below 2), and the last rounding.
local function bound(f)
  if f.d == "s32" then return { absolute = 0, relative = 0 } end
  local fp8 = mma.types[f.a].bits == 8
  local products = 256 // mma.types[f.a].bits
  local rounding = f.d == "f16" and 2.0 ^ -10 or fp8 and 2.0 ^ -13 or 2.0 ^ -23
  return { absolute = (products + 1) * 2.0 ^ (fp8 and -13 or -25), relative = rounding }
end

-- How many (form, sample) differ somewhere: only asked for when something does.
local function cases_that_differ(forms, got, want)
  local per_sample = got.shape[2]
  local g, w, differing, first = got:totable(), want:totable(), 0, nil
  for s = 0, got.shape[1] - 1 do
    local at = s * per_sample
    for _, form in ipairs(forms) do
      local count = mma.d_words(form) * (form.d == "f16" and 2 or 1)
      local bad = 0
      for i = at + 1, at + count do
        if g[i] ~= w[i] and not (g[i] ~= g[i] and w[i] ~= w[i]) then bad = bad + 1 end
      end
      if bad > 0 then
        differing = differing + 1
        first = first or { form = form, sample = s, outputs = bad, of = count }
      end
      at = at + count
    end
  end
  return differing, first
end

local function describe(form)
  local parts = {}
  for _, key in ipairs { "n", "scale_d", "scale_a", "scale_b", "trans_a", "trans_b", "satfinite", "sp_sel" } do
    if form[key] ~= nil then parts[#parts + 1] = key .. "=" .. tostring(form[key]) end
  end
  return table.concat(parts, " ")
end

local seed = 0
local totals = { forms = 0, cases = 0, agreed = 0 }
local failed = false
print("family                A          forms   cases  agreed    outputs  differing  worst error      bound  seconds")
for _, f in ipairs(families) do
  local name = ("%s.%s.%s%s"):format(f.d, f.a, f.b, f.sparse and ".sp" or "")
  if not o.family or name == o.family then
    for _, registers in ipairs { false, true } do
      local forms, start = forms_of(f, registers), os.clock()
      local row = { cases = 0, agreed = 0, outputs = 0, differing = 0, worst = 0 }
      local remarks = {}
      local allowed = bound(f)
      for first = 1, #forms, 40 do
        local part = table.move(forms, first, math.min(first + 39, #forms), 1, {})
        seed = seed + 1
        local kernel, total = mma.kernel("conformance", f, part)
        local args = mma.inputs(f, o.samples, seed)
        local function run(backend, numerics)
          local D = mma.output(f, o.samples, total)
          args[6] = D
          local ran = kernel:run { grid = { o.samples }, args = args, backend = backend, numerics = numerics, timeout_ms = 60000 }
          return D, ran
        end
        local D, ran = run("auto", "h200")
        if ran == "none" then return end
        local exact = run("sim", "exact")
        local inside, worst, where = wg.compare(D, exact, allowed)
        row.worst = math.max(row.worst, worst)
        if not inside then
          failed = true
          remarks[#remarks + 1] = ("  %d outputs beyond the bound: got %g, exact %g"):format(where.mismatches, where.got, where.want)
        end
        local differing, cases = 0, #part * o.samples
        if ran ~= "sim" then
          local model <close> = run("sim", "h200")
          differing = select(3, wg.compare(D, model, 0)).mismatches
          if differing > 0 then
            failed = true
            local bad, example = cases_that_differ(part, D, model)
            row.agreed = row.agreed - bad
            if example then
              remarks[#remarks + 1] = ("  %s, sample %d: %d of %d outputs differ"):format(describe(example.form), example.sample, example.outputs, example.of)
            end
          end
        end
        row.cases, row.agreed = row.cases + cases, row.agreed + cases
        row.outputs, row.differing = row.outputs + #D, row.differing + differing
        D:close()
        exact:close()
        for _, tensor in ipairs(args) do tensor:close() end
        collectgarbage()
      end
      print(("%-20s  %-9s %6d %7d %7d %10d %10d  %11.3g %10.3g %8.1f"):format(name, registers and "registers" or "shared", #forms, row.cases,
        row.agreed, row.outputs, row.differing, row.worst, allowed.absolute, os.clock() - start))
      for i = 1, math.min(4, #remarks) do print(remarks[i]) end
      totals.forms, totals.cases, totals.agreed = totals.forms + #forms, totals.cases + row.cases, totals.agreed + row.agreed
    end
  end
end
if totals.forms == 0 then
  io.stderr:write("conformance.lua: no family is called " .. tostring(o.family) .. "\n")
  os.exit(2)
end
print(("%d forms, %d cases, %d agreed; %.0f s of processor time"):format(totals.forms, totals.cases, totals.agreed, os.clock()))
if failed then os.exit(5) end
