-- WG-RACE-01, broken: a lane reads what another lane of its warp wrote, and nothing orders the two.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local S = k:shared { bytes = 128, name = "S" }
  local lane = k:special "laneid"
  local base = k:mov(S, { type = "u32" })
  k:st_shared_f32(k:mad_lo_u32(lane, 4, base), 1)
  local x = k:ld_shared_f32(k:mad_lo_u32(lane ~ 1, 4, base)) -- EXPECT IN RUN: WG-RACE-01 -- EXPECT: WG-RACE-01
  k:st_global_f32(k:element(X, lane), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
