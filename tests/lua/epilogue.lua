-- The epilogues of wg.gemm against sums and functions in binary64: what D is made of, in every type.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"
local random = multiplying.random

local function sigmoid(x) return 1 / (1 + math.exp(-x)) end
local reference = {
  relu = function(x) return math.max(x, 0) end,
  sigmoid = sigmoid,
  silu = function(x) return x * sigmoid(x) end,
  tanh = function(x) return 2 * sigmoid(2 * x) - 1 end,
  gelu = function(x) return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ^ 3)) end,
}
local relative = { bf16 = 2 ^ -8, f16 = 2 ^ -11, f32 = 2 ^ -20, s32 = 0, s8 = 0, e4m3 = 2 ^ -4, e5m2 = 2 ^ -3 } -- rounding to the type of D
local range = { s8 = { -128, 127 }, e4m3 = { -448, 448 } }

-- D = activation(alpha * A * B + beta * C + bias) of one kernel, under some seeds.
local function product(name, M, N, K, opts, seeds)
  local dtype, e = opts.dtype or "bf16", opts.epilogue
  local A, B = random(dtype, { M, K }, 1), random(dtype, { N, K }, 2)
  local gemm = wg.gemm(opts)
  local d = gemm.plan.d
  assert(#gemm.kernel:check() == 0, name)
  local values = {
    alpha = e.alpha and 0.125, beta = e.beta and -0.5, C = e.beta and random(d, { M, N }, 3),
    bias = e.bias and wg.randn { shape = { e.bias == "row" and M or N }, dtype = "f32", seed = 4 } or nil,
  }
  for seed = 1, seeds or 1 do
    local D = wg.zeros(d, { M, N })
    local run = { seed = seed }
    for key, value in pairs(values) do run[key] = value or nil end
    gemm:run(A, B, D, run)
    multiplying.compare(name, D, 5, 3, function(i, j)
      local sum = multiplying.dot(A, B, K, i, j) * (values.alpha or 1)
      if e.beta then sum = sum + values.beta * values.C[{ i, j }] end
      if e.bias then sum = sum + values.bias[{ e.bias == "row" and i or j }] end
      local want = e.activation and (reference[e.activation] or e.reference)(sum) or sum
      if range[d] then want = math.max(range[d][1], math.min(range[d][2], want)) end
      return want, relative[d] * math.abs(want) + ((d == "s32" or d == "s8") and 0.501 or d:match "^e" and 2 ^ -10 or 2 ^ -17 * math.sqrt(K))
    end)
  end
end

local tile = { 64, 128 }
product("all of it", 136, 200, 96, { tile = { 128, 128 }, epilogue = { alpha = true, beta = true, bias = "column", activation = "gelu" } }, 3)
product("ping-pong", 264, 136, 72, { tile = { 128, 64 }, schedule = "pingpong", epilogue = { beta = true, bias = "row" } }, 3)
product("a cluster", 256, 128, 64, { tile = { 128, 128 }, cluster = 2, stages = 3, epilogue = { alpha = true, beta = true } }, 2)
product("more panels than buffers", 64, 256, 64, { tile = { 64, 256 }, d = "f32", buffers = 3, epilogue = { beta = true, bias = "column" } }, 2)
product("two blocks a consumer", 264, 136, 64, { tile = { 256, 128 }, epilogue = { alpha = true, beta = true, bias = "row" } }, 2)
product("slices of K", 72, 136, 512, { tile = tile, splits = 4, epilogue = { beta = true, bias = "column", activation = "relu" } }, 2)
product("few rows", 9, 136, 128, { problem = { 9, 136, 128 }, epilogue = { alpha = true, beta = true, bias = "column", activation = "silu" } }, 2)
product("few rows, row bias", 16, 72, 128, { problem = { 16, 72, 128 }, epilogue = { bias = "row" } })
product("an odd number of rows, row bias", 9, 72, 128, { problem = { 9, 72, 128 }, epilogue = { bias = "row" } })
for activation in pairs(reference) do product(activation, 64, 128, 64, { tile = tile, d = "f32", epilogue = { alpha = true, activation = activation } }) end
for _, d in ipairs { "bf16", "f16", "f32", "s32", "s8", "e4m3", "e5m2" } do
  for _, dtype in ipairs { "bf16", "s8" } do
    product(dtype .. " to " .. d, 72, 144, 64, { dtype = dtype, d = d, tile = tile, epilogue = { alpha = true, beta = true, bias = "column" } })
    product(dtype .. " to " .. d .. " as it is", 72, 144, 64, { dtype = dtype, d = d, tile = tile, epilogue = {} })
  end
end

-- An activation of one's own.
local clamp = function(k, x) return k:min(k:max(x, -1.0), 1.0) end
local gemm = wg.gemm { tile = tile, d = "f32", epilogue = { activation = clamp } }
local A, B, D = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { 128, 64 }, dtype = "bf16", seed = 2 }, wg.zeros("f32", { 64, 128 })
gemm:run(A, B, D)
for i = 0, 63 do
  local sum = wg.dot(A, i * 64, 1, B, 5 * 64, 1, 64)
  check.near(D[{ i, 5 }], math.max(-1, math.min(1, sum)), 1e-4)
end

-- What is not asked for costs nothing.
local texts = {}
for i, epilogue in ipairs { false, {} } do texts[i] = wg.gemm { tile = tile, epilogue = epilogue or nil }.kernel:ptx() end
assert(texts[1] == texts[2], "an empty epilogue changes the kernel")

check.raises("unknown option `gamma` of wg.gemm, epilogue (legal: alpha, beta, bias, ", wg.gemm, { epilogue = { gamma = 1 } })
check.refuses("wg.gemm, epilogue: unknown bias `both` (legal: row, column)", function() wg.gemm { epilogue = { bias = "both" } } end)
check.refuses("wg.gemm, epilogue: unknown activation `mish` (legal: gelu, relu, sigmoid, silu, tanh, or a function of k and an f32 register)", function() wg.gemm { epilogue = { activation = "mish" } } end)
check.refuses("wg.gemm: unknown d `f64` (legal: bf16, f16, f32, e4m3, e5m2, s32, s8)", function() wg.gemm { d = "f64" } end)
local biased = wg.gemm { tile = tile, epilogue = { bias = "column" } }
local half = wg.zeros("bf16", { 64, 128 })
check.refuses("gemm: `bias` is missing: the epilogue needs it", function() biased:run(A, B, half) end)
check.refuses("gemm: bias must be a vector of 128 f32, one for each column of D", function() biased:run(A, B, half, { bias = half }) end)
check.refuses("gemm: `alpha` is given, but the epilogue of wg.gemm has no `alpha`", function() biased:run(A, B, half, { alpha = 2, bias = half }) end)
check.refuses("gemm: `C` is given, but the epilogue of wg.gemm has no `beta`", function() biased:run(A, B, half, { C = half, bias = half }) end)
local added = wg.gemm { tile = tile, epilogue = { beta = true } }
check.refuses("gemm:run: option `C`: expected a tensor, got number 3", function() added:run(A, B, half, { C = 3 }) end)
check.refuses("gemm: C is 64 x 64, but D is 64 x 128", function() added:run(A, B, half, { C = A }) end)

check.refuses("wg.panel: n is 12, must be a multiple of 8 from 8 to 256", function() wg.panel { dtype = "bf16", n = 12 } end)
check.refuses("wg.panel: n is 40: for bf16 it must be a multiple of 32, so that the panels are 64 bytes wide", function() wg.panel { dtype = "bf16", n = 40 } end)
check.refuses("wg.panel: `transposed` requires f16 or bf16", function() wg.panel { dtype = "f32", n = 64, transposed = true } end)
check.refuses("unknown option `type` of wg.panel: did you mean `dtype`? (legal: dtype, n, transposed)", function() wg.panel { type = "f32" } end)
local panel = wg.panel { dtype = "bf16", n = 64 }
local function options(k, more)
  local opts = { panel = panel, map = k:tensor_map("D", panel.box), buffer = k:shared { bytes = panel.bytes, align = 1024 }, barrier = 1 }
  for key, value in pairs(more) do opts[key] = value end
  return opts
end
check.refuses_in_kernel("unknown option `scale` of k:epilogue: did you mean `scales`? (legal: panel, map, buffer, offset, buffers, barrier, alpha...", function(k) k:epilogue(options(k, { scale = 1 })) end)
check.refuses_in_kernel("k:epilogue: option `panel`: expected a table, got number 1", function(k) k:epilogue(options(k, { panel = 1 })) end)
check.refuses_in_kernel("k:epilogue: buffers is 0, must be an integer from 1 to 64", function(k) k:epilogue(options(k, { buffers = 0 })) end)
check.refuses_in_kernel("k:epilogue: `beta` and `source` go together", function(k) k:epilogue(options(k, { beta = k:reg "f32" })) end)
check.refuses_in_kernel("unknown option `to` of k:epilogue, bias (legal: along, from, extent)", function(k) k:epilogue(options(k, { bias = { to = 1 } })) end)
check.refuses_in_kernel("unknown option `row` of k:load_tile (legal: tile, map, to, mn, k, barrier, whole, mask, policy)", function(k) k:load_tile { row = 1 } end)
check.refuses_in_kernel("k:load_tile: option `tile` is missing", function(k) k:load_tile {} end)
