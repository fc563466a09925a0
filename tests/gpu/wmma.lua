-- wmma on the chip beside the simulator: every shape, type and layout, on random matrices; and words of 128 bits.
--   wgrun tests/gpu/wmma.lua
-- Integers, binary64 and words are compared bit for bit, sums of floats with what rounding allows.
-- Without a device the simulator stands in the chip's place. Exit code 5 when one case differs.
local wg = require "wgrun"
local beside = dofile((arg[0]:match ".*/" or "") .. "beside.lua")
local samples <const> = beside.on_chip and 64 or 2 -- of a case, a CTA each

local bits <const> = { f16 = 16, bf16 = 16, tf32 = 32, f32 = 32, s8 = 8, u8 = 8, s32 = 32, f64 = 64 }

--- How many registers a lane has of a matrix, and of which kind.
local function registers(type, elements, factor)
  if type == "f64" then return elements // 32, "d" end
  if type == "f32" then return elements // 32, "f" end
  if type == "f16" and factor then return 8, "r" end
  return elements * bits[type] // 1024, "r"
end

local function names(prefix, kind, count)
  local out = {}
  for i = 1, count do out[i] = ("%%%s%s%d"):format(kind, prefix, i) end
  return table.concat(out, ", ")
end

--- The text of a kernel that multiplies a pair of matrices a CTA and adds C. Matrices lie without gaps between their lines.
local function text(case)
  local m, n, k = table.unpack(case.shape)
  local shape = ("m%dn%dk%d"):format(m, n, k)
  local matrices = {
    { "a", case.factor, m * k, case.layouts[1], case.layouts[1] == "row" and k or m },
    { "b", case.factor, k * n, case.layouts[2], case.layouts[2] == "row" and n or k },
    { "c", case.from, m * n, "row", n },
    { "d", case.to, m * n, "row", n },
  }
  local declared, body, lists = {}, {}, {}
  for i, matrix in ipairs(matrices) do
    local role, type, elements, layout, line = table.unpack(matrix)
    local count, kind = registers(type, elements, i < 3)
    local reg = ({ r = "b32", f = "f32", d = "f64" })[kind]
    declared[#declared + 1] = (".reg .%s %%%s%s<%d>;"):format(reg, kind, role, count + 1)
    lists[role] = names(role, kind, count)
    body[#body + 1] = ("ld.param.u64 %%p%d, [wmma_param_%d];"):format(i, i - 1)
    body[#body + 1] = ("mad.wide.u32 %%p%d, %%cta, %d, %%p%d;"):format(i, elements * bits[type] // 8, i)
    if i < 4 then
      body[#body + 1] = ("wmma.load.%s.sync.aligned.%s.%s.global.%s {%s}, [%%p%d], %d;"):format(role, layout, shape, type, lists[role], i, line)
    end
  end
  local types = case.factor == "f16" and ("%s.%s"):format(case.to, case.from)
    or ("%s.%s.%s.%s"):format(case.to, case.factor, case.factor, case.from)
  body[#body + 1] = ("wmma.mma.sync.aligned.%s.%s.%s.%s%s {%s}, {%s}, {%s}, {%s};"):format(
    case.layouts[1], case.layouts[2], shape, types, case.limited and ".satfinite" or "", lists.d, lists.a, lists.b, lists.c)
  body[#body + 1] = ("wmma.store.d.sync.aligned.row.%s.global.%s [%%p4], {%s}, %d;"):format(shape, case.to, lists.d, n)
  return (".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry wmma(%s)\n.reqntid 32, 1, 1\n{\n.reg .b32 %%cta; .reg .b64 %%p<5>;\n%s\nmov.u32 %%cta, %%ctaid.x;\n%s\nret;\n}\n"):format(
    ".param .u64 wmma_param_0, .param .u64 wmma_param_1, .param .u64 wmma_param_2, .param .u64 wmma_param_3",
    table.concat(declared, "\n"), table.concat(body, "\n"))
end

local whole = { s8 = { -128, 127 }, u8 = { 0, 255 }, s32 = { -(1 << 31), (1 << 31) - 1 } }
local function random(type, count, seed)
  local range = whole[type]
  if range then return wg.randint { shape = { count }, dtype = type, lo = range[1], hi = range[2], seed = seed } end
  return wg.randn { shape = { count }, dtype = type == "tf32" and "f32" or type, seed = seed }
end

-- What f32 sums of 16 products of some 4 in size are rounded by, and D of f16.
local allowed <const> = { f32 = 2e-6, f16 = 1e-3 }

local function try(case)
  local m, n, k = table.unpack(case.shape)
  local kernel = wg.ptx({ text = text(case), name = case.name }).wmma
  local results = beside.run(case.name, kernel, { samples }, function()
    return {
      random(case.factor, samples * m * k, 1), random(case.factor, samples * k * n, 2), random(case.from, samples * m * n, 3),
      wg.zeros(case.to, { samples * m * n }),
    }
  end)
  if not results or not beside.on_chip then return end
  local worst = 0
  for i = 0, samples * m * n - 1 do
    local x, y = results[1][i], results[2][i]
    local limit = allowed[case.to]
    local apart = math.abs(x - y)
    if limit then apart = apart / (math.abs(y) + 8) end
    if apart > (limit or 0) then
      return beside.wrongly("DIFFERS", "%s: element %d: %s, simulator %s", case.name, i, x, y)
    end
    worst = math.max(worst, apart)
  end
  print(("ok       %s%s"):format(case.name, worst > 0 and (": at most %.2g apart"):format(worst) or ""))
end

local shapes <const> = { { 16, 16, 16 }, { 8, 32, 16 }, { 32, 8, 16 } }
local function each_layout(case)
  for _, first in ipairs { "row", "col" } do
    for _, second in ipairs { "row", "col" } do
      case.layouts = { first, second }
      local m, n, k = table.unpack(case.shape)
      case.name = ("m%dn%dk%d %s.%s %s, %s to %s%s"):format(m, n, k, first, second, case.factor, case.from, case.to,
        case.limited and ", satfinite" or "")
      try(case)
    end
  end
end
for _, shape in ipairs(shapes) do
  for _, from in ipairs { "f16", "f32" } do
    for _, to in ipairs { "f16", "f32" } do each_layout { shape = shape, factor = "f16", from = from, to = to } end
  end
  each_layout { shape = shape, factor = "bf16", from = "f32", to = "f32" }
  for _, type in ipairs { "s8", "u8" } do
    for _, limited in ipairs { false, true } do
      each_layout { shape = shape, factor = type, from = "s32", to = "s32", limited = limited }
    end
  end
end
each_layout { shape = { 16, 16, 8 }, factor = "tf32", from = "f32", to = "f32" }
each_layout { shape = { 8, 8, 4 }, factor = "f64", from = "f64", to = "f64" }

-- --- words of 128 bits ------------------------------------------------------------------------------------------

-- Each thread has its words of W, and writes what it has seen of them.
local words = wg.kernel("words", { threads = 128 }, function(k)
  local W, O = k:param("W", "u32*"), k:param("O", "u32*")
  local buffer = k:shared { bytes = 128 * 16, align = 16, name = "buffer" }
  local thread = k:special "ctaid.x" * 128 + k:special "tid.x"
  local mine, out = k:element(W, thread * 4), k:element(O, thread * 16)
  local here = k:address(buffer, k:special "tid.x" * 16)
  local both = k:ld_global_b128(mine)
  local halves = k:unpack_b128(both)
  local swapped = k:pack_b128 { halves[1], halves[0] }
  k:st_shared_b128(here, swapped)
  k:st_global_b128(out, k:ld_shared_b128(here))
  local quarters = k:unpack_v4_b128(k:mov_b128(both))
  k:st_global_b128(out, k:pack_v4_b128 { quarters[2], quarters[3], quarters[0], quarters[1] }, { offset = 16 })
  k:st_global_b128(out, k:atom_global_exch_b128(mine, swapped), { offset = 32 })
  k:st_global_b128(out, k:atom_cas_b128_global(mine, swapped, both), { offset = 48 })
  k:atom_cas_b128_global(mine, swapped, both) -- it holds `both` by now: nothing changes
end)
local seen = beside.each("words of 128 bits", function(where)
  local count <const> = samples * 128
  local W = wg.randint { shape = { count * 4 }, dtype = "u32", lo = 0, hi = 0xFFFFFFFF, seed = 7 }
  local O = wg.zeros("u32", { count * 16 })
  words:run { grid = { samples }, args = { W, O }, backend = where }
  return { W, O }
end)
if seen and beside.on_chip then
  for part = 1, 2 do
    for i = 0, #seen[1][part] - 1 do
      if seen[1][part][i] ~= seen[2][part][i] then
        beside.wrongly("DIFFERS", "words of 128 bits: %d: %x, simulator %x", i, seen[1][part][i], seen[2][part][i])
        break
      end
    end
  end
end

beside.finish()
