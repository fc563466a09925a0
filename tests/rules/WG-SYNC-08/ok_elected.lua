-- One of the lanes that happen to be in a branch speaks for them all.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, C = k:param("X", "const u32*"), k:param("C", "u32*")
  local x = k:ld_global_u32(k:element(X, k:special "tid.x"))
  k:if_(x:gt(2), function()
    local mask = k:activemask()
    k:if_(k:elect_sync(mask), function() k:red_global_add_u32(k:element(C, 0), k:popc_b32(mask)) end)
  end)
end)
local X = wg.zeros("u32", 64)
for i = 0, 63 do X[i] = i % 5 end
kernel:run { grid = { 1 }, args = { X, wg.zeros("u32", 1) } }
