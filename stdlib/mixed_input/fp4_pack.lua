-- Weights of fp4 and their scales in the order of wg.gemm{ b_type = } (mixed_input/fp4.lua).
--
-- Blocks of 64 rows follow each other as in mixed_input/pack.lua, and in a block units of 64 elements of K. A unit has
-- the weights, 16 bytes for each thread of a warpgroup, a word for each step of 16 elements. Behind them are the scales
-- of its rows, those of rows r and r + 8 together: of mxfp4 the bytes of two groups and two, of nvfp4 of four and four.
--
-- A scale is stored as the byte from which two instructions make the bf16 that weights are multiplied by: of mxfp4 the
-- exponent, rotated to the right by one; of nvfp4 five bits of exponent and three of mantissa, so that no scale is
-- subnormal, with the halves of the byte swapped. What such bytes cannot say, the weights do: they take a scale's sign,
-- and are 0 where it is 0. NaN stays NaN: of mxfp4 it is 0 times infinity.

local wg = require "wgrun"
local fp4 = require "wgrun.mixed_input.fp4"

local module = {}

local steps, elements = 4, 16 -- of a unit; of a step

-- A scale of mxfp4 as it is stored, and what weights keep of their bits. The largest exponents become infinity.
local function of_ue8m0(k, scale)
  local exponent = k:selp_b32(scale + 94, 255, scale:le(160), { type = "u32" })
  local kept = k:selp_b32(0, 0xF, scale:eq(255), { type = "u32" })
  return exponent >> 1 | (exponent & 1) << 7, kept, nil
end

-- A scale of nvfp4 as it is stored, what weights keep of their bits, and what flips them. As an f32, times 2^120,
-- which normalises subnormal scales, it has the exponent that is stored 106 too large.
local function of_e4m3(k, scale)
  local magnitude = scale & 0x7F
  local bits, byte = k:reg "b32", k:reg "u32"
  k:mov(bits, magnitude << 20)
  k:mov(bits, k:mul(k:mov(bits, { type = "f32" }), 2.0 ^ 120))
  k:shr(byte, bits, 20)
  byte = byte - (106 << 3)
  byte = k:selp_b32(0xFF, byte, magnitude:eq(0x7F), { type = "u32" })
  local zero = magnitude:eq(0)
  byte = k:selp_b32(0, byte, zero, { type = "u32" })
  return (byte >> 4 & 0xF) | (byte & 0xF) << 4, k:selp_b32(0, 0xF, zero, { type = "u32" }), scale >> 4 & 8
end

--- Eight bits of a matrix; 0 outside.
function module.load_byte(k, row, at, columns)
  local value, inside = k:reg "u16", row.inside & at:lt(columns)
  k:mov(value, 0)
  k:ld_global_u8(value, k:add(row.from, k:cvt_u64_u32(at)), { guard = inside })
  return k:cvt_u32_u16(value)
end

-- The bits of the pair of weights in a byte, as they stand in two bf16.
local function bits_of_pair(byte, kept, flip)
  local function half(nibble)
    nibble = nibble & kept
    if flip then nibble = nibble ~ flip end
    return (nibble & 8) << 12 | (nibble & 7) << 6
  end
  return half(byte) | half(byte >> 4) << 16
end

--- The thread's two rows, of the weights or of the scales.
function module.rows_of(k, matrix, first, rows, bytes)
  local out = {}
  for half = 0, 1 do
    local row = half == 0 and first or first + 8
    out[half] = { inside = row:lt(rows), from = k:mad_wide_u32(row, bytes, matrix) }
  end
  return out
end

--- The kernel: a CTA packs a unit.
function module.kernel_of(b_type)
  local format = fp4.format(b_type)
  local in_unit, of_scale = steps * elements // format.group_size, b_type == "mxfp4" and of_ue8m0 or of_e4m3
  return wg.kernel("prepack_" .. b_type, { threads = 128 }, function(k)
    local W, packed = k:param("W", "const u8*"), k:param("packed", "u32*")
    local N, K = k:param("N", "u32"), k:param("K", "u32")
    local scales = k:param("scales", ("const %s*"):format(format.scales))
    local thread, unit, block = k:special "tid.x", k:special "ctaid.x", k:special "ctaid.y"
    local lane, groups = thread & 31, k:div(K, format.group_size)
    local first = (block << 6) + ((thread >> 5) << 4) + (lane >> 2)
    local weight_rows, scale_rows = module.rows_of(k, W, first, N, K >> 1), module.rows_of(k, scales, first, N, groups)

    local stored, kept, flips = {}, {}, {}
    for half = 0, 1 do
      for group = 0, in_unit - 1 do
        local i = half * in_unit + group
        local scale = module.load_byte(k, scale_rows[half], unit * in_unit + group, groups)
        stored[i], kept[i], flips[i] = of_scale(k, scale)
      end
    end

    local words, column = {}, unit * (steps * elements // 2) + (lane & 3) -- in bytes
    for step = 0, steps - 1, 2 do
      local bits = {}
      for i = 0, 7 do
        local at, half = step + i // 4, i % 2
        local scale = half * in_unit + elements * at // format.group_size
        local byte = module.load_byte(k, weight_rows[half], column + (elements // 2 * at + i % 4 // 2 * 4), K >> 1)
        bits[i] = bits_of_pair(byte, kept[scale], flips[scale])
      end
      table.move(fp4.words_of_steps(k, bits), 1, 2, step + 1, words)
    end
    local bytes = 2048 + format.scale_bytes
    local to = k:mad_wide_u32(block * k:special "nctaid.x" + unit, bytes, packed)
    k:st_global_v4_b32(k:add(to, k:cvt_u64_u32(thread << 4)), words)

    local of_rows = {}
    for i = 0, 2 * in_unit - 1 do
      local word = i // 4 + 1
      of_rows[word] = of_rows[word] and of_rows[word] | stored[i] << 8 * (i % 4) or stored[i]
    end
    local at = k:add(to, k:cvt_u64_u32(((thread >> 5 << 3) + (lane >> 2)) * (4 * #of_rows)))
    local store = #of_rows == 1 and "st_global_b32" or "st_global_v2_b32"
    k[store](k, at, #of_rows == 1 and of_rows[1] or of_rows, { offset = 2048, guard = (lane & 3):eq(0) })
  end)
end

return module
