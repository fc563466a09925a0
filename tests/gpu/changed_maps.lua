-- Tensor maps that kernels change, on the chip beside the simulator: tensormap.replace of every field, in shared memory with
-- tensormap.cp_fenceproxy and in global memory with fences, and copies through the map in the same launch and in the next.
--   wgrun tests/gpu/changed_maps.lua
-- Without a device the simulator stands in the chip's place. Exit code 5 when one case differs.
local wg = require "wgrun"
local beside = dofile((arg[0]:match ".*/" or "") .. "beside.lua")
local threads, bytes <const> = 32, 16384 -- of shared memory that is looked at

-- The map that is a parameter becomes memory, changed by `change(k, map, value)`: `value` takes the method's name, its
-- arguments and where the map is.
local function copy_of_map(k, map, to, where)
  local lane = k:special "tid.x"
  k:if_(lane:lt(8), function()
    local words = k:ld_v4_b32(map + k:cvt_u64_u32(lane * 16))
    if where == "shared" then
      k:st_shared_v4_b32(k:address(to, lane * 16), words)
    else
      k:st_global_v4_b32(to + k:cvt_u64_u32(lane * 16), words)
    end
  end)
  k:bar_warp_sync()
end

-- Writes the changed map to `maps`, by way of shared memory or in place.
local function change_map(k, map, maps, where, change)
  local lane = k:special "tid.x"
  if where == "shared" then
    local own = k:shared { bytes = 128, align = 128, name = "own" }
    copy_of_map(k, map, own, "shared")
    k:if_(lane:eq(0), function()
      change(k, function(field, ...) k["tensormap_replace_" .. field .. "_shared_cta"](k, own, ...) end)
    end)
    k:bar_warp_sync()
    k:tensormap_cp_fenceproxy(maps, own)
  else
    copy_of_map(k, map, maps, "global")
    k:if_(lane:eq(0), function()
      change(k, function(field, ...) k["tensormap_replace_" .. field .. "_global"](k, maps, ...) end)
      k:fence_proxy_tensormap_release()
    end)
    k:bar_warp_sync()
  end
end

-- Loads a box at `place` through the map in memory, and stores all of shared memory to out.
local function load_box(k, maps, place, size, out)
  local lane = k:special "tid.x"
  local tile = k:shared { bytes = bytes, align = 1024, name = "tile" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local paint, start = k:mov(0xEEEEEEEE, { type = "u32" }), k:mov(tile, { type = "u32" })
  k:loop(bytes // 4 // threads, function(i) k:st_shared_u32(k:mad_lo_u32(lane + i * threads, 4, start), paint) end)
  k:if_(lane:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
  end)
  k:fence_proxy_async()
  k:bar_warp_sync()
  k:if_(lane:eq(0), function()
    k:fence_proxy_tensormap_acquire(maps)
    local at = {}
    for d, x in ipairs(place) do at[d] = k:mov(x, { type = "s32" }) end
    k:mbarrier_arrive_expect_tx(full, size)
    k[("cp_async_bulk_tensor_%dd"):format(#place)](k, tile, maps, at, full)
  end)
  k:mbarrier_wait(full, 0)
  k:loop(bytes // 4 // threads, function(i)
    local word = lane + i * threads
    k:st_global_u32(k:element(out, word), k:ld_shared_u32(k:mad_lo_u32(word, 4, start)))
  end)
end

-- What comes, where a line tells it: line r and column c of the box, from the 64 x 64 words of the tensor.
local wanted = {
  address = function(X, r, c) return X[{ 16 + 4 + r, 16 + c }] end,
  extents = function(X, r, c) return r < 3 and c < 16 and X[{ 4 + r, 32 + c }] or 0 end,
  strides = function(X, r, c) return X[{ 2 * (3 + r), c }] end,
  steps = function(X, r, c) return X[{ 5 + 2 * r, c }] end,
  ["in the launch before"] = function(X, r, c) return r < 3 and X[{ 1 + 2 + r, c }] or 0 end,
}
local function differs(name, results)
  local want = wanted[name:match "^(.-) in %l+ memory$" or name]
  for _, out in ipairs(want and results or {}) do
    local X = wg.randint { shape = { 64, 64 }, dtype = "u32", lo = 1, hi = 100, seed = 4096 }
    for r = 0, 3 do
      for c = 0, 31 do
        if out[r * 32 + c] ~= want(X, r, c) then
          return beside.wrongly("WRONG", "%s: line %d, column %d is %d, expected %d", name, r, c, out[r * 32 + c], want(X, r, c))
        end
      end
    end
  end
  if not beside.on_chip then return end
  local count, first = 0, nil
  for i = 0, #results[1] - 1 do
    local x, y = results[1][i], results[2][i]
    if x ~= y then
      count = count + 1
      first = first or ("%d: %08x, simulator %08x"):format(i, x, y)
    end
  end
  if count > 0 then beside.wrongly("DIFFERS", "%s: %d of %d words; first %s", name, count, #results[1], first) end
end

local function try(name, run)
  local results = beside.each(name, function(where)
    local out = wg.zeros("u32", { bytes // 4 })
    run(where, out)
    return out
  end)
  if results then differs(name, results) end
end

local function data(type, shape)
  local all = 1
  for _, n in ipairs(shape) do all = all * n end
  local t = wg.randint { shape = shape, dtype = type, lo = 1, hi = 100, seed = all }
  return t
end

-- Each: the map that the parameter has, what changes, where the box begins, the bytes that come.
local forms = {
  { "address", { 32, 8 }, { 64, 64 }, function(k, set, X) set("global_address", X + 16 * 256) end, { 16, 4 }, 1024 },
  { "extents", { 32, 8 }, { 64, 64 }, function(k, set)
    set("global_dim", 0, 48)
    set("global_dim", 1, 7)
  end, { 32, 4 }, 1024 },
  { "strides", { 32, 8 }, { 64, 64 }, function(k, set)
    set("global_stride", 0, k:mov(512, { type = "u64" }))
    set("global_dim", 1, 32)
  end, { 0, 3 }, 1024 },
  { "box", { 32, 8 }, { 64, 64 }, function(k, set)
    set("box_dim", 0, 16)
    set("box_dim", 1, 20)
  end, { 0, 50 }, 1280 },
  { "swizzle", { 32, 8 }, { 64, 64 }, function(k, set) set("swizzle_mode", 3) end, { 0, 0 }, 1024 },
  { "swizzle 64B", { 16, 8 }, { 64, 64 }, function(k, set) set("swizzle_mode", 2) end, { 4, 1 }, 512 },
  { "elements", { 32, 8 }, { 64, 64 }, function(k, set)
    set("elemtype", 0)
    set("global_dim", 0, 250)
  end, { 240, 0 }, 256 },
  { "fill", { 32, 8 }, { 64, 64 }, function(k, set)
    set("elemtype", 7)
    set("fill_mode", 1)
  end, { 48, 60 }, 1024 },
  { "rank", { 32, 8 }, { 64, 64 }, function(k, set)
    set("rank", 2)
    set("global_dim", 1, 8)
    set("global_dim", 2, 8)
    set("global_stride", 1, k:mov(2048, { type = "u64" }))
    set("box_dim", 1, 3)
    set("box_dim", 2, 4)
    set("element_stride", 2, 1)
  end, { 0, 1, 2 }, 32 * 4 * 12 },
  { "steps", { 32, 8 }, { 64, 64 }, function(k, set) set("element_stride", 1, 2) end, { 0, 5 }, 512 },
  { "steps of 3", { 32, 8 }, { 64, 64 }, function(k, set) set("element_stride", 1, 3) end, { 0, 58 }, 384 },
}
for _, where in ipairs { "shared", "global" } do
  for _, form in ipairs(forms) do
    local name, box, shape, change, place, size = table.unpack(form)
    local function declare(k)
      local map = k:tensor_map("X", { dtype = "u32", box = box })
      return map, k:param("plain", "const u32*"), k:param("maps", "u8*")
    end
    local both = wg.kernel("both", { threads = threads }, function(k)
      local map, plain, maps = declare(k)
      local out = k:param("out", "u32*")
      change_map(k, map, maps, where, function(_, set) change(k, set, plain) end)
      load_box(k, maps, place, size, out)
    end)
    try(name .. " in " .. where .. " memory", function(backend, out)
      local X = data("u32", shape)
      both:run { grid = 1, args = { X, X, wg.zeros("u8", { 128 }), out }, backend = backend, timeout_ms = 5000 }
    end)
  end
end

-- The map is changed by one launch, and the next copies through it: with a device tensor, so that it stays in place.
local changes = wg.kernel("changes", { threads = threads }, function(k)
  local map, plain, maps = k:tensor_map("X", { dtype = "u32", box = { 32, 8 } }), k:param("plain", "const u32*"), k:param("maps", "u8*")
  change_map(k, map, maps, "shared", function(_, set)
    set("global_address", plain + 256)
    set("global_dim", 1, 5)
  end)
end)
local copies = wg.kernel("copies", { threads = threads }, function(k)
  local out, maps, X = k:param("out", "u32*"), k:param("maps", "u8*"), k:param("X", "const u32*")
  k:prefetch_global_L2(X)
  load_box(k, maps, { 0, 2 }, 1024, out)
end)
try("in the launch before", function(backend, out)
  local X, maps = data("u32", { 64, 64 }), wg.zeros("u8", { 128 })
  if backend == "gpu" then X, maps = X:to "gpu", maps:to "gpu" end
  changes:run { grid = 1, args = { X, X, maps }, backend = backend, timeout_ms = 5000 }
  copies:run { grid = 1, args = { out, maps, X }, backend = backend, timeout_ms = 5000 }
end)

beside.finish()
