-- The lanes depend on what is loaded: only a run knows them.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local limit, lane = k:ld_global_u32(k:param("limit", "const u32*")), k:special "laneid"
  k:if_(lane:lt(limit), function()
    k:bar_warp_sync() -- EXPECT IN RUN: WG-SYNC-08
    local votes = k:vote_sync_ballot_b32(lane:lt(3)) -- EXPECT IN RUN: WG-SYNC-08
    k:st_global_u32(k:element(k:param("V", "u32*"), lane), votes)
  end)
  k:st_global_u32(k:element(k:param("L", "u32*"), lane), lane) -- lanes that have ended would be missed by nobody
end)
kernel:run { grid = { 1 }, args = { wg.tensor("u32", { 1 }, { 5 }), wg.zeros("u32", 32), wg.zeros("u32", 32) } }
