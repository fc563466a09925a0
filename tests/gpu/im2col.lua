-- Copies of pixels (im2col) on the chip beside the simulator and a reference, bit for bit: loads with offsets, steps, swizzles
-- and multicast, stores and reductions, of tensors of 3, 4 and 5 dimensions, within and across lines, images and edges.
--   wgrun tests/gpu/im2col.lua [--samples 12] [--below]
-- Without a device the simulator stands in the chip's place. --below: what a store does that starts below 0. Exit code 5 when
-- one case differs.
local wg = require "wgrun"
local beside = dofile((arg[0]:match ".*/" or "") .. "beside.lua")
local samples, below = 12, false
for i, word in ipairs(arg) do
  if word == "--samples" then samples = math.tointeger(tonumber(arg[i + 1])) end
  below = below or word == "--below"
end
local threads <const> = 32

local state = 12345
local function random(lo, hi)
  state = (state * 1103515245 + 12345) & 0x7FFFFFFF
  return lo + (state >> 8) % (hi - lo + 1)
end

local widths = { none = 0, ["32B"] = 32, ["64B"] = 64, ["128B"] = 128 }

-- A tensor, its corners and where a copy begins: `extents` are channels, W, H, D as far as there are, and images.
local function sample(rank)
  local spatial = rank - 2
  local s = { rank = rank, extents = { 16 }, lower = {}, upper = {}, steps = { 1 }, at = { 4 * random(0, 2) }, offsets = {} }
  for d = 1, spatial do
    s.extents[d + 1] = random(3, 7)
    s.lower[d] = -random(0, 2)
    s.upper[d] = -random(0, 1)
    s.steps[d + 1] = random(1, 4) == 1 and 2 or 1
    s.offsets[d] = random(0, 2)
    local last = s.extents[d + 1] - 1 + s.upper[d]
    s.at[d + 1] = random(s.lower[d], last)
  end
  s.extents[rank], s.steps[rank] = random(2, 3), 1
  s.at[rank] = random(0, s.extents[rank] - 1)
  s.channels, s.pixels = 4 * random(1, 3), random(5, 40)
  s.swizzle = ({ "none", "none", "32B", "64B", "128B" })[random(1, 5)]
  if widths[s.swizzle] ~= 0 and s.channels * 4 > widths[s.swizzle] then s.channels = widths[s.swizzle] // 4 end
  s.fill = random(1, 4) == 1
  return s
end

local function shape(s)
  local out = {}
  for d = #s.extents, 1, -1 do out[#out + 1] = s.extents[d] end
  return out
end
local function elements(s)
  local all = 1
  for _, n in ipairs(s.extents) do all = all * n end
  return all
end
local function map_of(s, type)
  return { dtype = type or "f32", box = { s.channels, s.pixels }, swizzle = s.swizzle, lower = s.lower, upper = s.upper, steps = s.steps,
    nan_fill = type == nil and s.fill }
end
local function pitch(s) return math.max(s.channels * 4, widths[s.swizzle]) end

-- Calls f(element of the tensor or nil, word of shared memory) for each element of the copy.
local function walk(s, offsets, f)
  local x, rank = table.move(s.at, 1, s.rank, 1, {}), s.rank
  for pixel = 0, s.pixels - 1 do
    local inside, index, stride = true, 0, s.extents[1]
    for d = 2, rank do
      local y = x[d] + (d < rank and offsets[d - 1] or 0)
      inside = inside and y >= 0 and y < s.extents[d]
      index = index + y * stride
      stride = stride * s.extents[d]
    end
    for c = 0, s.channels - 1 do
      local byte = pixel * pitch(s) + c * 4
      if s.swizzle == "128B" then byte = byte ~ (byte >> 3 & 0x70)
      elseif s.swizzle == "64B" then byte = byte ~ (byte >> 3 & 0x30)
      elseif s.swizzle == "32B" then byte = byte ~ (byte >> 3 & 0x10) end
      local channel = s.at[1] + c
      f(inside and channel < s.extents[1] and index + channel or nil, byte // 4)
    end
    local d = 2
    while d < rank do
      x[d] = x[d] + s.steps[d]
      if x[d] <= s.extents[d] - 1 + s.upper[d - 1] then break end
      x[d] = s.lower[d - 1]
      d = d + 1
    end
    if d == rank then x[rank] = x[rank] + 1 end
  end
end

local function words(k, buffer, count, f) -- by the threads of a warp
  local lane, start = k:special "tid.x", k:mov(buffer, { type = "u32" })
  k:loop((count + threads - 1) // threads, function(i)
    local word = lane + i * threads
    k:if_(word:lt(count), function() f(word, k:mad_lo_u32(word, 4, start)) end)
  end)
end
local function list(k, values, type)
  local out = {}
  for i, x in ipairs(values) do out[i] = k:mov(x, { type = type }) end
  return out
end

-- Loads, with a multicast to both CTAs of a cluster from the first of them.
local function loads(s, cast)
  local size = pitch(s) * s.pixels
  return wg.kernel("loads", { threads = threads, cluster = { cast and 2 or 1 } }, function(k)
    local map, out = k:tensor_map("X", map_of(s)), k:param("out", "u32*")
    local tile = k:shared { bytes = size, align = 1024, name = "tile" }
    local full = k:shared { bytes = 8, align = 8, name = "full" }
    local first, rank = k:special("tid.x"):eq(0), k:special "cluster_ctarank"
    words(k, tile, size // 4, function(_, at) k:st_shared_u32(at, 0xEEEEEEEE) end)
    k:if_(first, function()
      k:mbarrier_init(full, 1)
      k:fence_mbarrier_init()
      k:mbarrier_arrive_expect_tx(full, s.channels * 4 * s.pixels)
    end)
    k:fence_proxy_async()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
    k:if_(cast and (first & rank:eq(0)) or first, function()
      local at, offsets = list(k, s.at, "s32"), list(k, s.offsets, "u16")
      k[("cp_async_bulk_prefetch_tensor_im2col_%dd"):format(s.rank)](k, map, at, offsets)
      k[("cp_async_bulk_tensor_im2col_%dd"):format(s.rank)](k, tile, map, at, full, offsets, cast and { mask = 3 } or {})
    end)
    k:mbarrier_wait(full, 0)
    words(k, tile, size // 4, function(word, at) k:st_global_u32(k:element(out, word + rank * (size // 4)), k:ld_shared_u32(at)) end)
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end), size // 4
end

-- Stores or adds words that are 1000 and their number.
local function stores(s, method, type)
  local size = pitch(s) * s.pixels
  return wg.kernel("stores", { threads = threads }, function(k)
    local map = k:tensor_map("X", map_of(s, type))
    local tile = k:shared { bytes = size, align = 1024, name = "tile" }
    words(k, tile, size // 4, function(word, at) k:st_shared_u32(at, word + 1000) end)
    k:fence_proxy_async()
    k:bar_warp_sync()
    k:if_(k:special("tid.x"):eq(0), function()
      k[method](k, map, list(k, s.at, "s32"), tile)
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end)
  end)
end

local function compare(name, kernel, grid, make, want)
  for i, result in ipairs(beside.run(name, kernel, { grid }, make) or {}) do
    local out = result:reshape { #result }
    local count, first = 0, nil
    for i = 0, #out - 1 do
      if out[i] ~= want[i] then
        count = count + 1
        first = first or ("%d: %s, expected %s"):format(i, out[i], want[i])
      end
    end
    if count > 0 then
      return beside.wrongly("DIFFERS", "%s, %s: %d of %d words; first %s", name, i == 2 and "simulator" or beside.backend, count, #out, first)
    end
  end
end

local function text(s)
  return ("%dd {%s} corners {%s} {%s} steps {%s} at {%s} offsets {%s}, %d channels, %d pixels, swizzle %s"):format(s.rank,
    table.concat(s.extents, ","), table.concat(s.lower, ","), table.concat(s.upper, ","), table.concat(s.steps, ","),
    table.concat(s.at, ","), table.concat(s.offsets, ","), s.channels, s.pixels, s.swizzle)
end

for rank = 3, 5 do
  for i = 1, samples do
    local s = sample(rank)
    local X = wg.zeros("f32", shape(s))
    local flat = X:reshape { elements(s) }
    for e = 0, elements(s) - 1 do flat[e] = e + 1 end
    local cast = i % 4 == 0
    local kernel, count = loads(s, cast)
    local want = {}
    for w = 0, count - 1 do want[w] = 0xEEEEEEEE end
    walk(s, s.offsets, function(from, to)
      want[to] = from and string.unpack("<I4", string.pack("<f", from + 1)) or (s.fill and 0x7FF77FF7 or 0)
    end)
    if cast then for w = 0, count - 1 do want[count + w] = want[w] end end
    compare("load of " .. text(s), kernel, cast and 2 or 1, function() return { X, wg.zeros("u32", { (cast and 2 or 1) * count }) } end, want)

    -- Stores: no pixel twice, none below 0.
    for d = 1, rank - 2 do
      if not below then s.lower[d] = 0 end
      s.at[d + 1] = math.max(s.at[d + 1], s.lower[d])
    end
    local none = { 0, 0, 0 }
    for _, way in ipairs { "store", "add", "max" } do
      local method = way == "store" and ("cp_async_bulk_tensor_store_im2col_%dd"):format(rank)
        or ("cp_reduce_async_bulk_tensor_im2col_%dd_%s"):format(rank, way)
      local function make()
        local D = wg.zeros("u32", shape(s))
        local line = D:reshape { elements(s) }
        for e = 0, elements(s) - 1 do line[e] = 3 * e end
        return { D }
      end
      local stored = {}
      for e = 0, elements(s) - 1 do stored[e] = 3 * e end
      walk(s, none, function(to, from)
        if not to then return end
        local x = from + 1000
        stored[to] = way == "store" and x or way == "add" and stored[to] + x or math.max(stored[to], x)
      end)
      compare(way .. " of " .. text(s), stores(s, method, "u32"), 1, make, stored)
    end
  end
end

beside.finish()
