-- WG-MBAR-05, broken: a stage expects twice the bytes that its copy brings.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(function(_, ring, cursor, load)
  ring:acquire(cursor)
  load(ring:expect(cursor, 1024))
end, function(_, ring, cursor, lane)
  ring:wait(cursor) -- EXPECT: WG-MBAR-05
  ring:release(cursor, { lane = lane })
end)
