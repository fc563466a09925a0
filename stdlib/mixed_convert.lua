-- Weights of 4 and 8 bits become numbers of 16 bits in registers: pairs at a time, since a register of wgmma's A holds two
-- elements of a row (PTX ISA 9.7.15.5.1, figure of the A fragment). Bits of the weight are put below the exponent of a
-- power of two, which makes that power plus the weight; subtracting the power leaves the weight, exactly. The weight's own
-- offset, which makes signed numbers unsigned (stdlib/mixed_pack.lua), and its zero point are subtracted along with the power.

return function(_, internal)
  local and_or, or_and, not_and_or = 0xEA, 0xF8, 0xAE -- lop3: a & b | c, a | b & c, ~a & b | c

  local function twice(half) return half << 16 | half end

  -- The bits of the power of two whose last bit of the mantissa counts 1, and the power.
  local magic = { bf16 = 0x4300, f16 = 0x6400 }
  local power = { bf16 = 128, f16 = 1024 }
  -- What is added to a signed weight to store it.
  local offset = { s4 = 8, u4 = 0, s8 = 128, u8 = 0 }

  -- The bits of a whole number as a 16-bit float, twice.
  local function number(dtype, value)
    if value == 0 then return 0 end
    local bits = string.unpack("<I4", string.pack("<f", value))
    if dtype == "bf16" then return twice(bits >> 16) end
    return twice((bits >> 16 & 0x8000) | (bits >> 13 & 0x3FF) | ((bits >> 23 & 0xFF) - 112) << 10)
  end

  -- Four bits: a word has the four pairs of a step, pair i at bits 4 i of both halves.
  local function four_bits(k, p, words)
    local out = {}
    for i = 0, 3 do
      local at = i == 0 and words[0] or k:shr_u32(words[0], 4 * i)
      out[i] = k:lop3_b32(at, 0x000F000F, twice(magic[p.dtype]), and_or)
    end
    return out
  end

  -- Eight bits: a step has two words of two pairs: the even bytes of a word, then its odd bytes.
  local function eight_bits(f)
    return function(k, p, words)
      local out = {}
      for i = 0, 3 do out[i] = f(k, p, words[i // 2], i % 2) end
      return out
    end
  end

  -- 1024 + weight.
  local whole_f16 = eight_bits(function(k, _, word, odd) return k:prmt_b32(word, twice(magic.f16), odd == 0 and 0x5250 or 0x5351) end)

  -- A bf16 has no room for eight bits below the exponent. 128 + the lower seven, minus 128 where the eighth is set and 256
  -- where it is not, is the weight minus 128.
  local whole_bf16 = eight_bits(function(k, _, word, odd)
    local at = odd == 0 and word or k:shr_u32(word, 8)
    local low = k:lop3_b32(at, 0x007F007F, twice(magic.bf16), and_or)
    return k:sub_bf16x2(low, k:lop3_b32(at, 0x00800080, twice(magic.bf16), not_and_or))
  end)

  -- Exponent and mantissa of e4m3 go to where those of the wider type begin, which has another bias: the result is the
  -- weight times a power of two, also where the weight is subnormal.
  local function e4m3(bits_of_mantissa)
    local shift = bits_of_mantissa == 7 and 4 or 1
    return eight_bits(function(k, _, word, odd)
      local at = odd == 1 and word or k:shl_b32(word, 8)
      local magnitude = k["and"](k, k:shr_u32(at, shift), twice(0x7F00 >> shift))
      return k:lop3_b32(magnitude, at, twice(0x8000), or_and)
    end)
  end

  local expand = {
    s4 = { bf16 = four_bits, f16 = four_bits }, s8 = { bf16 = whole_bf16, f16 = whole_f16 }, e4m3 = { bf16 = e4m3(7), f16 = e4m3(10) },
  }
  expand.u4, expand.u8 = expand.s4, expand.s8

  -- e4m3's other bias is made up for by a factor. With scaled weights the scale takes it on as far as its range allows: in f16 2^8
  -- at once, in bf16 half of 2^120, and the rest, `left`, is left to the sums.
  local made_up = {
    bf16 = { whole = 0x7B80, scale = 0x5D80, left = 2.0 ^ 60 }, f16 = { whole = 0x5C00, scale = 0x5C00, left = 1.0 },
  }

  --- How a kernel of the plan turns weights into operands.
  ---   words: the 32-bit words of a thread for a step of 16 elements of K.
  ---   left: a factor of the sums that the caller applies, 1 for most types.
  ---   prepare(scale, zero): from the b16 registers of a row's scale and zero point what `convert` needs. Its field `factor`: the scale
  ---   in f32, where sums are scaled.
  ---   convert(words, rows): four registers of A; rows[0] and rows[1] come from `prepare`, for the thread's two rows.
  function internal.mixed_convert(k, p)
    local pairs_of, dtype = expand[p.b_type][p.dtype], p.dtype
    local function op(name, a, b) return k[("%s_%sx2"):format(name, dtype)](k, a, b) end
    local is_e4m3, factors = p.b_type == "e4m3", made_up[dtype]
    -- What the pairs have too much. The eight bits of a bf16 come without their power, and 128 too small.
    local surplus = not is_e4m3 and offset[p.b_type] + (p.bits == 8 and dtype == "bf16" and -128 or power[dtype]) or 0
    local base = k:mov(is_e4m3 and twice(p.scales_sums and factors.whole or factors.scale) or number(dtype, surplus), { type = "b32" })

    local nothing = k:mov(0, { type = "b16" })
    local function factor(scale)
      if dtype == "f16" then return k:cvt_f32_f16(scale) end
      return k:mov(k:pack { nothing, scale }, { type = "f32" }) -- a bf16 is the upper half of an f32
    end
    return {
      words = p.bits // 4, left = is_e4m3 and not p.scales_sums and factors.left or 1.0,
      prepare = function(scale, zero)
        local row = {}
        if p.scales_sums then
          row.factor, row.scale = factor(scale), is_e4m3 and base or nil
        else
          row.scale = k:pack { scale, scale }
          if is_e4m3 then row.scale = op("mul", row.scale, base) end
        end
        if zero then
          zero = k:pack { zero, zero }
          row.zero = surplus ~= 0 and op("add", zero, base) or zero
        elseif surplus ~= 0 then
          row.zero = base
        end
        return row
      end,
      convert = function(words, rows)
        local out = pairs_of(k, p, words)
        for i = 0, 3 do
          local row = rows[i % 2]
          if row.zero then out[i] = op("sub", out[i], row.zero) end
          if row.scale then out[i] = op("mul", out[i], row.scale) end
        end
        return out
      end,
    }
  end
end
