-- WG-MBAR-03, kept: the bytes may be expected after the copies that bring them, before the arrival.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(function(_, ring, cursor, load)
  ring:acquire(cursor)
  load(ring:full_barrier(cursor))
  ring:expect(cursor, 512)
end, kit.use)
