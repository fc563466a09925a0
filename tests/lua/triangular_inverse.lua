-- k:triangular_inverse alone: inverses of lower-triangular matrices against binary64, and one whose inverse is exact.
local wg = require "wgrun"
local check = require "check"

local shape = wg.triangular()
local kernel = wg.kernel("inverse", { threads = 128 }, function(k)
  local N, T = k:param("N", "const f32*"), k:param("T", "f32*")
  local matrix = k:shared { bytes = shape.bytes, align = 16, name = "matrix" }
  local thread = k:special "tid.x"
  local lane, warp = thread & 31, thread >> 5
  local from, base = k:special "ctaid.x" * 4096, k:address(matrix)
  -- A warp stores its 16 rows up to its block on the diagonal; what lies behind is NaN, which may not matter.
  k:loop({ from = lane, to = 16 * 64, step = 32 }, function(i)
    local row, column = (warp << 4) + (i >> 6), i & 63
    local value = k:mov(0.0 / 0.0, { type = "f32" })
    k:ld_global_f32(value, k:element(N, from + row * 64 + column), { guard = column:lt(row) })
    k:st_shared_b32(base + (row * shape.line + column) * 4, k:cvt_rna_tf32_f32(value))
  end)
  k:triangular_inverse {
    matrix = base, barrier = 1, each = function(i, j, block)
      for r = 0, 7 do
        local row = 16 * i + 8 * (r // 4) + ((lane & 3) << 1) + r % 2
        local column = 16 * j + (lane >> 2) + 8 * (r // 2 % 2)
        k:st_global_f32(k:element(T, from + row * 64 + column), block[r])
      end
    end,
  }
end)
assert(#kernel:check() == 0)

-- The elements below the diagonal, by a function of row and column, rounded to tf32 (11 bits).
local function matrix(element)
  local out = {}
  for i = 0, 63 do
    for j = 0, 63 do
      local x = j < i and element(i, j) or 0
      local unit = x == 0 and 1 or 2.0 ^ (math.floor(math.log(math.abs(x), 2)) - 10)
      out[#out + 1] = math.floor(x / unit + 0.5) * unit
    end
  end
  return out
end

local function inverse(n)
  local t = {}
  for j = 0, 63 do
    for i = 0, 63 do
      local sum = i == j and 1 or 0
      for m = j, i - 1 do sum = sum + n[i * 64 + m + 1] * t[m * 64 + j + 1] end
      t[i * 64 + j + 1] = i < j and 0 or sum
    end
  end
  return t
end

local function run(n, allowed)
  local T = wg.zeros("f32", { 64, 64 })
  kernel:run { args = { wg.tensor("f32", { 64, 64 }, n), T }, backend = "sim" }
  local want, errors, values = inverse(n), 0, 0
  for i, got in ipairs(T:reshape { -1 }:totable()) do errors, values = errors + (got - want[i]) ^ 2, values + want[i] ^ 2 end
  assert(errors <= allowed ^ 2 * values, ("the error is %g of the values"):format(math.sqrt(errors / values)))
end

math.randomseed(3)
run(matrix(function() return 0.2 * (math.random() - 0.5) end), 2 ^ -10)
run(matrix(function() return -0.5 * math.random() end), 2 ^ -9)
run(matrix(function() return 0 end), 0)
-- -1 everywhere: powers of N grow beyond 10^17, the inverse has two diagonals.
run(matrix(function() return -1 end), 0)
run(matrix(function(i, j) return i == j + 1 and 1 or 0 end), 0)

check.refuses("k:triangular_inverse: option `each` is missing", function() wg.kernel("x", { threads = 128 }, function(k) k:triangular_inverse { matrix = k:reg "u32", barrier = 1 } end) end)
