-- WG-TRAP-01, broken: by trap itself.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X = k:param("X", "const u32*")
  k:if_(k:ld_global_u32(X):eq(0), function()
    k:trap() -- EXPECT IN RUN: WG-TRAP-01
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 1) } }
