-- The fused epilogues of wg.gemm on the simulator, against sums and functions in binary64: gated products, residuals, scales of
-- an 8-bit D, sums over rows, and products that take what another one's epilogue has written.
local wg = require "wgrun"
local check = require "check"

local function ceil_div(a, b) return (a + b - 1) // b end
local function sigmoid(x) return 1 / (1 + math.exp(-x)) end
local activations = {
  silu = function(x) return x * sigmoid(x) end,
  gelu = function(x) return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ^ 3)) end,
  relu = function(x) return math.max(x, 0) end,
  sigmoid = sigmoid,
}
local rounding = { bf16 = 2 ^ -8, f16 = 2 ^ -11, f32 = 2 ^ -20, e4m3 = 2 ^ -4, e5m2 = 2 ^ -3 }
local largest = { e4m3 = 448, e5m2 = 57344 }

local function random(dtype, shape, seed) return wg.randn { shape = shape, dtype = dtype, seed = seed } end

-- Runs a product, and compares all that it writes. `run`: options of the launch; `like`: f(x, y), what the epilogue makes of the
-- products with B and with the gate.
local function product(name, M, N, K, opts, run, like)
  run = run or {}
  local dtype, e = opts.dtype or "bf16", opts.epilogue
  local a_k, b_k = opts.a_major ~= "MN", opts.b_major ~= "MN"
  local A = random(dtype, a_k and { M, K } or { K, M }, 1)
  local function of_b(seed) return random(dtype, b_k and { N, K } or { K, N }, seed) end
  local B, G = of_b(2), e.gate and of_b(3) or nil
  local gemm = wg.gemm(opts)
  local d = gemm.plan.d
  assert(#gemm.kernel:check() == 0, name)
  local given = {
    backend = "sim", gate = G, residual = e.residual and random(d, { M, N }, 4) or nil,
    bias = e.bias and random("f32", { e.bias == "row" and M or N }, 5) or nil,
    gate_bias = e.bias and e.gate and random("f32", { e.bias == "row" and M or N }, 6) or nil,
    row_sums = e.row_sums and wg.full("f32", { M }, -1) or nil,
    d_scales = e.quantize and wg.full("f32", { ceil_div(N, 128), ceil_div(M, 4) * 4 }, -1) or nil,
  }
  for key, value in pairs(run) do given[key] = value end
  local D = wg.zeros(d, { M, N })
  gemm:run(A, B, D, given)
  local function dot(matrix, i, j)
    return wg.dot(A, i * (a_k and K or 1), a_k and 1 or M, matrix, j * (b_k and K or 1), b_k and 1 or N, K)
  end
  local function element(i, j)
    local x = dot(B, i, j)
    if e.bias then x = x + given.bias[{ e.bias == "row" and i or j }] end
    local f = like or activations[e.activation]
    if e.gate then
      local y = dot(G, i, j) + (e.bias and given.gate_bias[{ e.bias == "row" and i or j }] or 0)
      x = like and like(x, y) or not like and x * activations[e.gate](y)
    elseif f then
      x = f(x)
    end
    return e.residual and x + given.residual[{ i, j }] or x
  end
  local function near(what, got, want, allowed)
    assert(math.abs(got - want) <= allowed, ("%s: %s is %.9g, not %.9g"):format(name, what, got, want))
  end
  local summed = { squares = function(x) return x * x end, rms = function(x) return x * x end }
  for i = 0, M - 1, 7 do
    local row, sum, terms = {}, 0, 0
    for j = 0, N - 1, (e.row_sums or e.quantize) and 1 or 3 do
      row[j] = element(i, j)
      local term = e.row_sums and (summed[e.row_sums] or math.abs)(row[j]) or 0
      sum, terms = sum + term, terms + math.abs(term)
    end
    if e.row_sums == "rms" then sum = 1 / math.sqrt(sum / N + (e.epsilon or 1e-6)) end
    if e.row_sums then near(("row_sums[%d]"):format(i), given.row_sums[{ i }], sum, 1e-4 * (e.row_sums == "rms" and sum or terms)) end
    for j, want in pairs(row) do
      local got, allowed = D[{ i, j }], rounding[d] * math.abs(want) + 2 ^ -15 * math.sqrt(K) * (1 + math.abs(want))
      if e.quantize then
        local scale, amax = given.d_scales[{ j // 128, i }], 0
        for at = j // 128 * 128, math.min(j // 128 * 128 + 127, N - 1) do amax = math.max(amax, math.abs(row[at])) end
        near(("the scale of D[%d, %d]"):format(i, j), scale, amax / largest[d], 1e-4 * amax / largest[d])
        got, allowed = got * scale, allowed + amax / largest[d] * 2 ^ -9
      end
      near(("D[%d, %d]"):format(i, j), got, want, allowed)
    end
  end
  return D, given
end

-- A second product and its gate.
local function gated(gate) return { gate = gate } end
local function own(k, y, x) return k:fma(k:min(y, 1.0), x, y) end
product("SwiGLU, edges", 200, 136, 136, { tile = { 128, 128 }, epilogue = gated "silu" })
product("SwiGLU, ping-pong", 264, 136, 200, { tile = { 128, 64 }, schedule = "pingpong", epilogue = gated "silu" }, { grid = 1, seed = 2 })
product("GEGLU, a cluster shares both", 264, 136, 136, { tile = { 128, 64 }, cluster = 2, epilogue = gated "gelu" }, { grid = 2, seed = 3 })
product("ReGLU, three consumers", 200, 104, 72, { tile = { 192, 96 }, epilogue = gated "relu" }, { grid = 1 })
product("GLU, two blocks, f32", 264, 72, 72, { tile = { 256, 64 }, d = "f32", epilogue = gated "sigmoid" }, { grid = 1 })
product("SwiGLU, slices of K", 72, 72, 520, { tile = { 64, 64 }, splits = 3, epilogue = gated "silu" })
product("SwiGLU, stream-K", 200, 136, 264, { tile = { 64, 64 }, stream_k = true, epilogue = gated "silu" }, { grid = 5 })
product("SwiGLU, a constant B", 72, 136, 264, { tile = { 64, 64 }, constant = "B", epilogue = gated "silu" }, { grid = 1 })
product("SwiGLU, MN-major", 136, 136, 72, { tile = { 128, 64 }, a_major = "MN", b_major = "MN", epilogue = gated "silu" })
product("SwiGLU, few rows", 9, 136, 264, { problem = { 9, 136, 264 }, epilogue = gated "silu" })
product("SwiGLU, the plan's tile", 200, 264, 72, { problem = { 200, 264, 72 }, epilogue = gated "silu" })
product("SwiGLU of 8-bit floats", 72, 144, 144, { dtype = "e4m3", tile = { 64, 64 }, epilogue = gated "silu" })
product("a gate of one's own", 72, 72, 72, { tile = { 64, 64 }, epilogue = gated(own) }, nil, function(x, y) return math.min(y, 1) * x + y end)
product("SwiGLU with biases", 136, 136, 72, { tile = { 128, 64 }, epilogue = { gate = "silu", bias = "column" } }, { grid = 1 })
product("SwiGLU with biases of rows", 72, 72, 72, { tile = { 64, 64 }, epilogue = { gate = "silu", bias = "row" } })
product("SwiGLU and a residual", 136, 136, 72, { tile = { 128, 64 }, epilogue = { gate = "silu", residual = true } }, { grid = 1 })

-- A matrix that is added after the activation.
product("residual", 200, 264, 136, { tile = { 128, 128 }, epilogue = { residual = true } }, { grid = 1 })
product("residual, ping-pong", 264, 264, 136, { tile = { 128, 64 }, schedule = "pingpong", buffers = 1, epilogue = { residual = true, bias = "column", activation = "gelu" } }, { grid = 1, seed = 4 })
product("residual, a row's bias", 136, 136, 72, { tile = { 128, 64 }, epilogue = { residual = true, bias = "row", activation = "relu" } })
product("residual, halves", 600, 72, 72, { tile = { 256, 64 }, halves = true, epilogue = { residual = true, bias = "column" } }, { grid = 2 })
product("residual, few rows", 9, 200, 136, { problem = { 9, 200, 136 }, epilogue = { residual = true, bias = "column", activation = "silu" } })
product("residual, two stages", 264, 264, 72, { tile = { 256, 128 }, stages = 2, epilogue = { residual = true } }, { grid = 1, seed = 6 })
product("residual, a cluster, three consumers", 400, 136, 136, { tile = { 192, 128 }, cluster = 2, epilogue = { residual = true, bias = "column" } }, { grid = 2, seed = 7 })
product("residual, a constant A", 136, 136, 136, { tile = { 64, 128 }, constant = "A", epilogue = { residual = true } }, { grid = 1, seed = 8 })
product("residual, slices of K", 136, 136, 520, { tile = { 64, 128 }, splits = 2, epilogue = { residual = true } }, { grid = 2 })
product("residual, stream-K", 200, 136, 264, { tile = { 64, 64 }, stream_k = true, epilogue = { residual = true, bias = "column" } }, { grid = 5 })
product("residual of 8-bit floats", 136, 272, 144, { dtype = "e4m3", tile = { 128, 128 }, epilogue = { residual = true } }, { grid = 1 })
product("residual, f32", 72, 72, 72, { tile = { 64, 64 }, d = "f32", epilogue = { residual = true } })

-- Sums over rows, whatever order the tiles come in.
product("squares", 200, 264, 72, { tile = { 128, 64 }, epilogue = { row_sums = "squares" } })
product("squares, ping-pong", 264, 264, 72, { tile = { 64, 64 }, schedule = "pingpong", epilogue = { row_sums = "squares", residual = true } }, { grid = 2, seed = 5 })
product("squares of many tiles", 72, 1160, 72, { tile = { 64, 64 }, epilogue = { row_sums = "squares" } }, { grid = 3 })
product("rms", 136, 200, 72, { tile = { 128, 128 }, epilogue = { row_sums = "rms", residual = true } })
product("rms, epsilon", 72, 72, 72, { tile = { 64, 64 }, epilogue = { row_sums = "rms", epsilon = 50.0, bias = "column" } })
product("rms, slices of K", 72, 136, 520, { tile = { 64, 64 }, splits = 2, epilogue = { row_sums = "rms" } })
product("rms, three blocks", 400, 136, 72, { tile = { 384, 64 }, epilogue = { row_sums = "rms" } }, { grid = 2 })
product("rms, few rows", 9, 136, 72, { problem = { 9, 136, 72 }, epilogue = { row_sums = "rms" } })
product("squares of sigmoids", 72, 72, 72, { tile = { 64, 64 }, epilogue = { row_sums = "squares", activation = "sigmoid" } })
product("sums of one's own", 72, 72, 72, { tile = { 64, 64 }, epilogue = { row_sums = function(k, x) return k:abs(x) end } })

-- An 8-bit D with a scale for each row and 128 columns.
product("quantised", 203, 272, 72, { tile = { 128, 128 }, epilogue = { quantize = "1x128" } }, { grid = 1 })
product("quantised, two scales a tile", 72, 400, 72, { tile = { 64, 256 }, d = "e5m2", epilogue = { quantize = "1x128", bias = "column" } }, { grid = 1 })
product("quantised, ping-pong", 264, 144, 72, { tile = { 128, 128 }, schedule = "pingpong", epilogue = { quantize = "1x128", activation = "silu" } }, { grid = 1 })
product("quantised sigmoids", 72, 144, 72, { tile = { 64, 128 }, epilogue = { quantize = "1x128", activation = "sigmoid" } })
product("quantised SwiGLU", 136, 144, 72, { tile = { 128, 128 }, epilogue = { quantize = "1x128", gate = "silu" } })
product("quantised, the plan's tile", 136, 272, 72, { problem = { 136, 272, 72 }, epilogue = { quantize = "1x128", row_sums = "squares" } })

-- A residual behind a product with block scales.
do
  local M, N, K = 136, 136, 144
  local A, B, R, D = random("e4m3", { M, K }, 1), random("e4m3", { N, K }, 2), random("bf16", { M, N }, 3), wg.zeros("bf16", { M, N })
  local gemm = wg.gemm { dtype = "e4m3", tile = { 128, 128 }, scales = { a = "1x128", b = "128x128" }, epilogue = { residual = true } }
  assert(gemm.plan.residual_stages == 2 and #gemm.kernel:check() == 0)
  gemm:run(A, B, D, { a_scales = wg.full("f32", { 2, M }, 0.5), b_scales = wg.full("f32", { 2, 2 }, 2), residual = R, grid = 1, backend = "sim" })
  for i = 0, M - 1, 9 do
    for j = 0, N - 1, 7 do
      local want = wg.dot(A, i * K, 1, B, j * K, 1, K) + R[{ i, j }]
      check.near(D[{ i, j }], want, 2 ^ -8 * math.abs(want) + 1e-3)
    end
  end
end

-- One product's scales and sums are operands of the next: D1 = quantised SwiGLU, D2 = D1 * B2 with block scales; rms feeds
-- a product of normalised rows.
do
  local M, N, K = 72, 256, 72
  local A, B = random("bf16", { M, K }, 1), random("bf16", { N, K }, 2)
  local D, d_scales, rms = wg.zeros("e4m3", { M, N }), wg.zeros("f32", { 2, M }), wg.zeros("f32", { M })
  wg.gemm({ tile = { 64, 128 }, epilogue = { quantize = "1x128", row_sums = "rms" } }):run(A, B, D, { d_scales = d_scales, row_sums = rms })
  local W, w_scales, out = random("e4m3", { 64, N }, 3), random("f32", { 1, 2 }, 4), wg.zeros("bf16", { M, 64 })
  wg.gemm({ dtype = "e4m3", tile = { 64, 64 }, scales = { a = "1x128", b = "128x128" } }):run(D, W, out, { a_scales = d_scales, b_scales = w_scales })
  local normal = wg.zeros("f32", { M, N })
  wg.gemm({ tile = { 64, 64 }, d = "f32", scales = { a = "row" } }):run(A, B, normal, { a_scales = rms })
  for i = 0, M - 1, 11 do
    local squares = 0
    for j = 0, N - 1 do squares = squares + normal[{ i, j }] ^ 2 end
    check.near(squares / N, 1, 1e-3)
    for j = 0, 63, 9 do
      local want = 0
      for block = 0, 1 do
        want = want + wg.dot(D, i * N + 128 * block, 1, W, j * N + 128 * block, 1, 128) * d_scales[{ block, i }] * w_scales[{ 0, block }]
      end
      check.near(out[{ i, j }], want, 0.01 * (math.abs(want) + 1))
    end
  end
end

-- Groups: a mixture's first layer. The rows of no group keep their D and their scales.
for _, quantize in ipairs { false, "1x128" } do
  local N, K, ends = 144, 72, { 70, 70, 139 }
  local A, B, G = random("bf16", { 150, K }, 1), random("bf16", { 3 * N, K }, 2), random("bf16", { 3 * N, K }, 3)
  local gemm = wg.gemm { groups = "contiguous", tile = { 64, 128 }, epilogue = { gate = "silu", quantize = quantize } }
  assert(#gemm.kernel:check() == 0)
  local D, d_scales = wg.full(gemm.plan.d, { 150, N }, 72), wg.full("f32", { 2, 152 }, -1)
  gemm:run(A, B, D, { gate = G, offsets = wg.tensor("s32", { 3 }, ends), grid = 2, d_scales = quantize and d_scales or nil, backend = "sim" })
  for i = 0, 149 do
    local group = i < 70 and 0 or i < 139 and 2
    for j = 0, group and N - 1 or 0, 13 do
      local b, scale = (group or 0) * N + j, quantize and d_scales[{ j // 128, i }] or 1
      local x, y = wg.dot(A, i * K, 1, B, b * K, 1, K), wg.dot(A, i * K, 1, G, b * K, 1, K)
      local want = group and x * activations.silu(y) or 72
      if group then check.near(D[{ i, j }] * scale, want, 0.07 * math.abs(want) + 0.5) else check.equal({ D[{ i, j }], scale }, { 72, quantize and -1 or 1 }) end
    end
  end
end

-- A row of zeros has a scale, and zeros.
do
  local D, scales = wg.full("e4m3", { 64, 128 }, 1), wg.zeros("f32", { 1, 64 })
  wg.gemm({ tile = { 64, 128 }, epilogue = { quantize = "1x128" } }):run(wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 128, 64 }), D, { d_scales = scales })
  check.equal(D[{ 3, 5 }], 0)
  assert(scales[{ 0, 3 }] > 0 and scales[{ 0, 3 }] < 1e-30)
end

-- Scales of both products.
do
  local M, N, K = 72, 80, 144
  local A, B, G = random("e4m3", { M, K }, 1), random("e4m3", { N, K }, 2), random("e4m3", { N, K }, 3)
  for _, kind in ipairs { "row", "tensor" } do
    local function scales(count, seed) return random("f32", { kind == "row" and count or 1 }, seed) end
    local a, b, g, D = scales(M, 4), scales(N, 5), scales(N, 6), wg.zeros("bf16", { M, N })
    local gemm = wg.gemm { dtype = "e4m3", tile = { 64, 64 }, scales = { a = kind, b = kind }, epilogue = gated "silu" }
    gemm:run(A, B, D, { a_scales = a, b_scales = b, gate = G, gate_scales = g, backend = "sim" })
    for i = 0, M - 1, 7 do
      for j = 0, N - 1, 5 do
        local function at(vector, index) return vector[{ kind == "row" and index or 0 }] end
        local x, y = wg.dot(A, i * K, 1, B, j * K, 1, K) * at(a, i) * at(b, j), wg.dot(A, i * K, 1, G, j * K, 1, K) * at(a, i) * at(g, j)
        check.near(D[{ i, j }], x * activations.silu(y), 0.006 * math.abs(x * activations.silu(y)) + 0.01)
      end
    end
  end
end

local function refuses(message, epilogue, more)
  local opts = { epilogue = epilogue }
  for key, value in pairs(more or {}) do opts[key] = value end
  check.refuses(message, function() wg.gemm(opts) end)
end
check.raises("unknown option `residuals` of wg.gemm, epilogue: did you mean `residual`? (legal: alpha, beta, bias, ", wg.gemm, { epilogue = { residuals = true } })
refuses("wg.gemm, epilogue: residual must be true or false, not \"yes\"", { residual = "yes" })
refuses('wg.gemm, epilogue: `swiglu` takes a second product: gate = "silu"', { activation = "swiglu" })
refuses("wg.gemm, epilogue: unknown gate `mish` (legal: gelu, relu, sigmoid, silu, tanh, or a function of k and two f32 registers)", { gate = "mish" })
refuses("wg.gemm, epilogue: unknown quantize `row` (legal: 1x128)", { quantize = "row" })
refuses("wg.gemm, epilogue: unknown row_sums `true` (legal: squares, rms, or a function)", { row_sums = true })
refuses("wg.gemm, epilogue: unknown row_sums `mean` (legal: squares, rms, or a function)", { row_sums = "mean" })
refuses("wg.gemm: `epilogue.gate` excludes `epilogue.activation`: it makes an element of two products, by an activation of its own", { gate = "silu", activation = "relu" })
refuses("wg.gemm: `epilogue.residual` excludes `epilogue.beta`: the epilogue reads one matrix", { residual = true, beta = true })
refuses("wg.gemm: `epilogue.quantize` excludes `epilogue.residual`: these are of D's type, and would need scales, too", { quantize = "1x128", residual = true })
refuses('wg.gemm, epilogue: `epsilon` goes with row_sums = "rms"', { row_sums = "squares", epsilon = 1e-5 })
refuses("wg.gemm, epilogue: epsilon is -1, must be positive", { row_sums = "rms", epsilon = -1 })
refuses('wg.gemm: epilogue.quantize makes e4m3 or e5m2, not d = "bf16"', { quantize = "1x128" }, { d = "bf16" })
refuses("wg.gemm: tile[2] is 192, must be a multiple of 128 for epilogue.quantize", { quantize = "1x128" }, { tile = { 128, 192 } })
refuses("wg.gemm: tile[2] is 96, must be a multiple of 64 for epilogue.gate and an MN-major B", { gate = "silu" }, { tile = { 128, 96 }, b_major = "MN" })
refuses("wg.gemm: tile[2] is 256, must be an integer from 8 to 128", { gate = "silu" }, { tile = { 128, 256 } })
refuses("wg.gemm: `groups` excludes `epilogue.row_sums`: they are the same for all groups, or are read by whole tiles", { row_sums = "rms" }, { groups = "batched" })
refuses("wg.gemm: `halves` excludes `epilogue.row_sums`: the counters of row sums count whole tiles", { row_sums = "rms" }, { tile = { 256, 64 }, halves = true })
refuses("wg.gemm: `groups` excludes `epilogue.residual`: they are the same for all groups, or are read by whole tiles", { residual = true }, { groups = "batched" })
refuses("wg.gemm: block scales exclude `epilogue.gate`: no registers are left for a second product", { gate = "silu" }, { dtype = "e4m3", scales = { a = "1x128", b = "128x128" } })

local A, B, D = wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 128, 64 }), wg.zeros("bf16", { 64, 128 })
local function misses(message, epilogue, given)
  local gemm = wg.gemm { tile = { 64, 128 }, epilogue = epilogue, d = "bf16" }
  check.refuses(message, function() gemm:run(A, B, D, given) end)
end
misses("gemm: `gate` is missing: the epilogue needs it", { gate = "silu" }, {})
misses("gemm: gate is 64 x 64, but B is 128 x 64", { gate = "silu" }, { gate = A })
misses("gemm: `gate` is given, but the epilogue of wg.gemm has no `gate`", {}, { gate = B })
misses("gemm: gate_bias must be a vector of 128 f32, one for each column of D", { gate = "silu", bias = "column" }, { gate = B, bias = wg.zeros("f32", { 128 }) })
misses("gemm: `gate_bias` is given, but the epilogue of wg.gemm has no `gate` or no `bias`", { gate = "silu" }, { gate = B, gate_bias = B })
misses("gemm: `gate_scales` is given, but wg.gemm has no `scales.b` or no `epilogue.gate`", {}, { gate_scales = B })
misses("gemm: residual is 64 x 64, but D is 64 x 128", { residual = true }, { residual = A })
misses("gemm: row_sums must be a vector of 64 f32, one for each row of D", { row_sums = "rms" }, { row_sums = A })
local quantised = wg.gemm { tile = { 64, 128 }, epilogue = { quantize = "1x128" } }
local D8, turned = wg.zeros("e4m3", { 64, 128 }), wg.zeros("f32", { 64, 1 })
check.refuses("gemm: d_scales, ceil(N / 128) x M, M rounded up to a multiple of 4, must be a tensor of 1 x 64", function() quantised:run(A, B, D8, { d_scales = turned }) end)
