-- wg.gemm with weights of 4 and 8 bits on the simulator, which watches every access: each type, with and without zero points,
-- slices of K, edges, and what is refused.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"

local range = { s4 = { -8, 7 }, u4 = { 0, 15 }, s8 = { -128, 127 }, u8 = { 0, 255 } }

-- Weights as numbers and as wg.prepack takes them.
local function weights(b_type, N, K, seed)
  if b_type == "e4m3" then
    local W = wg.randn { shape = { N, K }, dtype = "e4m3", seed = seed }
    for i = 0, 255 do -- every number
      if i % 128 ~= 127 and i // K < N then
        local sign, exponent, mantissa = i < 128 and 1 or -1, i >> 3 & 15, i & 7
        W[{ i // K, i % K }] = sign * (exponent == 0 and mantissa * 2.0 ^ -9 or (8 + mantissa) * 2.0 ^ (exponent - 10))
      end
    end
    return W:convert "f32", W
  end
  local lo, hi = table.unpack(range[b_type])
  local bits8 = b_type:sub(2) == "8"
  local W = wg.randint { shape = { N, K }, dtype = bits8 and b_type or "f32", lo = lo, hi = hi, seed = seed }
  if bits8 then return W:convert "f32", W end
  local packed, list = {}, W:totable()
  for i = 1, #list, 2 do packed[#packed + 1] = (math.tointeger(list[i]) & 15) | (math.tointeger(list[i + 1]) & 15) << 4 end
  return W, wg.tensor("u8", { N, K // 2 }, packed)
end

local function product(name, M, N, K, opts, given)
  given = given or {}
  opts.problem = opts.problem or { M, N, K }
  local gemm = wg.gemm(opts)
  assert(#gemm.kernel:check() == 0, name)
  local p = gemm.plan
  local A, W, B = wg.randn { shape = { M, K }, dtype = p.dtype, seed = 1 }, weights(p.b_type, N, K, 2)
  local groups = K // p.group_size
  local scales = (wg.randint { shape = { groups, N }, dtype = "f32", lo = 40, hi = 90, seed = 3 } / 1024):convert(p.dtype)
  local zeros = p.zeros and wg.randint { shape = { groups, N }, dtype = p.dtype, lo = range[p.b_type][1], hi = range[p.b_type][2], seed = 4 } or nil
  -- What the weights stand for; rounded as operands are, unless sums are scaled.
  local stands = {}
  local w, s, z = W:totable(), scales:totable(), zeros and zeros:totable()
  for n = 0, N - 1 do
    for k = 0, K - 1 do
      local group = k // p.group_size * N + n + 1
      stands[#stands + 1] = (w[n * K + k + 1] - (z and z[group] or 0)) * s[group]
    end
  end
  stands = wg.tensor(p.scales_sums and "f32" or p.dtype, { N, K }, stands)
  local D = wg.zeros(p.d, { M, N })
  local values = { b_scales = scales, b_zeros = zeros, backend = "sim", alpha = given.alpha, bias = given.bias, C = given.C, beta = given.beta, grid = given.grid }
  B = wg.prepack(B, p.b_type)
  values.next = p.next and B or nil
  gemm:run(A, B, D, values)
  local exact = p.d == "bf16" and 2 ^ -8 or 2 ^ -11
  multiplying.compare(name, D, M > 64 and 7 or 1, 5, function(i, j)
    local want = multiplying.dot(A, stands, K, i, j)
    if given.of then want = given.of(want, i, j) end
    return want, exact * (math.abs(want) + 0.02 * math.sqrt(K))
  end)
end

for _, a_type in ipairs { "bf16", "f16" } do
  for _, b_type in ipairs { "s4", "u4", "s8", "u8", "e4m3" } do
    product(a_type .. " x " .. b_type, 5, 128, 256, { a_type = a_type, b_type = b_type })
    if b_type ~= "e4m3" then
      product(("%s x %s, zero points"):format(a_type, b_type), 5, 128, 256, { a_type = a_type, b_type = b_type, zeros = true, group_size = 64 })
    end
  end
end
product("default a_type, edges", 3, 200, 384, { b_type = "s4" })
product("odd blocks of 64 rows, groups of 32, K of half a block", 17, 72, 96, { b_type = "u4", zeros = true, group_size = 32 })
product("groups of 64, K of half a block", 17, 72, 192, { b_type = "s8", group_size = 64 })
product("groups of 256", 17, 136, 512, { b_type = "s8", group_size = 256, stages = 2 })
product("one group", 17, 136, 512, { b_type = "e4m3", group_size = 512, stages = 2 })
for splits = 1, 8 do
  product(splits .. " slices of K", 20, 192, 2176, { b_type = "s4", splits = splits, stages = 2 })
  product(splits .. " slices of K, blocks of 128", 20, 192, 1152, { b_type = "s4", splits = splits, stages = 2, tile = { 128, 32, 128 } })
end
product("slices of K, constant weights", 20, 136, 1280, { b_type = "u4", splits = 2, stages = 3, constant = "B" })
product("constant weights, more stages than blocks", 20, 136, 256, { b_type = "s8", constant = "B" })
for _, k in ipairs { 256, 768, 2048 } do -- tiles of 64 rows of weights, four parts of a block of K in a CTA
  product("64 rows of weights, K of " .. k, 3, 200, k, { b_type = "s4", tile = { 64, 16 }, stages = 2 })
end
product("64 rows of weights, 8 bits, zero points", 17, 72, 1152, { b_type = "u8", zeros = true, tile = { 64, 32 }, stages = 2, constant = "B" })
product("64 rows of weights, slices of K in two CTAs", 20, 136, 2176, { b_type = "e4m3", tile = { 64, 32 }, splits = 2, stages = 2 })
product("64 rows of weights, many rows", 100, 136, 640, { b_type = "s8", tile = { 64, 112 } })
product("64 rows of weights, C", 20, 136, 512, { b_type = "s4", tile = { 64, 32 }, epilogue = { beta = true } },
  { C = wg.ones("bf16", { 20, 136 }), beta = 3.0, of = function(x) return x + 3 end })
product("64 rows of weights, four groups in a part", 17, 136, 1120, { b_type = "u4", zeros = true, group_size = 32, tile = { 64, 32 } })
product("64 rows of weights, all in one group", 17, 136, 1536, { b_type = "s4", group_size = 512, tile = { 64, 32 }, stages = 2 })
for _, b_type in ipairs { "s4", "e4m3" } do -- one row of A
  product("one row, " .. b_type, 1, 136, 1536, { b_type = b_type, tile = { 64, 16 }, stages = 2, constant = "B", next = true })
end
product("one row, weights not constant, zero points", 1, 200, 1536, { b_type = "u4", zeros = true, next = true })
product("one row, f16, slices of K in four CTAs", 1, 200, 2048, { a_type = "f16", b_type = "s8", splits = 4, constant = "B", next = true })
product("one row, K of a part of a block", 1, 72, 1184, { b_type = "s8", group_size = 32, tile = { 64, 16 } })
product("a kernel for one row, 20 rows", 20, 136, 1024, { b_type = "s4", problem = { 1, 136, 1024 }, tile = { 64, 16 }, constant = "B" })
for _, M in ipairs { 1, 2, 5, 8, 9, 12, 20, 24 } do -- boxes of as many rows as A has; weights that threads ask for; odd numbers of eight rows
  product(M .. " rows, constant weights", M, 136, 2560, { b_type = "s4", constant = "B", tile = { 64, (M + 7) // 8 * 8 }, stages = 3 })
  product(M .. " rows, constant weights of 8 bits", M, 72, 1184, { b_type = "u8", zeros = true, group_size = 32, constant = "B", stages = 2 })
end
product("a kernel for 5 rows, 3 rows", 3, 136, 512, { b_type = "s4", problem = { 5, 136, 512 } })
product("a kernel for 5 rows, 8 rows", 8, 136, 512, { b_type = "s4", problem = { 5, 136, 512 } })
product("a kernel for 5 rows, 11 rows", 11, 136, 512, { b_type = "s4", problem = { 5, 136, 512 } })
product("one block of K", 8, 64, 128, { b_type = "s4", stream_k = false })
product("8 rows, weights of the next product", 8, 136, 1024, { b_type = "s4", constant = "B", next = true })
product("8 rows, C", 7, 136, 512, { b_type = "s4", epilogue = { beta = true } },
  { C = wg.ones("bf16", { 7, 136 }), beta = 3.0, of = function(x) return x + 3 end })
product("weights of the next product", 20, 136, 2176, { b_type = "u4", tile = { 128, 32 }, splits = 2, stages = 2, constant = "B", next = true })
product("48 rows", 48, 136, 256, { b_type = "s4" })
product("100 rows", 100, 136, 256, { b_type = "s8", splits = 2 })
product("256 rows", 256, 136, 256, { b_type = "s4", splits = 2 })
product("256 rows, groups of 32", 250, 136, 192, { b_type = "s8", group_size = 32 })
product("several tiles of A", 300, 264, 256, { b_type = "s4" })
for _, tile in ipairs { { 64, 16, 512 }, { 128, 16, 256 }, { 128, 16, 128 } } do -- pieces of tiles: whole ones, halves, and more in one tile
  for _, ctas in ipairs { 1, 2, 3, 7 } do
    product(("stream-K, tiles of %d x %d, %d CTAs"):format(tile[1], tile[3], ctas), 12, 328, 2176,
      { b_type = "s4", stream_k = true, tile = tile, stages = 2 + ctas % 3, constant = ctas ~= 2 and "B" or nil, next = ctas == 3 }, { grid = { ctas } })
  end
end
product("stream-K, a CTA for each block of K", 5, 136, 1152, { b_type = "u4", zeros = true, group_size = 64, stream_k = true })
product("stream-K, several tiles of A", 300, 136, 384, { b_type = "s8", stream_k = true, tile = { 128, 104, 128 } }, { grid = { 4 } })
product("blocks of 64", 20, 136, 448, { b_type = "s4", tile = { 128, 32, 64 }, group_size = 64, splits = 2 })
local bias = wg.randn { shape = { 136 }, dtype = "f32", seed = 5 }
local function relu(x) return math.max(0, x) end
product("an epilogue", 20, 136, 512, { b_type = "s4", epilogue = { alpha = true, bias = "column", activation = "relu" }, splits = 2 },
  { alpha = 2.0, bias = bias, of = function(x, _, j) return relu(2 * x + bias[j]) end })
product("a bias for rows, D of f16", 20, 136, 256, { b_type = "e4m3", epilogue = { bias = "row" }, d = "f16" },
  { bias = bias:rows(0, 20), of = function(x, i) return x + bias[i] end })
local C = wg.randn { shape = { 20, 136 }, dtype = "bf16", seed = 6 }
for _, splits in ipairs { 1, 2 } do
  product("C", 20, 136, 512, { b_type = "s4", epilogue = { beta = true }, splits = splits },
    { C = C, beta = 3.0, of = function(x, i, j) return x + 3 * C[{ i, j }] end })
end
product("stream-K, C", 20, 136, 1280, { b_type = "s4", epilogue = { beta = true }, stream_k = true },
  { C = C, beta = 3.0, of = function(x, i, j) return x + 3 * C[{ i, j }] end, grid = { 2 } })

-- The order of packed weights.
local W = wg.zeros("u8", { 3, 64 })
W[{ 2, 33 }] = 0xA5 -- row 2, elements 66 and 67: the second unit, thread 4 * 2 + 1, pair 0 of the first step
local packed = wg.prepack(W, "u4")
check.equal(table.concat(packed.shape, " "), "1 8 128 4")
for i, word in ipairs(packed:totable()) do
  check.equal(word, i - 1 == (128 + 9) * 4 and 0x000A0005 or 0)
end

local function refuses(message, opts)
  opts.b_type = opts.b_type or "s4"
  check.refuses(message, function() wg.gemm(opts) end)
end
refuses("wg.gemm: unknown b_type `s3`: did you mean `s4`? (legal: s4, u4, s8, u8, e4m3, mxfp4, nvfp4)", { b_type = "s3" })
refuses("wg.gemm: unknown a_type `e5m2` (legal: bf16, f16, e4m3)", { a_type = "e5m2" })
refuses("wg.gemm: `b_type` excludes a D of 8 or 32 bits: D is written transposed by stmatrix, which moves 16 bits", { d = "f32" })
refuses("wg.gemm: `b_type` excludes `dtype`: `a_type` is the type of A", { dtype = "bf16" })
refuses("wg.gemm: `b_type` excludes `groups`: a main loop is of one kind", { groups = "batched" })
refuses("wg.gemm: `b_type` excludes `epilogue.gate`: these go along rows of D, which are columns of the tile", { epilogue = { gate = "silu" } })
refuses("wg.gemm: `zeros` excludes weights of e4m3: floats have no zero points", { b_type = "e4m3", zeros = true })
refuses("wg.gemm: zeros must be true or false, not 8", { zeros = 8 })
refuses("wg.gemm: group_size is 96, must be 32, 64 or a multiple of 128 with b_type", { group_size = 96 })
refuses("wg.gemm: group_size is 16, must be an integer from 32 to 1073741824", { group_size = 16 })
refuses("wg.gemm: `b_type` excludes `constant` = \"A\": weights come before the previous launch has ended, and A after it", { constant = "A" })
refuses("wg.gemm: splits is 9, must be an integer from 1 to 8", { splits = 9 })
refuses("wg.gemm: `stream_k` excludes `splits`: both cut K", { splits = 2, stream_k = true })
refuses("wg.gemm: tile[1] is 192, must be 64 or 128 with b_type: the rows of B", { tile = { 192, 32 } })
refuses("wg.gemm: tile[2] is 20, must be a multiple of 8 with b_type: the rows of A", { tile = { 128, 20 } })
refuses("wg.gemm: tile[3] is 32, must be 64, 128, 256 or, with 64 rows of B, 512 with b_type", { tile = { 128, 32, 32 } })
refuses("wg.gemm: two stages take 74240 bytes, and 33792 bytes of shared memory are left: fewer splits or a smaller tile", { tile = { 128, 256 }, splits = 4 })
check.refuses("wg.gemm: `next` requires `b_type`: it is for weights of another type than A", function() wg.gemm { next = true } end)
check.refuses("wg.gemm: next must be true or false, not \"B\"", function() wg.gemm { b_type = "s4", next = "B" } end)
check.refuses("wg.gemm: `zeros` requires `b_type`: it is for weights of another type than A", function() wg.gemm { zeros = true } end)
check.refuses("wg.prepacker: unknown b_type `f32` (legal: s4, u4, s8, u8, e4m3, mxfp4, nvfp4)", function() wg.prepack(wg.zeros("f32", { 8, 8 })) end)
check.refuses("prepacker: K is 7, must be even", function() wg.prepack(wg.zeros("s8", { 8, 7 })) end)
check.refuses("wg.prepack: W must be a matrix", function() wg.prepack(wg.zeros("s8", { 8 })) end)

local gemm, zeros = wg.gemm { b_type = "s8", splits = 2 }, wg.gemm { b_type = "s8", zeros = true }
local A, B, D, scales = wg.zeros("bf16", { 4, 512 }), wg.prepack(wg.zeros("s8", { 64, 512 })), wg.zeros("bf16", { 4, 64 }), wg.zeros("bf16", { 4, 64 })
local function launch_refuses(message, made, a, b, d, values) check.refuses(message, function() made:launch(a, b, d, values) end) end
launch_refuses("gemm: b_scales must be K / 128 x N = 4 x 64 bf16, not no tensor", gemm, A, B, D)
launch_refuses("gemm: b_zeros must be K / 128 x N = 4 x 64 bf16, not no tensor", zeros, A, B, D, { b_scales = scales })
launch_refuses("gemm: `b_zeros` is given, but not of a wg.gemm{ zeros = true }", gemm, A, B, D, { b_scales = scales, b_zeros = scales })
launch_refuses("gemm: `a_scales` is given, but wg.gemm has no such `scales`", gemm, A, B, D, { b_scales = scales, a_scales = scales })
launch_refuses("gemm: B is 64 x 512, but 64 x 512 weights of s8 are packed to 1 x 16 x 128 x 4", gemm, A, wg.zeros("s8", { 64, 512 }), D, { b_scales = scales })
launch_refuses("gemm: D has 3 rows, but A has 4", gemm, A, B, wg.zeros("bf16", { 3, 64 }), { b_scales = scales })
launch_refuses("gemm: K is 96, must be a multiple of the 128 elements that share a scale", gemm, wg.zeros("bf16", { 4, 96 }), B, D, { b_scales = scales })
launch_refuses("gemm: N is 60, must be a multiple of 8 with b_type", gemm, A, B, wg.zeros("bf16", { 4, 60 }), { b_scales = scales })
launch_refuses("gemm: K is 256, 1 block of 256: too few for 2 splits: wg.gemm{ splits = 1 }", gemm, wg.zeros("bf16", { 4, 256 }), wg.prepack(wg.zeros("s8", { 64, 256 })), D, { b_scales = scales })
launch_refuses("gemm: `b_zeros` is given, but not of a wg.gemm{ zeros = true }", wg.gemm { tile = { 64, 64 } }, A, wg.zeros("bf16", { 64, 512 }), D, { b_zeros = scales })
launch_refuses("gemm: `next` is given, but not of a wg.gemm{ next = true }", gemm, A, B, D, { b_scales = scales, next = B })
launch_refuses("gemm: `next` is given, but not of a wg.gemm{ next = true }", wg.gemm { tile = { 64, 64 } }, A, wg.zeros("bf16", { 64, 512 }), D, { next = B })
local told = wg.gemm { b_type = "s8", next = true }
launch_refuses("gemm: next is no tensor, must be weights like B, 1 x 16 x 128 x 4", told, A, B, D, { b_scales = scales })
launch_refuses("gemm: next is 64 x 512, must be weights like B, 1 x 16 x 128 x 4", told, A, B, D, { b_scales = scales, next = wg.zeros("s8", { 64, 512 }) })

-- Tiles that the plan chooses.
local function tile(M, N, b_type, K)
  local p = wg.gemm { b_type = b_type, problem = { M, N, K or 8192 } }.plan
  return table.concat({ p.m, p.n, p.block_k, p.stream_k and "stream-K" or p.splits }, " ")
end
check.equal(tile(16, 8192, "s4"), "64 16 512 1")
check.equal(tile(32, 8192, "s4"), "64 32 512 1")
check.equal(tile(1, 8192, "s4"), "64 8 512 1")
check.equal(tile(20, 8192, "s4"), "64 24 512 1")
check.equal(tile(32, 8192, "s8"), "128 32 256 2") -- else three stages
check.equal(tile(16, 10240, "s4"), "64 16 512 stream-K") -- else two rounds
check.equal(tile(16, 4096, "s4"), "64 16 512 2") -- else half of the SMs
check.equal(tile(128, 1280, "s4"), "128 64 128 5")
check.equal(tile(256, 4096, "s4"), "128 128 128 2") -- else more sums than shared memory holds
check.equal(tile(256, 10240, "s4"), "128 128 128 stream-K")
check.equal(tile(16, 64, "s4", 512), "128 16 256 1")

-- The name that `group_size` had before.
local said
local own = warn
function warn(text) said = text end
check.equal(wg.gemm { b_type = "s4", group = 64 }.plan.group_size, 64)
warn = own
check.equal(said, "wg.gemm with b_type: the option `group` is called `group_size` now")
check.raises("`group` is the old name of `group_size`, which is given as well", wg.gemm, { b_type = "s4", group = 64, group_size = 64 })
check.raises("`group_size` requires `b_type`", wg.gemm, { group_size = 64 })
