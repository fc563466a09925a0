-- An unsigned number is never below 0: the loop goes on from 4294967295, each time with other registers.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local Y, i = k:param("Y", "u32*"), k:mov(3, { type = "u32" })
  k:while_(function() return i:ge(0) end, function() -- EXPECT: WG-SYNC-07
    k:sub(i, i, 1)
  end)
  k:st_global_u32(k:element(Y, k:special "tid.x"), i)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32) } }
