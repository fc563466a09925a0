-- WG-PERF-10, broken: An arrival at an mbarrier of the own CTA releases to the CTA.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local Y, thread = k:param("Y", "f32*"), k:special "tid.x"
  local values = k:shared { bytes = 128, align = 16, name = "values" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:if_(thread:eq(0), function() k:mbarrier_init(full, 32) end)
  k:bar_sync(0)
  k:st_shared_f32(k:address(values, thread * 4), k:cvt_rn_f32_u32(thread))
  k:mbarrier_arrive(full, { sem = "release.cluster" }) -- EXPECT PERF: WG-PERF-10
  k:mbarrier_wait(full, 0)
  k:st_global_f32(k:element(Y, thread), k:ld_shared_f32(k:address(values, (thread ~ 1) * 4)))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
