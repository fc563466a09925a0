-- WG-MBAR-06, broken: the consumers begin with the parity of producers, which a fresh mbarrier lets through.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(kit.copy, function(k, ring, cursor, lane)
  k:mbarrier_wait(ring:full_barrier(cursor), cursor.phase ~ 1) -- EXPECT: WG-MBAR-06
  ring:release(cursor, { lane = lane })
end)
