-- WG-RACE-01, kept: lanes of a warp meet between a write and another lane's read; one lane tells the others by an mbarrier.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local S = k:shared { bytes = 128, name = "S" }
  local lane = k:special "laneid"
  local base = k:mov(S, { type = "u32" })
  k:st_shared_f32(k:mad_lo_u32(lane, 4, base), 1)
  k:bar_warp_sync()
  local x = k:ld_shared_f32(k:mad_lo_u32(lane ~ 1, 4, base))
  local told, first = k:shared { bytes = 8, align = 8, name = "told" }, lane:eq(0)
  k:mbarrier_init(told, 1, { guard = first })
  k:bar_warp_sync()
  k:st_shared_f32(base, 2, { guard = first })
  k:mbarrier_arrive(told, { guard = first })
  k:mbarrier_wait(told, 0)
  k:add(x, x, k:ld_shared_f32(base))
  k:st_global_f32(k:element(X, lane), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
