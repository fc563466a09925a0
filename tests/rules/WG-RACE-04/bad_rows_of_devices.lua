-- WG-RACE-04, broken: one device gets a tensor, and the other one a view of its second row; nothing orders them there.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y, column, rank = k:param("X", "u32*"), k:param("Y", "u32*"), k:special "tid.x", k:param("rank", "u32")
  k:if_(rank:eq(0), function() k:st_global_u32(k:element(X, column + 32), 7) end, function()
    k:st_global_u32(k:element(Y, column), k:ld_global_u32(k:element(X, column))) -- EXPECT IN RUN: WG-RACE-04
  end)
end)
local X, Y = wg.zeros("u32", { 2, 32 }), wg.zeros("u32", { 32 })
kernel:run { devices = { { X, Y, 0 }, { X:rows(1, 2), Y, 1 } } }
