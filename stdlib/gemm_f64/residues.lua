-- The operands of wg.gemm_f64 become whole numbers, and these become planes of 8-bit remainders: the kernel that does
-- it for A, and for B. A row is multiplied by the power of two that makes its Euclidean norm as large as the moduli
-- allow, and rounded. By Cauchy and Schwarz no product of two rows is then as large as half of the product P of the
-- moduli, so that its remainders say which number it is.
--
-- A CTA reads its rows twice, the second time from a cache. MN-major rows are columns in memory: a CTA has 16 of them,
-- the lanes of a half-warp, and a thread has 16 elements of K of its row, so that all accesses are of whole sectors.

local wg = require "wgrun"
local division = require "wgrun.builder.division"
local remainder = require "wgrun.gemm_f64.remainder"

local module = {}

local threads = 256

-- By the order of the operand: the rows of a CTA, and the elements of K that a thread has at a time.
local shares = { K = { rows = 1, count = 4 }, MN = { rows = 16, count = 16 } }

-- Squares of very large and of very small numbers are summed up apart, scaled: one of the three sums has neither
-- overflowed nor lost anything (J. L. Blue, A portable Fortran program to find the Euclidean norm of a vector, 1978).
local ranges = { 600, 0, -600 } -- exponents of the scales, in the order in which a finite sum is taken

--- The exponent that stands for a row with an infinity or a NaN.
module.no_exponent = 1 << 20

--- The rows of a CTA.
function module.rows(major) return shares[major].rows end

-- Which row and which elements of K a thread has.
local function place_of(k, share)
  local thread = k:special "tid.x"
  local place = { thread = thread, line = share.rows > 1 and thread & share.rows - 1 or 0 }
  place.row = share.rows > 1 and k:special "ctaid.x" * share.rows + place.line or k:special "ctaid.x"
  place.first = division.divided(k, thread, share.rows) * share.count
  place.step = threads // share.rows * share.count
  return place
end

-- Returns load(first): the thread's elements from `first` on, 0 where there are none.
local function loads_of(k, share, X, place, rows, K)
  local of_row, inside = share.count == 4 and k:mad_wide_u32(place.row, K << 3, X), place.row:lt(rows)
  local function each(values, from, first, step)
    for i = 0, share.count - 1 do
      local at = i == 0 and from or step and from + k:mul_wide_u32(step, i) or from
      k:ld_global_f64(
        values[i], at, { offset = not step and 8 * i or nil, guard = inside & (i == 0 and first or first + i):lt(K) })
    end
  end
  return function(first)
    local values = k:regs("f64", share.count)
    for i = 0, share.count - 1 do k:mov(values[i], 0.0) end
    if not of_row then
      each(values, k:mad_wide_u32(place.row, 8, k:mul_wide_u32(first, rows) * 8 + X), first, rows << 3)
      return values
    end
    local from = k:mad_wide_u32(first, 8, of_row)
    k:if_((K & 1):eq(0), function()
      for i = 0, share.count - 1, 2 do
        k:ld_global_v2_f64(
          values:slice(i, 2), from, { offset = 8 * i, guard = inside & (i == 0 and first or first + i):lt(K) })
      end
    end, function() each(values, from, first) end)
    return values
  end
end

-- The sums of the squares of the thread's elements, by range.
local function squares_of(k, share, place, load, K)
  local sums = {}
  for i in ipairs(ranges) do sums[i] = k:mov(0.0, { type = "f64" }) end
  k:loop({ from = place.first, to = K, step = place.step }, function(first)
    local values = load(first)
    for i, exponent in ipairs(ranges) do
      for j = 0, share.count - 1 do
        local scaled = exponent == 0 and values[j] or values[j] * 2.0 ^ exponent
        k:fma(sums[i], scaled, scaled, sums[i])
      end
    end
  end)
  return sums
end

-- The sum over the lanes of a warp that have the same row.
local function over_lanes(k, value, rows)
  local distance = rows
  while distance < 32 do
    local words, other = k:unpack_b64(k:mov(value, { type = "b64" })), k:reg "f64"
    local function exchanged(i) return k:shfl_sync_bfly_b32(words[i], distance, 31) end
    k:mov(other, k:pack_b64 { exchanged(0), exchanged(1) })
    value, distance = value + other, 2 * distance
  end
  return value
end

-- 2^exponent, f64.
local function power(k, exponent)
  local out = k:reg "f64"
  k:mov(out, k:pack_b64 { k:mov(0, { type = "b32" }), k:mov((exponent + 1023) << 20, { type = "b32" }) })
  return out
end

-- The exponent of the row's factor: the largest for which the sum of squares is below `most`, whose upper words are
-- compared.
local function exponent_of(k, sums, most)
  local sum, range = sums[3], k:mov(ranges[3], { type = "s32" })
  for i = 2, 1, -1 do
    local finite = sums[i]:lt(math.huge)
    sum, range = k:selp_f64(sums[i], sum, finite), k:selp_b32(ranges[i], range, finite, { type = "s32" })
  end
  local upper = k:reg "s32"
  k:mov(upper, k:unpack_b64(k:mov(sum, { type = "b64" }))[1])
  local limit = string.unpack(">i4", string.pack(">d", most)) - 1
  return k:selp_b32((limit - upper >> 21) + range, module.no_exponent, sum:lt(math.huge), { type = "s32" })
end

-- The sums of all warps, in their order; then the factor of each row, as two powers of two, because one may be out of
-- range. Returns the two.
local function factors_of(k, share, place, sums, most, exponents, rows)
  local lane, warp, warps = place.thread & 31, place.thread >> 5, threads // 32
  local parts = k:shared { bytes = warps * share.rows * 24, align = 8, name = "squares" }
  local factors = k:shared { bytes = share.rows * 16, align = 16, name = "factors" }
  local mine = k:address(parts, (warp * share.rows + place.line) * 24)
  for i, sum in ipairs(sums) do
    k:st_shared_f64(mine, over_lanes(k, sum, share.rows), { offset = 8 * (i - 1), guard = lane:lt(share.rows) })
  end
  k:bar_sync(0)
  local of_line = k:address(factors, place.line * 16)
  k:if_(place.thread:lt(share.rows), function()
    local from = k:address(parts, place.line * 24)
    for i in ipairs(sums) do
      sums[i] = k:mov(0.0, { type = "f64" })
      for w = 0, warps - 1 do
        sums[i] = sums[i] + k:ld_shared_f64(from, { offset = w * share.rows * 24 + 8 * (i - 1) })
      end
    end
    local exponent = exponent_of(k, sums, most)
    local half = exponent >> 1
    k:st_global_s32(k:element(exponents, place.row), exponent, { guard = place.row:lt(rows) })
    k:st_shared_f64(of_line, power(k, half))
    k:st_shared_f64(of_line, power(k, exponent - half), { offset = 8 })
  end)
  k:bar_sync(0)
  return k:ld_shared_f64(of_line), k:ld_shared_f64(of_line, { offset = 8 })
end

-- The element as a whole number: two words, of which the highest bit is inverted (remainder.lua).
local function whole(k, value, factors)
  local words = k:unpack_b64(k:cvt_rni_s64_f64(value * factors[1] * factors[2]))
  return { words[0], k:xor_b32(words[1], 0x80000000) }
end

--- The kernel for an operand whose order is `major`. Its CTAs are rows, also those that only the planes have: these are
--- zeros.
function module.make(name, moduli, major)
  local share = shares[major]
  local kernel = wg.kernel(name, { threads = threads, grid = { "any", 1, 1 } }, function(k)
    local X, planes, exponents = k:param("X", "const f64*"), k:param("planes", "s8*"), k:param("exponents", "s32*")
    local constants, rows, K = k:param("constants", "const u32*"), k:param("rows", "u32"), k:param("K", "u32")
    local padded_rows, padded = k:param("padded_rows", "u32"), k:param("padded", "u32")
    local place = place_of(k, share)
    local load = loads_of(k, share, X, place, rows, K)
    local factors = { factors_of(
      k, share, place, squares_of(k, share, place, load, K), moduli.most, exponents, padded_rows) }

    local plane = k:mul_wide_u32(padded_rows, padded)
    local of_row = k:mul_wide_u32(place.row, padded) + planes
    k:loop({ from = place.first, to = padded, step = place.step }, function(first)
      local values, numbers = load(first), {}
      for i = 0, share.count - 1 do numbers[i] = whole(k, values[i], factors) end
      local to = k:mad_wide_u32(first, 1, of_row)
      k:loop(#moduli.list, function(number)
        local of, words = remainder.load(k, constants, number, 64), {}
        for i = 0, share.count - 1, 4 do
          local four = {}
          for j = 0, 3 do four[j + 1] = remainder.emit(k, numbers[i + j], of) end
          words[#words + 1] = remainder.pack(k, four)
        end
        local guard = share.rows > 1 and place.row:lt(padded_rows) or nil
        if #words == 1 then
          k:st_global_b32(to, words[1], { guard = guard })
        else
          k:st_global_v4_b32(to, words, { guard = guard })
        end
        k:add(to, to, plane)
      end)
    end)
  end)
  kernel:launch_rule {
    notes = {
      X = "rows x K, or K x rows where it is MN-major", planes = "remainders by each modulus, padded_rows x padded",
      exponents = "of the factors of the rows, powers of two; padded_rows",
      padded_rows = ("the grid has ceil(padded_rows / %d) CTAs"):format(share.rows),
      padded = "K, rounded up to a multiple of 16",
    },
  }
  return kernel
end

return module
