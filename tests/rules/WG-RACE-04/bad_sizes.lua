-- A strong load of another size than the atomics beside it: nothing says which of their bytes it finds (PTX ISA 8.7).
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local C, Y = k:param("C", "u64*"), k:param("Y", "u64*")
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function() k:red_global_add_u32(C, 1) end)
  k:bar_warp_sync()
  k:if_(thread:eq(32), function() k:st_global_u64(Y, k:ld_relaxed_gpu_global_u64(C)) end) -- EXPECT: WG-RACE-04
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u64", 1), wg.zeros("u64", 1) } }
