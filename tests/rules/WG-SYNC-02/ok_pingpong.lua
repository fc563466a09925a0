-- WG-SYNC-02, kept: two consumers take turns; the second gives the first its turn at the start.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local blocks = k:param("blocks", "u32")
  local mine = k:special "tid.x" >> 7
  local other = mine ~ 1
  k:if_(mine:eq(1), function() k:bar_arrive(1, { threads = 256 }) end)
  k:loop(blocks, function()
    k:bar_sync(mine + 1, { threads = 256 })
    k:bar_arrive(other + 1, { threads = 256 })
  end)
  k:if_(mine:eq(0), function() k:bar_sync(1, { threads = 256 }) end)
end)
kernel:run { grid = { 1 }, args = { 4 } }
