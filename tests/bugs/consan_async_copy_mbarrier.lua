-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_barrier_init_is_generic_write, test_async_copy_mbarrier_arrive_requires_init. An mbarrier is made where a
-- cp.async may still write; one that is to wait for copies is not made, or is made and ended; and what it waits for is
-- read before its phase.
-- bad: init_over_copy no_init ended no_wait
-- good: init_after_wait waited counted
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("copies", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local tile = k:shared { bytes = 512, align = 16, name = "tile" }
  local bar = k:shared { bytes = 8, align = 8, name = "bar" }
  local lane = k:special "laneid"
  local first = lane:eq(0)
  local at = k:mad_lo_u32(lane, 16, k:mov(tile, { type = "u32" }))
  local function copy() k:cp_async_cg(at, k:element(X, lane * 4)) end
  if kit.is("init_over_copy", "init_after_wait") then
    copy()
    if kit.is "init_after_wait" then k:cp_async_wait_all() end
    k:bar_sync(0)
    k:mbarrier_init(tile, 1, { guard = first }) -- EXPECT(init_over_copy): WG-GROUP-04
    k:cp_async_wait_all()
  else
    if not kit.is "no_init" then
      -- Without noinc the phase expects each lane's arrival besides those it was made with.
      k:mbarrier_init(bar, kit.is "counted" and 1 or 32, { guard = first })
      k:fence_mbarrier_init { guard = first }
    end
    k:bar_sync(0)
    if kit.is "ended" then
      k:mbarrier_inval(bar, { guard = first })
      k:bar_sync(0)
    end
    copy()
    if kit.is "counted" then
      k:cp_async_mbarrier_arrive(bar)
      k:bar_sync(0)
      k:mbarrier_arrive(bar, { guard = first })
    else
      k:cp_async_mbarrier_arrive(bar, { noinc = 1 }) -- EXPECT(no_init ended): WG-MBAR-01
    end
    if not kit.is("no_wait", "no_init", "ended") then k:mbarrier_wait(k:address(bar), 0) end
    k:ld_shared_b32(at) -- EXPECT(no_wait): WG-GROUP-04
    k:cp_async_wait_all()
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
