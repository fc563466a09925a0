-- WG-TMA-01, broken: a copy of a box through a tensor map that describes pixels.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.pixels(function(k, tile, map, place, full, first)
  k:cp_async_bulk_tensor_4d(tile, map, place, full, { guard = first }) -- EXPECT: WG-TMA-01
end)
