-- WG-SYNC-08, broken: The lanes that execute shfl, vote, match, redux or bar.warp.sync have the same membermask, which names each of them, and all that it names execute the step.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local out, lane = k:param("out", "u32*"), k:special "laneid"
  k:if_(lane:lt(16), function()
    local sum = k:redux_sync_add_u32(lane) -- EXPECT: WG-SYNC-08
    k:st_global_u32(k:element(out, k:special "tid.x"), sum)
  end)
  k:if_(lane:ge(16), function()
    k:bar_warp_sync(0xFFFF) -- EXPECT: WG-SYNC-08
  end)
  k:bar_warp_sync(lane | 0xFFFFFFF0) -- EXPECT: WG-SYNC-08
  local votes = k:vote_sync_ballot_b32(lane:eq(3), { guard = lane:lt(8) }) -- EXPECT: WG-SYNC-08
end)
