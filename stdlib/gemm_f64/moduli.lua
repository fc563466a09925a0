-- The moduli of wg.gemm_f64, and what follows from them. A whole number is known by its remainders by numbers that
-- have no common factor, up to multiples of their product P (Chinese remainder theorem): C = sum of w c modulo P, where
-- w is 1 modulo the modulus of c and 0 modulo the others. Two moduli p and q share a coefficient P / (p q):
--
--   w_p c_p + w_q c_q = P / (p q) * (f_p c_p + f_q c_q)   modulo P, with factors f of 16 bits (dp2a, PTX ISA 9.7.1.24)
--
-- P has up to 126 bits. Coefficients are sums of two f64: the high parts have so few bits that all products with them
-- and their sums are exact, and what the low parts round is below 2^-66 of P.

local module = {}

--- The longest rows: sums of products of their remainders have 32 bits.
module.most_k = 131072

-- The largest numbers up to 256 without a common factor.
local all = { 256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193 }

-- How many bits of P are behind the point of what is in brackets above times a high part: a sum of 8 has 26 bits.
local high_bits = 42

-- Whole numbers of any size: digits to the base 2^16, the lowest first.
local function product_of(numbers)
  local digits = { 1 }
  for _, number in ipairs(numbers) do
    local carry = 0
    for i, digit in ipairs(digits) do
      local sum = digit * number + carry
      digits[i], carry = sum & 0xFFFF, sum >> 16
    end
    if carry > 0 then digits[#digits + 1] = carry end
  end
  return digits
end

local function remainder(digits, modulus)
  local rest = 0
  for i = #digits, 1, -1 do rest = ((rest << 16) + digits[i]) % modulus end
  return rest
end

-- The number as a sum of two f64, of which the first is a multiple of 2^exponent.
local function in_two(digits, exponent)
  local high, low = 0.0, 0.0
  for i, digit in ipairs(digits) do
    local at = 16 * (i - 1)
    local kept = at >= exponent and digit or exponent - at < 16 and (digit >> exponent - at) << exponent - at or 0
    high, low = high + kept * 2.0 ^ at, low + (digit - kept) * 2.0 ^ at
  end
  return high, low
end

-- The remainder nearest to 0.
local function nearest(value, modulus)
  local rest = value % modulus
  return rest > modulus // 2 and rest - modulus or rest
end

-- The number whose product with `value` is 1 modulo `modulus`.
local function inverse(value, modulus)
  for candidate = 1, modulus do
    if value * candidate % modulus == 1 then return candidate end
  end
end

-- The coefficient of two moduli, high and low, and their factors. One that is alone stands beside 1.
local function pair_of(list, first, exponent)
  local p, q, others = list[first], list[first + 1] or 1, {}
  for i, modulus in ipairs(list) do
    if i ~= first and i ~= first + 1 then others[#others + 1] = modulus end
  end
  local coefficient = product_of(others)
  local high, low = in_two(coefficient, exponent)
  local rest = remainder(coefficient, p * q)
  return {
    high = high, low = low,
    p = nearest(inverse(rest * q % p, p) * q, p * q),
    q = q > 1 and nearest(inverse(rest * p % q, q) * p, p * q) or 0,
  }
end

--- What follows from the first `count` moduli: `list`, them; `most`, below which the sum of squares of a row is before
--- it is rounded, so that products of rows are below P / 2; `high` and `low`, the parts of P; and `pairs`, the
--- coefficient of each two moduli, with the factors p and q.
function module.of(count)
  local list = table.move(all, 1, count, 1, {})
  local whole = product_of(list)
  local about = in_two(whole, 0)
  local exponent = math.floor(math.log(about, 2)) + 1 - high_bits
  local out = { list = list, pairs = {} }
  out.high, out.low = in_two(whole, exponent)
  -- The sum of the high parts, which decides, may be wrong by 2^-15 of P. Rounding adds up to sqrt(K) / 2 to a norm.
  out.most = (math.sqrt(about / 2 * (1 - 2.0 ^ -10)) - math.sqrt(module.most_k) / 2) ^ 2
  for first = 1, count, 2 do out.pairs[#out.pairs + 1] = pair_of(list, first, exponent) end
  return out
end

return module
