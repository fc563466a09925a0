-- WG-RACE-01, broken: a lane overwrites what other lanes of its warp read, and nothing orders the two: shfl.sync does not.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local S = k:shared { bytes = 128, name = "S" }
  local lane = k:special "laneid"
  local base = k:mov(S, { type = "u32" })
  k:st_shared_f32(k:mad_lo_u32(lane, 4, base), 1)
  k:bar_warp_sync()
  local x = k:ld_shared_f32(base)
  x = k:shfl_sync_idx_b32(x, 0, 31)
  k:st_shared_f32(base, 2, { guard = lane:eq(0) }) -- EXPECT IN RUN: WG-RACE-01 -- EXPECT: WG-RACE-01
  k:st_global_f32(k:element(X, lane), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
