-- Remainders of whole numbers by a modulus of 8 bits, in eight instructions or so. dp4a (PTX ISA 9.7.1.23) adds up the
-- bytes of a number, each times what its place is worth modulo p. The sum has 18 bits, and is added to the bits of
-- 1.5 * 2^23, which makes an f32 of it: there the last place is worth 1, and adding that number rounds.
--
--   number    b7 b6 b5 b4 b3 b2 b1 b0     the highest bit inverted, so that bytes have no sign
--   sum       b0 + (256 mod p) b1 + ...   less what was added by inverting
--   f32       x = 1.5 * 2^23 + sum; x - p * round(sum / p) has the remainder nearest to 0 in its lowest byte

local module = {}

local magic = 1.5 * 2.0 ^ 23
local magic_bits = 0x4B400000

-- 2^exponent modulo the modulus, nearest to 0.
local function power(exponent, modulus)
  local rest = 1
  for _ = 1, exponent do rest = 2 * rest % modulus end
  return rest > modulus // 2 and rest - modulus or rest
end

--- The constants of moduli, a table of u32 that kernels read, eight words for each: a weight for each byte of a number
--- of 64 bits, 1 / p and -p; what sums begin with, of numbers of 64 bits and of 32.
function module.constants(list)
  local words = {}
  for _, modulus in ipairs(list) do
    local of = ""
    for byte = 0, 7 do of = of .. string.pack("b", power(8 * byte, modulus)) end
    of = of .. string.pack(
      "<ffi4i4i8", 1 / modulus, -modulus, magic_bits - power(63, modulus), magic_bits - power(31, modulus), 0)
    for at = 1, #of, 4 do words[#words + 1] = string.unpack("<I4", of, at) end
  end
  return words
end

--- The constants of modulus `number` of a table, for numbers of 64 or 32 bits, in registers.
function module.load(k, constants, number, bits)
  local from, words, weights = k:element(constants, number << 3), k:regs("b32", 4), k:regs("u32", 2)
  k:ld_global_v4_b32(words, from)
  for i = 0, 1 do k:mov(weights[i], words[i]) end
  return {
    weights = weights, start = k:ld_global_s32(from, { offset = bits == 64 and 16 or 20 }),
    inverse = k:mov(words[2], { type = "f32" }), negative = k:mov(words[3], { type = "f32" }),
  }
end

--- The remainder of a signed number, in the lowest byte of a b32 register. words: b32 registers, the lowest first, with
--- the highest bit of the last one inverted; of: of module.load.
function module.emit(k, words, of)
  local sum = of.start
  for i, word in ipairs(words) do sum = k:dp4a_u32_s32(word, of.weights[i - 1], sum) end
  local bits, rest = k:reg "b32", k:reg "b32"
  k:mov(bits, sum)
  local x = k:mov(bits, { type = "f32" })
  local quotient = k:fma(x - magic, of.inverse, magic) - magic
  k:mov(rest, k:fma(quotient, of.negative, x))
  return rest
end

--- The lowest bytes of four b32 registers in one.
function module.pack(k, four)
  return k:prmt(k:prmt(four[1], four[2], 0x0040), k:prmt(four[3], four[4], 0x0040), 0x5410)
end

return module
