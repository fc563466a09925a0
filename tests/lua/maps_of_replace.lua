-- Tensor maps that tensormap.replace alone makes: the simulator says what it does not copy, at the line of the copy.
local wg = require "wgrun"

local function copies(change)
  return wg.kernel("case", { threads = 32 }, function(k)
    local map, maps = k:tensor_map("X", { dtype = "u32", box = { 32, 1 } }), k:param("maps", "u8*")
    local own, full = k:shared { bytes = 128, align = 128 }, k:shared { bytes = 8, align = 8 }
    local tile = k:shared { bytes = 128, align = 128 }
    local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
    local first = thread:eq(0)
    k:mbarrier_init(full, 1, { guard = first })
    k:fence_mbarrier_init { guard = first }
    k:if_(thread:lt(8), function() k:st_shared_v4_b32(k:address(own, thread * 16), k:ld_v4_b32(map + k:cvt_u64_u32(thread * 16))) end)
    k:bar_warp_sync()
    change(k, own, first)
    k:bar_warp_sync()
    k:tensormap_cp_fenceproxy(maps, own)
    k:fence_proxy_tensormap_acquire(maps, { guard = first })
    k:mbarrier_arrive_expect_tx(full, 128, { guard = first })
    k:cp_async_bulk_tensor_2d(tile, maps, { zero, zero }, full, { guard = first })
    k:mbarrier_wait(full, 0)
  end)
end
local function refused(text, change)
  local ok, why = pcall(function()
    copies(change):run { grid = { 1 }, args = { wg.zeros("u32", { 8, 32 }), wg.zeros("u8", 128) }, backend = "sim" }
  end)
  assert(not ok, text .. " is copied")
  assert(tostring(why):find(text, 1, true) and why.line == 20, tostring(why))
end
refused("does not copy interleaved elements, which tensormap.replace", function(k, own, first)
  k:tensormap_replace_interleave_layout_shared_cta(own, 1, { guard = first })
end)
for _, element in ipairs { 1, 8, 12 } do
  refused("does not copy elements of u16, f32.ftz or tf32.ftz, which tensormap.replace", function(k, own, first)
    k:tensormap_replace_elemtype_shared_cta(own, element, { guard = first })
  end)
end

-- A map that tensormap.replace makes of zeros, field after field, as Triton's descriptors of the device are made.
local rows, columns = 6, 40
local fields = {
  { "global_address", function(k, own, X, o) k:tensormap_replace_global_address_shared_cta(own, X, o) end },
  { "rank", function(k, own, _, o) k:tensormap_replace_rank_shared_cta(own, 1, o) end },
  { "box_dim of dimension 0", function(k, own, _, o) k:tensormap_replace_box_dim_shared_cta(own, 0, 32, o) end },
  { "box_dim of dimension 1", function(k, own, _, o) k:tensormap_replace_box_dim_shared_cta(own, 1, 2, o) end },
  { "global_dim of dimension 0", function(k, own, _, o) k:tensormap_replace_global_dim_shared_cta(own, 0, columns - 1, o) end },
  { "global_dim of dimension 1", function(k, own, _, o) k:tensormap_replace_global_dim_shared_cta(own, 1, rows, o) end },
  { "global_stride", function(k, own, _, o) k:tensormap_replace_global_stride_shared_cta(own, 0, columns * 4, o) end },
  { "element_stride of dimension 0", function(k, own, _, o) k:tensormap_replace_element_stride_shared_cta(own, 0, 1, o) end },
  { "element_stride of dimension 1", function(k, own, _, o) k:tensormap_replace_element_stride_shared_cta(own, 1, 1, o) end },
  { "elemtype", function(k, own, _, o) k:tensormap_replace_elemtype_shared_cta(own, 2, o) end },
  { "interleave_layout", function(k, own, _, o) k:tensormap_replace_interleave_layout_shared_cta(own, 0, o) end },
  { "swizzle_mode", function(k, own, _, o) k:tensormap_replace_swizzle_mode_shared_cta(own, 0, o) end },
  { "fill_mode", function(k, own, _, o) k:tensormap_replace_fill_mode_shared_cta(own, 0, o) end },
}
local function made(without, word)
  return wg.kernel("made", { threads = 32 }, function(k)
    local X, maps, Y = k:param("X", "const u32*"), k:param("maps", "u8*"), k:param("Y", "u32*")
    local own, full = k:shared { bytes = 128, align = 128, name = "own" }, k:shared { bytes = 8, align = 8, name = "full" }
    local tile = k:shared { bytes = 256, align = 128, name = "tile" }
    local thread, eight = k:special "tid.x", k:mov(8, { type = "s32" })
    local first = thread:eq(0)
    k:mbarrier_init(full, 1, { guard = first })
    k:fence_mbarrier_init { guard = first }
    k:st_shared_b32(k:address(own, thread * 4), k:mov(word or 0, { type = "b32" }))
    k:bar_warp_sync()
    for _, field in ipairs(fields) do
      if field[1] ~= without then field[2](k, own, X, { guard = first }) end
    end
    k:bar_warp_sync()
    k:tensormap_cp_fenceproxy(maps, own)
    k:fence_proxy_tensormap_acquire(maps)
    k:mbarrier_arrive_expect_tx(full, 256, { guard = first })
    k:cp_async_bulk_tensor_2d(tile, maps, { eight, k:mov(3, { type = "s32" }) }, full, { guard = first })
    k:mbarrier_wait(full, 0)
    for row = 0, 1 do k:st_global_u32(k:element(Y, thread + 32 * row), k:ld_shared_u32(k:address(tile, thread * 4 + 128 * row))) end
  end)
end
local numbers = {}
for i = 1, rows * columns do numbers[i] = i end
local X = wg.tensor("u32", { rows, columns }, numbers)
local function run_made(kernel)
  local Y = wg.zeros("u32", { 2, 32 })
  kernel:run { grid = { 1 }, args = { X, wg.zeros("u8", 128), Y }, backend = "sim" }
  return Y
end
local Y = run_made(made())
for row = 0, 1 do
  for column = 0, 31 do
    local want = column + 8 < columns - 1 and (3 + row) * columns + column + 8 + 1 or 0
    assert(Y[{ row, column }] == want, ("row %d, column %d: %d, not %d"):format(row, column, Y[{ row, column }], want))
  end
end
-- Zeros are the right value of these.
for _, name in ipairs { "interleave_layout", "swizzle_mode", "fill_mode" } do assert(run_made(made(name)):totable()[1] == Y:totable()[1]) end
-- Of the others the copy tells which one is missing, or what comes of it.
local line = debug.getinfo(made, "S").linedefined + 18
for _, name in ipairs { "global_address", "box_dim of dimension 0", "box_dim of dimension 1", "global_dim of dimension 0", "global_dim of dimension 1",
  "element_stride of dimension 0", "element_stride of dimension 1" } do
  local ok, why = pcall(run_made, made(name))
  assert(not ok and tostring(why):find(name, 1, true), name .. ": " .. tostring(why))
  assert(why.line == line, tostring(why))
end
-- Without a rank it has one dimension, and without elements its rows are a quarter as wide.
for _, name in ipairs { "rank", "elemtype" } do
  local ok, why = pcall(run_made, made(name))
  assert(not ok and why.line == line, tostring(why))
end
-- What is neither zeros nor a map stays none.
local ok, why = pcall(run_made, made(nil, 7))
assert(not ok and tostring(why):find("is not a tensor map of the launch", 1, true), tostring(why))
