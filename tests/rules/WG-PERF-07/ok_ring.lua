-- WG-PERF-07, kept: a ring of two stages, in which every wait and every fence has its reason; and launches that do not show it.
local wg = require "wgrun"

local ring = wg.kernel("ring", { threads = 96 }, function(k)
  local X, Y, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "u32")
  local stages = k:shared { bytes = 512, align = 128, name = "stages" }
  local full = k:shared { bytes = 16, align = 8, name = "full" }
  local empty = k:shared { bytes = 16, align = 8, name = "empty" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    for s = 0, 1 do
      k:mbarrier_init(k:address(full, 8 * s), 1)
      k:mbarrier_init(k:address(empty, 8 * s), 64)
    end
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0) -- PERF
  k:if_(thread:lt(64), function()
    local sum = k:mov(0.0, { type = "f32" })
    k:loop(n, function(i)
      local stage = i & 1
      k:mbarrier_wait(k:address(full, stage * 8), i >> 1 & 1)
      sum:set(sum + k:ld_shared_f32(k:mad_lo_u32(thread, 4, k:address(stages, stage * 256))))
      k:fence_proxy_async()
      k:mbarrier_arrive(k:address(empty, stage * 8))
    end)
    k:st_global_f32(k:element(Y, thread), sum)
  end, function()
    k:if_(thread:eq(64), function()
      k:loop(n, function(i)
        local stage = i & 1
        k:mbarrier_wait(k:address(empty, stage * 8), (i >> 1 & 1) ~ 1)
        k:mbarrier_arrive_expect_tx(k:address(full, stage * 8), 256)
        k:cp_async_bulk(k:address(stages, stage * 256), k:element(X, i * 64), 256, k:address(full, stage * 8))
      end)
    end)
  end)
end)
ring:run { grid = { 1 }, args = { wg.ones("f32", { 64 * 6 }), wg.zeros("f32", { 64 }), 6 } }

-- Of a loop that turns once nobody knows whether the barrier at its end is needed.
local again = wg.kernel("again", { threads = 64 }, function(k)
  local Y, n = k:param("Y", "f32*"), k:param("n", "u32")
  local words = k:shared { bytes = 256, align = 16, name = "words" }
  local thread, start = k:special "tid.x", k:mov(words, { type = "u32" })
  k:loop(n, function(i)
    k:st_shared_f32(k:mad_lo_u32(thread, 4, start), k:cvt_rn_f32_u32(i))
    k:bar_sync(0)
    k:st_global_f32(k:element(Y, thread), k:ld_shared_f32(k:mad_lo_u32(thread ~ 32, 4, start)))
    k:bar_sync(0)
  end)
end)
again:run { grid = { 1 }, args = { wg.zeros("f32", { 64 }), 1 } }
