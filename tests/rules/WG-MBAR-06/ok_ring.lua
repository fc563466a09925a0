-- WG-MBAR-06, kept: the parities turn each time round the ring.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(kit.copy, function(k, ring, cursor, lane)
  k:mbarrier_wait(ring:full_barrier(cursor), cursor.phase)
  ring:release(cursor, { lane = lane })
end)
