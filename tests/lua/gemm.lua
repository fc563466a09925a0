-- wg.gemm on the simulator, which watches every access: each schedule, cluster, type and major-ness.
local wg = require "wgrun"
local check = require "check"

local result = { bf16 = "bf16", f16 = "f16", tf32 = "f32", e4m3 = "bf16", e5m2 = "bf16", s8 = "s32", u8 = "s32" }

local function product(name, M, N, K, opts, seeds)
  local dtype = opts.dtype or "bf16"
  local a_k, b_k = opts.a_major ~= "MN", opts.b_major ~= "MN"
  local function operand(rows, cols, seed)
    if dtype == "s8" or dtype == "u8" then
      return wg.randint { shape = { rows, cols }, dtype = dtype, lo = dtype == "s8" and -9 or 0, hi = 9, seed = seed }
    end
    return wg.randn { shape = { rows, cols }, dtype = dtype, seed = seed }
  end
  local A = operand(a_k and M or K, a_k and K or M, 1)
  local B = operand(b_k and N or K, b_k and K or N, 2)
  local gemm = wg.gemm(opts)
  assert(#gemm.kernel:check() == 0, name)
  local first
  for seed = 1, seeds or 1 do
    local D = wg.zeros(result[dtype], { M, N })
    gemm:run(A, B, D, { backend = "sim", seed = seed })
    for i = 0, M - 1, 7 do
      for j = 0, N - 1, 5 do
        local want = wg.dot(A, i * (a_k and K or 1), a_k and 1 or M, B, j * (b_k and K or 1), b_k and 1 or N, K)
        local got = D[{ i, j }]
        assert(math.abs(got - want) <= 0.01 * (math.abs(want) + math.sqrt(K)), ("%s: D[%d, %d] is %g, not %g"):format(name, i, j, got, want))
      end
    end
    first = first or D
    assert(wg.compare(D, first, 0), name .. ": the schedule changes the result")
  end
end

product("cooperative, edges", 200, 312, 136, { tile = { 128, 256 } }, 2)
product("pingpong, three tiles", 264, 264, 328, { tile = { 128, 128 }, schedule = "pingpong" }, 3)
product("a stage is used again and again", 64, 128, 1024, { tile = { 64, 128 }, stages = 2 })
product("a cluster shares B", 256, 128, 256, { tile = { 128, 128 }, cluster = 2, stages = 3 }, 2)
product("few rows", 9, 200, 512, { problem = { 9, 200, 512 } })
product("few rows, K no multiple of a block", 16, 200, 1032, { problem = { 16, 200, 1032 } }, 2)
product("few rows, a cluster shares them", 16, 200, 1032, { problem = { 16, 200, 1032 }, cluster = 2 }, 2)
product("few rows, weights that do not wait", 16, 200, 1032, { problem = { 16, 200, 1032 }, constant = "B" }, 2)
product("a constant A, ping-pong, a cluster", 264, 264, 328, { tile = { 128, 128 }, schedule = "pingpong", cluster = 2, constant = "A" }, 3)
product("three consumers", 200, 264, 328, { tile = { 192, 192 } }, 2)
product("panels of 64 bytes", 136, 328, 136, { tile = { 128, 160 }, schedule = "pingpong" }, 2)
product("panels of 64 bytes of f32", 72, 104, 72, { dtype = "tf32", tile = { 64, 48 } })
product("D larger than the cache", 64, 128, 72, { tile = { 64, 128 }, problem = { 8192, 8192, 72 } })
product("64 rows", 64, 72, 256, { problem = { 64, 72, 256 } })
for _, majors in ipairs { { "K", "MN" }, { "MN", "K" }, { "MN", "MN" } } do
  product(table.concat(majors, ", "), 136, 264, 72, { a_major = majors[1], b_major = majors[2] })
end
for dtype in pairs(result) do product(dtype, 72, 136, 160, { dtype = dtype }) end

check.refuses("unknown option `tiles` of wg.gemm: did you mean `tile`? (legal: dtype, precision, d, a_major...", function() wg.gemm { tiles = { 64, 64 } } end)
check.refuses("wg.gemm: unknown dtype `s32`: did you mean `f32`? (legal: bf16, f16, tf32, e4m3, e5m2, s8, u8, f32)", function() wg.gemm { dtype = "s32" } end)
check.refuses("wg.gemm: no instruction of its kernel multiplies f64...", function() wg.gemm { dtype = "f64" } end)
check.refuses("unknown dtype `bfloat16`: here it is `bf16`", function() wg.gemm { dtype = "bfloat16" } end)
check.refuses("unknown dtype `bf15`: did you mean `bf16`?", function() wg.gemm { dtype = "bf15" } end)
check.refuses("wg.gemm: unknown schedule `fast` (legal: cooperative, pingpong)", function() wg.gemm { schedule = "fast" } end)

check.refuses("wg.gemm: unknown constant `D` (legal: A, B)", function() wg.gemm { constant = "D" } end)

local A, B = wg.randn { shape = { 64, 64 }, dtype = "f16", seed = 3 }, wg.randn { shape = { 128, 64 }, dtype = "f16", seed = 4 }
local one = wg.zeros("f16", { 64, 128 })
local f16 = wg.gemm { dtype = "f16", tile = { 64, 128 } }
check.refuses("gemm: K is 64 in A, but 32 in B", function() f16:run(A, wg.zeros("f16", { 128, 32 }), one) end)
check.refuses("gemm: D is 64 x 128, but A * B is 64 x 64", function() f16:run(A, wg.zeros("f16", { 64, 64 }), one) end)
check.refuses("unknown option `bias2` of gemm:run: did you mean `bias`? (legal: grid, alpha, beta, C, bias...", function() f16:run(A, B, one, { bias2 = 1 }) end)
check.refuses("unknown option `args` of gemm:time...", function() f16:time(A, B, one, { args = {} }) end)
check.refuses("unknown option `backend` of gemm:launch (legal: alpha, beta, C, bias, gate, gate_bias, gate_scales, residual, row_sums, d_scales, metadata, offsets, sizes, count, a_scales, b_scales, b_zeros, next, rank, flags, shards, gathered, inboxes, sms)", function() f16:launch(A, B, one, { backend = "sim" }) end)
check.refuses("gemm:prepare: expected a table of options, got number", function() f16:prepare(A, B, one, 3) end)
check.refuses("gemm: A must be a matrix", function() f16:run(7, B, one) end)
check.refuses("gemm: D has no elements, so there is nothing to compute", function() f16:run(wg.zeros("f16", { 0, 64 }), B, wg.zeros("f16", { 0, 128 })) end)
check.refuses("gemm: D has no elements, so there is nothing to compute", function() f16:run(A, wg.zeros("f16", { 0, 64 }), wg.zeros("f16", { 64, 0 })) end)
check.refuses("gemm: B must be a matrix", function() f16:run(A, wg.zeros("f16", { 8 }), one) end)
