-- WG-MBAR-03, broken: two copies fill a stage, and it expects the bytes of one.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(function(_, ring, cursor, load)
  ring:acquire(cursor)
  local full = ring:expect(cursor, 512) -- EXPECT: WG-MBAR-03
  for half = 0, 1 do load(full, 512 * half) end
end, kit.use, { stage_bytes = 1024 })
