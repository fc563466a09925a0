-- wg.gemm with a sparse A on the simulator, which watches every access: each type, schedule and cluster, and edges; and
-- wg.sparse.compress in the order of wg.gemm, on the host and on the device.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"
local random = multiplying.random

local function product(name, dtype, M, N, K, opts, given)
  opts.sparse, opts.dtype = "A", dtype
  local gemm = wg.gemm(opts)
  assert(#gemm.kernel:check() == 0, name)
  local A = wg.sparse.prune(random(dtype, { M, K }, 1))
  local b_mn = opts.b_major == "MN"
  local B = random(dtype, b_mn and { K, N } or { N, K }, 2)
  local values, metadata = wg.sparse.compress(A, "gemm")
  local D = wg.zeros(gemm.plan.d, { M, N })
  given = given or {}
  given.metadata, given.backend = metadata, "sim"
  given.grid = { 2 * (opts.cluster or 1) } -- several tiles for each CTA
  gemm:run(values, B, D, given)
  multiplying.compare(name, D, 7, 5, function(i, j)
    local want = wg.dot(A, i * K, 1, B, b_mn and j or j * K, b_mn and N or 1, K)
    if given.bias then want = math.max(0, 2 * want + given.bias[j]) end
    return want, multiplying.allowed(want, K)
  end)
end

product("cooperative, edges", "bf16", 200, 312, 144, { tile = { 128, 256 } })
product("two blocks of 64 rows for a consumer", "bf16", 264, 200, 528, { tile = { 256, 192 } })
product("halves of the last tiles", "bf16", 1100, 96, 272, { tile = { 256, 96 }, halves = true })
product("halves, a cluster, 8 bits", "s8", 1100, 200, 544, { tile = { 256, 192 }, halves = true, cluster = 2 })
product("a plain panel", "bf16", 264, 360, 272, { tile = { 256, 176 }, halves = true })
product("three consumers", "f16", 200, 200, 272, { tile = { 192, 192 } })
product("one consumer, a stage is used again and again", "bf16", 72, 136, 1040, { tile = { 64, 128 }, stages = 2 })
product("pingpong, an odd number of tiles", "f16", 328, 264, 336, { tile = { 128, 192 }, schedule = "pingpong" })
product("pingpong, 8 bits", "e4m3", 328, 136, 736, { tile = { 128, 128 }, schedule = "pingpong" })
product("a cluster shares B", "bf16", 328, 264, 400, { tile = { 128, 128 }, cluster = 2, stages = 3 })
product("splits", "e4m3", 72, 136, 1312, { tile = { 64, 128 }, splits = 2 })
product("stream-K", "bf16", 328, 264, 656, { tile = { 128, 128 }, stream_k = true })
product("B is MN-major", "f16", 136, 264, 208, { tile = { 128, 128 }, b_major = "MN" })
product("an epilogue", "bf16", 136, 136, 144, { tile = { 128, 128 }, epilogue = { alpha = true, bias = "column", activation = "relu" } },
  { alpha = 2.0, bias = wg.randn { shape = { 136 }, dtype = "f32", seed = 3 } })
product("a constant A", "bf16", 136, 136, 144, { tile = { 128, 128 }, constant = "A" })
product("few rows are not exchanged", "bf16", 8, 264, 272, { problem = { 8, 264, 272 } })
product("few columns", "bf16", 136, 8, 272, { problem = { 4096, 8, 272 }, d = "f32", tile = { 128, 16 } })
for _, dtype in ipairs { "bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8" } do
  product(dtype, dtype, 72, 136, 160, { tile = { 64, 128 } })
end

-- The device compresses as the host does, and finds the same faults.
for _, dtype in ipairs { "bf16", "tf32", "e5m2", "s8", "u8" } do
  for _, shape in ipairs { { 64, 512 }, { 100, 352 }, { 3, 32 } } do
    local dense = random(dtype, shape, 1)
    local values, metadata = wg.sparse.compress(wg.sparse.prune(dense), "gemm")
    for _, prune in ipairs { true, false } do
      local compressor = wg.compressor { dtype = dtype, prune = prune }
      assert(#compressor.kernel:check() == 0)
      local v, m, faults = wg.zeros(dtype, values.shape), wg.zeros("u32", compressor:metadata_shape(shape[1], shape[2])), wg.zeros("u32", { 1 })
      local launch = compressor:launch(prune and dense or wg.sparse.prune(dense), v, m, faults)
      launch.backend = "sim"
      compressor.kernel:run(launch)
      assert(wg.compare(v, values, 0) and wg.compare(m, metadata, 0) and faults[0] == 0, dtype)
    end
  end
end
local A = wg.sparse.prune(wg.randn { dtype = "bf16", shape = { 72, 64 }, seed = 3 })
A:put({ { 70, 71 }, { 8, 12 } }, 1)
local compressor = wg.compressor {}
local faults = wg.zeros("u32", { 1 })
local launch = compressor:launch(A, wg.zeros("bf16", { 72, 32 }), wg.zeros("u32", { 2, 2, 128 }), faults)
launch.backend = "sim"
compressor.kernel:run(launch)
check.equal(faults[0], 71)
check.raises("row 70, chunk 2 (columns 8 to 11) has 4 elements that are not zero, 2 are kept", wg.sparse.compress, A, "gemm")

-- On the device, where the simulator stands in for it.
local pruned = wg.sparse.prune(A)
local values, metadata = wg.sparse.compress(pruned, "gemm")
local device = { wg.sparse.compress(pruned:to "gpu") }
check.equal(wg.compare(device[1]:to "cpu", values, 0) and wg.compare(device[2]:to "cpu", metadata, 0), true)
check.raises("row 70 has a chunk with too many elements", wg.sparse.compress, A:to "gpu")
check.raises("in the order `gemm`, not instruction", wg.sparse.compress, A:to "gpu", "instruction")
check.raises("unknown order `tiles` (legal: instruction, gemm)", wg.sparse.compress, pruned, "tiles")
check.raises("k a multiple of 16", wg.sparse.compress, wg.zeros("bf16", { 64, 24 }), "gemm")

local gemm = wg.gemm { sparse = "A", tile = { 64, 128 } }
local B, D = wg.zeros("bf16", { 128, 64 }), wg.zeros("bf16", { 72, 128 })
check.refuses("gemm: metadata must be a tensor of 2 x 2 x 128", function() gemm:run(values, B, D) end)
check.refuses("gemm: metadata must be a tensor of 2 x 2 x 128", function() gemm:run(values, B, D, { metadata = wg.zeros("u32", { 2, 4, 128 }) }) end)
check.refuses("gemm: K is 128 in A, but 64 in B", function() gemm:run(pruned, B, D, { metadata = metadata }) end)
check.refuses("gemm: `metadata` is given, but A is dense: wg.gemm{ sparse = \"A\" }", function() wg.gemm { tile = { 64, 128 } }:run(pruned, B, D, { metadata = metadata }) end)
check.refuses('wg.gemm: no tile is known for schedule = "pingpong" here: give a `tile`', function() wg.gemm { sparse = "A", schedule = "pingpong" } end)
assert(wg.gemm({ sparse = "A", problem = { 8192, 8192, 8192 } }).plan.tail_m and not wg.gemm({ sparse = "A", problem = { 4096, 4096, 4096 } }).plan.tail_m)
check.equal(wg.gemm({ sparse = "A", problem = { 8192, 8192, 8192 } }).plan.group, 11)
check.equal(wg.gemm({ sparse = "A", tile = { 128, 256 }, problem = { 8192, 8192, 8192 } }).plan.group, 22)
check.refuses("wg.gemm: unknown sparse `B` (legal: A)", function() wg.gemm { sparse = "B" } end)
check.refuses("wg.gemm: a sparse A must be K-major", function() wg.gemm { sparse = "A", a_major = "MN" } end)
check.refuses("wg.gemm: tile[3] is 128, must be 64 for a sparse A", function() wg.gemm { sparse = "A", tile = { 128, 128, 128 } } end)
check.refuses("wg.compressor: unknown dtype `f32`: did you mean `tf32`? (legal: bf16, f16, tf32, e4m3, e5m2, s8, u8)", function() wg.compressor { dtype = "f32" } end)
local uneven = wg.zeros("bf16", { 64, 24 })
check.refuses("compressor: a row of A has 48 bytes, must be a multiple of 32", function() compressor:launch(uneven, values, metadata, faults) end)
check.refuses("compressor: faults must be a tensor of 1", function() compressor:launch(pruned, values, metadata) end)

local best = wg.tune { gemm = { sparse = "A", problem = { 128, 128, 256 } }, candidates = { {}, { tile = { 128, 128 } } }, backend = "sim", cache = false }
check.equal(best.sparse, "A")
