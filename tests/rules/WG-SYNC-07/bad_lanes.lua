-- WG-SYNC-07, broken by one lane of one warp, in a cycle of three turns.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X = k:param("X", "u32*")
  local tid = k:special "tid.x"
  local n = k:mov(tid)
  k:if_(tid:ge(40), function()
    k:while_(function() return n:ne(40) end, function() -- EXPECT IN RUN: WG-SYNC-07 -- EXPECT: WG-SYNC-07
      n:set(n + 1)
      k:if_(n:eq(64), function() n:set(61) end)
    end)
  end)
  k:st_global_u32(k:element(X, tid), n)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 64 }) } }
