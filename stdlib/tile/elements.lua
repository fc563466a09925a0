-- Elements on their way between registers: those of accumulators become f32, and those of D's type, and the other way.

local module = {}

--- An accumulator as f32.
function module.float(k, x) return x.type == "s32" and k:cvt_rn_f32_s32(x) or x end
local float = module.float

-- Packs the adjacent elements x and y into one register of 16-bit or 8-bit floats.
local function pair_of(conversion)
  return function(k, x, y)
    x, y = float(k, x), float(k, y)
    return k[conversion](k, y, x)
  end
end

-- Rounds to the nearest integer; values out of range saturate.
local function integer(k, x) return x.type == "s32" and x or k:cvt_rni_s32_f32(x) end

local function byte(k, x) return k:max(k:min(integer(k, x), 127), -128) & 0xFF end

--- An f32 register rounded to tf32, half away from zero: two instructions, where cvt.rna.tf32 takes four. Infinity
--- stays infinite, and numbers next to it become so.
function module.nearest_tf32(k, x) return (k:mov(x, { type = "b32" }) + 0x1000) & 0xFFFFE000 end

--- The largest numbers of 8-bit floats.
module.largest = { e4m3 = 448.0, e5m2 = 57344.0 }

--- e4m3 by its bits: exponent and mantissa go to where those of a wider type begin. Its exponents have another bias, so
--- that the result is the number times a power of two, also where the number is subnormal. By the wider type: the bits
--- of its mantissa; `whole`, the factor that makes up for the bias, as bits of that type; `scale`, as much of it as a
--- scale can take on, all of the 2^8 of f16 and 2^60 of the 2^120 of bf16; and the rest, which is `left`.
module.moved_e4m3 = {
  bf16 = { mantissa = 7, whole = 0x7B80, scale = 0x5D80, left = 2.0 ^ 60 },
  f16 = { mantissa = 10, whole = 0x5C00, scale = 0x5C00, left = 1.0 },
}

--- Conversions to the types of D: two adjacent f32 or s32 elements become one register (16-bit and 8-bit types), or
--- one register each. 8-bit floats and s8 saturate; of u8 the lowest bytes are taken.
module.to_output = {
  f16 = pair_of "cvt_rn_f16x2_f32",
  bf16 = pair_of "cvt_rn_bf16x2_f32",
  e4m3 = pair_of "cvt_rn_satfinite_e4m3x2_f32",
  e5m2 = pair_of "cvt_rn_satfinite_e5m2x2_f32",
  f32 = function(k, x, y) return float(k, x), float(k, y) end,
  s32 = function(k, x, y) return integer(k, x), integer(k, y) end,
  s8 = function(k, x, y) return k:cvt_u16_s32(byte(k, x) | (byte(k, y) << 8)) end,
  u8 = function(k, x, y) return k:cvt_u16_s32((integer(k, x) & 0xFF) | (integer(k, y) << 8)) end,
}

local function halves_of_f16(k, word)
  local halves = k:regs("b16", 2)
  k:unpack(halves, word)
  return k:cvt_f32_f16(halves[0]), k:cvt_f32_f16(halves[1])
end

local function of_fp8(conversion)
  return function(k, word) return halves_of_f16(k, k[conversion](k, word)) end
end

--- Conversions of C's registers, as read from a panel of D's type, to two f32 registers.
module.from_output = {
  f16 = halves_of_f16,
  bf16 = function(k, word) return k:mov(word << 16, { type = "f32" }), k:mov(word & 0xFFFF0000, { type = "f32" }) end,
  e4m3 = of_fp8 "cvt_rn_f16x2_e4m3x2",
  e5m2 = of_fp8 "cvt_rn_f16x2_e5m2x2",
  f32 = function(_, x, y) return x, y end,
  s32 = function(k, x, y) return k:cvt_rn_f32_s32(x), k:cvt_rn_f32_s32(y) end,
  s8 = function(k, word)
    local wide = k:reg "s32"
    k:mov(wide, k:cvt_u32_u16(word))
    return k:cvt_rn_f32_s32((wide << 24) >> 24), k:cvt_rn_f32_s32((wide << 16) >> 24)
  end,
}

return module
