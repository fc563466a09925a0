-- What the lanes of a warp compute together. All of them execute it.

local module = {}

--- The inclusive prefix sums of a value over the lanes: in each lane the sum of its value and of those before it.
function module.prefix_sums(k, value, lane)
  local sum = k:mov(value, { type = "u32" })
  for i = 0, 4 do
    local other = k:reg "u32"
    k:shfl_sync_up_b32(other, sum, 1 << i, 0)
    k:add(sum, sum, other, { guard = lane:ge(1 << i) })
  end
  return sum
end

--- The values of neighbouring lanes, f32 or s32, combined: the same in each of them. By default of four lanes, which
--- share rows of accumulators (PTX ISA 9.7.15.5.1, figure of the D fragment). combine(x, y): associative and
--- commutative. lanes: a power of two.
function module.over_lanes(k, value, combine, lanes)
  local distance = 1
  while distance < (lanes or 4) do
    local other = k:reg(value.type)
    k:shfl_sync_bfly_b32(other, value, distance, 31)
    value, distance = combine(value, other), 2 * distance
  end
  return value
end

return module
