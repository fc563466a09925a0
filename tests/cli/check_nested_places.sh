# Where accesses to shared memory go is proved in a ring that goes on from tile to tile, also where who accessed what
# is not: wrong in one turn alone, it is not.
cat >ring.lua <<'L'
local wg = require "wgrun"

-- Thread 0 fills two stages, and thread 32 empties them, K for each of T tiles. It stores at place(...) of `data`.
local function ring(name, place)
  wg.kernel(name, { threads = 64 }, function(k)
    local T, K, tid = k:param("T", "u32"), k:param("K", "u32"), k:special "tid.x"
    local full = k:shared { bytes = 16, align = 8, name = "full" }
    local empty = k:shared { bytes = 16, align = 8, name = "empty" }
    local data = k:shared { bytes = 8, align = 8, name = "data" }
    k:if_(tid:eq(0), function()
      for _, bar in ipairs { full, empty } do
        for s = 0, 1 do k:mbarrier_init(k:address(bar, 8 * s), 1) end
      end
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local function role(body)
      local stage, phase, tile, all = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      k:while_(function() return tile:lt(T) end, function()
        local i = k:mov(0, { type = "u32" })
        k:while_(function() return i:lt(K) end, function()
          body(stage, phase, { tile = tile, i = i, all = all, K = K })
          k:add(stage, stage, 1)
          k:if_(stage:eq(2), function()
            k:mov(stage, 0)
            k:xor(phase, phase, 1)
          end)
          k:add(i, i, 1)
          k:add(all, all, 1)
        end)
        k:add(tile, tile, 1)
      end)
    end
    k:if_(tid:eq(0), function()
      role(function(stage, phase)
        k:mbarrier_wait(k:address(empty, stage * 8), phase ~ 1)
        k:mbarrier_arrive(k:address(full, stage * 8))
      end)
    end)
    k:if_(tid:eq(32), function()
      role(function(stage, phase, at)
        k:mbarrier_wait(k:address(full, stage * 8), phase)
        k:st_shared_b32(k:address(data, place(k, stage, at)), stage)
        k:mbarrier_arrive(k:address(empty, stage * 8))
      end)
    end)
  end)
end

local function at_stage_but(when)
  return function(k, stage, at) return stage * 4 + k:selp_b32(4, 0, when(at)) end
end
ring("right", function(_, stage) return stage * 4 end)
ring("a_stage_more", function(_, stage) return stage * 4 + 4 end)
ring("misaligned", function(_, stage) return stage * 3 end)
ring("third_tile", at_stage_but(function(at) return at.tile:eq(2) end))
ring("trip_23", at_stage_but(function(at) return at.i:eq(23) end))
ring("where_K_is_6", at_stage_but(function(at) return at.K:eq(6) end))
ring("by_trips", function(_, _, at) return at.all * 4 end)
L
run check --budget 0.1 ring.lua
out_has "right: proved for all launches with K, T >= 1"
out_lacks "right: proved for all launches with K, T >= 1 but"
for wrong in a_stage_more misaligned; do # each access comes in order, wherever it goes
    out_has "$wrong: proved for all launches with K, T >= 1 but bounds"
done
for wrong in third_tile trip_23 where_K_is_6 by_trips; do
    out_has "$wrong: proved for all launches with K, T >= 1 but races in shared memory, bounds, initialisation"
done
