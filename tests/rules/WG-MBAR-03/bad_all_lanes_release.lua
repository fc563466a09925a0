-- WG-MBAR-03, broken: all lanes of the consumers release a stage that counts one arrival a warp.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(kit.copy, function(k, ring, cursor, lane)
  ring:wait(cursor)
  k:mbarrier_arrive(ring:empty_barrier(cursor)) -- EXPECT: WG-MBAR-03
end)
