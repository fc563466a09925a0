-- wg.gemm_f64 on the simulator: beside sums of whole numbers and of f64, edges, numbers of all sizes, infinities and NaN, and what is
-- refused.
local wg = require "wgrun"
local check = require "check"

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
print "all right"
