-- Fragments of accumulators: elements with their places, row reductions, an accumulator as operand A.
local wg = require "wgrun"
local check = require "check"

local n = 48
local A, B = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { n, 64 }, dtype = "bf16", seed = 2 }
local product = {} -- A * B in binary64
for i = 0, 63 do
  product[i] = {}
  for j = 0, n - 1 do product[i][j] = wg.dot(A, i * 64, 1, B, j * 64, 1, 64) end
end

local tile_a, tile_b = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }, wg.tile { dtype = "bf16", mn = n, k = 64, major = "K" }

local function load(k, from, tile)
  local buffer = k:shared(tile)
  local k_major = tile.major == "K"
  local length, lines = k_major and tile.k or tile.mn, k_major and tile.mn or tile.k
  k:copy_tile { to = buffer, from = from, ld = length, line = 0, along = 0, lines = lines, length = length, vector = true }
  return buffer
end

-- Runs body(k, accumulators of A * B, more) in a kernel of one warpgroup, under two seeds. more(name): a parameter.
local function run(body, args)
  local kernel = wg.kernel("fragment", { threads = 128 }, function(k)
    local from_a, from_b = k:param("A", "const bf16*"), k:param("B", "const bf16*")
    local a, b = load(k, from_a, tile_a), load(k, from_b, tile_b)
    local acc = k:regs("f32", n // 2)
    local finish = body(k, acc)
    k:fence_proxy_async()
    k:bar_sync(0)
    k:wgmma_fence()
    k:mma(acc, { a = a, b = b, scale_d = 0 })
    k:wgmma_wait_group(0)
    finish()
  end)
  check.equal(#kernel:check(), 0)
  for seed = 1, 2 do kernel:run { args = { A, B, table.unpack(args) }, seed = seed } end
end

-- Each element with its place.
local D = wg.zeros("f32", { 64, n })
run(function(k, acc)
  local to = k:param("D", "f32*")
  return function()
    k:fragment(acc):map(function(x, at)
      local lower = at.row:gt(at.column)
      return k:selp(x, -1.0, lower)
    end)
    k:store_accumulator(acc, { to = to, ld = n, row = k:mov(0, { type = "u32" }), col = 0, rows = 64, cols = n, vector = true })
  end
end, { D })
for i = 0, 63 do
  for j = 0, n - 1 do check.near(D[{ i, j }], i > j and product[i][j] or -1, 1e-4) end
end

-- The largest element and the sum of each row, and a row's value for its elements.
local largest, sums, shifted = wg.zeros("f32", { 64, n }), wg.zeros("f32", { 64, n }), wg.zeros("f32", { 64, n })
run(function(k, acc)
  local out = { k:param("L", "f32*"), k:param("S", "f32*"), k:param("T", "f32*") }
  local function store(i) k:store_accumulator(acc, { to = out[i], ld = n, row = k:mov(0, { type = "u32" }), col = 0, rows = 64, cols = n, vector = true }) end
  return function()
    local f = k:fragment(acc)
    local top, sum = f:row_max(), f:row_sum()
    f:map(function(x, at) return x - top[at.half] end)
    store(3)
    f:map(function(_, at) return top[at.half] end)
    store(1)
    f:map(function(_, at) return sum[at.half] end)
    store(2)
  end
end, { largest, sums, shifted })
for i = 0, 63 do
  local sum, top = 0, -math.huge
  for j = 0, n - 1 do sum, top = sum + product[i][j], math.max(top, product[i][j]) end
  for j = 0, n - 1 do
    check.near(sums[{ i, j }], sum, 1e-3)
    check.near(largest[{ i, j }], top, 1e-4)
    check.near(shifted[{ i, j }], product[i][j] - top, 1e-4)
  end
end

-- (A * B) * C with the first product, rounded to bf16, as operand A in registers; C with N in lines.
for _, dtype in ipairs { "bf16", "f16" } do
  local tile_c = wg.tile { dtype = dtype, mn = 64, k = n, major = "MN" }
  local C, E = wg.randn { shape = { n, 64 }, dtype = dtype, seed = 3 }, wg.zeros("f32", { 64, 64 })
  run(function(k, acc)
    local from, to = k:param("C", "const " .. dtype .. "*"), k:param("E", "f32*")
    local c = load(k, from, tile_c)
    return function()
      local out = k:regs("f32", 32)
      local a = k:fragment(acc):operand(dtype)
      k:wgmma_fence()
      k:mma(out, { a = a, b = c, scale_d = 0 })
      k:wgmma_wait_group(0)
      k:store_accumulator(out, { to = to, ld = 64, row = k:mov(0, { type = "u32" }), col = 0, rows = 64, cols = 64, vector = true })
    end
  end, { C, E })
  for i = 0, 63, 3 do
    for j = 0, 63 do
      local want, size = 0, 0
      for l = 0, n - 1 do
        want, size = want + product[i][l] * C[{ l, j }], size + math.abs(product[i][l] * C[{ l, j }])
      end
      check.near(E[{ i, j }], want, size * (dtype == "bf16" and 2 ^ -8 or 2 ^ -11) + 1e-3)
    end
  end
end

local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
check.refuses_in_kernel("k:fragment: 30 registers cannot hold a 64 x n block, which takes n / 2 registers, n being a multiple of 8", function(k) k:fragment(k:regs("f32", 30)) end)
check.refuses_in_kernel("k:fragment: expected an array of registers, got table", function(k) k:fragment {} end)
check.refuses_in_kernel("accumulator:operand makes bf16 or f16, not a table", function(k) k:fragment(k:regs("f32", 32)):operand { dtype = "bf16" } end)
check.refuses_in_kernel("accumulator:operand makes bf16 or f16, not e4m3", function(k) k:fragment(k:regs("f32", 32)):operand "e4m3" end)
check.refuses_in_kernel("accumulator:operand: n is 24, must be a multiple of 16 (a K step)", function(k) k:fragment(k:regs("f32", 12)):operand "bf16" end)
check.refuses_in_kernel("k:mma: the K extents of the tiles differ: 16 and 64", function(k) k:mma(k:regs("f32", 32), { a = k:regs("b32", 4), b = k:shared(tile) }) end)
check.refuses_in_kernel("accumulator:map: expected a function, got nil", function(k) k:fragment(k:regs("f32", 32)):map() end)
