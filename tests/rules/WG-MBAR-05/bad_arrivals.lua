-- WG-MBAR-05, broken: each stage counts the arrivals of two consumer warpgroups, and there is one.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(function(_, ring, cursor, load)
  ring:acquire(cursor) -- EXPECT: WG-MBAR-05
  load(ring:expect(cursor, 512))
end, kit.use, { arrivals = 8 })
