-- WG-MBAR-05, kept: how many blocks there are stands in memory. Nobody who checks can know, and nothing is said.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local map, blocks = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } }), k:param("counts", "const u32*")
  local count = k:ld_global_u32(blocks)
  local tiles = k:shared { bytes = 1024, align = 128, name = "tiles" }
  local ring = k:pipeline { stages = 2, arrivals = 4 }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:if_(thread:eq(0), function() ring:init() end)
  k:bar_sync(0)
  local cursor = ring:cursor()
  k:if_((thread >> 7):eq(0), function()
    k:if_(thread:eq(0), function()
      k:loop(count, function()
        ring:acquire(cursor)
        local barrier = ring:expect(cursor, 512)
        k:cp_async_bulk_tensor_2d(k:address(tiles) + cursor.stage * 512, map, { zero, zero }, barrier)
        ring:advance(cursor)
      end)
    end)
  end, function()
    k:loop(count, function()
      ring:wait(cursor)
      ring:release(cursor, { lane = thread & 31 })
      ring:advance(cursor)
    end)
  end)
end)
local counts = wg.tensor("u32", { 1 }, { 6 })
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 32 }), counts } }
