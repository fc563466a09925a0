-- WG-SYNC-06, broken: A thread that looks at memory until it changes finds the change.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local buffer = k:shared { bytes = 4, align = 4, name = "flag" }
  local flag = k:mov(buffer, { type = "u32" })
  k:if_(k:special "tid.x":eq(0), function() k:st_shared_u32(flag, 0) end)
  k:bar_sync(0)
  k:if_(k:special "tid.x":eq(32), function()
    k:st_release_cta_shared_u32(flag, 2)
  end)
  k:if_(k:special "tid.x":eq(0), function()
    k:while_(function() return k:ld_acquire_cta_shared_u32(flag):ne(1) end, function() end) -- EXPECT IN RUN: WG-SYNC-06
  end)
end)
kernel:run { grid = { 1 }, args = {} }
