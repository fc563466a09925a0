-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_barrier_use_without_init, test_barrier_use_after_invalidate, test_barrier_underflow,
-- test_barrier_reinit_requires_invalidate, test_barrier_invalidate_requires_completion_wait,
-- test_payload_reuse_requires_barrier_invalidation.
-- bad: wait arrive invalidate expect wait_after arrive_after expect_after underflow reinit pending payload payload_copy
-- good: used reinit_after_inval payload_after_inval
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("life", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local memory = k:shared { bytes = 512, align = 128, name = "memory" }
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local bar2 = k:shared { bytes = 8, align = 8, name = "bar2" }
  local zero = k:mov(0, { type = "s32" })
  k:if_(k:special("tid.x"):eq(0), function()
    local bar = k:address(memory)
    if not kit.is("wait", "arrive", "invalidate", "expect") then
      k:mbarrier_init(bar, 1)
      k:mbarrier_init(bar2, 1)
      k:fence_mbarrier_init()
    end
    local function use(how, expect_what)
      if how == "wait" then k:mbarrier_test_wait_parity(bar, 0) end -- EXPECT(wait wait_after): WG-MBAR-01
      if how == "arrive" then k:mbarrier_arrive(bar) end -- EXPECT(arrive arrive_after): WG-MBAR-01
      if how == "expect" then k:mbarrier_expect_tx(bar, 16) end -- EXPECT(expect expect_after): WG-MBAR-01
      if how == "invalidate" then k:mbarrier_inval(bar) end -- EXPECT(invalidate): WG-MBAR-01
    end
    if kit.is("wait", "arrive", "invalidate", "expect") then use(kit.variant) end
    if kit.variant:match "_after$" then
      k:mbarrier_inval(bar)
      use(kit.variant:match "^(%a+)_after$")
    end
    if kit.is "underflow" then
      k:mbarrier_arrive(bar, 2) -- EXPECT(underflow): WG-MBAR-03
    elseif kit.is("reinit", "reinit_after_inval") then
      k:mbarrier_arrive(bar)
      if kit.is "reinit_after_inval" then k:mbarrier_inval(bar) end
      k:mbarrier_init(bar, 1) -- EXPECT(reinit): WG-MBAR-01
      k:mbarrier_arrive(bar)
    elseif kit.is "pending" then
      k:mbarrier_arrive_expect_tx(bar, 512)
      k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, bar) -- MAYBE(pending): WG-TMA-03
      k:mbarrier_inval(bar) -- EXPECT(pending): WG-MBAR-01
    elseif kit.is("payload", "payload_after_inval") then
      if kit.is "payload_after_inval" then k:mbarrier_inval(bar) end
      k:st_shared_u32(bar, 1) -- EXPECT(payload): WG-MBAR-04
    elseif kit.is "payload_copy" then
      k:mbarrier_arrive_expect_tx(bar2, 512)
      k:cp_async_bulk_tensor_2d(memory, map, { zero, zero }, bar2) -- EXPECT(payload_copy): WG-MBAR-04 -- EXPECT(payload_copy): WG-PROXY-01
      k:mbarrier_wait(k:address(bar2), 0)
    elseif kit.is "used" then
      k:mbarrier_arrive(bar)
      k:mbarrier_wait(bar, 0)
      k:mbarrier_inval(bar)
    end
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 4, 32 }) } }
