-- Where a box may start: what the chip makes of bulk tensor copies whose first coordinate, address in shared memory or line
-- is no multiple of the copy engine's units. Each line names a form and, behind what came of them, the starts that did so:
-- right bytes, other bytes (and if known those of which start), or the launch's end.
--   wgrun tests/gpu/tma_starts.lua [PART...] [--only load|store|reduce] [--seconds N]
-- parts: none 32B 64B 128B (swizzles: starts of coordinate 0), ranks, ragged (lines of the tensor that are no multiple of 16
-- bytes long), shared (addresses), inner (lengths of a line), prefetch. Each part by itself can run beside the others.
-- Without a device the simulator stands in the chip's place.
local wg = require "wgrun"
local backend = wg.device() and "gpu" or "sim"
if backend == "sim" then print(("skipped: no device (%s); the simulator alone"):format((select(2, wg.device())))) end

local parts, seconds, any, only = {}, math.huge, false, nil
do
  local i = 1
  while arg[i] do
    if arg[i] == "--seconds" then
      i = i + 1
      seconds = tonumber(arg[i])
    elseif arg[i] == "--only" then
      i = i + 1
      only = arg[i]
    else
      parts[arg[i]], any = true, true
    end
    i = i + 1
  end
end
local function chosen(part) return not any or parts[part] end
local function now()
  local file <close> = assert(io.open "/proc/uptime")
  return file:read "n"
end
local deadline = now() + seconds

local threads, bytes, rows <const> = 128, 8192, 16
local size_of = { u8 = 1, f16 = 2, u32 = 4 }
local widths = { none = 64, ["32B"] = 32, ["64B"] = 64, ["128B"] = 128 }

-- --- elements: small whole numbers, in shared memory as their bits ----------------------------------------------

local function half(v) -- the bits of a whole number as f16
  if v == 0 then return 0 end
  local e = math.floor(math.log(v, 2))
  return (e + 15 << 10) + math.tointeger((v / 2 ^ e - 1) * 1024)
end
local function encode(dtype, v) return dtype == "f16" and half(v) or v end
local function in_tensor(r, c) return (r * 37 + c) % 113 + 1 end
local function in_shared(i) return i % 109 + 3 end

-- The index, in elements of shared memory, of element e of line r of a box at byte `start`.
local function place(size, swizzle, pitch, start, r, e)
  local at = start + r * pitch + e * size
  if swizzle == "128B" then at = at ~ (at >> 3 & 0x70)
  elseif swizzle == "64B" then at = at ~ (at >> 3 & 0x30)
  elseif swizzle == "32B" then at = at ~ (at >> 3 & 0x10) end
  return at // size
end

-- --- the kernel -------------------------------------------------------------------------------------------------

-- form: what ("load", "store", "reduce", "prefetch"), dtype, swizzle, box. Parameters besides the tensors: where the box
-- starts in shared memory, and its coordinates.
local kernels = {}
local function kernel_of(form)
  local rank = #form.box
  local name = table.concat({ form.what, form.dtype, form.swizzle, rank, table.concat(form.box, "_") }, "_")
  if kernels[name] then return kernels[name] end
  local count = size_of[form.dtype]
  for _, extent in ipairs(form.box) do count = count * extent end
  kernels[name] = wg.kernel(name, { threads = threads }, function(k)
    local map = k:tensor_map("X", { dtype = form.dtype, box = form.box, swizzle = form.swizzle })
    local before, after, shift = k:param("before", "const u32*"), k:param("after", "u32*"), k:param("shift", "u32")
    local at = {}
    for d = 1, rank do at[d] = k:param("x" .. d, "s32") end
    local tile = k:shared { bytes = bytes, align = 1024, name = "tile" }
    local full = k:shared { bytes = 8, align = 8, name = "full" }
    local thread, start = k:special "tid.x", k:mov(tile, { type = "u32" })
    for i = 0, bytes // 4 // threads - 1 do
      local word = thread + i * threads
      k:st_shared_u32(k:mad_lo_u32(word, 4, start), k:ld_global_u32(k:element(before, word)))
    end
    k:if_(thread:eq(0), function()
      k:mbarrier_init(full, 1)
      k:fence_mbarrier_init()
    end)
    k:fence_proxy_async()
    k:bar_sync(0)
    local box = start + shift
    k:if_(thread:eq(0), function()
      if form.what == "load" then
        k:mbarrier_arrive_expect_tx(full, count)
        k["cp_async_bulk_tensor_" .. rank .. "d"](k, box, map, at, full)
      elseif form.what == "prefetch" then
        k["cp_async_bulk_prefetch_tensor_" .. rank .. "d"](k, map, at)
      else
        if form.what == "store" then
          k["cp_async_bulk_tensor_store_" .. rank .. "d"](k, map, at, box)
        else
          k["cp_reduce_async_bulk_tensor_" .. rank .. "d"](k, map, at, box, { op = "add" })
        end
        k:cp_async_bulk_commit_group()
        k:cp_async_bulk_wait_group(0)
      end
    end)
    if form.what == "load" then k:mbarrier_wait(k:address(full), 0) end
    for i = 0, bytes // 4 // threads - 1 do
      local word = thread + i * threads
      k:st_global_u32(k:element(after, word), k:ld_shared_u32(k:mad_lo_u32(word, 4, start)))
    end
  end)
  return kernels[name]
end

local before, shared_bits = {}, {}
for dtype, size in pairs(size_of) do
  local words, of = wg.zeros("u32", { bytes // 4 }), {}
  for i = 0, bytes // size - 1 do of[i] = encode(dtype, in_shared(i)) end
  for w = 0, bytes // 4 - 1 do
    local word = 0
    for part = 0, 4 // size - 1 do word = word | of[w * (4 // size) + part] << 8 * size * part end
    words[{ w }] = word
  end
  before[dtype], shared_bits[dtype] = words, of
end

-- What comes of a form with the tensor's lines `held` elements long, of which the map sees `seen`, at these coordinates and
-- this place in shared memory: a function of (x, shift) that says whether the bytes are those of a box that starts there,
-- or the error.
local function try(form, held, seen, at, shift)
  local rank, size = #form.box, size_of[form.dtype]
  local shape = rank == 1 and { held } or rank == 2 and { rows, held } or { 1, rows, held }
  local X, after = wg.zeros(form.dtype, shape), wg.zeros("u32", { bytes // 4 })
  local function index(r, c)
    if rank == 1 then return { c } elseif rank == 2 then return { r, c } end
    return { 0, r, c }
  end
  local lines = rank == 1 and 1 or rows
  for r = 0, lines - 1 do
    for c = 0, held - 1 do X[index(r, c)] = in_tensor(r, c) end
  end
  local map = X
  if seen ~= held then
    local extents, strides = { seen, rows, 1 }, { held * size, rows * held * size }
    map = wg.tensor_map(X, {
      box = form.box, swizzle = form.swizzle, extents = { table.unpack(extents, 1, rank) }, strides = { table.unpack(strides, 1, rank - 1) },
    })
  end
  local args = { map, before[form.dtype], after, shift }
  for d = 1, rank do args[#args + 1] = at[d] end
  local good, message = pcall(function()
    kernel_of(form):run { args = args, backend = backend, unchecked = true, timeout_ms = 1000 }
  end)
  if not good then
    message = tostring(message)
    local word = backend == "gpu" and message:match "CUDA_ERROR_[%w_]+" or backend == "sim" and message:match "WG%-[%w%-]+"
    if word then return nil, word end
    return nil, (message:gsub("%s+", " "):gsub("^.-: ", ""):sub(1, 90))
  end
  local pitch = form.swizzle == "none" and form.box[1] * size or widths[form.swizzle]
  local y = rank == 1 and 0 or at[2]
  -- A line's last unit of 16 bytes is stored or reduced whole.
  local unit = 16 // size
  local reached = (form.what == "store" or form.what == "reduce") and -(-seen // unit) * unit or seen
  local function same(x, start, extent)
    local want = {}
    extent = extent or reached
    if form.what == "load" then
      for r = 0, (form.box[2] or 1) - 1 do
        for e = 0, form.box[1] - 1 do
          local inside = x + e >= 0 and x + e < extent and y + r >= 0 and y + r < lines
          want[place(size, form.swizzle, pitch, start, r, e)] = inside and encode(form.dtype, in_tensor(y + r, x + e)) or 0
        end
      end
    end
    for w = 0, bytes // 4 - 1 do
      local word = after[{ w }]
      for part = 0, 4 // size - 1 do
        local i = w * (4 // size) + part
        if word >> 8 * size * part & (1 << 8 * size) - 1 ~= (want[i] or shared_bits[form.dtype][i]) then return false end
      end
    end
    for r = 0, lines - 1 do
      for c = 0, held - 1 do
        local value, e, line = in_tensor(r, c), c - x, r - y
        if form.what ~= "load" and form.what ~= "prefetch" and c < extent and e >= 0 and e < form.box[1] and line >= 0 and
          line < (form.box[2] or 1) then
          local from = in_shared(place(size, form.swizzle, pitch, start, line, e))
          value = form.what == "reduce" and value + from or from
        end
        if X[index(r, c)] ~= value then return false end
      end
    end
    return true
  end
  return same
end

-- --- the table --------------------------------------------------------------------------------------------------

local order, groups
local function begin() order, groups = {}, {} end
local function note(outcome, what)
  if not groups[outcome] then
    order[#order + 1], groups[outcome] = outcome, {}
  end
  table.insert(groups[outcome], tostring(what))
end
local function show(title)
  for _, outcome in ipairs(order) do
    print(("%-44s %-34s %s"):format(title, outcome, table.concat(groups[outcome], " ")))
  end
  io.stdout:flush()
end

local function judge(form, held, seen, at, shift)
  local same, why = try(form, held, seen, at, shift)
  if not same then return why end
  if same(at[1], shift) then return "right" end
  local unit = 16 // size_of[form.dtype]
  local down, up = at[1] // unit * unit, -(-at[1] // unit) * unit
  if same(down, shift) then return "as if from the unit before" end
  if same(up, shift) then return "as if from the unit behind" end
  if same(at[1], shift & ~127) then return "as if at 128 bytes" end
  for more = 1 - unit, unit - 1 do
    if more ~= 0 and same(at[1], shift, seen + more) then return ("as if lines had %d elements %s"):format(math.abs(more), more > 0 and "more" or "less") end
  end
  if same(1 << 20, shift) then return form.what == "load" and "zeros" or "nothing" end
  return "other bytes"
end

-- What the rules say: WG-TMA-06 and WG-TMA-01.
local function legal(form, case)
  local below = false
  for _, x in ipairs(case.at) do below = below or x < 0 end
  return case.at[1] * size_of[form.dtype] % 16 == 0 and not (below and (form.what == "store" or form.what == "reduce")) and (case.shift or 0) % 128 == 0
end

local tried, others = 0, 0
local function row(title, form, held, seen, cases)
  if only and form.what ~= only then return end
  begin()
  for _, case in ipairs(cases) do
    if now() > deadline then
      note("not tried", case.name)
    else
      local good, outcome = pcall(judge, form, held, seen, case.at, case.shift or 0)
      note(good and outcome or "FAILED " .. tostring(outcome), case.name)
      tried = tried + 1
      if (outcome == "right") ~= legal(form, case) then others = others + 1 end
    end
  end
  show(title)
end

-- Starts of coordinate 0: multiples of 16 bytes first, so that what a form does when all is well is known.
local function starts(dtype, inner, columns, rank)
  local unit, out = 16 // size_of[dtype], {}
  for _, x in ipairs { 0, unit, 2 * unit, 1, 2, 4, 8, unit - 1, unit + 1, columns - inner + unit, columns - inner + 1, columns - 1, columns,
    -unit, -1, -4, -8, 1 - inner } do
    local seen = false
    for _, other in ipairs(out) do seen = seen or other.name == x end
    if not seen then out[#out + 1] = { name = x, at = rank == 1 and { x } or rank == 2 and { x, 3 } or { x, 3, 0 } } end
  end
  return out
end

for _, swizzle in ipairs { "none", "128B", "64B", "32B" } do
  if chosen(swizzle) then
    for _, what in ipairs { "load", "store", "reduce" } do
      for _, dtype in ipairs { "u32", "u8", "f16" } do
        local inner, columns = widths[swizzle] // size_of[dtype], 256 // size_of[dtype]
        if not (what == "reduce" and dtype == "u8") then
          row(("%s %s, swizzle %s"):format(what, dtype, swizzle), { what = what, dtype = dtype, swizzle = swizzle, box = { inner, 4 } }, columns,
            columns, starts(dtype, inner, columns, 2))
        end
      end
    end
  end
end

if chosen "ranks" then
  for _, what in ipairs { "load", "store" } do
    for _, dtype in ipairs { "u32", "u8" } do
      local inner, columns = 64 // size_of[dtype], 256 // size_of[dtype]
      for _, box in ipairs { { inner }, { inner, 4, 1 }, { dtype == "u8" and 240 or 196, 1 } } do
        row(("%s %s, box of %s"):format(what, dtype, table.concat(box, " x ")), { what = what, dtype = dtype, swizzle = "none", box = box },
          columns, columns, starts(dtype, inner, columns, #box))
      end
    end
  end
end

if chosen "ragged" then
  for _, what in ipairs { "store", "reduce", "load" } do
    for _, dtype in ipairs { "u8", "f16", "u32" } do
      local columns, unit = 256 // size_of[dtype], 16 // size_of[dtype]
      for _, form in ipairs { { "none", 64, 2 }, { "none", 64, 1 }, { "none", 64, 3 }, { "128B", 128, 2 } } do
        local swizzle, inner, rank = form[1], form[2] // size_of[dtype], form[3]
        if not (what == "reduce" and dtype == "u8") then
          for missing = 1, unit - 1 do
            local cases = {}
            for _, x in ipairs { columns - inner, columns - 2 * unit, columns - unit } do
              cases[#cases + 1] = { name = x, at = { table.unpack({ x, 14, 0 }, 1, rank) } }
            end
            row(("%s %s, %dd, swizzle %s, %d of %d elements"):format(what, dtype, rank, swizzle, columns - missing, columns),
              { what = what, dtype = dtype, swizzle = swizzle, box = { table.unpack({ inner, 4, 1 }, 1, rank) } }, columns, columns - missing, cases)
          end
        end
      end
    end
  end
end

if chosen "shared" then
  for _, swizzle in ipairs { "none", "128B", "64B", "32B" } do
    for _, what in ipairs { "load", "store" } do
      local cases = {}
      for _, shift in ipairs { 0, 128, 256, 512, 64, 32, 16, 8, 4, 1 } do cases[#cases + 1] = { name = shift, at = { 0, 3 }, shift = shift } end
      row(("%s u8, swizzle %s, address in shared memory"):format(what, swizzle),
        { what = what, dtype = "u8", swizzle = swizzle, box = { widths[swizzle], 4 } }, 256, 256, cases)
    end
  end
end

if chosen "inner" then
  for _, what in ipairs { "load", "store" } do
    for _, dtype in ipairs { "u8", "f16" } do
      for _, swizzle in ipairs { "none", "32B", "64B", "128B" } do
        for _, length in ipairs { 16, 32, 48, 80, 112, 144, 240 } do
          if swizzle == "none" or length <= widths[swizzle] then
            local unit = 16 // size_of[dtype]
            local cases = {}
            for _, x in ipairs { 0, unit, 3 * unit } do cases[#cases + 1] = { name = x, at = { x, 3 } } end
            row(("%s %s, swizzle %s, lines of %d bytes"):format(what, dtype, swizzle, length),
              { what = what, dtype = dtype, swizzle = swizzle, box = { length // size_of[dtype], 5 } }, 512 // size_of[dtype], 512 // size_of[dtype],
              cases)
          end
        end
      end
    end
  end
end

if chosen "prefetch" then
  for _, dtype in ipairs { "u32", "u8" } do
    local inner, columns = 64 // size_of[dtype], 256 // size_of[dtype]
    row(("prefetch %s"):format(dtype), { what = "prefetch", dtype = dtype, swizzle = "none", box = { inner, 4 } }, columns, columns,
      starts(dtype, inner, columns, 2))
  end
end

print(("%d cases on %s, %d other than the rules say"):format(tried, backend, others))
if others > 0 then os.exit(5) end
