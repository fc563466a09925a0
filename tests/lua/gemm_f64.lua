-- wg.gemm_f64 on the simulator: beside sums of whole numbers and of f64, edges, numbers of all sizes, infinities and NaN, and what is
-- refused.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local inf, nan = math.huge, 0 / 0

-- D by a wg.gemm_f64 of these options, of M x K and N x K elements a(i, k) and b(j, k).
local function product(opts, M, N, K, a, b, seed)
  opts.tile = opts.tile or { 128, 64 }
  local gemm = wg.gemm_f64(opts)
  local function matrix(rows, of, major)
    local out = wg.zeros("f64", major == "MN" and { K, rows } or { rows, K })
    for i = 0, rows - 1 do
      for k = 0, K - 1 do out[major == "MN" and { k, i } or { i, k }] = of(i, k) end
    end
    return out
  end
  local D = wg.full("f64", { M, N }, nan)
  gemm:run(matrix(M, a, opts.a_major), matrix(N, b, opts.b_major), D, { backend = "sim", seed = seed })
  return D, gemm
end

-- Whole numbers, whose sums are exact: D is one of the nearest f64.
local function exact(name, opts, M, N, K, a, b)
  local D = product(opts, M, N, K, a, b)
  for i = 0, M - 1 do
    for j = 0, N - 1 do
      local sum = 0
      for k = 0, K - 1 do sum = sum + math.tointeger(a(i, k)) * math.tointeger(b(j, k)) end
      local wrong = math.abs(math.tointeger(D[{ i, j }]) - sum)
      assert(wrong == 0 or 2 * wrong <= 2.0 ^ (math.floor(math.log(math.abs(sum), 2)) - 52), ("%s: D[%d, %d] is %.17g, not %d"):format(name, i, j, D[{ i, j }], sum))
    end
  end
end

local function digits(i, k, seed, range)
  local x = (i * 7919 + k * 104729 + seed * 1299709) * 2654435761 % 4294967296
  return x % (2 * range + 1) - range
end
local function whole(seed, range) return function(i, k) return digits(i, k, seed, range) end end

for _, a_major in ipairs { "K", "MN" } do
  for _, b_major in ipairs { "K", "MN" } do
    exact(a_major .. " " .. b_major, { a_major = a_major, b_major = b_major }, 20, 40, 70, whole(1, 1 << 22), whole(2, 1 << 22))
  end
end
for _, size in ipairs { { 1, 1, 1 }, { 1, 17, 33 }, { 3, 1, 15 }, { 65, 8, 16 }, { 130, 66, 31 } } do
  exact(table.concat(size, " x "), { a_major = size[1] == 3 and "MN" or "K" }, size[1], size[2], size[3], whole(3, 1 << 20), whole(4, 1 << 20))
end
exact("cooperative", { schedule = "cooperative", tile = { 128, 64 } }, 140, 70, 40, whole(3, 1 << 20), whole(4, 1 << 20))
exact("ones", {}, 4, 4, 300, function() return 1 end, function() return 1 end)
exact("signs", {}, 4, 4, 300, function(_, k) return k % 2 == 0 and 1 or -1 end, function() return 1 end)
-- Each number of moduli, with as many bits as it has room for.
for moduli = 4, 16 do
  local bits = (31 * moduli) // 4 // 2 - 7
  exact(moduli .. " moduli", { moduli = moduli }, 3, 5, 40, whole(5, math.min(1 << bits, 1 << 28)), whole(6, math.min(1 << bits, 1 << 28)))
end

-- Rows and columns of very different sizes: an error is relative to the norms of both.
do
  local function at(seed) return function(i, k) return digits(i, k, seed, 1 << 20) * 2.0 ^ (40 * ((i + seed) % 5) - 80 - k % 3) end end
  local a, b = at(1), at(2)
  local D = product({}, 6, 7, 50, a, b)
  for i = 0, 5 do
    for j = 0, 6 do
      local sum, of_a, of_b = 0, 0, 0
      for k = 0, 49 do
        sum, of_a, of_b = sum + a(i, k) * b(j, k), of_a + a(i, k) ^ 2, of_b + b(j, k) ^ 2
      end
      assert(math.abs(D[{ i, j }] - sum) <= 2.0 ^ -50 * math.sqrt(of_a * of_b), ("%d, %d"):format(i, j))
    end
  end
end

-- Near the ends of the range: rows of numbers that are subnormal, columns that are huge.
exact("large and small", {}, 3, 3, 20, whole(7, 1 << 10), whole(8, 1 << 10))
do
  local small, large = 2.0 ^ -1074, 2.0 ^ 1000
  local D = product({}, 2, 2, 4, function() return small end, function() return large end)
  check.equal(D[{ 1, 1 }], 4 * small * large)
end

-- A row of A with an infinity or a NaN makes its row of D NaN, a column of B its column; rows of zeros are zeros.
do
  local function a(i, k) return i == 1 and k == 3 and inf or i == 2 and 0 or 1 end
  local function b(j, k) return j == 2 and k == 0 and nan or 1 end
  local D = product({}, 4, 4, 8, a, b)
  for i = 0, 3 do
    for j = 0, 3 do
      local value = D[{ i, j }]
      if i == 1 or j == 2 then assert(value ~= value, ("%d, %d"):format(i, j)) else check.equal(value, i == 2 and 0.0 or 8.0) end
    end
  end
end

-- What is refused.
local made = wg.gemm_f64 { tile = { 128, 64 } }
local function f64(...) return wg.zeros("f64", { ... }) end
check.refuses("wg.gemm_f64: moduli is 3, must be an integer from 4 to 16", function() wg.gemm_f64 { moduli = 3 } end)
check.refuses("wg.gemm_f64: moduli is 17, must be an integer from 4 to 16", function() wg.gemm_f64 { moduli = 17 } end)
check.refuses("gemm_f64: A is of f32, must be of f64", function() made:run(wg.zeros("f32", { 4, 8 }), f64(4, 8), f64(4, 4)) end)
check.refuses("gemm_f64: A has 8 elements along K, and B has 9", function() made:run(f64(4, 8), f64(4, 9), f64(4, 4)) end)
check.refuses("gemm_f64: D is 4 x 5, but A * B is 4 x 4", function() made:run(f64(4, 8), f64(4, 8), f64(4, 5)) end)
check.refuses("gemm_f64: K is 131073, at most 131072: sums of products of remainders have 32 bits",
  function() made:run(f64(1, 131073), f64(1, 131073), f64(1, 1)) end)
check.refuses("gemm_f64: workspace[1] must be a tensor of 56 x 16",
  function() made:run(f64(4, 8), f64(4, 8), f64(4, 4), { workspace = { f64(4, 8), f64(4, 8), f64(4, 8), f64(4, 8), f64(4, 8) } }) end)

-- What is checked, and what is proved of the kernels for every size.
assert(#made.kernel:check() == 0)
for _, field in ipairs { "residues_a", "residues_b", "reconstruction" } do
  local proved = 0
  assert(#made[field]:check() == 0, field)
  for _, one in ipairs(made[field]:verdicts()) do proved = proved + (one.verdict == "proved" and 1 or 0) end
  assert(proved >= 13, ("%s: %d"):format(field, proved))
end

-- Rounding makes rows longer: with few moduli and a long K by as much as the power of two leaves.
do
  local K = 131072
  local gemm = wg.gemm_f64 { moduli = 4, tile = { 128, 64 } }
  local A, B, D = wg.full("f64", { 1, K }, 125.6), wg.full("f64", { 1, K }, 125.6), wg.zeros("f64", { 1, 1 })
  gemm:run(A, B, D)
  assert(math.abs(D[{ 0, 0 }] / (K * 125.6 ^ 2) - 1) < 0.02, D[{ 0, 0 }])
end
