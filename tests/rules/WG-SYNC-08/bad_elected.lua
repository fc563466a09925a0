-- elect.sync by lanes that its mask does not name; and in a branch that not all of them take.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local Y, lane = k:param("Y", "u32*"), k:special "laneid"
  local p = k:elect_sync(0xFFFF) -- EXPECT: WG-SYNC-08
  k:if_(p, function() k:st_global_u32(k:element(Y, lane), 1) end)
  k:if_(lane:lt(8), function()
    local q = k:elect_sync() -- EXPECT: WG-SYNC-08
    k:if_(q, function() k:st_global_u32(k:element(Y, lane + 32), 1) end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 64) } }
