-- Rows of accumulators to dQ and dK in whole sectors of 32 bytes: the four lanes that share a row exchange their pairs
-- of elements, so that each has four neighbours of sixteen.

local elements = require "wgrun.tile.elements"

local module = {}

-- The words x, of columns 2 l and 2 l + 1 of eight in lane l, and y, of the next eight, as those of columns 4 l to
-- 4 l + 3 of the sixteen.
local function exchanged(k, lane, x, y)
  local upper, odd = (lane & 2):ne(0), (lane & 1):ne(0)
  local function swap(value, distance)
    local other = k:reg "b32"
    k:shfl_sync_bfly_b32(other, value, distance, 31)
    return other
  end
  local other = swap(k:selp(x, y, upper), 2)
  local first, second = k:selp(other, x, upper), k:selp(y, other, upper)
  other = swap(k:selp(first, second, odd), 1)
  return { k:selp(other, first, odd), k:selp(second, other, odd) }
end

--- Stores sums of the warpgroup `me` (gradients.lua), accumulators, to the rows of the unit's tokens and head. first:
--- the column of the first one, by default 0.
function module.emit(here, me, to, sums, first)
  local k, p, at = here.k, here.p, here.at
  local convert = elements.to_output[p.dtype]
  local column = at.qk_head * p.dim + ((me.lane & 3) << 2)
  if first then column = column + first end
  for half = 0, 1 do
    local token = (at.chunk << 6) + me.row + 8 * half
    local row = k:mad_wide_u32(column, 2, k:mad_wide_u32(at.first + token, 2 * p.qk_heads * p.dim, to))
    for r = 2 * half, #sums - 1, 8 do
      local words = exchanged(k, me.lane, convert(k, sums[r], sums[r + 1]), convert(k, sums[r + 4], sums[r + 5]))
      k:st_global_v2_b32(row, words, { offset = 4 * (r - 2 * half), guard = token:lt(at.tokens) })
    end
  end
end

return module
