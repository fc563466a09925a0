-- The producer's parity is that of the consumer, in the second turn: the fresh `empty` lets it through.
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../../bugs/kit.lua")

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local map, tid = k:tensor_map("X", { dtype = "f32", box = { 32, 8 } }), k:special "tid.x"
  local tile = { k:shared { bytes = 1024, align = 128 }, k:shared { bytes = 1024, align = 128 } }
  local full, empty = { kit.mbarriers(k, { 1, 1 }) }, { kit.mbarriers(k, { 1, 1 }) }
  local zero = k:mov(0, { type = "s32" })
  k:if_(tid:eq(0), function()
    for turn = 0, 3 do
      local s, parity = turn % 2 + 1, turn // 2
      if turn >= 2 then
        k:mbarrier_wait(k:address(empty[s]), parity) -- EXPECT: WG-MBAR-06
      end
      k:mbarrier_arrive_expect_tx(full[s], 1024)
      k:cp_async_bulk_tensor_2d(tile[s], map, { zero, zero }, full[s])
    end
  end)
  k:if_(tid:ge(32), function()
    for turn = 0, 3 do
      local s = turn % 2 + 1
      k:mbarrier_wait(k:address(full[s]), turn // 2)
      k:ld_shared_b32(k:address(tile[s]))
      k:fence_proxy_async()
      k:bar_warp_sync(-1)
      k:mbarrier_arrive(empty[s], { guard = tid:eq(32) })
    end
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 32 }) } }
