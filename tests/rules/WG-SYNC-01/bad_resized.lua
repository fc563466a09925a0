-- WG-SYNC-01, broken: setmaxnreg by warps that memory chooses.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local X = k:param("X", "const u32*")
  k:if_(k:ld_global_u32(k:element(X, k:special "tid.x" >> 5)):eq(0), function()
    k:setmaxnreg_dec(40) -- EXPECT IN RUN: WG-SYNC-01
  end)
end)
local X = wg.zeros("u32", 8)
X[5] = 1
kernel:run { grid = { 1 }, args = { X } }
