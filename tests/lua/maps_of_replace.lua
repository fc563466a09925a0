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
