-- WG-MBAR-05, broken: the producer waits with parity 0 for stages that have never been full: nobody releases them.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(function(k, ring, cursor, load)
  k:mbarrier_wait(ring:empty_barrier(cursor), cursor.phase) -- EXPECT: WG-MBAR-05
  load(ring:expect(cursor, 512))
end, kit.use)
