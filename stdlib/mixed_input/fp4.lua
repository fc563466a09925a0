-- Weights of four bits that are floats, e2m1, with a scale for each group of elements of K: mxfp4 (OCP Microscaling
-- Formats 1.0: groups of 32, powers of two, ue8m0) and nvfp4 (groups of 16, e4m3, and an f32 for the whole tensor).
--
-- e2m1 in bf16. The sign goes to bit 15, the bits of the magnitude, `eem`, to where exponent and mantissa meet:
--
--   bf16   s000 000e em00 0000   weight * 2^-126, also where both are subnormal
--
-- and one multiplication by the scale times a power of two makes an operand of it. Nothing is rounded: a weight has two
-- significant bits, a scale at most four. What is left of the power of two is a factor of the sums; with it the scales
-- of mxfp4 from 2^-100 to 2^33 give operands that a bf16 can be.
--
-- The order of bits. Of a word, and of the word of the next step, three pairs of weights each come by a rotation and a
-- mask, and the fourth ones from one word that a lop3 makes of what these leave. That is all of the 64 bits:
--
--   pair 0, 1, 2 of a step      its word rotated to the left by 0, 6, 10
--   pair 3 of the even step     bits 3, 4, 10, 11 of each half of its word, and bits 5, 6, 12, 13 of the odd
--   pair 3 of the odd step      step's word times 4: rotated to the left by 2 and 12

local module = {}

local function twice(half) return half << 16 | half end
local function four_times(byte) return twice(byte << 8 | byte) end

local and_or, select_bits = 0xEA, 0xE4 -- lop3: a & b | c, c and a or b

-- The bits of a pair of weights as two bf16.
local pair_bits = twice(0x81C0)

-- The bits of pairs 3 that lie in the even step's word.
local of_even = twice(0x0C18)

local turns, last_turns = { [0] = 0, 6, 10 }, { [0] = 2, 12 }

-- Of a format: the elements of a group; the type of its scales; the bytes of scales in a unit of 64 rows and 64
-- elements of K; what is left to the sums, because a scale of 1 is multiplied by as 2^94, or 2^118; whether there is
-- another scale, of all weights.
local formats = {
  mxfp4 = { group_size = 32, scales = "u8", scale_bytes = 128, left = 2.0 ^ 32 },
  nvfp4 = { group_size = 16, scales = "e4m3", scale_bytes = 256, left = 2.0 ^ 8, of_tensor = true },
}

-- mxfp4 for an A of e4m3 (mixed_input/fp4_e4m3.lua): sums have a factor for each row of weights.
local for_e4m3 = { group_size = 32, scales = "u8", scale_bytes = 128, row_factors = true }

--- The format of weights of that type for an A of that type, or nil.
function module.format(b_type, a_type)
  return a_type == "e4m3" and b_type == "mxfp4" and for_e4m3 or formats[b_type]
end

local function rotated(k, word, by)
  if by == 0 then return word end
  if by <= 6 then return k:shl_b32(word, by) end -- no bit that the mask keeps leaves the word
  return k:shf_l_wrap_b32(word, word, by)
end

-- The pairs of two steps, of their words.
local function pairs_of_steps(k, even, odd)
  local out = {}
  local function take(i, word, by) out[i] = k["and"](k, rotated(k, word, by), pair_bits) end
  local last = k:lop3_b32(even, k:shl_b32(odd, 2), of_even, select_bits)
  for step = 0, 1 do
    for i = 0, 2 do take(4 * step + i, step == 0 and even or odd, turns[i]) end
    take(4 * step + 3, last, last_turns[step])
  end
  return out
end

--- The two words of two steps, of the bits of their eight pairs (`bits`), in the order in which pairs_of_steps takes
--- them apart.
function module.words_of_steps(k, pairs_of)
  local function back(word, by) return by == 0 and word or k:shf_r_wrap_b32(word, word, by) end
  local last = back(pairs_of[3], last_turns[0]) | back(pairs_of[7], last_turns[1])
  local words = { last & of_even, (last & (~of_even & 0xFFFFFFFF)) >> 2 }
  for step = 0, 1 do
    for i = 0, 2 do words[step + 1] = words[step + 1] | back(pairs_of[4 * step + i], turns[i]) end
  end
  return words
end

-- A scale as bf16, twice, is two bytes twice. They are the low and the high part of a byte, whose parts change places
-- when it is packed (mixed_input/fp4_pack.lua): of mxfp4 eight bits of exponent, of nvfp4 five bits of exponent, behind
-- three ones, and three of mantissa.
local function halves_of_scales(k, b_type, word)
  if b_type == "mxfp4" then
    return k["and"](k, word, four_times(0x80)), k["and"](k, word, four_times(0x7F))
  end
  return k["and"](k, word, four_times(0xF0)), k:lop3_b32(word, four_times(0x0F), four_times(0x70), and_or)
end

--- How a kernel of the plan turns weights into operands, as convert.emit (mixed_input/convert.lua).
function module.emit(k, p)
  local format, b_type = p.fp4, p.b_type
  local words_of_unit = format.scale_bytes // 128
  return {
    words = 1, steps = 2, left = format.left,
    -- The scales of a slice: load(unit) returns the words of the thread's two rows in a unit. Returns the scale of a
    -- step and row.
    scales = function(load)
      local units = {}
      for unit = 0, p.slice_k // 64 - 1 do
        units[unit] = {}
        for i, word in ipairs(load(unit)) do units[unit][i] = { halves_of_scales(k, b_type, word) } end
      end
      return function(step, row)
        local group = 16 * (step % 4) // format.group_size
        local low, high = table.unpack(units[step // 4][words_of_unit == 2 and row + 1 or 1])
        local byte = words_of_unit == 2 and group or 2 * row + group
        return k:prmt_b32(low, high, (byte + 4 << 4 | byte) * 0x101)
      end
    end,
    convert = function(first, words_of, scale_of)
      local out, scale = pairs_of_steps(k, words_of(first)[0], words_of(first + 1)[0]), {}
      for i = 0, 7 do
        local step, row = first + i // 4, i % 2
        local key = 2 * (16 * step // format.group_size) + row
        scale[key] = scale[key] or scale_of(step, row)
        out[i] = k:mul_bf16x2(out[i], scale[key])
      end
      return out
    end,
  }
end

return module
