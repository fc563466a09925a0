-- Groups of eight meet by membermasks of their own, and not with the neighbours of another group.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local S = k:shared { bytes = 128, align = 16, name = "S" }
  local lane = k:special "laneid"
  local mask = k:shl_b32(k:mov(0xFF, { type = "u32" }), lane & 24)
  local wrong = k:selp(0xFFFF, mask, lane:lt(8), { type = "u32" })
  k:bar_warp_sync(wrong) -- EXPECT: WG-SYNC-08
  k:st_shared_u32(k:mad_lo_u32(lane, 4, k:mov(S, { type = "u32" })), lane)
end)
kernel:run { grid = { 1 }, args = {} }
