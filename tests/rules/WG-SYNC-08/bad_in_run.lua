-- The lanes depend on what is loaded: only a run knows them.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local limit, lane = k:ld_global_u32(k:param("limit", "const u32*")), k:special "laneid"
  k:if_(lane:lt(limit), function()
    k:bar_warp_sync() -- EXPECT IN RUN: WG-SYNC-08
  end)
end)
kernel:run { grid = { 1 }, args = { wg.tensor("u32", { 1 }, { 5 }) } }
