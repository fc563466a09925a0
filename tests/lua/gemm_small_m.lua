-- wg.gemm for products with few tiles: CTAs that exchange their sums of slices of K (stdlib/reduction/cluster.lua), the rows at an edge of a
-- matrix (stdlib/mainloop/produce.lua), and what the plan chooses (stdlib/gemm/small_m.lua).
local check = require "check"
local multiplying = require "multiplying"
local wg = require "wgrun"
local random = multiplying.random

-- Compares D with sums of its own, on three schedules; `ctas`: fewer than there are tiles and parts, so that clusters take several tiles.
local function product(name, M, N, K, opts, ctas)
  local dtype, e = opts.dtype or "bf16", opts.epilogue
  local A, B = random(dtype, { M, K }, 1), random(dtype, { N, K }, 2)
  local gemm = wg.gemm(opts)
  local d = gemm.plan.d
  assert(#gemm.kernel:check() == 0, name)
  local given = e and { C = random(d, { M, N }, 3), bias = wg.randn { shape = { N }, dtype = "f32", seed = 4 }, beta = 2.0 } or {}
  multiplying.each_seed(name, 3, function(seed)
    local D = wg.full(d, { M, N }, 77)
    local launch = gemm:launch(A, B, D, given)
    launch.grid, launch.seed, launch.flops, launch.backend = ctas and { ctas } or launch.grid, seed, nil, "sim"
    gemm.kernel:run(launch)
    return D
  end, function(i, j)
    local want = multiplying.dot(A, B, K, i, j)
    if e then want = want + 2.0 * given.C[{ i, j }] + given.bias[j] end
    return want, multiplying.allowed(want, K)
  end)
  return gemm.plan
end

local scaled = { beta = true, bias = "column" }
check.equal(product("few rows, four owners", 20, 200, 512, { problem = { 20, 200, 512 }, splits = 4, tile = { 64, 32, 128 } }).dsmem.owners, 4)
product("clusters with several tiles", 20, 504, 512, { problem = { 20, 504, 512 }, splits = 4, tile = { 64, 32, 64 } }, 8)
product("more clusters than tiles", 20, 200, 512, { problem = { 20, 200, 512 }, splits = 4, tile = { 64, 32, 64 } }, 64)
product("more clusters than tiles, one owner", 17, 192, 448, { problem = { 17, 192, 448 }, splits = 2, tile = { 64, 24, 64 } }, 64)
product("two consumers, several tiles", 200, 336, 512, { splits = 2, tile = { 128, 64 } }, 4)
check.equal(product("one owner", 100, 200, 520, { problem = { 100, 200, 520 }, splits = 2, tile = { 128, 104 } }).dsmem.owners, 1)
product("five parts, uneven", 300, 200, 712, { splits = 5, tile = { 64, 80 } }, 10)
product("three consumers, C and a bias, several tiles", 300, 200, 712, { splits = 3, tile = { 192, 96 }, epilogue = scaled }, 3)
product("few rows, C and a bias, fewer owners than parts", 100, 200, 712, { problem = { 100, 200, 712 }, splits = 3, epilogue = scaled }, 6)
product("two blocks of rows, integers", 130, 144, 1024, { splits = 3, tile = { 256, 96 }, dtype = "s8" })
product("eight parts", 130, 136, 1024, { splits = 8, tile = { 64, 128 }, dtype = "e4m3" })
product("eight parts of f32, several tiles", 130, 136, 1024, { splits = 8, tile = { 64, 128 }, dtype = "tf32" }, 16)
check.equal(product("more parts than a cluster has CTAs", 64, 128, 640, { splits = 9, tile = { 64, 128 } }).dsmem, nil)

-- Boxes with the rows that are left at an edge; launches of another size than the plan's.
local plan = product("an edge of both", 150, 200, 256, { problem = { 150, 200, 256 }, tile = { 128, 128 } })
check.equal(plan.edges.A, 22)
check.equal(plan.edges.B, 72)
product("one CTA for all tiles", 150, 200, 256, { problem = { 150, 200, 256 }, tile = { 128, 256 } }, 1)
product("an edge, ping-pong", 300, 200, 256, { problem = { 300, 200, 256 }, tile = { 128, 128 }, schedule = "pingpong" }, 2)
product("fewer rows than the plan's", 70, 200, 256, { problem = { 150, 200, 256 }, tile = { 128, 128 } })
product("more rows than the plan's", 200, 200, 256, { problem = { 150, 200, 256 }, tile = { 128, 128 } })
product("an edge in another tile", 260, 72, 256, { problem = { 150, 200, 256 }, tile = { 128, 128 } }, 1)
product("few rows, an edge", 33, 200, 256, { problem = { 33, 200, 256 } })
product("blocks of K of two panels", 150, 200, 320, { problem = { 150, 200, 320 }, tile = { 128, 128, 128 } })
product("a constant B", 150, 200, 256, { problem = { 150, 200, 256 }, tile = { 128, 128 }, constant = "B" })
product("blocks of K of half a line", 150, 208, 320, { problem = { 150, 208, 320 }, tile = { 128, 128, 64 }, dtype = "e4m3" })
check.refuses("wg.panel: n is 72: for bf16 it must be a multiple of 32, so that the panels are 64 bytes wide", function() wg.gemm { tile = { 64, 72 }, splits = 2, swap_ab = false } end)
check.equal(wg.gemm({ problem = { 128, 256, 256 }, tile = { 128, 128 } }).plan.edges.A, nil)
check.equal(wg.gemm({ problem = { 130, 256, 256 }, tile = { 128, 128 }, a_major = "MN" }).plan.edges.A, nil)

-- What the plan chooses: parts where tiles leave SMs idle, and tiles that are as wide as A has rows.
local function plan_of(M, N, K, opts)
  opts = opts or {}
  opts.problem = { M, N, K }
  return wg.gemm(opts).plan
end
check.equal(plan_of(16, 1280, 8192).splits, 5)
assert(plan_of(256, 1280, 8192).splits > 1)
check.equal(plan_of(4096, 4096, 4096).splits, 1)
check.equal(plan_of(256, 1280, 8192, { splits = 2 }).splits, 2)
check.equal(plan_of(256, 1280, 8192, { epilogue = { row_sums = "squares" } }).dsmem, nil)

-- A and B are swapped where rows of A fill tiles better as columns: with 160 rows, but not with many.
check.equal(plan_of(160, 4096, 4096).swapped, true)
check.equal(plan_of(160, 4096, 4096, { swap_ab = false }).swapped, false)
check.equal(plan_of(160, 4096, 4096, { tile = { 64, 128 } }).swapped, false)
check.equal(plan_of(128, 4096, 4096, { tile = { 64, 128 } }).swapped, true)
check.equal(plan_of(4096, 4096, 4096, { swap_ab = true }).swapped, true)
check.equal(plan_of(4096, 4096, 4096).swapped, false)
check.equal(plan_of(160, 4096, 4096, { d = "f32" }).swapped, false)
-- Two tiles of 64 rows share the weights' copies.
plan = plan_of(128, 5120, 5120)
check.equal(plan.swapped, false)
check.equal(plan.cluster_m, 2)
check.equal(plan_of(128, 5120, 5120, { cluster = 1 }).cluster, 1)
-- Columns that wgmma has for integers of 8 bits.
check.equal(plan_of(100, 4096, 4096, { dtype = "s8", scales = { a = "row", b = "row" } }).n % 16, 0)
product("as the plan has it: A and B swapped, columns of tiles", 160, 200, 320, { problem = { 160, 200, 320 }, swap_ab = true, tile = { 64, 80, 64 } }, 4)
product("exchanged, a cluster that shares the weights", 160, 200, 320, { problem = { 160, 200, 320 }, swap_ab = true, tile = { 64, 80, 64 }, cluster = { 1, 2 } }, 4)
product("exchanged, slices of K, C and a bias", 150, 200, 712, { problem = { 150, 200, 712 }, swap_ab = true, splits = 2, tile = { 64, 80, 64 }, epilogue = scaled }, 4)
product("exchanged, 256 columns", 250, 136, 256, { problem = { 250, 136, 256 }, swap_ab = true, tile = { 128, 256, 64 } })
check.refuses("wg.gemm: swap_ab must be true or false, not 1", function() wg.gemm { swap_ab = 1 } end)
check.refuses("wg.gemm: `swap_ab` excludes a D of 8 or 32 bits: D is written transposed by stmatrix, which moves 16 bits", function() wg.gemm { swap_ab = true, d = "f32" } end)

-- Whatever is chosen multiplies right: shapes with a remainder in each extent.
for _, shape in ipairs { { 1, 72, 136 }, { 7, 200, 1032 }, { 33, 520, 264 }, { 72, 264, 1096 }, { 136, 136, 392 }, { 200, 392, 520 }, { 321, 200, 264 } } do
  local M, N, K = table.unpack(shape)
  product(("%d x %d x %d"):format(M, N, K), M, N, K, { problem = shape })
end

-- CTAs that begin K at blocks of their own begin at multiples of 16 bytes, which is proved for every K.
local begins_apart = wg.gemm { problem = { 16, 8192, 8192 }, stages = 2 }
assert(begins_apart.plan.k_offset)
local one = check.verdict(begins_apart.kernel, "descriptors", { budget = 2 })
check.equal({ one.verdict, one.reason }, { "proved" })
