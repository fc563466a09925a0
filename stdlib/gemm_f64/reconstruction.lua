-- D of wg.gemm_f64 from the remainders of its elements (moduli.lua): a thread has four columns of a row.

local wg = require "wgrun"
local residues = require "wgrun.gemm_f64.residues"

local module = {}

local threads, columns = 256, 4
local integers = 2.0 ^ 52 + 2.0 ^ 31 -- f64 whose lower word is a number of 32 bits, with its highest bit inverted
local magic = 1.5 * 2.0 ^ 52 -- adding it rounds to the nearest whole number

--- The columns of a CTA.
module.columns = threads * columns

-- The bytes of four words, transposed.
local function transposed(k, words)
  local out = {}
  for half, digits in ipairs { 0x5140, 0x7362 } do
    local low, high = k:prmt(words[1], words[2], digits), k:prmt(words[3], words[4], digits)
    out[2 * half - 1], out[2 * half] = k:prmt(low, high, 0x5410), k:prmt(low, high, 0x7632)
  end
  return out
end

-- f_p c_p + f_q c_q, f64: the remainders are two bytes of a word.
local function combined(k, pair, word, half)
  local factors = k:mov(pair.p & 0xFFFF | (pair.q & 0xFFFF) << 16, { type = "s32" })
  local number, signed = k:reg "b32", k:reg "s32"
  k:mov(signed, word)
  k:mov(number, k["dp2a_" .. half .. "_s32_s32"](k, factors, signed, -0x80000000))
  local out = k:reg "f64"
  k:mov(out, k:pack_b64 { number, k:mov(0x43300000, { type = "b32" }) })
  return out - integers
end

-- The whole number of which these are the remainders: words has them, by fours.
local function number_of(k, moduli, words)
  local high, low
  for i, pair in ipairs(moduli.pairs) do
    local value = combined(k, pair, words[(i + 1) // 2], i % 2 == 1 and "lo" or "hi")
    high = high and k:fma(value, pair.high, high) or value * pair.high
    low = low and k:fma(value, pair.low, low) or value * pair.low
  end
  local times = k:fma(high, 1 / (moduli.high + moduli.low), magic) - magic
  return k:fma(times, -moduli.high, high) + k:fma(times, -moduli.low, low)
end

-- The number divided by the factors of its row and column, whose exponents add up to `exponent`. Beyond 1400 all
-- numbers but 0 are out of range.
local function scaled(k, number, exponent)
  local bounded = k:max(k:min(k:neg(exponent), 1400), -1400)
  local half = bounded >> 1
  for _, part in ipairs { half, bounded - half } do
    local factor = k:reg "f64"
    k:mov(factor, k:pack_b64 { k:mov(0, { type = "b32" }), k:mov((part + 1023) << 20, { type = "b32" }) })
    number = number * factor
  end
  return k:selp_f64(0 / 0, number, exponent:ge(residues.no_exponent // 2))
end

--- The kernel; its CTAs are rows and columns.
function module.make(name, moduli)
  local kernel = wg.kernel(name, { threads = threads }, function(k)
    local planes, D = k:param("planes", "const u8*"), k:param("D", "f64*")
    local of_rows, of_columns = k:param("row_exponents", "const s32*"), k:param("column_exponents", "const s32*")
    local M, N, padded = k:param("M", "u32"), k:param("N", "u32"), k:param("padded", "u32")
    local row, column = k:special "ctaid.x", (k:special "ctaid.y" * threads + k:special "tid.x") * columns
    k:if_(column:lt(N), function()
      local from, plane = k:mad_wide_u32(column, 1, k:mul_wide_u32(row, padded) + planes), k:mul_wide_u32(M, padded)
      local words, exponents = {}, k:regs("s32", columns)
      for i = 1, #moduli.list do
        words[i] = k:ld_global_b32(from)
        if i < #moduli.list then from = from + plane end
      end
      k:ld_global_v4_s32(exponents, k:element(of_columns, column))
      local of_row, by_column = k:ld_global_s32(k:element(of_rows, row)), {}
      for first = 1, #words, 4 do
        local four = { table.unpack(words, first, math.min(first + 3, #words)) }
        for i = #four + 1, 4 do four[i] = k:mov(0, { type = "b32" }) end
        by_column[#by_column + 1] = transposed(k, four)
      end
      local values = k:regs("f64", columns)
      for i = 0, columns - 1 do
        local of_column = {}
        for j, four in ipairs(by_column) do of_column[j] = four[i + 1] end
        k:mov(values[i], scaled(k, number_of(k, moduli, of_column), exponents[i] + of_row))
      end
      local to = k:mad_wide_u32(column, 8, k:mad_wide_u32(row, N << 3, D))
      k:if_((N & 1):eq(0), function()
        for i = 0, columns - 1, 2 do
          k:st_global_v2_f64(to, values:slice(i, 2), { offset = 8 * i, guard = i > 0 and (column + i):lt(N) or nil })
        end
      end, function()
        for i = 0, columns - 1 do
          k:st_global_f64(to, values[i], { offset = 8 * i, guard = i > 0 and (column + i):lt(N) or nil })
        end
      end)
    end)
  end)
  kernel:launch_rule {
    notes = {
      planes = "remainders of the elements of D by each modulus, M x padded",
      row_exponents = "of the factors of the rows of A",
      column_exponents = "of the factors of the columns of D; padded",
      padded = ("N, rounded up to a multiple of 16; the grid has M x ceil(N / %d) CTAs"):format(module.columns),
    },
  }
  return kernel
end

return module
