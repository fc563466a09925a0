-- WG-MBAR-06, broken: the producer always waits with parity 1, as if the stages were still fresh in the second round.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(function(k, ring, cursor, load)
  k:mbarrier_wait(ring:empty_barrier(cursor), 1) -- EXPECT: WG-MBAR-06
  load(ring:expect(cursor, 512))
end, function(k, ring, cursor, lane)
  k:mbarrier_wait(ring:full_barrier(cursor), cursor.phase)
  ring:release(cursor, { lane = lane })
end)
