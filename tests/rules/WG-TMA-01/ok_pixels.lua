-- WG-TMA-01, kept: a copy of pixels through a tensor map that describes pixels, and its bytes are expected.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.pixels(function(k, tile, map, place, full, first)
  local offset = k:mov(1, { type = "u16" })
  k:cp_async_bulk_tensor_im2col_4d(tile, map, place, full, { offset, offset }, { guard = first })
end)
