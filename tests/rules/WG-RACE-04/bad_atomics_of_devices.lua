-- WG-RACE-04, broken: atomics of two devices meet, and their scope is one device.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local sums = k:param("sums", "u32*")
  k:red_global_add_u32(k:element(sums, k:special "tid.x"), 1) -- EXPECT IN RUN: WG-RACE-04
end)
local sums = wg.zeros("u32", { 32 })
kernel:run { devices = { { sums }, { sums } } }
