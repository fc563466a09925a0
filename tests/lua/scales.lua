-- wg.gemm with scales, on the simulator, beside sums in binary64: for blocks of K, for rows, for whole tensors.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"

local function ceil_div(a, b) return (a + b - 1) // b end
local function randoms(shape, seed) return wg.randn { shape = shape, dtype = "f32", seed = seed } end

-- Runs the product, and compares a part of D with want(i, j), which returns the sum and that of its terms' magnitudes.
local function compare(name, gemm, A, B, D, given, want)
  assert(#gemm.kernel:check() == 0, name)
  given.backend = "sim"
  gemm:run(A, B, D, given)
  multiplying.compare(name, D, 7, 5, function(i, j)
    local sum, terms = want(i, j)
    return sum, 2 ^ -8 * terms + 1e-3
  end)
end

local function blocks(name, M, N, K, opts, run)
  opts.dtype, opts.scales = opts.dtype or "e4m3", { a = "1x128", b = "128x128" }
  local A = wg.randn { shape = { M, K }, dtype = opts.dtype, seed = 1 }
  local B = wg.randn { shape = { N, K }, dtype = opts.dtype, seed = 2 }
  local a, b = randoms({ ceil_div(K, 128), ceil_div(M, 4) * 4 }, 3), randoms({ ceil_div(N, 128), ceil_div(K, 128) }, 4)
  local given = { a_scales = a, b_scales = b }
  for key, value in pairs(run or {}) do given[key] = value end
  compare(name, wg.gemm(opts), A, B, wg.zeros("bf16", { M, N }), given, function(i, j)
    local sum, terms = 0, 0
    for block = 0, ceil_div(K, 128) - 1 do
      local first = block * 128
      local x = wg.dot(A, i * K + first, 1, B, j * K + first, 1, math.min(128, K - first)) * a[{ block, i }] * b[{ j // 128, block }]
      sum, terms = sum + x, terms + math.abs(x)
    end
    return sum * (given.alpha or 1), terms
  end)
end

-- One CTA has several tiles, so that the ring goes on from one to the next.
blocks("blocks, edges", 203, 392, 400, { tile = { 128, 256 } }, { grid = 2, seed = 1 })
blocks("two consumers, one block of K in a tile", 300, 520, 112, { tile = { 128, 256 } }, { grid = 2, seed = 10 })
blocks("two consumers, the last tiles in slices of K", 203, 392, 720, { tile = { 128, 256 }, last_splits = 3 }, { grid = 3, seed = 11 })
blocks("two blocks of rows", 300, 200, 400, { tile = { 256, 128 } }, { grid = 1, seed = 2 })
blocks("three consumers", 203, 200, 400, { tile = { 192, 128 } }, { grid = 1, seed = 3 })
blocks("tiles that begin within a scale of B", 136, 392, 272, { tile = { 128, 192 } }, { grid = 2 })
blocks("tiles that touch three scales of B", 72, 680, 144, { tile = { 128, 224 } }, { grid = 2 })
blocks("narrow tiles", 136, 200, 144, { tile = { 64, 96 } }, { grid = 1 })
blocks("two sets of products, one block of K", 72, 136, 112, { tile = { 64, 64 } }, { grid = 1 })
blocks("two sets of products, 34 blocks of K, which lanes hold in turns", 136, 72, 4240, { tile = { 128, 64 } }, { grid = 1, seed = 13 })
blocks("two sets of products, 65 blocks of K", 9, 72, 8208, { tile = { 64, 64 } }, { grid = 1, seed = 14 })
blocks("one set, 33 blocks of K, two rows of scales", 40, 264, 4208, { tile = { 128, 192 } }, { grid = 1, seed = 15 })
blocks("three consumers, two sets", 203, 72, 400, { tile = { 192, 64 } }, { grid = 1, seed = 16 })
blocks("slices that begin behind 32 blocks of K", 72, 136, 8512, { tile = { 64, 64 }, splits = 2 }, { seed = 17 })
blocks("two sets of products, the last tiles in slices of K", 136, 200, 9008, { tile = { 128, 128 }, last_splits = 2 }, { grid = 3, seed = 18 })
blocks("a cluster shares A", 300, 392, 400, { tile = { 256, 128 }, cluster = { 1, 2 } }, { grid = 2, seed = 19 })
blocks("one row", 1, 136, 272, { problem = { 1, 136, 272 } })
blocks("a cluster shares B", 392, 264, 400, { tile = { 128, 256 }, cluster = 2 }, { grid = 2, seed = 4 })
blocks("a constant B", 136, 264, 272, { tile = { 64, 128 }, constant = "B", stages = 2 }, { grid = 1, seed = 5 })
blocks("the last tiles in slices of K", 203, 456, 720, { tile = { 192, 128 }, last_splits = 3 }, { grid = 7, seed = 6 })
blocks("two blocks of rows in slices of K", 300, 200, 720, { tile = { 256, 128 }, last_splits = 2, epilogue = { alpha = true } }, { grid = 3, seed = 7, alpha = 0.5 })
blocks("slices of K, none are cut", 203, 456, 400, { tile = { 192, 128 }, last_splits = 2 }, { grid = 5, seed = 8 })
blocks("nothing but slices of K", 203, 200, 720, { tile = { 192, 128 }, last_splits = 3, stages = 2 }, { seed = 9 })
blocks("slices of K in a cluster", 150, 392, 1040, { tile = { 128, 128 }, splits = 2 }, { grid = 4, seed = 12 })
blocks("three consumers, slices of K in a cluster", 203, 392, 1040, { tile = { 192, 128 }, splits = 4, epilogue = { alpha = true } }, { grid = 4, seed = 13, alpha = 0.5 })
blocks("few rows, as the plan has it", 16, 264, 1040, { problem = { 16, 264, 1040 } })
blocks("Hilbert's curve, e5m2, alpha", 136, 264, 272, { tile = { 64, 128 }, raster = "hilbert", dtype = "e5m2", epilogue = { alpha = true } }, { alpha = 0.5 })

local function vectors(name, M, N, K, a_kind, b_kind, opts)
  opts.dtype, opts.scales = opts.dtype or "e4m3", { a = a_kind, b = b_kind }
  local A, B = multiplying.random(opts.dtype, { M, K }, 1), multiplying.random(opts.dtype, { N, K }, 2)
  local function scales(kind, rows, seed) return kind and randoms({ kind == "row" and rows or 1 }, seed) end
  local a, b = scales(a_kind, M, 3), scales(b_kind, N, 4)
  compare(name, wg.gemm(opts), A, B, wg.zeros("bf16", { M, N }), { a_scales = a, b_scales = b }, function(i, j)
    local scale = (a and a[{ a_kind == "row" and i or 0 }] or 1) * (b and b[{ b_kind == "row" and j or 0 }] or 1)
    local sum = scale * multiplying.dot(A, B, K, i, j)
    return sum, math.abs(sum) + math.abs(scale) * math.sqrt(K)
  end)
end

vectors("rows and rows", 203, 264, 272, "row", "row", { tile = { 128, 256 } })
vectors("rows and rows, few", 9, 200, 272, "row", "row", { problem = { 9, 200, 272 } })
vectors("rows of B, few", 9, 200, 272, nil, "row", { problem = { 9, 200, 272 } })
vectors("tensors", 136, 200, 272, "tensor", "tensor", { tile = { 64, 128 } })
vectors("a row's and a tensor's, ping-pong", 264, 264, 272, "row", "tensor", { tile = { 128, 128 }, schedule = "pingpong" })
vectors("integers", 72, 136, 160, "row", "row", { dtype = "s8", tile = { 64, 128 } })

local function refuses(message, opts) check.refuses(message, function() wg.gemm(opts) end) end
refuses('wg.gemm, scales: a = "1x128" and b = "128x128" go together', { dtype = "e4m3", scales = { a = "1x128" } })
refuses("wg.gemm, scales: block scales are of e4m3 and e5m2, not of bf16", { scales = { a = "1x128", b = "128x128" } })
refuses("wg.gemm, scales: unknown a `column` (legal: 1x128, row, tensor)", { dtype = "e4m3", scales = { a = "column" } })
refuses("unknown option `d` of wg.gemm, scales: did you mean `a`? (legal: a, b)", { scales = { d = "row" } })
local of_blocks = { a = "1x128", b = "128x128" }
refuses("wg.gemm: block scales exclude the pingpong schedule: consumers add while others multiply, for the same tile", { dtype = "e4m3", scales = of_blocks, schedule = "pingpong" })
refuses("wg.gemm: `stream_k` excludes block scales: a work unit may begin inside a block; `last_splits` does this for block scales", { dtype = "e4m3", scales = of_blocks, stream_k = true })
refuses("wg.gemm: with block scales `splits` is at most 8, without `groups` and `cluster`, and of a `tile` whose sums fit into shared memory", { dtype = "e4m3", scales = of_blocks, splits = 9 })
refuses("wg.gemm: with block scales `splits` is at most 8, without `groups` and `cluster`, and of a `tile` whose sums fit into shared memory", { dtype = "e4m3", scales = of_blocks, splits = 2, cluster = 2, tile = { 64, 64 } })
refuses("wg.gemm: tile[3] is 64, must be 128: the blocks of K that have scales", { dtype = "e4m3", scales = of_blocks, tile = { 128, 128, 64 } })
refuses("wg.gemm: tile[1] is 384: with block scales at most 256", { dtype = "e4m3", scales = of_blocks, tile = { 384, 64 } })
refuses("wg.gemm: a tile of 256 x 192 leaves no registers for the products of a block of K: at most 160 columns fit", { dtype = "e4m3", scales = of_blocks, tile = { 256, 192 } })

refuses("wg.gemm: `last_splits` requires block scales of A and B: `stream_k` does this for other products", { dtype = "e4m3", last_splits = 2 })
refuses("wg.gemm: `last_splits` excludes `cluster`: one CTA has a tile of the last round", { dtype = "e4m3", scales = of_blocks, cluster = 2, last_splits = 2 })
refuses("wg.gemm: last_splits is 65, must be an integer from 1 to 64", { dtype = "e4m3", scales = of_blocks, last_splits = 65 })

-- A long K pays for the sums of its parts; 44 tiles of the last round become 132 there.
for _, row in ipairs {
  { 4096, 7168, 16384, 192, 3 }, { 4096, 7168, 2048, 192, 1 }, { 4096, 4096, 4096, 256, 1 }, { 2048, 7168, 4096, 192, 1 }, { 8192, 8192, 8192, 192, 1 }, { 4096, 4096, 8192, 192, 3 },
  { 4096, 7168, 2048, 256, 1, "cool" }, { 4096, 4096, 8192, 256, 1, "cool" },
} do
  local plan = wg.gemm({ dtype = "e4m3", scales = of_blocks, problem = { row[1], row[2], row[3] }, heat = row[6] }).plan
  check.equal({ plan.m, plan.last_splits, plan.cluster_n }, { row[4], row[5], row[4] == 256 and 2 or 1 })
end
-- 22 rows of tiles are one band, 43 are three.
for _, row in ipairs { { 4096, 1, 22 }, { 8192, 1, 16 }, { 32768, 8, 22 }, { 3072, 1, 16 } } do
  local grouped = row[2] > 1 and "contiguous" or nil
  local opts = { dtype = "e4m3", scales = of_blocks, problem = { row[1], 7168, 16384, row[2] }, groups = grouped, tile = { 192, 128 } }
  check.equal(wg.gemm(opts).plan.group, row[3])
end
-- Tiles of 256 rows in clusters are for a plan that may choose both.
for _, more in ipairs { { cluster = 1 }, { stages = 4 }, { last_splits = 2 }, { splits = 1 }, { groups = "masked" }, { epilogue = { alpha = true } } } do
  more.dtype, more.scales, more.problem = "e4m3", of_blocks, { 4096, 4096, 4096 }
  check.equal(wg.gemm(more).plan.cluster_n, 1)
end

local gemm = wg.gemm { dtype = "e4m3", scales = of_blocks, tile = { 64, 128 } }
local A, B, D = wg.zeros("e4m3", { 64, 272 }), wg.zeros("e4m3", { 136, 272 }), wg.zeros("bf16", { 64, 136 })
local a, b = wg.zeros("f32", { 3, 64 }), wg.zeros("f32", { 2, 3 })
check.refuses("gemm: `a_scales` is missing: a tensor of f32", function() gemm:run(A, B, D) end)
local turned, b_turned = { a_scales = wg.zeros("f32", { 64, 3 }), b_scales = b }, { a_scales = a, b_scales = wg.zeros("f32", { 3, 2 }) }
check.refuses("gemm: a_scales must be ceil(K / 128) x M, a multiple of 4, = 3 x 64 f32, not 64 x 3", function() gemm:run(A, B, D, turned) end)
check.refuses("gemm: b_scales must be ceil(N / 128) x ceil(K / 128) = 2 x 3 f32, not 3 x 2", function() gemm:run(A, B, D, b_turned) end)
local plain = wg.gemm { dtype = "e4m3", tile = { 64, 128 } }
check.refuses("gemm: `a_scales` is given, but wg.gemm has no such `scales`", function() plain:run(A, B, D, { a_scales = a }) end)
local parted = wg.gemm { dtype = "e4m3", scales = of_blocks, tile = { 64, 128 }, last_splits = 4 }
check.refuses("gemm: K is 272, 3 blocks of 128: too few for 4 splits: wg.gemm{ last_splits = 3 }", function() parted:run(A, B, D, { a_scales = a, b_scales = b }) end)
