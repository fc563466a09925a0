-- WG-SYNC-02, broken: two consumers take turns, and neither has the first one.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local blocks = k:param("blocks", "u32")
  local mine = k:special "tid.x" >> 7
  local other = mine ~ 1
  k:loop(blocks, function()
    k:bar_sync(mine + 1, { threads = 256 }) -- EXPECT: WG-SYNC-02
    k:bar_arrive(other + 1, { threads = 256 })
  end)
end)
kernel:run { grid = { 1 }, args = { 4 } }
