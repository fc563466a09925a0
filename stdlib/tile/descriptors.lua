-- The descriptors of a tile in shared memory as an operand of wgmma: of a stage of a ring, and of each step of K.

local module = {}

--- Returns at(step, row), the descriptor of step `step` of K, from row `row` on (by default 0): descriptors differ in
--- the start address only. first: that of the tile's beginning, in the first of several stages; stage: a register, or
--- nil.
function module.of(k, tile, first, stage)
  if stage then first = k:mad_wide_u32(stage, tile.bytes >> 4, first) end
  return function(step, row)
    local ahead = tile:descriptor(0, step, row or 0) - tile:descriptor(0, 0)
    return ahead == 0 and first or k:add(first, ahead)
  end
end

--- An operand that is bytes in a buffer, read as a tile. Returns at(stage), which gives the descriptors as above.
function module.view(k, buffer, tile, offset)
  local first = k:matrix_descriptor(k:address(buffer, offset), tile:descriptor(0) & ~0x3FFF)
  return function(stage) return module.of(k, tile, first, stage) end
end

return module
