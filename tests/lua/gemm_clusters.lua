-- Clusters of wg.gemm, along M (which share B), along N (which share A) and along both, on the simulator, which watches every access: a
-- CTA that told too few of the others of a free stage, or waited for too few bytes, would be found.
local check = require "check"
local multiplying = require "multiplying"
local wg = require "wgrun"
local random = multiplying.random

-- Compares D with sums of its own, on four schedules; `ctas`: fewer than there are tiles, so that clusters take several of them.
local function product(name, M, N, K, opts, ctas)
  local dtype = opts.dtype or "bf16"
  local A, B = random(dtype, opts.a_major == "MN" and { K, M } or { M, K }, 1), random(dtype, opts.b_major == "MN" and { K, N } or { N, K }, 2)
  local gemm = wg.gemm(opts)
  assert(#gemm.kernel:check() == 0, name)
  multiplying.each_seed(name, 4, function(seed)
    local D = wg.full(gemm.plan.d, { M, N }, 77)
    local launch = gemm:launch(A, B, D, {})
    launch.grid, launch.seed, launch.flops, launch.backend = ctas and { ctas } or launch.grid, seed, nil, "sim"
    gemm.kernel:run(launch)
    return D
  end, function(i, j)
    local want = wg.dot(A, opts.a_major == "MN" and i or i * K, opts.a_major == "MN" and M or 1, B, opts.b_major == "MN" and j or j * K, opts.b_major == "MN" and N or 1, K)
    return want, multiplying.allowed(want, K)
  end)
  return gemm.plan
end

local tile = { 64, 64 }
check.equal(product("2 x 2", 256, 256, 320, { tile = tile, cluster = { 2, 2 }, stages = 2 }).multicast_producers, 3)
product("2 x 2, one cluster for all tiles", 320, 200, 320, { tile = tile, cluster = { 2, 2 }, stages = 2 }, 4)
product("along N", 100, 296, 256, { tile = tile, cluster = { 1, 2 }, stages = 2 })
product("four along N, several tiles", 130, 504, 256, { tile = { 64, 48 }, cluster = { 1, 4 } }, 4)
product("2 x 4", 192, 504, 256, { tile = { 64, 32 }, cluster = { 2, 4 } })
product("4 x 2, two consumers", 600, 296, 192, { tile = { 128, 96 }, cluster = { 4, 2 } })
product("3 x 2", 400, 152, 192, { tile = { 64, 48 }, cluster = { 3, 2 } }, 6)
product("fewer tiles than CTAs of a cluster", 60, 56, 192, { tile = tile, cluster = { 2, 4 } })
product("three consumers", 300, 296, 192, { tile = { 192, 96 }, cluster = { 1, 2 } })
product("ping-pong", 300, 520, 320, { tile = { 64, 64 }, cluster = { 2, 2 }, schedule = "pingpong" }, 4)
product("a constant A", 200, 200, 320, { tile = tile, cluster = { 2, 2 }, constant = "A" }, 4)
product("a constant B", 200, 200, 320, { tile = tile, cluster = { 1, 2 }, constant = "B" })
product("integers", 130, 200, 256, { dtype = "s8", tile = tile, cluster = { 2, 2 } })
product("MN-major", 256, 256, 128, { tile = { 128, 128 }, a_major = "MN", b_major = "MN", cluster = { 2, 2 } })
product("slices of K", 200, 200, 640, { tile = tile, cluster = { 2, 2 }, splits = 2 })
product("along Hilbert's curve", 400, 504, 128, { tile = tile, cluster = { 2, 2 }, raster = "hilbert" }, 8)
product("few rows", 40, 296, 256, { problem = { 40, 296, 256 }, tile = { 64, 48, 64 }, cluster = { 2, 1 } })

-- Boxes of the rows that are left at an edge: of A where no CTA shares them, of B where none does.
local plan = product("an edge of A", 100, 200, 256, { problem = { 100, 200, 256 }, tile = { 64, 80 }, swap_ab = false, cluster = { 2, 1 } })
check.equal(plan.edges.A, 36)
check.equal(plan.edges.B, nil)
plan = product("an edge of B", 100, 200, 256, { problem = { 100, 200, 256 }, tile = { 64, 80 }, swap_ab = false, cluster = { 1, 2 } })
check.equal(plan.edges.A, nil)
check.equal(plan.edges.B, 40)

-- Block scales: each CTA copies its own.
local A, B = random("e4m3", { 256, 384 }, 1), random("e4m3", { 256, 384 }, 2)
local scales = { a_scales = wg.full("f32", { 3, 256 }, 0.5), b_scales = wg.full("f32", { 2, 3 }, 4.0) }
local blocks = wg.gemm { dtype = "e4m3", scales = { a = "1x128", b = "128x128" }, tile = { 64, 128 }, cluster = { 2, 2 } }
assert(#blocks.kernel:check() == 0)
multiplying.each_seed("block scales", 3, function(seed)
  local D = wg.zeros("bf16", { 256, 256 })
  blocks:run(A, B, D, { a_scales = scales.a_scales, b_scales = scales.b_scales, backend = "sim", seed = seed })
  return D
end, function(i, j)
  local want = 2 * multiplying.dot(A, B, 384, i, j)
  return want, multiplying.allowed(want, 384)
end)

check.refuses("wg.gemm: cluster is 17, must be an integer from 1 to 16", function() wg.gemm { cluster = 17 } end)
check.refuses("wg.gemm: cluster[2] is 5, must be an integer from 1 to 4", function() wg.gemm { cluster = { 4, 5 } } end)
check.refuses("wg.gemm: cluster[2] is 0, must be an integer from 1 to 8", function() wg.gemm { cluster = { 2, 0 } } end)
check.refuses('wg.gemm: option `cluster`: expected an integer or a table, got string "x"', function() wg.gemm { cluster = "x" } end)
check.refuses("wg.gemm: cluster[2] is 3, must divide the 128 rows of a tile into multiples of 8", function() wg.gemm { tile = { 128, 128 }, cluster = { 1, 3 } } end)
check.refuses("wg.gemm: cluster is 3, must divide the 128 columns of a tile into multiples of 8", function() wg.gemm { tile = { 128, 128 }, cluster = { 3, 1 } } end)
check.refuses("wg.gemm: cluster is 2, must divide the 64 columns of a tile into multiples of 64", function() wg.gemm { tile = { 128, 64 }, b_major = "MN", cluster = 2 } end)
check.refuses("wg.gemm: cluster[2] is 4, must divide the 128 rows of a tile into multiples of 64", function() wg.gemm { tile = { 128, 64 }, a_major = "MN", cluster = { 1, 4 } } end)
check.refuses("wg.gemm: `sparse` excludes a cluster along N: each CTA copies the metadata of its own rows", function() wg.gemm { sparse = "A", tile = { 128, 128 }, cluster = { 1, 2 } } end)
check.refuses("wg.gemm: cluster has an element `3`, must be a number or { along M, along N }", function() wg.gemm { cluster = { 2, 2, 2 } } end)
check.refuses("wg.gemm: cluster has an element `n`, must be a number or { along M, along N }", function() wg.gemm { cluster = { 2, n = 2 } } end)
check.refuses("wg.gemm: cluster is nil, must be an integer from 1 to 16", function() wg.gemm { cluster = {} } end)
check.refuses("wg.gemm: cluster is boolean, must be an integer from 1 to 16", function() wg.gemm { cluster = false } end)
check.refuses("wg.gemm: cluster is 4, must divide the 16 columns of a tile (rows of A, which is swapped with B) into multiples of 8", function() wg.gemm { problem = { 1, 256, 256 }, cluster = 4 } end)
check.refuses("wg.gemm: `halves` excludes a cluster along N: a copy brings half of A's rows, and K-major rows alone", function() wg.gemm { tile = { 256, 192 }, halves = true, cluster = { 2, 2 } } end)
