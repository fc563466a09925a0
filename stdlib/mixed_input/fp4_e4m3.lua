-- Weights of mxfp4 as operands of e4m3, for an A of e4m3.
--
-- A weight of e2m1 times a power of two has two significant bits, and is an e4m3 wherever its exponent fits. What does
-- not fit is left to the sums: each row of weights has a factor, 2^-6 of its greatest scale, and its weights are
-- multiplied by what their scales are beside it, from 2^6 on downwards, so that the largest weight becomes 6 * 2^6 of
-- at most 448. Down to 2^-14 of the greatest scale nothing is rounded: 0.5 * 2^-8 is the smallest e4m3. Under smaller
-- scales weights are rounded to multiples of that, of 2^-15 of the greatest scale.
--
-- The product is looked up: prmt takes four bytes at a time from the eight that the magnitudes of e2m1 are, times the
-- scale. A table in shared memory has these eight bytes for each scale; a packed scale is its place there.
--
-- The order of bits. A register of wgmma's A holds four elements of a row (PTX ISA 9.7.15.5.1, figure of the A fragment
-- of 8-bit types). A word has two registers, of rows r and r + 8: the magnitudes of the first in the lower 16 bits,
-- those of the second in the upper ones, as prmt selects by them, the sign of element i in bits 7 + 8 i and 3 + 8 i.

local module = {}

local or_and = 0xF8 -- lop3: a | b & c
local magnitudes, signs = 0x77777777, 0x80808080

local greatest, nan = 30, 31 -- entries of the table: of the greatest scale of a row, 2^6; of NaN
local entries, entry_bytes, exponent = 32, 8, 6
local places_of_entries = (entries - 1) * entry_bytes * 0x01010101 -- in each byte of a word

-- A power of two in f32, of its exponent, 127 more.
local function power(k, biased)
  local bits = k:reg "b32"
  k:mov(bits, biased << 23)
  return k:mov(bits, { type = "f32" })
end

--- A scale of ue8m0 as it is packed: the place of its entry. top: the exponent of the row's factor, times 2^6.
function module.packed_scale(k, scale, top)
  local entry = k:max(scale + greatest, top) - top
  return k:selp_b32(nan * entry_bytes, entry << 3, scale:eq(255), { type = "u32" })
end

--- The factor of a row whose scales have `top` as their greatest exponent, at least 1, in f32.
function module.factor(k, top) return k:mul(power(k, top), 2.0 ^ -exponent) end

--- The word of two registers: four weights of row r and four of row r + 8, each as they lie in memory.
function module.word(first, second)
  local word = first & 0x7777 | (second & 0x7777) << 16
  for i = 0, 3 do
    local sign = 8 << 4 * i
    word = word | (first & sign) << 4 * i + 4 | (second & sign) << 4 * i
  end
  return word
end

--- The table, in shared memory.
function module.table_of(k) return k:shared { bytes = entries * entry_bytes, align = 8, name = "products" } end

--- Emits what fills the table: a word for each of the first 64 threads. A barrier must follow.
function module.fill(k, buffer)
  local thread = k:special "tid.x"
  k:if_(thread:lt(2 * entries), function()
    local entry, upper = thread >> 1, (thread & 1):ne(0)
    local scale = power(k, entry + (127 + exponent - greatest))
    k:mov(scale, 0 / 0, { guard = entry:eq(nan) })
    local function product(low, high) return k:mul(k:selp_f32(high, low, upper), scale) end
    local low = k:cvt_rn_satfinite_e4m3x2_f32(product(0.5, 3.0), product(0.0, 2.0))
    local high = k:cvt_rn_satfinite_e4m3x2_f32(product(1.5, 6.0), product(1.0, 4.0))
    k:st_shared_b32(k:address(buffer, thread << 2), k:pack { low, high })
  end)
end

--- How a kernel of the plan turns weights into operands, as convert.emit (mixed_input/convert.lua). buffer: the table.
function module.emit(k, p, buffer)
  local entries_of = k:address(buffer)
  return {
    words = 2, steps = 1,
    scales = function(load)
      local loaded = {}
      for unit = 0, p.slice_k // 64 - 1 do
        local places = load(unit)[1] & places_of_entries
        for i = 0, 3 do -- rows r and r + 8, and of each two steps
          local bytes = k:regs("b32", 2)
          k:ld_shared_v2_b32(bytes, entries_of + k:prmt_b32(places, 0, 0x4440 + i))
          loaded[2 * (2 * unit + i % 2) + i // 2] = bytes
        end
      end
      return function(step, row) return loaded[2 * step + row] end
    end,
    convert = function(step, words_of, scale_of)
      local words, out = words_of(step), {}
      local function operand(row, selection, word)
        local scale = scale_of(step, row)
        return k:lop3_b32(k:prmt_b32(scale[0], scale[1], selection), word, signs, or_and)
      end
      for i = 0, 1 do
        local selection = k["and"](k, words[i], magnitudes)
        out[2 * i] = operand(0, selection, words[i])
        out[2 * i + 1] = operand(1, k:shr_u32(selection, 16), k:shl_b32(words[i], 4))
      end
      return out
    end,
  }
end

return module
