-- WG-MBAR-06, broken: the consumers always wait for parity 0: in the second round for a phase that is long over.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(kit.copy, function(k, ring, cursor, lane)
  k:mbarrier_wait(ring:full_barrier(cursor), 0) -- EXPECT: WG-MBAR-06
  ring:release(cursor, { lane = lane })
end)
