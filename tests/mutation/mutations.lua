-- The kinds of mutants: what may be wrong with a call, and how the call is made wrong.
local wg = require "wgrun"
local trace = require "trace"

local mutations = {}

-- Each: kind (of the count in the end), what (of this mutant), change(original, k, ...): what is called instead.
local out

local function add(kind, what, change) out[#out + 1] = { kind = kind, what = what, change = change } end

local function left_out() end

-- The call with argument `position` (1 is the first after k) replaced.
local function with(position, value)
  return function(original, k, ...)
    local arguments = table.pack(...)
    arguments[position] = type(value) == "function" and value(arguments[position], k) or value
    return original(k, table.unpack(arguments, 1, math.max(arguments.n, position)))
  end
end

-- The call with an option replaced; the table of options is the last argument.
local function with_option(position, key, value)
  return with(position, function(options)
    local copy = {}
    for name, given in pairs(options or {}) do copy[name] = given end
    if type(value) == "function" then copy[key] = value(copy[key]) else copy[key] = value end
    return copy
  end)
end

local function is_integer(value) return math.type(value) == "integer" end

-- The table of options of a call, and its position.
local function options_of(event)
  local last = event.arguments.n
  local options = event.arguments[last]
  if type(options) == "table" and options[1] == nil then return options, last end
  return {}, last + 1
end

-- --- what may be wrong with ... ---------------------------------------------------------------------------------

local function number_at(event, position, kind, variants)
  local value = event.arguments[position]
  if not is_integer(value) then return end
  for _, variant in ipairs(variants) do
    local what, changed = variant[1], variant[2](value)
    if changed then add(kind, what, with(position, changed)) end
  end
end

local one_more = { "N + 1", function(n) return n + 1 end }
local count_off = { { "count + 1", function(n) return n + 1 end }, { "count - 1", function(n) return n - 1 end } }
local bytes_off = {
  { "half the bytes", function(n) return n // 2 // 16 * 16 end }, { "double the bytes", function(n) return 2 * n end },
}

-- Bits of a matrix descriptor: first bit, width.
local fields = { LBO = { 16, 14 }, SBO = { 32, 14 }, base = { 49, 3 }, swizzle = { 62, 2 } }
local function changed_field(name, change)
  local first, mask = fields[name][1], (1 << fields[name][2]) - 1
  return function(bits)
    local value = bits >> first & mask
    local changed = change(value) & mask
    return changed ~= value and bits & ~(mask << first) | changed << first or nil
  end
end

local swizzles = { "none", "32B", "64B", "128B" }

local function with_field(given, name, value)
  local copy = {}
  for key, old in pairs(given) do copy[key] = old end
  copy[name] = value
  return copy
end

-- What makes the same tile with another swizzle.
local function spec(tile, swizzle)
  return { dtype = tile.dtype, mn = tile.mn, k = tile.k, major = tile.major, order = tile.order, swizzle = swizzle }
end

-- Of a tile whatever is made from it.
local function tile_itself(event)
  local made = wg.tile(event.arguments[1])
  for _, swizzle in ipairs(swizzles) do
    if swizzle ~= made.swizzle then add("swizzle of a tile", "swizzle " .. swizzle, with(1, spec(made, swizzle))) end
  end
end

-- Of a buffer alone: what copies into it and what reads from it may go by the tile that it was.
local function tile_of_buffer(event)
  local given = event.arguments[1]
  local tile = type(given) == "userdata" and given or given.tile
  if not tile then return end
  for _, swizzle in ipairs(swizzles) do
    if swizzle ~= tile.swizzle then
      local good, other = pcall(wg.tile, spec(tile, swizzle))
      if good then
        add("swizzle of a buffer", "swizzle " .. swizzle, with(1, type(given) == "userdata" and other or with_field(given, "tile", other)))
      end
    end
  end
end

local element_bytes = { f32 = 4, tf32 = 4, s32 = 4, u32 = 4, f16 = 2, bf16 = 2, e4m3 = 1, e5m2 = 1, s8 = 1, u8 = 1 }
local width = { none = 1 << 30, ["32B"] = 32, ["64B"] = 64, ["128B"] = 128 }

local function tensor_map(event)
  local given = event.arguments[2]
  local box = given
  local tile = type(given) == "userdata" and given or given.tile
  if tile then
    box = { dtype = tile.dtype, box = { tile.tma_box.inner, tile.tma_box.outer }, swizzle = tile.swizzle,
      constant = type(given) == "table" and given.constant or nil }
  end
  for _, swizzle in ipairs(swizzles) do
    if swizzle ~= (box.swizzle or "none") and box.box[1] * element_bytes[box.dtype or "bf16"] <= width[swizzle] then
      add("swizzle of a tensor map", "swizzle " .. swizzle, with(2, with_field(box, "swizzle", swizzle)))
    end
  end
  for dimension, extent in ipairs(box.box) do
    for what, changed in pairs { half = extent // 2, double = 2 * extent } do
      if changed > 0 then
        local extents = { table.unpack(box.box) }
        extents[dimension] = changed
        add("box of a tensor map", ("%s of dimension %d"):format(what, dimension - 1), with(2, with_field(box, "box", extents)))
      end
    end
  end
end

-- Without its guard, a call is made by all who come by.
local function guard(event)
  local options, position = options_of(event)
  if options.guard then add("guard", "guard left out", with_option(position, "guard", nil)) end
  if options.guard_not then add("guard", "guard left out", with_option(position, "guard_not", nil)) end
end

local function threads(event)
  local options, position = options_of(event)
  if not is_integer(options.threads) then return end
  for _, by in ipairs { 32, -32 } do
    add("count", ("%d threads"):format(options.threads + by), with_option(position, "threads", options.threads + by))
  end
end

local function parity(event)
  add("parity", "parity flipped", with(2, function(value, k)
    if is_integer(value) then return 1 - value end
    return trace.quietly(function() return k:xor(value, 1) end)
  end))
end

local function removed(kind) return function() add("deleted " .. kind, "left out", left_out) end end

-- By the name of the call, the first pattern that fits.
local laws = {
  { "^wgmma_fence", removed "fence" },
  { "^wgmma_commit", removed "commit" },
  { "^wgmma_wait", removed "wait", function(e) number_at(e, 1, "wait weakened", { one_more }) end },
  { "^fence_proxy_async", removed "fence", function(event)
    local options, position = options_of(event)
    if options.space ~= "global" then add("fence weakened", "space global", with_option(position, "space", "global")) end
  end, guard },
  { "^fence_", removed "fence", guard },
  { "^bar_warp_sync", removed "barrier" },
  { "^bar_", removed "barrier", threads, function(e)
    number_at(e, 1, "barrier's id", { { "the next id", function(n) return n + 1 end } })
  end },
  { "^barrier_cluster", removed "barrier" },
  { "^mbarrier_init", removed "mbarrier.init", function(e) number_at(e, 2, "count", count_off) end, guard },
  { "^mbarrier_inval", removed "mbarrier.inval" },
  { "^mbarrier_arrive_expect_tx", removed "expect_tx", function(e) number_at(e, 2, "bytes", bytes_off) end, guard },
  { "^mbarrier_expect_tx", removed "expect_tx", function(e) number_at(e, 2, "bytes", bytes_off) end, guard },
  { "^mbarrier_arrive", removed "arrive", function(e) number_at(e, 2, "count", count_off) end, function()
    add("count", "arrives twice", function(original, ...)
      original(...)
      return original(...)
    end)
  end, guard },
  { "^mbarrier_wait$", removed "wait" },
  { "^mbarrier_try_wait_parity", parity }, { "^mbarrier_test_wait_parity", parity },
  { "^cp_async_bulk_commit", removed "commit", guard },
  { "^cp_async_bulk_wait", removed "wait", function(event)
    number_at(event, 1, "wait weakened", { one_more })
    local options, position = options_of(event)
    if not options.read then add("wait weakened", "read", with_option(position, "read", true)) end
  end, guard },
  { "^cp_async_bulk", removed "copy", function(e)
    if not e.name:find "tensor" then number_at(e, 3, "bytes", bytes_off) end
  end, guard },
  { "^cp_async_commit", removed "commit" }, { "^cp_async_wait_all", removed "wait" },
  { "^cp_async_wait", removed "wait", function(e) number_at(e, 1, "wait weakened", { one_more }) end },
  { "^cp_async_mbarrier", removed "arrive" },
  { "^cp_async", removed "copy" },
  { "^setmaxnreg", removed "setmaxnreg", function(e)
    number_at(e, 1, "count", { { "8 more", function(n) return n + 8 end }, { "8 less", function(n) return n - 8 end } })
  end },
  { "^griddepcontrol_wait", removed "wait" }, { "^griddepcontrol_launch", removed "arrive" },
  { "^matrix_descriptor", function(event)
    for _, name in ipairs { "LBO", "SBO", "base", "swizzle" } do
      local variants = name == "swizzle" and { 1, 2, 3 } or name == "base" and { 1 } or { -1, 1 }
      for _, by in ipairs(variants) do
        local change = changed_field(name, function(value) return name == "swizzle" and value ~ by or value + by end)
        number_at(event, 2, "descriptor", { { ("%s %+d"):format(name, by), change } })
      end
    end
    for _, bytes in ipairs { 16, 128, 1024 } do
      add("descriptor", ("start + %d bytes"):format(bytes), with(1, function(address, k)
        return trace.quietly(function() return k:add(address, bytes) end)
      end))
    end
  end },
  { "^tensor_map$", tensor_map }, { "^tile$", tile_itself }, { "^shared$", tile_of_buffer },
}

--- The mutants of one event, and of its swap with `following`, the next one: { kind, what, change }.
function mutations.of(event, following)
  out = {}
  for _, law in ipairs(laws) do
    if event.name:find(law[1]) then
      for i = 2, #law do law[i](event) end
      break
    end
  end
  if following and event.void and not event.nested and event.class ~= "control" and event.class ~= "other"
    and (event.class == "ordering" or following.class == "ordering") then
    add("swapped", "after " .. following.name, function(original, ...)
      local arguments = table.pack(...)
      trace.put_off(function() original(table.unpack(arguments, 1, arguments.n)) end)
    end)
  end
  return out
end

return mutations
