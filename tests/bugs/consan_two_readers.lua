-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_ws_two_loads_two_bars, test_ws_two_loads_one_bar, test_ws_two_loads_two_bars_loop,
-- test_ws_two_producers_two_consumers. Two roles read what one writes, again and again; the writer misses one of them.
-- bad: first second half_the_count
-- good: both one_barrier
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local shared_barrier = kit.is("one_barrier", "half_the_count")

local kernel = wg.kernel("readers", { threads = 96 }, function(k)
  local word = k:shared { bytes = 128, align = 16, name = "word" }
  local full, empty1, empty2 = kit.mbarriers(k, { 32, kit.is "one_barrier" and 64 or 32, 32 })
  local warp, at = k:special "tid.x" >> 5, k:mad_lo_u32(k:special "laneid", 4, k:mov(word, { type = "u32" }))
  k:if_(warp:eq(0), function()
    k:loop(3, function(i)
      k:st_shared_b32(at, i) -- MAYBE: WG-RACE-01
      k:mbarrier_arrive(full) -- MAYBE(half_the_count): WG-MBAR-03
      if not kit.is "second" then k:mbarrier_wait(k:address(empty1), i & 1) end -- MAYBE: WG-MBAR-05
      if not shared_barrier and not kit.is "first" then k:mbarrier_wait(k:address(empty2), i & 1) end -- MAYBE: WG-MBAR-05
    end)
  end, function()
    k:loop(3, function(i)
      k:mbarrier_wait(k:address(full), i & 1) -- MAYBE: WG-MBAR-05
      k:ld_shared_b32(at) -- MAYBE: WG-RACE-01
      if shared_barrier then
        k:mbarrier_arrive(empty1) -- MAYBE: WG-MBAR-03
      else
        k:mbarrier_arrive(empty1, { guard = warp:eq(1) }) -- MAYBE: WG-MBAR-03
        k:mbarrier_arrive(empty2, { guard = warp:eq(2) }) -- MAYBE: WG-MBAR-03
      end
    end)
  end)
end)
kernel:run { grid = { 1 }, args = {} }
