-- wg.gemm with weights of mxfp4 and nvfp4 on the simulator: every weight with every scale, products beside sums in binary64 with
-- edges and slices of K, and what is refused.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"

local e2m1, nan = multiplying.e2m1, 0 / 0
local formats = {
  mxfp4 = { group = 32, lo = 110, hi = 125, scale = function(byte) return byte == 255 and nan or 2.0 ^ (byte - 127) end },
  nvfp4 = {
    group = 16, lo = 0, hi = 126,
    scale = function(byte)
      local exponent, mantissa = byte >> 3 & 15, byte & 7
      if byte & 0x7F == 0x7F then return nan end
      return (byte > 127 and -1 or 1) * (exponent == 0 and mantissa * 2.0 ^ -9 or (8 + mantissa) * 2.0 ^ (exponent - 10))
    end,
  },
}

-- Scales as wg.prepack takes them, of their bytes.
local function scales_of(b_type, bytes)
  if b_type == "mxfp4" then return bytes end
  local values = bytes:totable()
  for i, byte in ipairs(values) do values[i] = formats.nvfp4.scale(math.tointeger(byte)) end
  return wg.tensor("e4m3", bytes.shape, values)
end

-- Each of the 16 weights times each of the 256 scales, alone in its sum. mxfp4 is exact from 2^-100 to 2^33; greater scales are
-- infinity, and weights under smaller ones are multiples of 2^-101.
for b_type, format in pairs(formats) do
  local K = format.group
  local W, S, A = wg.zeros("u8", { 256, K // 2 }), wg.zeros("u8", { 256, 1 }), wg.zeros("bf16", { 16, K })
  for n = 0, 255 do
    S[{ n, 0 }] = n
    for i = 0, 7 do W[{ n, i }] = 2 * i | 2 * i + 1 << 4 end
  end
  for i = 0, 15 do A[{ i, i }] = 1 end
  for _, numerics in ipairs { "exact", "h200" } do
    local D, gemm = wg.zeros("bf16", { 16, 256 }), wg.gemm { b_type = b_type, problem = { 16, 256, K } }
    gemm:run(A, wg.prepack(W, b_type, scales_of(b_type, S)), D, { b_scales = b_type == "nvfp4" and wg.ones("f32", { 1 }) or nil, backend = "sim", numerics = numerics })
    for n = 0, 255 do
      for code = 0, 15 do
        local got, want = D[{ code, n }], e2m1(code) * format.scale(n)
        local allowed, name = 0, ("%s, weight %d, scale %d (%s): %g, not %g"):format(b_type, code, n, numerics, got, want)
        if b_type == "mxfp4" and n ~= 255 then
          if n > 160 then want = e2m1(code) * math.huge end
          if n < 27 then allowed = 2.0 ^ -102 end
        end
        if want ~= want or n == 255 then -- and of other weights of the group: 0 * NaN
          assert(got ~= got, name)
        elseif n <= 160 or b_type == "nvfp4" then
          assert(math.abs(got - want) <= allowed, name)
        else
          assert(got == want or got ~= got, name) -- 0 * infinity of other weights
        end
      end
    end
  end
end

local function product(name, M, N, K, opts, given)
  given = given or {}
  opts.problem = opts.problem or { M, N, K }
  local gemm, format = wg.gemm(opts), formats[opts.b_type]
  assert(#gemm.kernel:check() == 0, name)
  local W = wg.randint { shape = { N, K // 2 }, dtype = "u8", lo = 0, hi = 255, seed = 1 }
  local S = wg.randint { shape = { N, K // format.group }, dtype = "u8", lo = format.lo, hi = format.hi, seed = 2 }
  local A, D = wg.randn { shape = { M, K }, dtype = "bf16", seed = 3 }, wg.zeros(gemm.plan.d, { M, N })
  local B, stands = wg.prepack(W, opts.b_type, scales_of(opts.b_type, S)), multiplying.fp4_weights(W, S, N, K, format.group, format.scale)
  local of_tensor = opts.b_type == "nvfp4" and 0.375 or nil
  gemm:run(A, B, D, {
    b_scales = of_tensor and wg.full("f32", { 1 }, of_tensor), next = opts.next and B or nil, bias = given.bias, grid = given.grid,
    backend = "sim",
  })
  local rounds = gemm.plan.d == "bf16" and 2 ^ -8 or 2 ^ -11
  multiplying.compare(name, D, M > 64 and 7 or 1, 5, function(i, j)
    local want = (of_tensor or 1) * multiplying.dot(A, stands, K, i, j)
    if given.of then want = given.of(want, i, j) end
    -- The sums are of f32: what they round is a 2^-20th of what a sum of this many terms may be.
    return want, rounds * math.abs(want) + 2 ^ -20 * math.sqrt(K) * 6 * format.scale(format.hi)
  end)
end

for _, b_type in ipairs { "mxfp4", "nvfp4" } do
  local group = formats[b_type].group
  product(b_type .. ", 5 rows", 5, 128, 256, { b_type = b_type })
  product(b_type .. ", edges", 3, 200, 384 + group, { b_type = b_type })
  product(b_type .. ", one row, one group", 1, 72, group, { b_type = b_type })
  product(b_type .. ", constant weights, next", 7, 136, 1280, { b_type = b_type, constant = "B", next = true, tile = { 64, 8 }, stages = 2 })
  for _, M in ipairs { 24, 48, 100, 250 } do product(("%s, %d rows"):format(b_type, M), M, 136, 320, { b_type = b_type }) end
  for _, tile in ipairs { { 64, 16, 512 }, { 128, 16, 256 }, { 128, 32, 128 }, { 128, 144, 64 } } do
    product(("%s, a tile of %d x %d x %d"):format(b_type, table.unpack(tile)), 12, 136, 1184, { b_type = b_type, tile = tile, stages = 2, splits = 1 })
  end
  product(b_type .. ", slices of K", 20, 136, 2176, { b_type = b_type, splits = 4, stages = 2 })
  product(b_type .. ", stream-K", 12, 328, 2176, { b_type = b_type, stream_k = true, tile = { 64, 16, 512 }, stages = 2 }, { grid = { 3 } })
  product(b_type .. ", several tiles of A", 300, 136, 128, { b_type = b_type, tile = { 128, 104, 128 } })
  local bias = wg.randn { shape = { 136 }, dtype = "f32", seed = 5 }
  product(b_type .. ", an epilogue, D of f16", 20, 136, 256, { b_type = b_type, d = "f16", epilogue = { bias = "column", activation = "relu" } },
    { bias = bias, of = function(x, _, j) return math.max(0, x + bias[j]) end })
end

local function refuses(message, opts) check.refuses(message, function() wg.gemm(opts) end) end
refuses('wg.gemm: a `b_type` of fp4 excludes `a_type` = "f16": their scales have exponents that only bf16 has', { b_type = "mxfp4", a_type = "f16" })
refuses("wg.gemm: a `b_type` of fp4 excludes `group_size`: 32 elements share a scale of mxfp4, and 16 one of nvfp4", { b_type = "nvfp4", group_size = 32 })
refuses("wg.gemm: `zeros` excludes a `b_type` of fp4: floats have no zero points", { b_type = "nvfp4", zeros = true })
local W, S = wg.zeros("u8", { 64, 64 }), wg.zeros("u8", { 64, 4 })
local function prepack_refuses(message, ...)
  local given = table.pack(...)
  check.refuses(message, function() wg.prepack(table.unpack(given, 1, given.n)) end)
end
prepack_refuses("prepacker: scales must be N x K / 32 = 64 x 4 of u8, not no tensor", W, "mxfp4")
prepack_refuses("prepacker: scales must be N x K / 16 = 64 x 8 of e4m3, not 64 x 4 of u8", W, "nvfp4", S)
prepack_refuses("prepacker: scales must be N x K / 32 = 64 x 4 of u8, not 64 x 4 of bf16", W, "mxfp4", wg.zeros("bf16", { 64, 4 }))
prepack_refuses("prepacker: K is 48, must be a multiple of the 32 elements that share a scale", wg.zeros("u8", { 64, 24 }), "mxfp4", S)
prepack_refuses("prepacker: weights of s4 are packed without scales", W, "s4", S)
local A, D, B = wg.zeros("bf16", { 4, 128 }), wg.zeros("bf16", { 4, 64 }), wg.prepack(W, "mxfp4", S)
local function launch_refuses(message, b_type, b, values)
  check.refuses(message, function() wg.gemm({ b_type = b_type }):launch(A, b, D, values) end)
end
-- Weights of fewer rows or columns are packed to as many words.
local few = wg.prepack(wg.zeros("u8", { 56, 64 }), "mxfp4", wg.zeros("u8", { 56, 4 }))
launch_refuses("gemm: B has the packed weights of a 56 x 128 matrix, but A and D are for one of 64 x 128", "mxfp4", few)
few = wg.prepack(wg.zeros("u8", { 64, 48 }), "mxfp4", wg.zeros("u8", { 64, 3 }))
launch_refuses("gemm: B has the packed weights of a 64 x 96 matrix, but A and D are for one of 64 x 128", "mxfp4", few)
launch_refuses("gemm: `b_scales` is given, but weights of mxfp4 are packed with their scales", "mxfp4", B, { b_scales = wg.ones("f32", { 1 }) })
launch_refuses("gemm: B is 1 x 8 x 544, but 64 x 128 weights of nvfp4 are packed to 1 x 8 x 576", "nvfp4", B)
B = wg.prepack(W, "nvfp4", wg.zeros("e4m3", { 64, 8 }))
launch_refuses("gemm: b_scales must be one f32, the scale of all weights, not no tensor", "nvfp4", B)
launch_refuses("gemm: b_scales must be one f32, the scale of all weights, not 2", "nvfp4", B, { b_scales = wg.ones("f32", { 2 }) })
