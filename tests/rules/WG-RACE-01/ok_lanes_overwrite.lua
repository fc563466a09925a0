-- WG-RACE-01, kept: lanes of a warp meet between a read and another lane's write; a lane overwrites what it read itself.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local S = k:shared { bytes = 256, name = "S" }
  local lane = k:special "laneid"
  local base = k:mov(S, { type = "u32" })
  local own = k:mad_lo_u32(lane, 8, base)
  k:st_shared_f32(own, 1)
  local mine = k:ld_shared_f32(own)
  k:st_shared_f32(own, mine)
  k:bar_warp_sync()
  local x = k:ld_shared_f32(base)
  k:bar_warp_sync()
  k:st_shared_f32(base, 2, { guard = lane:eq(0) })
  k:bar_warp_sync()
  k:add(x, x, k:ld_shared_f32(base))
  k:st_global_f32(k:element(X, lane), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
