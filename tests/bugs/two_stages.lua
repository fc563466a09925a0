-- A ring of two stages written out, six turns: parities that are crossed or late, counts of arrivals and bytes that are not those of
-- the phase, a stage that is released instead of the other, one that is filled without a wait. No bug of a project: the orders
-- that hostile trials have tried.
-- bad: crossed late_parity arrivals short_bytes other_stage no_wait
-- good: right bytes_first
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")
if kit.each_good() then return end
local is = kit.is

local kernel = wg.kernel("two_stages", { threads = 64 }, function(k)
  local map, zero, tid = k:tensor_map("X", { dtype = "f32", box = { 32, 8 } }), k:mov(0, { type = "s32" }), k:special "tid.x"
  local stage = { k:shared { bytes = 1024, align = 128, name = "stage0" }, k:shared { bytes = 1024, align = 128, name = "stage1" } }
  local full, empty = { kit.mbarriers(k, { 1, 1 }) }, { kit.mbarriers(k, { is "arrivals" and 2 or 1, 1 }) }
  k:if_(tid:eq(0), function()
    for turn = 0, 5 do
      local s, parity = turn % 2 + 1, turn // 2 % 2
      if turn >= 2 and not (is "no_wait" and turn >= 4) then
        k:mbarrier_wait(k:address(empty[s]), is "crossed" and parity or parity ~ 1) -- EXPECT(crossed): WG-MBAR-06 -- EXPECT(arrivals): WG-MBAR-05
      end
      if is "bytes_first" then k:cp_async_bulk_tensor_2d(stage[s], map, { zero, zero }, full[s]) end
      k:mbarrier_arrive_expect_tx(full[s], is "short_bytes" and turn == 3 and 896 or 1024) -- EXPECT(no_wait): WG-MBAR-03
      if not is "bytes_first" then k:cp_async_bulk_tensor_2d(stage[s], map, { zero, zero }, full[s]) end
    end
  end)
  k:if_(tid:ge(32), function()
    for turn = 0, 5 do
      local s, parity = turn % 2 + 1, turn // 2 % 2
      k:mbarrier_wait(k:address(full[s]), is "late_parity" and turn >= 2 and 0 or parity) -- EXPECT(late_parity): WG-MBAR-06 -- EXPECT(short_bytes): WG-MBAR-05
      k:ld_shared_b32(kit.mine(k, stage[s]))
      k:fence_proxy_async()
      k:bar_warp_sync(-1)
      k:mbarrier_arrive(empty[is "other_stage" and 3 - s or s], { guard = tid:eq(32) }) -- EXPECT(other_stage): WG-MBAR-03
    end
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 32 }) } }
