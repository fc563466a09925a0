-- WG-TMA-06, kept: loads that start before their tensor and behind it, at multiples of 16 bytes; rows may be any.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "bf16", box = { 64, 4 }, swizzle = "128B", constant = true })
  local tiles = k:shared { bytes = 3 * 1024, align = 1024, name = "tiles" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:if_(k:special("tid.x"):eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 3 * 512)
    for i, at in ipairs { { -8, 3 }, { 72, -1 }, { 80, 7 } } do
      local x, y = k:mov(at[1], { type = "s32" }), k:mov(at[2], { type = "s32" })
      k:cp_async_bulk_tensor_2d(k:address(tiles, (i - 1) * 1024), map, { x, y }, full)
    end
  end)
  k:bar_sync(0)
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 8, 80 }) } }
