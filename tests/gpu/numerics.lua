-- How the tensor core adds: which parameters of the simulator's model give its results bit for bit.
--   wgrun tests/gpu/numerics.lua [--family f32.bf16.bf16] [--search 4] [--samples 256] [--small]
-- For each type combination one kernel runs on random bits (exponents over the whole range, subnormals included) with
-- n = 256: `search` samples of 16384 outputs are compared with every parameter set, then `samples` with the three best
-- and with "h200". On a machine without a GPU the simulator stands in for the chip with numerics = "h200".
local folder = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = folder .. "/?.lua;" .. package.path
local wg = require "wgrun"
local mma = require "mma"

local o = { search = 4, samples = 256 }
do
  local i = 1
  while arg[i] do
    local key = arg[i]:match "^%-%-(.+)$"
    if key == "small" then
      o.small, o.search, o.samples = true, 1, 1
    elseif key == "family" and arg[i + 1] then
      i, o.family = i + 1, arg[i + 1]
    elseif (key == "search" or key == "samples") and math.tointeger(tonumber(arg[i + 1])) then
      i, o[key] = i + 1, math.tointeger(tonumber(arg[i + 1]))
    else
      io.stderr:write("numerics.lua: " .. arg[i] .. ": see the first lines of the script\n")
      os.exit(2)
    end
    i = i + 1
  end
end

local families = {}
for _, f in ipairs {
  { "f32", "f16", "f16" }, { "f16", "f16", "f16" }, { "f32", "bf16", "bf16" }, { "f32", "tf32", "tf32" },
  { "f32", "e4m3", "e4m3" }, { "f32", "e4m3", "e5m2" }, { "f32", "e5m2", "e4m3" }, { "f32", "e5m2", "e5m2" },
  { "f16", "e4m3", "e4m3" }, { "f16", "e4m3", "e5m2" }, { "f16", "e5m2", "e4m3" }, { "f16", "e5m2", "e5m2" },
} do
  for _, sparse in ipairs { false, true } do
    families[#families + 1] = { d = f[1], a = f[2], b = f[3], sparse = sparse }
  end
end

local function parameter_sets(f)
  local sets = {}
  local products = 256 // mma.types[f.a].bits
  local fp8 = mma.types[f.a].bits == 8
  local from, to = fp8 and 11 or 22, fp8 and 16 or 28
  if o.small then from, to = fp8 and 13 or 25, fp8 and 13 or 25 end
  for fraction = from, to do
    local block = products
    while block >= 4 do
      for _, result in ipairs(fp8 and f.d == "f32" and { 23, 14, 13, 12 } or { 23 }) do
        for _, nearest in ipairs { false, true } do
          for _, inside in ipairs { true, false } do
            sets[#sets + 1] = { block = block, fraction = fraction, result = result, nearest = nearest, inside = inside }
          end
        end
      end
      block = block // 2
    end
  end
  return sets
end

local function show(set)
  if type(set) == "string" then return set end
  return ("block %d, fraction %d, result %d, %s, D %s"):format(set.block, set.fraction, set.result, set.nearest and "nearest" or "cut",
    set.inside and "inside" or "after")
end

local missed = false
for index, f in ipairs(families) do
  local name = ("%s.%s.%s%s"):format(f.d, f.a, f.b, f.sparse and ".sp" or "")
  if not o.family or o.family == name then
    local form = { n = 256, d = f.d, scale_d = 1 }
    if f.sparse then form.sp_sel = 0 end
    local kernel, total = mma.kernel("numerics", f, { form })
    local args
    local function run(samples, backend, numerics)
      local D = mma.output(f, samples, total)
      args[6] = D
      return D, kernel:run { grid = { samples }, args = args, backend = backend, numerics = numerics, timeout_ms = 60000 }
    end
    -- The share of outputs that a model gives bit for bit (counted by value: -0 is 0).
    local function share(samples, got, numerics)
      local model <close> = run(samples, "sim", numerics)
      return 1 - select(3, wg.compare(got, model, 0)).mismatches / #got
    end

    args = mma.inputs(f, o.search, index)
    local got, ran = run(o.search, "auto", "h200")
    if ran == "none" then return end
    local found = {}
    for _, set in ipairs(parameter_sets(f)) do found[#found + 1] = { set = set, share = share(o.search, got, set) } end
    table.sort(found, function(x, y) return x.share > y.share end)

    args = mma.inputs(f, o.samples, index + 100)
    got = run(o.samples, "auto", "h200")
    print(("%s on %s: %d outputs"):format(name, ran, #got))
    local function report(set)
      local good = share(o.samples, got, set)
      print(("  %11.7f %%  %s"):format(100 * good, show(set)))
      return good
    end
    missed = report "h200" < 1 or missed
    report "exact"
    for i = 1, math.min(3, #found) do report(found[i].set) end
    collectgarbage()
  end
end
if missed then os.exit(5) end
