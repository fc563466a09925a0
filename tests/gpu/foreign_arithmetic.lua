-- Arithmetic of PTX by other compilers on the chip beside the simulator, bit for bit, on random bits and on edges: the products of a warp
-- (of all floats, f64 and few bits, sparse ones, Volta's), and small instructions on integers and floats.
--   wgrun tests/gpu/foreign_arithmetic.lua [--samples 128] [--only TEXT] [--write yes]
-- foreign_arithmetic.txt has digests of what an H100 computed, with which the simulator is compared where there is no chip; --write makes
-- them anew.
local wg = require "wgrun"

local options = { only = "" }
for i = 1, #arg, 2 do options[arg[i]:sub(3)] = arg[i + 1] end
local digested = 4 -- samples
local on_chip = wg.device() ~= nil
local samples = math.tointeger(tonumber(options.samples)) or (on_chip and 128 or digested)
local digests = arg[0]:gsub("%.lua$", ".txt")

-- --- a case: an instruction, and what is in its operands -----------------------------------------------------------

--- What a register of each kind is, and how many words it takes.
local kinds = {
  b32 = { reg = "b32", words = 1 }, f32 = { reg = "f32", words = 1 }, f64 = { reg = "f64", words = 2 },
  pred = { reg = "pred", words = 1 },
}

--- The text of a case. out: { kind, count }; ins: a list of { kind, count, fill }. In `form`, $d is the destination, $1, $2, ... the operands.
local function text_of(case)
  local lines, places, word = {}, {}, 0
  local function line(...) lines[#lines + 1] = string.format(...) end
  local function list(prefix, operand, always)
    local names = {}
    for i = 1, operand.count do names[i] = prefix .. i end
    local inside = table.concat(names, ", ")
    return (operand.count > 1 or always) and "{" .. inside .. "}" or inside
  end
  line ".version 8.5\n.target sm_90a\n.address_size 64"
  line ".visible .entry f(.param .u64 from, .param .u64 to)\n.reqntid 32\n{"
  line ".reg .b32 %%w<200>;\n.reg .b64 %%rd<9>;\n.reg .b32 %%t<4>;"
  local ins = 0
  for _, operand in ipairs(case.ins) do ins = ins + operand.count * kinds[operand.kind].words end
  local outs = case.out.count * kinds[case.out.kind].words
  line "mov.u32 %%t1, %%tid.x;\nmov.u32 %%t2, %%ctaid.x;\nmad.lo.u32 %%t1, %%t2, 32, %%t1;"
  line "ld.param.u64 %%rd1, [from];\nld.param.u64 %%rd2, [to];\ncvta.to.global.u64 %%rd1, %%rd1;\ncvta.to.global.u64 %%rd2, %%rd2;"
  line("mul.wide.u32 %%rd3, %%t1, %d;\nadd.u64 %%rd1, %%rd1, %%rd3;", 4 * ins)
  line("mul.wide.u32 %%rd3, %%t1, %d;\nadd.u64 %%rd2, %%rd2, %%rd3;", 4 * outs)
  for i, operand in ipairs(case.ins) do
    local prefix, kind = "%a" .. i .. "_", kinds[operand.kind]
    line(".reg .%s %s<%d>;", kind.reg, prefix, operand.count + 1)
    for n = 1, operand.count do
      for part = 1, kind.words do line("ld.global.b32 %%w%d, [%%rd1+%d];", word + part, 4 * (word + part - 1)) end
      if kind.words == 2 then
        line("mov.b64 %s%d, {%%w%d, %%w%d};", prefix, n, word + 1, word + 2)
      else
        line("mov.b32 %s%d, %%w%d;", prefix, n, word + 1)
      end
      word = word + kind.words
    end
    places[tostring(i)] = list(prefix, operand, case.lists and i < 4)
  end
  line(".reg .%s %%d<%d>;", kinds[case.out.kind].reg, case.out.count + 1)
  places.d = list("%d", case.out, case.lists)
  local instruction = case.form:gsub("%$(%w)", places)
  line("%s;", instruction)
  for n = 1, case.out.count do
    if case.out.kind == "f64" then
      line("mov.b64 {%%w%d, %%w%d}, %%d%d;", 2 * n - 1, 2 * n, n)
    elseif case.out.kind == "pred" then
      line("selp.b32 %%w%d, 1, 0, %%d%d;", n, n)
    else
      line("mov.b32 %%w%d, %%d%d;", n, n)
    end
  end
  for n = 1, outs do line("st.global.b32 [%%rd2+%d], %%w%d;", 4 * n - 4, n) end
  line "ret;\n}"
  return table.concat(lines, "\n"), ins, outs
end

-- --- random words -------------------------------------------------------------------------------------------------

local edges = {
  0, 1, 2, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
  0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x007FFFFF, 0x80000001, 0x7FF00000, 0xFFF00000, 0x7FF80000,
  0x000FFFFF, 0x00100000, 0x80008000, 0x7FFF7FFF, 0x8000FFFF, 0x7FFF8000, 0xFFFF0001,
}

--- A generator that is the same everywhere (SplitMix64).
local state = 0
local function random()
  state = state + 0x9E3779B97F4A7C15
  local z = state
  z = (z ~ z >> 30) * 0xBF58476D1CE4E5B9
  z = (z ~ z >> 27) * 0x94D049BB133111EB
  return (z ~ z >> 31) >> 16 & 0xFFFFFFFF
end

local function masked(keep, set) return function() return random() & keep | set end end
local function codes(list)
  return function()
    local word = 0
    for i = 0, 7 do word = word | list[random() % #list + 1] << 4 * i end
    return word
  end
end

local fills = {
  any = random,
  edges = function() return random() % 3 == 0 and edges[random() % #edges + 1] or random() end,
  -- Finite numbers below 2 in magnitude, most of them small.
  f16 = masked(0xBFFFBFFF, 0), bf16 = masked(0xBFFFBFFF, 0x30003000), tf32 = masked(0xBFFFFFFF, 0x30000000),
  e4m3 = masked(0xBFBFBFBF, 0), e5m2 = masked(0xBFBFBFBF, 0), f32 = masked(0xBFFFFFFF, 0x30000000),
  -- Numbers of 2^-7 to 2.
  f64 = function(part) return part == 1 and random() or random() & 0x807FFFFF | 0x3F800000 end,
  -- Integers near the ends of their range.
  limits = function()
    local kind, near = random() % 3, random() & 0xFFFF
    return kind == 0 and 0x7FFF0000 | near or kind == 1 and 0x80000000 | near or random()
  end,
  -- Metadata of a sparse A: increasing indices, indices in either order, the codes of tf32.
  increasing = codes { 4, 8, 9, 12, 13, 14 }, either = codes { 4, 8, 9, 12, 13, 14, 1, 2, 6, 3, 7, 11 }, of_two = codes { 4, 14 },
}

local function words_of(case, ins)
  local out = wg.zeros("u32", { samples * 32 * ins })
  local at = 0
  for _ = 1, samples * 32 do
    for _, operand in ipairs(case.ins) do
      for _ = 1, operand.count do
        for part = 1, kinds[operand.kind].words do
          out[at] = fills[operand.fill](part)
          at = at + 1
        end
      end
    end
  end
  return out
end

-- --- the cases ----------------------------------------------------------------------------------------------------

local cases = {}
local function case(form, out, ins, more)
  local one = { form = form, out = out, ins = ins, name = form:gsub("[ {].*", "") }
  for key, value in pairs(more or {}) do one[key] = value end
  if one.note and one.note ~= "" then one.name = one.name .. ", " .. one.note end
  cases[#cases + 1] = one
end
local function operand(kind, count, fill) return { kind = kind, count = count, fill = fill } end

local bits = { f16 = 16, bf16 = 16, tf32 = 32, e4m3 = 8, e5m2 = 8, s8 = 8, u8 = 8, s4 = 4, u4 = 4, b1 = 1, f64 = 64 }

--- A product that is dense, or sparse: A has half of its K.
local function floats(instruction, d, a, b, k, more)
  more = more or {}
  local a_words, b_words = 16 * k * bits[a] // (more.metadata and 2048 or 1024), 8 * k * bits[b] // 1024
  local d_words = d == "f16" and 2 or 4
  for _, wild in ipairs { false, true } do
    local function fill(type) return wild and "any" or type end
    case(("%s.m16n8k%d.row.col.%s.%s.%s.%s $d, $1, $2, $3%s"):format(instruction, k, d, a, b, d, more.tail or ""),
      { kind = d == "f16" and "b32" or d, count = d_words },
      { operand("b32", a_words, fill(a)), operand("b32", b_words, fill(b)), operand(d == "f16" and "b32" or d, d_words, fill(d)), more.metadata },
      { lists = true, note = table.concat({ wild and "any bits" or more.note, wild and more.note or nil }, ", ") })
  end
end
local function integers(instruction, shape, sat, a, b, k, more)
  more = more or {}
  local rows = shape:match "^m8" and 8 or 16
  local a_words, b_words = rows * k * bits[a] // (more.metadata and 2048 or 1024), 8 * k * bits[b] // 1024
  case(("%s.%sk%d.row.col%s.s32.%s.%s.s32%s $d, $1, $2, $3%s"):format(instruction, shape, k, sat, a, b, more.op or "", more.tail or ""),
    { kind = "b32", count = rows // 4 },
    { operand("b32", a_words, "any"), operand("b32", b_words, "any"), operand("b32", rows // 4, "limits"), more.metadata },
    { lists = true, note = more.note })
end

-- f64: ordinary numbers, and any.
for _, fill in ipairs { "f64", "any" } do
  for _, shape in ipairs { { "m8n8k4", 2, 1, 1 }, { "m16n8k4", 4, 2, 1 }, { "m16n8k8", 4, 4, 2 }, { "m16n8k16", 4, 8, 4 } } do
    local name, d, a, b = table.unpack(shape)
    case(("mma.sync.aligned.%s.row.col.f64.f64.f64.f64 $d, $1, $2, $3"):format(name), { kind = "f64", count = d },
      { operand("f64", a, fill), operand("f64", b, fill), operand("f64", d, fill) }, { lists = true, note = fill == "any" and "any bits" or nil })
  end
end

-- Floats of all types, dense; the same with D of f16.
local dense = "mma.sync.aligned"
for _, k in ipairs { 8, 16 } do
  floats(dense, "f32", "f16", "f16", k)
  floats(dense, "f16", "f16", "f16", k)
  floats(dense, "f32", "bf16", "bf16", k)
  floats(dense, "f32", "tf32", "tf32", k // 2)
end
for _, a in ipairs { "e4m3", "e5m2" } do
  for _, b in ipairs { "e4m3", "e5m2" } do floats(dense, "f32", a, b, 32) end
end

-- Integers.
for _, sat in ipairs { "", ".satfinite" } do
  for _, a in ipairs { "s8", "u8" } do
    for _, b in ipairs { "s8", "u8" } do integers(dense, "m8n8", sat, a, b, 16) end
  end
  for _, a in ipairs { "s4", "u4" } do
    for _, b in ipairs { "s4", "u4" } do
      integers(dense, "m8n8", sat, a, b, 32)
      integers(dense, "m16n8", sat, a, b, 32)
      integers(dense, "m16n8", sat, a, b, 64)
    end
  end
end
for _, op in ipairs { ".xor.popc", ".and.popc" } do
  integers(dense, "m8n8", "", "b1", "b1", 128, { op = op })
  integers(dense, "m16n8", "", "b1", "b1", 128, { op = op })
  integers(dense, "m16n8", "", "b1", "b1", 256, { op = op })
end

-- Volta's: four products of a quarter of the warp each.
for _, a in ipairs { "row", "col" } do
  for _, b in ipairs { "row", "col" } do
    for _, types in ipairs { { "f16", "f16" }, { "f32", "f16" }, { "f32", "f32" } } do
      for _, wild in ipairs { false, true } do
        local function c(type) return type == "f16" and operand("b32", 4, wild and "any" or "f16") or operand("f32", 8, wild and "any" or "f32") end
        local half = wild and "any" or "f16"
        case(("mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s $d, $1, $2, $3"):format(a, b, types[1], types[2]), c(types[1]),
          { operand("b32", 2, half), operand("b32", 2, half), c(types[2]) }, { lists = true, note = wild and "any bits" or nil })
      end
    end
  end
end

-- Sparse ones, with each selector.
for _, instruction in ipairs { "mma.sp.sync.aligned", "mma.sp::ordered_metadata.sync.aligned" } do
  local function each(selectors, fill, body)
    for selector = 0, selectors - 1 do
      body { metadata = operand("b32", 1, fill), tail = (", $4, 0x%x"):format(selector), note = ("selector %d"):format(selector) }
    end
  end
  for _, a in ipairs { "f16", "bf16", "tf32" } do
    for _, d in ipairs { "f32", a == "f16" and "f16" or nil } do
      local k = a == "tf32" and 8 or 16
      local fill = a == "tf32" and "of_two" or "increasing"
      each(4, fill, function(more) floats(instruction, d, a, a, k, more) end)
      each(2, fill, function(more) floats(instruction, d, a, a, 2 * k, more) end)
    end
  end
  for _, pair in ipairs { { "e4m3", "e5m2" }, { "s8", "u8" } } do
    for _, a in ipairs(pair) do
      for _, b in ipairs(pair) do
        if a:match "^e" then
          each(1, "increasing", function(more) floats(instruction, "f32", a, b, 64, more) end)
        else
          for _, sat in ipairs { "", ".satfinite" } do
            each(2, "increasing", function(more) integers(instruction, "m16n8", sat, a, b, 32, more) end)
            each(1, "increasing", function(more) integers(instruction, "m16n8", sat, a, b, 64, more) end)
          end
        end
      end
    end
  end
end
-- Indices in either order.
for _, type in ipairs { { "f16", 16, 32 }, { "s8", 32, 64 } } do
  for i = 2, 3 do
    local more = { metadata = operand("b32", 1, "either"), tail = ", $4, 0", note = "indices in either order" }
    if type[1] == "f16" then floats("mma.sp.sync.aligned", "f32", "f16", "f16", type[i], more)
    else integers("mma.sp.sync.aligned", "m16n8", "", "s8", "s8", type[i], more) end
  end
end

-- Small ones.
for _, property in ipairs { "finite", "infinite", "number", "notanumber", "normal", "subnormal" } do
  for _, type in ipairs { "f32", "f64" } do
    case(("testp.%s.%s $d, $1"):format(property, type), { kind = "pred", count = 1 }, { operand(type, 1, "edges") })
  end
end
for _, type in ipairs { "u32", "s32" } do
  for _, half in ipairs { "lo", "hi" } do
    local e = operand("b32", 1, "edges")
    case(("mul24.%s.%s $d, $1, $2"):format(half, type), { kind = "b32", count = 1 }, { e, e })
    case(("mad24.%s.%s $d, $1, $2, $3"):format(half, type), { kind = "b32", count = 1 }, { e, e, e })
  end
end
case("mad24.hi.sat.s32 $d, $1, $2, $3", { kind = "b32", count = 1 }, { operand("b32", 1, "edges"), operand("b32", 1, "edges"), operand("b32", 1, "limits") })
for _, form in ipairs {
  "add.u16x2", "add.s16x2", "min.u16x2", "min.s16x2", "max.u16x2", "max.s16x2", "min.relu.s16x2", "max.relu.s16x2", "min.relu.s32", "max.relu.s32",
} do
  case(form .. " $d, $1, $2", { kind = "b32", count = 1 }, { operand("b32", 1, "edges"), operand("b32", 1, "edges") })
end

-- --- the runs -----------------------------------------------------------------------------------------------------

--- FNV-1a over the words of the first samples.
local function digest(words, outs)
  local hash = 0xCBF29CE484222325
  for i = 0, digested * 32 * outs - 1 do hash = (hash ~ words[i]) * 0x100000001B3 end
  return ("%016x"):format(hash)
end

local function differing(got, want)
  local count, first = 0, 0
  for i = #got - 1, 0, -1 do
    if got[i] ~= want[i] then
      count, first = count + 1, i
    end
  end
  return count > 0 and ("%d of %d words differ, word %d: chip %08x, simulator %08x"):format(count, #got, first, want[first], got[first])
end

--- Which NaN of f64 comes out, nobody says: on the simulator it is the host's.
local function one_nan(words)
  for i = 1, #words - 1, 2 do
    local high = words[i] & 0x7FFFFFFF
    if high > 0x7FF00000 or high == 0x7FF00000 and words[i - 1] ~= 0 then words[i - 1], words[i] = 0, 0x7FF80000 end
  end
end

local of_chip = {}
if not options.write then
  for line in io.lines(digests) do
    local hash, name = line:match "^(%x+) (.*)$"
    of_chip[name] = hash
  end
end

local wrong, ran, lines = 0, 0, {}
for number, one in ipairs(cases) do
  if one.name:find(options.only, 1, true) then
    state = number
    local text, ins, outs = text_of(one)
    local kernel = wg.ptx { name = one.name, text = text }.f
    local from = words_of(one, ins)
    local function run(backend)
      local to = wg.zeros("u32", { samples * 32 * outs })
      kernel:run { grid = samples, args = { from, to }, backend = backend, numerics = "h200" }
      if one.out.kind == "f64" then one_nan(to) end
      return to
    end
    local got, difference = run "sim", nil
    if on_chip then
      local want = run "gpu"
      difference = differing(got, want)
      lines[#lines + 1] = digest(want, outs) .. " " .. one.name
    end
    if not difference and not options.write and digest(got, outs) ~= of_chip[one.name] then
      difference = "the digest is not that of the H100"
    end
    ran = ran + 1
    if difference then wrong = wrong + 1 end
    print(("%-99s %s"):format(one.name, difference or "equal"))
  end
end
if options.write then
  local file <close> = assert(io.open(digests, "w"))
  file:write(table.concat(lines, "\n"), "\n")
end
print(("%d forms, %d of them differ"):format(ran, wrong))
os.exit(wrong == 0 and ran > 0 and 0 or 5)
