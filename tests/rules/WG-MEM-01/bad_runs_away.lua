-- An index that leaves the tensor and comes back after billions of turns: that is said, and does not take for ever.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local Y, i = k:param("Y", "u32*"), k:mov(3, { type = "u32" })
  k:while_(function() return i:ne(4) end, function()
    k:st_global_u32(k:element(Y, i), 1) -- EXPECT: WG-MEM-01
    k:sub(i, i, 1)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 4) } }
