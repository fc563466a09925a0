-- WG-MBAR-05, broken: the consumers do not release the first stage.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(function(_, ring, cursor, load)
  ring:acquire(cursor) -- EXPECT: WG-MBAR-05
  load(ring:expect(cursor, 512))
end, function(_, ring, cursor, lane)
  ring:wait(cursor)
  ring:release(cursor, { lane = lane, guard = cursor.stage:gt(0) })
end)
