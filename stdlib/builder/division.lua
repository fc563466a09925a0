-- Division by numbers that are known when a kernel is built. ptxas 13.0 divides by such a number as by any register: a
-- reciprocal in floating point and two corrections, some twenty instructions that wait for each other. Here it is a
-- shift, or the upper half of a product and a shift.

local module = {}

-- A factor and a shift so that x / by = (x * factor >> 32) >> shift for all x < 2^bits, by odd; nil where no 32 bits
-- suffice. The factor is 2^(32 + shift) / by, rounded up by error / by: x * error < 2^(32 + shift) keeps the quotient.
local function reciprocal(by, bits)
  for shift = 0, 29 do
    local power = 1 << (32 + shift)
    local factor = (power + by - 1) // by
    local error = factor * by - power
    if factor < 1 << 32 and error <= power >> bits then return factor, shift end
  end
end

--- floor(value / by), of a u32 register and a positive integer of Lua; `value` itself for 1.
function module.divided(k, value, by)
  local odd, shift = by, 0
  while odd % 2 == 0 do odd, shift = odd // 2, shift + 1 end
  local factor, more
  if odd > 1 then
    factor, more = reciprocal(odd, 32 - shift)
    if not factor then return k:div(value, by) end
  end
  local quotient = shift == 0 and value or value >> shift
  if odd == 1 then return quotient end
  quotient = k:mul_hi_u32(quotient, factor)
  return more == 0 and quotient or quotient >> more
end

--- The remainder of a u32 register by a positive integer of Lua.
function module.remainder(k, value, by)
  if by & (by - 1) == 0 then return value & (by - 1) end
  return value - module.divided(k, value, by) * by
end

return module
