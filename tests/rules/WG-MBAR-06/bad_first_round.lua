-- WG-MBAR-06, broken: the consumers begin with the parity of producers, which a fresh mbarrier lets through.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local map, blocks = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } }), k:param("blocks", "u32")
  local tiles = k:shared { bytes = 1024, align = 128, name = "tiles" }
  local ring = k:pipeline { stages = 2, arrivals = 4 }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:if_(thread:eq(0), function() ring:init() end)
  k:bar_sync(0)
  local cursor = ring:cursor()
  k:if_((thread >> 7):eq(0), function()
    k:if_(thread:eq(0), function()
      k:loop(blocks, function()
        ring:acquire(cursor)
        local barrier = ring:expect(cursor, 512)
        k:cp_async_bulk_tensor_2d(k:address(tiles) + cursor.stage * 512, map, { zero, zero }, barrier)
        ring:advance(cursor)
      end)
    end)
  end, function()
    k:loop(blocks, function()
      k:mbarrier_wait(ring:full_barrier(cursor), cursor.phase ~ 1) -- EXPECT: WG-MBAR-06
      ring:release(cursor, { lane = thread & 31 })
      ring:advance(cursor)
    end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 32 }), 6 } }
