-- Weights of 4 and 8 bits become 16-bit floats in registers, two at a time, since a register of wgmma's A holds two
-- elements of a row (PTX ISA 9.7.15.5.1, figure of the A fragment).
--
-- The bits of an integer w become the lowest bits of a float, by masks or by prmt:
--
--   bf16   0000 0000 wwww wwww   w * 2^-133, since subnormal numbers and the first normal ones are equally far apart
--   f16    0110 0100 wwww wwww   1024 + w
--
-- One fma makes the weight of it: it multiplies by a power of two and subtracts, exactly, what is too much: the 1024,
-- what was added to signed weights to store them (mixed_input/pack.lua), and the zero point. Of weights of 4 bits every
-- other one is not shifted to the right, and thus 16 times too large: it has a factor of its own. Of e4m3, exponent and
-- mantissa are shifted to where those of the wider type begin.

local fp4 = require "wgrun.mixed_input.fp4"
local fp4_e4m3 = require "wgrun.mixed_input.fp4_e4m3"
local elements = require "wgrun.tile.elements"

local module = {}

local and_or, or_and = 0xEA, 0xF8 -- lop3: a & b | c, a | b & c

local function twice(half) return half << 16 | half end

-- What stands `above` an integer's bits, the number that 0 becomes (`zero`), and the `factor`, which gives the weight
-- times `unit`.
local floats = {
  bf16 = { above = 0, zero = 0.0, factor = 2.0 ^ 127, unit = 2.0 ^ -6 },
  f16 = { above = 0x6400, zero = 1024.0, factor = 1.0, unit = 1.0 },
}
-- What is added to a signed weight to store it.
local offset = { s4 = 8, u4 = 0, s8 = 128, u8 = 0 }

-- The bits of a number as a 16-bit float, twice.
local function number(dtype, value)
  if value == 0 then return 0 end
  local bits = string.unpack("<I4", string.pack("<f", value))
  if dtype == "bf16" then return twice(bits >> 16) end
  return twice((bits >> 16 & 0x8000) | (bits >> 13 & 0x3FF) | ((bits >> 23 & 0xFF) - 112) << 10)
end

-- Four bits: a word has the four pairs of a step, pair i at bits 4 i of both halves. Odd pairs, those of the thread's
-- second row, stay four bits too far up, 16 times too large.
local function four_bits(k, words, above)
  local out, upper = {}, k:shr_u32(words[0], 8)
  for i = 0, 3 do
    local word, mask = i < 2 and words[0] or upper, i % 2 == 0 and 0x000F000F or 0x00F000F0
    out[i] = above == 0 and k["and"](k, word, mask) or k:lop3_b32(word, mask, twice(above), and_or)
  end
  return out
end

-- Eight bits: a step has two words of two pairs: the even bytes of a word, then its odd bytes.
local function eight_bits(words, pair_of)
  local out = {}
  for i = 0, 3 do out[i] = pair_of(words[i // 2], i % 2) end
  return out
end

-- Integers: pairs(words), and for each of the thread's two rows a factor and what is added, less the zero point if
-- there is one.
local function of_integers(k, p)
  local float, dtype, factors, added = floats[p.dtype], p.dtype, {}, {}
  for half = 0, 1 do
    local factor = float.factor / (p.bits == 4 and 16 ^ half or 1)
    factors[half] = k:mov(number(dtype, factor), { type = "b32" })
    added[half] = k:mov(number(dtype, -(float.zero * factor + offset[p.b_type] * float.unit)), { type = "b32" })
  end
  local function fma(a, b, c) return k[("fma_%sx2"):format(dtype)](k, a, b, c) end
  local minus_unit = p.zeros and k:mov(number(dtype, -float.unit), { type = "b32" })
  return {
    left = 1 / float.unit,
    pairs = function(words)
      if p.bits == 4 then return four_bits(k, words, float.above) end
      return eight_bits(words, function(word, odd)
        return k:prmt_b32(word, twice(float.above), odd == 0 and 0x5250 or 0x5351)
      end)
    end,
    prepare = function(row, half, zero) row.added = zero and fma(zero, minus_unit, added[half]) or added[half] end,
    finish = function(pair, row, half) return fma(pair, factors[half], row.added) end,
  }
end

-- e4m3 by its bits (tile/elements.lua). Where the sums are scaled, a factor of the weights makes up for the bias. Where
-- weights are scaled, their scale takes on as much of it as its range allows, and the sums what is left.
local function of_e4m3(k, p)
  local float = elements.moved_e4m3[p.dtype]
  local shift = float.mantissa == 7 and 4 or 1
  local factor = k:mov(twice(p.scales_sums and float.whole or float.scale), { type = "b32" })
  local function mul(a, b) return k[("mul_%sx2"):format(p.dtype)](k, a, b) end
  return {
    left = p.scales_sums and 1.0 or float.left,
    pairs = function(words)
      return eight_bits(words, function(word, odd)
        local at = odd == 1 and word or k:shl_b32(word, 8)
        local magnitude = k["and"](k, k:shr_u32(at, shift), twice(0x7F00 >> shift))
        return k:lop3_b32(magnitude, at, twice(0x8000), or_and)
      end)
    end,
    prepare = function(row) row.scale = row.scale and mul(row.scale, factor) or factor end,
    finish = function(pair) return pair end,
  }
end

--- How a kernel of the plan turns weights into operands.
---   words: the 32-bit words of a thread for a step of K, the elements that one wgmma multiplies.
---   steps: the steps that are converted at a time.
---   left: a factor of the sums that the caller applies.
---   prepare(half, scale, zero): what `convert` needs of the thread's first or second row, half 0 or 1, from the b16
---   registers of its scale and zero point. Its field `factor`: the scale in f32, where sums are scaled.
---   convert(first, words_of, scales_of): four registers of A for each of the steps from `first` on; scales_of(step,
---   half) gives what comes from `prepare`. Of fp4 it is what the method `scales` returns.
function module.emit(k, p, buffers)
  if p.factor_bytes > 0 then return fp4_e4m3.emit(k, p, buffers.products) end
  if p.fp4 then return fp4.emit(k, p) end
  local of_type = (p.b_type == "e4m3" and of_e4m3 or of_integers)(k, p)
  local nothing = k:mov(0, { type = "b16" })
  local function factor(scale)
    if p.dtype == "f16" then return k:cvt_f32_f16(scale) end
    return k:mov(k:pack { nothing, scale }, { type = "f32" }) -- a bf16 is the upper half of an f32
  end
  return {
    words = p.bits // 4, steps = 1, left = of_type.left,
    prepare = function(half, scale, zero)
      local row = {}
      if p.scales_sums then row.factor = factor(scale) else row.scale = k:pack { scale, scale } end
      of_type.prepare(row, half, zero and k:pack { zero, zero })
      return row
    end,
    convert = function(step, words_of, scales_of)
      local out = of_type.pairs(words_of(step))
      for i = 0, 3 do
        local row = scales_of(step, i % 2)
        out[i] = of_type.finish(out[i], row, i % 2)
        if row.scale then out[i] = k[("mul_%sx2"):format(p.dtype)](k, out[i], row.scale) end
      end
      return out
    end,
  }
end

return module
