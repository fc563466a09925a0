-- The launch gives the size of a linear copy; nobody is blamed for waiting for the bytes that do not come.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, n = k:param("X", "const f32*"), k:param("n", "u32")
  local tile, full = k:shared { bytes = 128, align = 16, name = "tile" }, k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special("laneid"):eq(0)
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_warp_sync()
  k:if_(first, function()
    k:mbarrier_arrive_expect_tx(full, n * 4)
    k:cp_async_bulk(tile, k:element(X, 0), n * 4, full) -- EXPECT: WG-TMA-01
  end)
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", 32), 6 } }
