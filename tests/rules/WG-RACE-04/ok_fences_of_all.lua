-- WG-RACE-04, kept: one thread counts without an order, between fences of all threads; the fence of any warp may come
-- first.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local P, C, Y = k:param("P", "f32*"), k:param("C", "u32*"), k:param("Y", "f32*")
  local last, thread, cta = k:shared { bytes = 4, name = "last" }, k:special "tid.x", k:special "ctaid.x"
  k:st_global_f32(k:element(P, cta * 128 + thread), 1.0)
  k:fence_acq_rel_gpu()
  k:bar_sync(0)
  k:if_(thread:eq(0), function() k:st_shared_u32(last, k:atom_relaxed_gpu_global_inc_u32(k:element(C, 0), 3)) end)
  k:bar_sync(0)
  k:if_(k:ld_shared_u32(last):eq(3), function()
    k:fence_acq_rel_gpu()
    local sum = k:mov(0.0, { type = "f32" })
    k:loop(4, function(i) k:add(sum, sum, k:ld_global_f32(k:element(P, i * 128 + thread))) end)
    k:st_global_f32(k:element(Y, thread), sum)
  end)
end)
for seed = 0, 7 do
  kernel:run { grid = 4, seed = seed, args = { wg.zeros("f32", 512), wg.zeros("u32", 1), wg.zeros("f32", 128) } }
end
