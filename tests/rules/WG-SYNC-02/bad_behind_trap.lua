-- Whether a thread traps, memory decides; what is wrong where it does not, is found all the same.
local wg = require "wgrun"

wg.kernel("case", { threads = 128 }, function(k)
  local X, tid = k:param("X", "u32*"), k:special "tid.x"
  k:if_(k:ld_global_u32(X):ne(64), function() k:trap "64 is expected" end)
  k:if_(tid:lt(32), function() k:bar_sync(2, { threads = 128 }) end) -- EXPECT: WG-SYNC-02
end)
wg.kernel("else", { threads = 128 }, function(k)
  local X, tid = k:param("X", "u32*"), k:special "tid.x"
  k:if_(k:ld_global_u32(X):ne(64), function() k:trap() end, function() k:bar_sync(1, { threads = 256 }) end) -- EXPECT: WG-SYNC-02
end)
