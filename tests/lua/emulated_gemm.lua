-- wg.gemm with f32 operands by parts of bf16 and tf32, on the simulator: the parts, errors beside binary64, numbers of all sizes,
-- infinities and NaN, edges, slices of K, and what is refused.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"

local inf, nan = math.huge, 0 / 0
local parts_of = { bf16x9 = 3, bf16x6 = 3, bf16x3 = 2, ["3xtf32"] = 2 }
-- How large an error is, of a product of two numbers: what the parts and products leave out.
local of_product = { bf16x9 = 0, bf16x6 = 2.0 ^ -22.9, bf16x3 = 2.0 ^ -14.4, ["3xtf32"] = 2.0 ^ -20.4 }

-- The parts of numbers: their sum, and that each is at most half of a last place of the one before.
local numbers = { 0, 1, -1 / 3, 3.1415926, 1e-30, -2.5e-38, 2.0 ^ -126, 2.0 ^ -149, -3 * 2.0 ^ -140, 3.4028234e38, -3.395e38, 3.3895e38, 1 + 2.0 ^ -23, 255 / 256 }
local X = wg.tensor("f32", { 2, 7 }, numbers)
for precision, parts in pairs(parts_of) do
  local split, digits = wg.split(X, precision), precision == "3xtf32" and 11 or 8
  check.equal(table.concat(split.shape, " "), 2 * parts .. " 8")
  for i = 0, 13 do
    local row, column, rest = i // 7, i % 7, X[{ i // 7, i % 7 }]
    local whole = rest
    for part = 0, parts - 1 do
      local value = split[{ 2 * part + row, column }]
      assert(math.abs(value) < inf, precision)
      -- Rounding to nearest, but for numbers that would become infinity, and to what subnormal parts have.
      local allowed = math.abs(rest) * 2.0 ^ (math.abs(whole) > 3.38e38 and part == 0 and 1 - digits or -digits)
      rest = rest - value
      assert(math.abs(rest) <= allowed + 2.0 ^ -134, ("%s: part %d of %g is %g"):format(precision, part, whole, value))
    end
    assert(parts == 2 or math.abs(rest) <= 2.0 ^ -134)
  end
  for row = 0, 2 * parts - 1 do check.equal(split[{ row, 7 }], 0) end -- fills up a row
end
local odd = wg.split(wg.tensor("f32", { 1, 4 }, { inf, -inf, nan, 0 }), "bf16x6"):totable()
for i, want in ipairs { 1, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, inf, -inf, nan, 0 } do
  if want ~= want then assert(odd[i] ~= odd[i]) elseif i ~= 3 then check.equal(odd[i], want) end -- 3: NaN may have a sign
end

-- D = A * B beside binary64. What a sum may be wrong by: what its products are, a 2^-20th of its largest terms for the blocks of K,
-- and where numbers are small, what subnormal parts lose.
local function product(name, A, B, opts, given)
  given = given or {}
  local M, K, N = A.shape[1], A.shape[2], B.shape[1]
  opts.dtype, opts.precision, opts.problem = "f32", opts.precision or "bf16x6", opts.problem or { M, N, K }
  local gemm = wg.gemm(opts)
  assert(#gemm.kernel:check() == 0, name)
  local D = wg.zeros(opts.d or "f32", { M, N })
  gemm:run(wg.split(A, opts.precision), wg.split(B, opts.precision), D, {
    backend = "sim", numerics = given.numerics, bias = given.bias, grid = given.grid, C = given.C, beta = given.beta,
  })
  local a, b = A:totable(), B:totable()
  multiplying.compare(name, D, given.down or 7, given.across or 5, function(i, j)
    local want, size = multiplying.dot(A, B, K, i, j), 0
    for k = 1, K do size = size + math.abs(a[i * K + k] * b[j * K + k]) end
    if given.of then want = given.of(want, i, j) end
    return want, size * (of_product[opts.precision] + 2.0 ^ -20) + (given.small or 0) + (opts.d == "bf16" and math.abs(want) / 256 or 0)
  end)
  return D
end

local function randn(M, K, seed) return wg.randn { shape = { M, K }, dtype = "f32", seed = seed } end

for precision in pairs(parts_of) do
  for _, numerics in ipairs { "exact", "h200" } do
    product(precision .. ", " .. numerics, randn(20, 72, 1), randn(40, 72, 2), { precision = precision, tile = { 64, 64 } }, { numerics = numerics, down = 1 })
  end
  for _, tile in ipairs { { 256, 128 }, { 128, 192 }, { 192, 128 }, { 128, 128, 16 } } do
    product(("%s, a tile of %d x %d"):format(precision, tile[1], tile[2]), randn(300, 100, 3), randn(200, 100, 4), { precision = precision, tile = tile })
  end
  product(precision .. ", K of 33", randn(5, 33, 5), randn(16, 33, 6), { precision = precision }, { down = 1 })
end
do -- f32 matrices, which gemm:run splits
  local A, B, D, same = randn(20, 72, 1), randn(40, 72, 2), wg.zeros("f32", { 20, 40 }), wg.zeros("f32", { 20, 40 })
  local gemm = wg.gemm { dtype = "f32", precision = "3xtf32", problem = { 20, 40, 72 } }
  gemm:run(A, B, D, { backend = "sim" })
  gemm:run(wg.split(A, "3xtf32"), wg.split(B, "3xtf32"), same, { backend = "sim" })
  assert(wg.compare(D, same, 0))
end
product("one row", randn(1, 64, 1), randn(8, 64, 2), {}, { down = 1, across = 1 })
product("a D of bf16", randn(20, 64, 1), randn(40, 64, 2), { d = "bf16" })
product("slices of K", randn(70, 640, 7), randn(80, 640, 8), { tile = { 128, 64 }, splits = 3 })
product("slices of K through memory", randn(70, 640, 7), randn(80, 640, 8), { tile = { 128, 64 }, splits = 10 })
product("stream-K", randn(300, 320, 7), randn(200, 320, 8), { tile = { 128, 64 }, stream_k = true }, { grid = { 5 } })
product("clusters along M and N", randn(500, 64, 9), randn(300, 64, 10), { tile = { 128, 128 }, cluster = { 2, 2 } })
product("a constant B", randn(70, 64, 9), randn(72, 64, 10), { tile = { 128, 64 }, constant = "B" })
local bias = wg.randn { shape = { 40 }, dtype = "f32", seed = 5 }
product("a bias and an activation", randn(20, 64, 1), randn(40, 64, 2), { epilogue = { bias = "column", activation = "relu" } },
  { bias = bias, of = function(x, _, j) return math.max(0, x + bias[j]) end })
product("C", randn(20, 64, 1), randn(40, 64, 2), { epilogue = { beta = true } }, { C = wg.ones("f32", { 20, 40 }), beta = 3.0, of = function(x) return x + 3 end })

-- A long K of positive numbers: the tensor cores truncate, so that an error with one sign would grow with K.
local long = wg.randn { shape = { 8, 8192 }, dtype = "f32", seed = 11 }:abs()
for _, precision in ipairs { "bf16x6", "bf16x9", "3xtf32" } do
  local D = product(precision .. ", K of 8192", long, long, { precision = precision, tile = { 64, 64 } }, { numerics = "h200", down = 1 })
  local sum = 0
  for i = 0, 7 do
    for j = 0, 7 do
      local want = multiplying.dot(long, long, 8192, i, j)
      sum = sum + (D[{ i, j }] - want) / want / 64
    end
  end
  assert(math.abs(sum) < 2.0 ^ -21, ("%s: a mean error of %g"):format(precision, sum))
end

-- Numbers of very different sizes in one sum, and columns that are large or small as a whole.
local wide = { randn(24, 96, 12):totable(), randn(24, 96, 13):totable() }
for i = 1, 24 * 96 do
  local power = 2.0 ^ ((i * 37) % 81 - 40)
  wide[1][i], wide[2][i] = wide[1][i] * power, wide[2][i] / power * 2.0 ^ ((i * 13) % 21 - 10)
end
for _, precision in ipairs { "bf16x6", "bf16x9", "3xtf32" } do
  product(precision .. ", a large dynamic range", wg.tensor("f32", { 24, 96 }, wide[1]), wg.tensor("f32", { 24, 96 }, wide[2]), { precision = precision }, { down = 1, across = 1 })
end
-- A is subnormal: its parts are multiples of 2^-133 or, of tf32, 2^-136, and what is left is lost.
local tiny = randn(16, 32, 14) * 2.0 ^ -130
product("subnormal numbers", tiny, randn(16, 32, 15), { precision = "bf16x6" }, { down = 1, small = 32 * 4 * 2.0 ^ -134 })
product("subnormal numbers, 3xtf32", tiny, randn(16, 32, 15), { precision = "3xtf32" }, { down = 1, small = 32 * 4 * 2.0 ^ -137 })
product("the largest numbers", wg.full("f32", { 8, 8 }, 3.4028234e38), wg.full("f32", { 8, 8 }, 0.125), {}, { down = 1, across = 1 })

-- Infinities and NaN, as IEEE 754 has them; but in bf16x9 infinity may become NaN.
local odd_a, odd_b = randn(16, 16, 16), randn(16, 16, 17)
odd_a[{ 1, 3 }], odd_a[{ 2, 5 }], odd_a[{ 3, 7 }], odd_a[{ 5, 3 }] = inf, -inf, nan, inf
odd_b[{ 4, 3 }], odd_b[{ 6, 3 }], odd_b[{ 7, 9 }], odd_b[{ 8, 2 }] = inf, 0, nan, -inf
odd_b[{ 9, 3 }], odd_b[{ 10, 3 }] = 1.0, -0.5 -- whose other parts are 0
for precision in pairs(parts_of) do
  local D = wg.zeros("f32", { 16, 16 })
  wg.gemm({ dtype = "f32", precision = precision, problem = { 16, 16, 16 } }):run(
    wg.split(odd_a, precision), wg.split(odd_b, precision), D, { backend = "sim" })
  for i = 0, 15 do
    for j = 0, 15 do
      local want, got = 0, D[{ i, j }]
      for k = 0, 15 do want = want + odd_a[{ i, k }] * odd_b[{ j, k }] end
      local name = ("%s: D[%d, %d] is %g, not %g"):format(precision, i, j, got, want)
      if want ~= want then
        assert(got ~= got, name)
      elseif math.abs(want) == inf then
        assert(got == want or precision == "bf16x9" and got ~= got, name)
      else
        assert(math.abs(got - want) < 1e-3, name)
      end
    end
  end
end

local function refuses(message, opts) check.refuses(message, function() wg.gemm(opts) end) end
refuses('wg.gemm: dtype = "f32" and `precision` go together: wgmma multiplies parts of f32 numbers', { dtype = "f32" })
refuses('wg.gemm: dtype = "f32" and `precision` go together: wgmma multiplies parts of f32 numbers', { precision = "bf16x6" })
refuses("wg.gemm: unknown precision `bf16x4`: did you mean `bf16x9`? (legal: bf16x9, bf16x6, bf16x3, 3xtf32)", { dtype = "f32", precision = "bf16x4" })
refuses("wg.gemm: a tile of 128 x 256 takes 256 sums a thread with `precision`: at most 192 fit", { dtype = "f32", precision = "bf16x6", tile = { 128, 256 } })
local gemm = wg.gemm { dtype = "f32", precision = "bf16x6" }
local A, D = wg.zeros("f32", { 8, 8 }), wg.zeros("f32", { 8, 8 })
check.refuses("gemm: A is 8 x 8 of f32, must be 3 parts of bf16", function() gemm:launch(A, A, D) end)
check.refuses("gemm: B is 8 x 8 of bf16, must be 3 parts of bf16", function() gemm:launch(wg.split(A), wg.zeros("bf16", { 8, 8 }), D) end)
check.refuses("gemm: D is 8 x 8, but A * B is 16 x 8", function() gemm:launch(wg.zeros("bf16", { 48, 8 }), wg.split(A), D) end)
check.refuses("wg.split: X is of bf16, must be of f32", function() wg.split(wg.zeros("bf16", { 8, 8 })) end)
check.refuses("wg.splitter: unknown precision `bf16x4`: did you mean `bf16x9`? (legal: bf16x9, bf16x6, bf16x3, 3xtf32)", function() wg.split(A, "bf16x4") end)
check.refuses("splitter: parts must be a tensor of 24 x 8", function() wg.splitter():launch(A, A) end)
