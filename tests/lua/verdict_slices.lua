-- Slices of K, one for each CTA of a cluster: where one ends is a difference of several numbers of the launch, and
-- turns of a loop take part in it. The proofs once read the properties of a turn beside all numbers.
local wg = require "wgrun"
local slices = wg.kernel("slices", { threads = 160, cluster = 4 }, function(k)
  local K = k:param("K", "u32")
  local A = k:param("A", "u8*")
  local memory = k:shared { bytes = 1024, align = 128, name = "memory" }
  local ring = k:pipeline { stages = 3, arrivals = 4 }
  local tid = k:special "tid.x"
  local from, to = k:part_of_k { K = K, block = 64, part = k:special "cluster_ctarank", splits = 4 }
  k:if_(tid:eq(0), function() ring:init() end)
  k:barrier_cluster_arrive_release()
  k:barrier_cluster_wait()
  k:if_(tid:ge(128), function()
    k:if_(tid:eq(128), function()
      local c = ring:cursor()
      k:loop({ from = from, to = to, step = 64 }, function(at)
        ring:acquire(c)
        local bar = ring:expect(c, 64)
        k:cp_async_bulk(k:address(memory, c.stage * 64), k:mad_wide_u32(at, 1, A), 64, bar)
        ring:advance(c)
      end)
    end)
  end, function()
    local c = ring:cursor()
    k:loop({ from = from, to = to, step = 64 }, function()
      ring:wait(c)
      ring:release(c, { lane = tid & 31 })
      ring:advance(c)
    end)
  end)
end)
for _, verdict in ipairs(slices:verdicts { budget = 1 }) do assert(verdict.verdict ~= "refuted", verdict.property) end
