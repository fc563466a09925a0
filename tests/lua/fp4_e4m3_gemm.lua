-- wg.gemm with an A of e4m3 and weights of mxfp4 on the simulator: every weight with scales under the greatest of its row, products
-- beside sums in binary64 with edges and slices of K, and what is refused.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"

local e2m1 = multiplying.e2m1
local function power(byte) return 2.0 ^ (byte - 127) end

-- Each of the 16 weights alone in its sum, in a group whose scale is `n` powers of two under the greatest of row n, which another group
-- has. Down to 14 nothing is rounded; below that, weights are multiples of 2^-15 of the greatest scale.
for _, top in ipairs { 0, 1, 40, 127, 200, 254 } do
  local K, rows = 128, 32
  local W, S, A = wg.zeros("u8", { rows, K // 2 }), wg.zeros("u8", { rows, K // 32 }), wg.zeros("e4m3", { 16, K })
  for n = 0, rows - 1 do
    S[{ n, n % 2 * 3 }], S[{ n, 1 }] = top, math.max(top - n, 0)
    for i = 0, 7 do W[{ n, 16 + i }] = 2 * i | 2 * i + 1 << 4 end
  end
  for i = 0, 15 do A[{ i, 32 + i }] = 1 end
  local gemm, B = wg.gemm { a_type = "e4m3", b_type = "mxfp4", problem = { 16, rows, K } }, wg.prepack(W, "mxfp4", S, "e4m3")
  for _, numerics in ipairs { "exact", "h200" } do
    local D = wg.zeros("bf16", { 16, rows })
    gemm:run(A, B, D, { backend = "sim", numerics = numerics })
    for n = 0, rows - 1 do
      local below = top - math.max(top - n, 0)
      for code = 0, 15 do
        local got, want = D[{ code, n }], e2m1(code) * power(top - below)
        local allowed = below <= 14 and 0 or 2 ^ -16 * power(top)
        if math.abs(want) >= 2.0 ^ 128 then want = want * math.huge end
        assert(got == want or math.abs(got - want) <= allowed,
          ("weight %d, scales of %d and %d (%s): %g, not %g"):format(code, top, top - below, numerics, got, want))
      end
    end
  end
end

-- NaN is no greatest scale: its row is NaN, and others are not.
do
  local W, S, A = wg.full("u8", { 8, 32 }, 0x22), wg.full("u8", { 8, 2 }, 130), wg.full("e4m3", { 1, 64 }, 1)
  S[{ 3, 1 }] = 255
  local D, gemm = wg.zeros("bf16", { 1, 8 }), wg.gemm { a_type = "e4m3", b_type = "mxfp4", problem = { 1, 8, 64 } }
  gemm:run(A, wg.prepack(W, "mxfp4", S, "e4m3"), D, { backend = "sim" })
  for n = 0, 7 do
    if n == 3 then assert(D[{ 0, n }] ~= D[{ 0, n }]) else check.equal(D[{ 0, n }], 512.0) end
  end
end

local function product(name, M, N, K, opts, given)
  given = given or {}
  opts.a_type, opts.b_type, opts.problem = "e4m3", "mxfp4", opts.problem or { M, N, K }
  local gemm = wg.gemm(opts)
  assert(#gemm.kernel:check() == 0, name)
  local W = wg.randint { shape = { N, K // 2 }, dtype = "u8", lo = 0, hi = 255, seed = 1 }
  local S = wg.randint { shape = { N, K // 32 }, dtype = "u8", lo = 113, hi = 126, seed = 2 }
  local A, D = wg.randn { shape = { M, K }, dtype = "e4m3", seed = 3 }, wg.zeros(gemm.plan.d, { M, N })
  local B, stands = wg.prepack(W, "mxfp4", S, "e4m3"), multiplying.fp4_weights(W, S, N, K, 32, power)
  local along = opts.scales and opts.scales.a
  local scales = along and wg.randint { shape = { along == "row" and M or 1 }, dtype = "f32", lo = 1, hi = 9, seed = 4 }
  gemm:run(A, B, D, {
    a_scales = scales, next = opts.next and B or nil, bias = given.bias, grid = given.grid, C = given.C, backend = "sim",
  })
  local rounds = gemm.plan.d == "bf16" and 2 ^ -8 or 2 ^ -11
  multiplying.compare(name, D, M > 64 and 7 or 1, 5, function(i, j)
    local scale = scales and scales[along == "row" and i or 0] or 1
    local want = scale * multiplying.dot(A, stands, K, i, j)
    if given.of then want = given.of(want, i, j) end
    return want, rounds * math.abs(want) + 2 ^ -20 * math.sqrt(K) * 6 * power(126) * scale
  end)
end

local rows = { a = "row" }
product("5 rows", 5, 128, 256, { scales = rows })
product("edges", 3, 200, 416, {})
product("one row, one group", 1, 72, 32, { scales = { a = "tensor" } })
product("constant weights, next", 7, 136, 1280, { constant = "B", next = true, tile = { 64, 8 }, stages = 2, scales = rows })
for _, M in ipairs { 24, 48, 100, 250 } do product(("%d rows"):format(M), M, 136, 320, { scales = rows }) end
for _, tile in ipairs { { 64, 16, 512 }, { 128, 16, 256 }, { 128, 32, 128 }, { 128, 144, 128 } } do
  product(("a tile of %d x %d x %d"):format(table.unpack(tile)), 12, 136, 1184, { tile = tile, stages = 2, splits = 1 })
end
product("other rows than the problem's", 20, 136, 512, { problem = { 5, 136, 512 }, scales = rows })
product("slices of K", 20, 136, 2176, { splits = 4, stages = 2, scales = rows })
product("stream-K", 12, 328, 2176, { stream_k = true, tile = { 64, 16, 512 }, stages = 2, scales = rows }, { grid = { 3 } })
product("several tiles of A", 300, 136, 128, { tile = { 128, 104, 128 }, scales = rows })
local bias, C = wg.randn { shape = { 136 }, dtype = "f32", seed = 5 }, wg.randn { shape = { 20, 136 }, dtype = "bf16", seed = 6 }
product("bias and activation, D of f16", 20, 136, 256, { d = "f16", scales = rows, epilogue = { bias = "column", activation = "relu" } },
  { bias = bias, of = function(x, _, j) return math.max(0, x + bias[j]) end })
product("C, slices of K", 20, 136, 1024, { splits = 2, scales = rows, epilogue = { beta = true } },
  { C = C, of = function(x, i, j) return x + C[{ i, j }] end })

-- The plan takes what an H200 measured as the fastest, or within 3 percent of it: of each N, K, for 16, 64, 256 and 4096 rows of A
-- (docs/experiments/mixed_input.md).
for _, shape in ipairs {
  { 4096, 4096, "64x16x512, 2 slices", "64x64x256, 2 slices", "64x128x256", "128x192x128, stream-K" },
  { 7168, 4096, "64x16x512", "64x64x256", "128x128x128", "128x192x128, stream-K" },
  { 8192, 8192, "64x16x512", "64x64x256", "128x128x128", "128x192x128, stream-K" },
} do
  for i, M in ipairs { 16, 64, 256, 4096 } do
    local p = wg.gemm({ a_type = "e4m3", b_type = "mxfp4", scales = rows, constant = "B", problem = { M, shape[1], shape[2] } }).plan
    local how = p.stream_k and ", stream-K" or p.splits > 1 and (", %d slices"):format(p.splits) or ""
    check.equal(("%dx%dx%d"):format(p.m, p.n, p.block_k) .. how, shape[2 + i])
  end
end

local function refuses(message, opts)
  opts.a_type, opts.b_type = opts.a_type or "e4m3", opts.b_type or "mxfp4"
  check.refuses(message, function() wg.gemm(opts) end)
end
refuses('wg.gemm: `a_type` = "e4m3" excludes weights of nvfp4: a weight times its scale has six significant bits, an e4m3 four; beside an A of bf16 none is rounded', { b_type = "nvfp4" })
refuses('wg.gemm: `a_type` = "e4m3" requires weights of mxfp4: their products with their scales are numbers of e4m3', { b_type = "s4" })
refuses("wg.gemm: `b_type` with an A of 16 bits excludes `scales`: its elements are not scaled", { a_type = "bf16", scales = rows })
refuses("wg.gemm: `b_type` excludes scales of B: weights have scales of groups of their own", { scales = { a = "row", b = "row" } })
refuses("wg.gemm: `b_type` excludes block scales: weights have scales of groups of their own", { scales = { a = "1x128" } })
refuses("wg.gemm: `b_type` with an A of 16 bits excludes `scales`: its elements are not scaled", { a_type = "bf16", scales = { a = "1x128" } })
refuses("wg.gemm: tile[3] is 64, must be 128, 256 or, with 64 rows of B, 512 with an A of e4m3", { tile = { 128, 64, 64 } })
local W, S = wg.zeros("u8", { 64, 64 }), wg.zeros("u8", { 64, 4 })
check.refuses('wg.prepacker: `a_type` = "e4m3" excludes weights of nvfp4: a weight times its scale has six significant bits, an e4m3 four; beside an A of bf16 none is rounded',
  function() wg.prepack(W, "nvfp4", wg.zeros("e4m3", { 64, 8 }), "e4m3") end)
check.equal(table.concat(wg.prepacker({ b_type = "mxfp4", a_type = "e4m3" }):packed_shape(136, 416), " "), "3 4416")
local A, D = wg.zeros("e4m3", { 4, 128 }), wg.zeros("bf16", { 4, 64 })
local function launch_refuses(message, b, values)
  check.refuses(message, function() wg.gemm({ a_type = "e4m3", b_type = "mxfp4", scales = rows }):launch(A, b, D, values) end)
end
launch_refuses("gemm: B is 1 x 8 x 544, but 64 x 128 weights of mxfp4 for an A of e4m3 are packed to 1 x 4416", wg.prepack(W, "mxfp4", S), { a_scales = wg.ones("f32", { 4 }) })
local B = wg.prepack(W, "mxfp4", S, "e4m3")
launch_refuses("gemm: `a_scales` is missing: a tensor of f32", B)
check.refuses("gemm: D has no elements, so there is nothing to compute", function() wg.gemm({ a_type = "e4m3", b_type = "mxfp4" }):run(wg.zeros("e4m3", { 0, 128 }), B, wg.zeros("bf16", { 0, 64 })) end)
launch_refuses("gemm: a_scales must be 4 f32, not 3", B, { a_scales = wg.ones("f32", { 3 }) })
local without, given = wg.gemm { a_type = "e4m3", b_type = "mxfp4" }, { a_scales = wg.ones("f32", { 4 }) }
check.refuses("gemm: `a_scales` is given, but wg.gemm has no such `scales`", function() without:launch(A, B, D, given) end)
