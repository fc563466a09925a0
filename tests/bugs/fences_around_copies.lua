-- https://github.com/MoonshotAI/FlashKDA/issues/24: states that threads write are stored by TMA after a barrier alone; where a loop
-- runs no time its fence does not, either; and an mbarrier is made without fence.mbarrier_init.
-- bad: barrier_alone zero_trips plain_init
-- good: fenced
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("state", { threads = 128 }, function(k)
  local X, steps = k:param("X", "f32*"), k:param("steps", "u32")
  local map = k:tensor_map("Input", { dtype = "f32", box = { 128 } })
  local state = k:shared { bytes = 512, align = 128, name = "state" }
  local input = k:shared { bytes = 512, align = 128, name = "input" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local first = thread:eq(0)
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    if not kit.is "plain_init" then k:fence_mbarrier_init() end
  end)
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 512, { guard = first })
  k:cp_async_bulk_tensor_1d(input, map, { zero }, full, { guard = first }) -- EXPECT(plain_init): WG-MBAR-02
  k:mbarrier_wait(full, 0)
  local mine = k:address(state, thread * 4)
  k:st_shared_f32(mine, 0.0)
  k:loop(steps, function()
    k:st_shared_f32(mine, k:ld_shared_f32(mine) + k:ld_shared_f32(k:address(input, thread * 4)))
    if not kit.is "barrier_alone" then k:fence_proxy_async { space = "shared::cta" } end
  end)
  if not kit.is("barrier_alone", "zero_trips") then k:fence_proxy_async { space = "shared::cta" } end
  k:bar_sync(0)
  k:if_(first, function()
    k:cp_async_bulk_store(k:element(X, 0), state, 512) -- EXPECT(barrier_alone zero_trips): WG-PROXY-01
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", 128), kit.is "zero_trips" and 0 or 2, wg.ones("f32", 128) } }
