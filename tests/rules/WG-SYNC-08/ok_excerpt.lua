-- WG-SYNC-08, kept: The lanes that execute shfl, vote, match, redux or bar.warp.sync have the same membermask, which names each of them, and all that it names execute the step.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 80 }, function(k)
  local out, lane, thread = k:param("out", "u32*"), k:special "laneid", k:special "tid.x"
  k:if_(thread:lt(64), function()
    k:if_(lane:lt(16), function()
      local sum = k:redux_sync_add_u32(lane, { membermask = 0xFFFF })
      k:st_global_u32(k:element(out, thread), sum)
    end, function()
      k:bar_warp_sync(0xFFFF0000)
    end)
  end)
  k:bar_warp_sync() -- the last warp has 16 lanes
  local few = lane:lt(8)
  local votes = k:vote_sync_ballot_b32(lane:eq(3), { guard = few, membermask = 0xFF })
  -- Lanes that have ended are named in vain.
  k:if_(lane:ge(4), function() k:exit() end)
  k:bar_warp_sync()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 80 }) } }
