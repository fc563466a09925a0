-- WG-RACE-04, broken: a device updates a place in the scope of one device, and then in that of the system, which does not make up for it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local sums, rank = k:param("sums", "u32*"), k:param("rank", "u32")
  local sum = k:element(sums, k:special "tid.x")
  k:if_(rank:eq(0), function()
    k:red_global_add_u32(sum, 1, { sem = "relaxed.gpu" })
    k:red_global_add_u32(sum, 1, { sem = "relaxed.sys" })
  end, function()
    k:red_global_add_u32(sum, 1, { sem = "relaxed.sys" }) -- EXPECT IN RUN: WG-RACE-04
  end)
end)
local sums = wg.zeros("u32", { 32 })
kernel:run { devices = { { sums, 0 }, { sums, 1 } } }
