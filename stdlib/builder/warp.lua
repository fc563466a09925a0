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

--- The sums of f32 values, of each over all lanes: count of them, values[0] and so on, a power of two, at most 32.
--- Lane l gets that of values[l % count]. An exchange halves the values that a lane has still to add. among: powers of
--- two, `lanes`, over which to add, in groups of lanes that follow each other, by default 32; `stride`, by default 1:
--- lanes with the same remainder are added, and lane l gets the sum of values[l // stride % count].
function module.sums_of_each(k, values, count, lane, among)
  local lanes, stride = among and among.lanes or 32, among and among.stride or 1
  local function exchanged(value, distance)
    local other = k:reg "f32"
    k:shfl_sync_bfly_b32(other, value, distance * stride, 31)
    return other
  end
  local distance = count // 2
  while distance >= 1 do
    local upper, left = (lane & distance * stride):ne(0), {}
    for i = 0, distance - 1 do
      local other = exchanged(k:selp(values[i], values[i + distance], upper), distance)
      left[i] = k:selp(values[i + distance], values[i], upper) + other
    end
    values, distance = left, distance // 2
  end
  local sum = values[0]
  distance = count
  while distance * stride < lanes do
    sum, distance = sum + exchanged(sum, distance), 2 * distance
  end
  return sum
end

--- Four words of each lane, b32, transposed among four neighbouring lanes: the first of these gets the first word of
--- each, and so on.
function module.transposed(k, words, lane)
  local odd, upper = (lane & 1):ne(0), (lane & 2):ne(0)
  -- The pair of x and y that the lane's place in a pair of lanes, `second`, asks for: the first lanes' one first.
  local function exchanged(x, y, second, distance)
    local own, other = k:selp(y, x, second), k:reg "b32"
    k:shfl_sync_bfly_b32(other, k:selp(x, y, second), distance, 31)
    return k:selp(other, own, second), k:selp(own, other, second)
  end
  local a, b = exchanged(words[0], words[1], odd, 1)
  local c, d = exchanged(words[2], words[3], odd, 1)
  local first, third = exchanged(a, c, upper, 2)
  local second, fourth = exchanged(b, d, upper, 2)
  return { first, second, third, fourth }
end

return module
