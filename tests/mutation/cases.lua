-- The kernels that are mutated: each case is a body that builds kernels and runs them. What it leaves in its tensors
-- is compared with what the kernel as it is leaves there (trace.lua).
local wg = require "wgrun"

local cases = {}

local root = arg[0]:match "^(.*)/tests/mutation/[^/]*$" or "."

-- One CTA or cluster (or `ctas`) has all the tiles, so that each stage, panel and barrier is used again and again.
local function gemm(name, M, N, K, opts, ctas)
  local dtype = opts.dtype or "bf16"
  local function random(rows, columns, seed)
    if dtype == "s8" or dtype == "u8" then return wg.randint { shape = { rows, columns }, dtype = dtype, lo = 0, hi = 100, seed = seed } end
    return wg.randn { shape = { rows, columns }, dtype = dtype, seed = seed }
  end
  local A = opts.a_major == "MN" and random(K, M, 1) or random(M, K, 1)
  local B = opts.b_major == "MN" and random(K, N, 2) or random(N, K, 2)
  local e = opts.epilogue or {}
  local function scales(kind, rows, blocks) -- of an operand, as wg.gemm wants them
    if not kind then return nil end
    return wg.randn { shape = blocks or { kind == "row" and rows or 1 }, dtype = "f32", seed = 5 }
  end
  local given, k_blocks = opts.scales or {}, (K + 127) // 128
  local a_scales = scales(given.a, M, given.a == "1x128" and { k_blocks, M })
  local b_scales = scales(given.b, N, given.b == "128x128" and { (N + 127) // 128, k_blocks })
  local metadata
  if opts.sparse then A, metadata = wg.sparse.compress(wg.sparse.prune(A), "gemm") end
  local C, bias = e.beta and random(M, N, 3) or nil, e.bias and wg.randn { shape = { N }, dtype = "f32", seed = 4 } or nil
  local gate, residual = e.gate and random(N, K, 6) or nil, e.residual and random(M, N, 7) or nil
  cases[#cases + 1] = { name = name, body = function()
    local made = wg.gemm(opts)
    made:run(A, B, wg.zeros(made.plan.d, { M, N }), {
      grid = { ctas or opts.cluster or 1 }, C = C, bias = bias, a_scales = a_scales, b_scales = b_scales, metadata = metadata, gate = gate,
      residual = residual, row_sums = e.row_sums and wg.zeros("f32", { M }) or nil,
      d_scales = e.quantize and wg.zeros("f32", { (N + 127) // 128, M }) or nil,
    })
  end }
end

gemm("cooperative", 300, 256, 320, { tile = { 128, 128 }, stages = 2, buffers = 1 })
gemm("one consumer", 128, 128, 256, { tile = { 64, 64 }, stages = 2 })
gemm("pingpong", 384, 128, 320, { tile = { 64, 64 }, stages = 3, schedule = "pingpong" })
gemm("cluster", 512, 128, 256, { tile = { 128, 64 }, stages = 2, cluster = 2 })
gemm("cluster pingpong", 512, 128, 256, { tile = { 64, 64 }, stages = 2, cluster = 2, schedule = "pingpong" })
gemm("cluster along M and N", 256, 256, 192, { tile = { 64, 64 }, stages = 2, cluster = { 2, 2 } }, 4)
gemm("cluster along N, columns of few rows", 80, 192, 192, { tile = { 64, 40, 64 }, stages = 2, cluster = { 1, 2 }, swap_ab = true }, 2)
gemm("swapped", 16, 192, 256, { tile = { 64, 16, 64 }, stages = 2, splits = 1, problem = { 16, 192, 256 } })
gemm("C in the ring", 192, 128, 256, { tile = { 64, 128 }, stages = 2, buffers = 1, epilogue = { beta = true, bias = "column" } })
gemm("parts of K", 128, 64, 640, { tile = { 64, 64 }, stages = 2, splits = 9 })
gemm("parts of K in a cluster", 128, 128, 448, { tile = { 64, 64 }, stages = 2, splits = 2 }, 2)
gemm("parts of K in a cluster, one owner", 17, 192, 448, { tile = { 64, 24, 64 }, stages = 2, splits = 2, problem = { 17, 192, 448 } }, 2)
gemm("edges", 150, 136, 192, { tile = { 64, 64 }, stages = 2, splits = 1, problem = { 150, 136, 192 } })
gemm("stream-K", 320, 64, 320, { tile = { 64, 64 }, stages = 2, stream_k = true }, 4)
gemm("constant", 64, 192, 256, { tile = { 64, 64, 64 }, stages = 2, splits = 1, problem = { 64, 192, 256 }, constant = "B" })
gemm("three consumers", 384, 96, 192, { tile = { 192, 96 }, stages = 2 })
gemm("two blocks", 512, 64, 192, { tile = { 256, 64 }, stages = 2 })
gemm("MN-major", 128, 256, 192, { tile = { 64, 128 }, stages = 2, a_major = "MN", b_major = "MN" })
gemm("f16", 128, 128, 256, { tile = { 64, 64 }, stages = 2, dtype = "f16" })
gemm("tf32", 128, 128, 128, { tile = { 64, 64 }, stages = 2, dtype = "tf32" })
gemm("e4m3", 128, 128, 512, { tile = { 64, 64 }, stages = 2, dtype = "e4m3" })
gemm("scales of blocks", 256, 256, 384, { tile = { 128, 256 }, stages = 2, buffers = 1, dtype = "e4m3", scales = { a = "1x128", b = "128x128" } })
gemm("scales of blocks, three consumers", 384, 96, 384, { tile = { 192, 96 }, stages = 2, buffers = 1, dtype = "e4m3", scales = { a = "1x128", b = "128x128" } })
gemm("scales of blocks, the last tiles in parts of K", 192, 64, 640, { tile = { 64, 64 }, stages = 2, buffers = 1, dtype = "e4m3", scales = { a = "1x128", b = "128x128" }, last_splits = 2 }, 2)
gemm("scales of blocks, parts of K in a cluster", 128, 64, 640, { tile = { 64, 64 }, stages = 2, buffers = 1, dtype = "e4m3", scales = { a = "1x128", b = "128x128" }, splits = 2 }, 2)
gemm("scales of rows", 64, 128, 512, { tile = { 64, 64 }, stages = 2, dtype = "e4m3", scales = { a = "row", b = "row" } })
-- Groups of rows; the third ends within a tile.
local function groups(name, opts, ctas)
  local A, B = wg.randn { shape = { 256, 192 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { 4 * 128, 192 }, dtype = "bf16", seed = 2 }
  opts.groups = "contiguous"
  cases[#cases + 1] = { name = name, body = function()
    wg.gemm(opts):run(A, B, wg.zeros("bf16", { 256, 128 }), { offsets = wg.tensor("s32", { 4 }, { 64, 64, 169, 233 }), grid = { ctas or 1 } })
  end }
end
groups("groups", { tile = { 64, 64 }, stages = 2, buffers = 1 })
groups("groups, two consumers", { tile = { 128, 64 }, stages = 2, buffers = 1 })
groups("groups, halves in the last round", { tile = { 64, 128 }, stages = 2, buffers = 1, halves = true }, 3)
groups("groups, pingpong", { tile = { 64, 64 }, stages = 3, schedule = "pingpong" })
gemm("residual in the ring", 256, 128, 192, { tile = { 128, 64 }, stages = 2, epilogue = { residual = true, bias = "column" } })
gemm("residual, ping-pong, sums of rows", 256, 128, 192, { tile = { 64, 64 }, stages = 2, buffers = 1, schedule = "pingpong", epilogue = { residual = true, row_sums = "rms" } })
gemm("quantised gate", 128, 256, 192, { tile = { 64, 128 }, stages = 2, epilogue = { gate = "silu", quantize = "1x128" } })
gemm("s8", 128, 128, 512, { tile = { 64, 64 }, stages = 2, dtype = "s8" })
gemm("sparse", 300, 128, 640, { tile = { 128, 64 }, stages = 2, sparse = "A" })
gemm("sparse, 8 bits, ping-pong", 384, 64, 1280, { tile = { 128, 64 }, stages = 3, dtype = "e4m3", schedule = "pingpong", sparse = "A" })
gemm("sparse, cluster, halves", 1100, 64, 512, { tile = { 256, 64 }, stages = 2, cluster = 2, sparse = "A", halves = true }, 4)

-- Weights of 4 or 8 bits: halves of a block of K in one CTA and in two, sums that are scaled, and weights that are; few rows of A, which have
-- boxes of their own.
local function mixed(name, rows, N, K, opts, ctas)
  local nvfp4, a_type = opts.b_type == "nvfp4", opts.a_type or "bf16"
  local bits = (nvfp4 or a_type == "e4m3" or opts.b_type:sub(2) == "4") and 4 or 8
  local W = wg.randint { shape = { N, K * bits // 8 }, dtype = bits == 4 and "u8" or opts.b_type, lo = bits == 4 and 0 or -90, hi = bits == 4 and 255 or 90, seed = 1 }
  local powers = a_type == "e4m3" and wg.randint { shape = { N, K // 32 }, dtype = "u8", lo = 120, hi = 126, seed = 6 } or nil
  local B = wg.prepack(W, opts.b_type, nvfp4 and wg.randn { shape = { N, K // 16 }, dtype = "e4m3", seed = 6 } or powers, a_type)
  local function of_groups(lo, hi, seed) return wg.randint { shape = { K // (opts.group_size or 128), N }, dtype = "bf16", lo = lo, hi = hi, seed = seed } end
  local values = { b_scales = nvfp4 and wg.full("f32", { 1 }, 0.5) or not powers and of_groups(1, 9, 3) or nil, b_zeros = opts.zeros and of_groups(0, 15, 4) or nil }
  values.next, values.grid = opts.next and B or nil, ctas and { ctas } or nil
  local launches = {}
  for i, M in ipairs(type(rows) == "table" and rows or { rows }) do
    local C = opts.epilogue and wg.randn { shape = { M, N }, dtype = "bf16", seed = 5 } or nil
    launches[i] = { A = wg.randn { shape = { M, K }, dtype = a_type, seed = 2 }, C = C }
  end
  cases[#cases + 1] = { name = name, body = function()
    local made = wg.gemm(opts)
    for _, launch in ipairs(launches) do
      values.C = launch.C
      made:run(launch.A, B, wg.zeros("bf16", { launch.A.shape[1], N }), values)
    end
  end }
end
mixed("mixed, halves of K", 24, 128, 1024, { b_type = "s4", tile = { 128, 16, 256 }, stages = 2, splits = 1 })
mixed("mixed, quarters of K", 24, 128, 2048, { b_type = "s4", tile = { 64, 16, 512 }, stages = 2, constant = "B" })
mixed("mixed, few rows", { 5, 24 }, 128, 2048, { b_type = "s4", problem = { 5, 128, 2048 }, tile = { 64, 16, 512 }, stages = 2, splits = 1, constant = "B", next = true })
mixed("mixed, eight rows", { 5, 24 }, 128, 2048, { b_type = "s4", problem = { 5, 128, 2048 }, tile = { 64, 8, 512 }, stages = 2, splits = 1, constant = "B" })
mixed("mixed, 24 rows", 20, 128, 1024, { b_type = "s4", problem = { 24, 128, 1024 }, tile = { 128, 24, 256 }, stages = 2, splits = 1, epilogue = { beta = true } })
mixed("mixed, parts of K", 24, 128, 2048, { b_type = "u4", zeros = true, tile = { 128, 16, 256 }, stages = 2, splits = 2, constant = "B" })
mixed("mixed, stream-K", 12, 192, 1536, { b_type = "s4", tile = { 64, 16, 512 }, stages = 2, stream_k = true, constant = "B" }, 2)
mixed("mixed, stream-K, two blocks", 12, 256, 896, { b_type = "s8", tile = { 128, 16, 128 }, stages = 2, stream_k = true }, 3)
mixed("mixed, many rows", 96, 128, 640, { b_type = "s8", group_size = 32, tile = { 128, 96, 128 }, stages = 2, splits = 1, epilogue = { beta = true } })

mixed("mixed, nvfp4", { 5, 24 }, 128, 2560, { b_type = "nvfp4", tile = { 64, 16, 512 }, stages = 2, splits = 1 })
mixed("mixed, mxfp4 beside e4m3", { 5, 24 }, 128, 2560, { a_type = "e4m3", b_type = "mxfp4", tile = { 64, 16, 512 }, stages = 2, splits = 1 })

-- f32 by parts, of which a stage has all.
local function emulated(name, M, N, K, opts, ctas)
  opts.dtype = "f32"
  local A, B = wg.randn { shape = { M, K }, dtype = "f32", seed = 1 }, wg.randn { shape = { N, K }, dtype = "f32", seed = 2 }
  A, B = wg.split(A, opts.precision), wg.split(B, opts.precision)
  local bias = opts.epilogue and wg.randn { shape = { N }, dtype = "f32", seed = 4 } or nil
  cases[#cases + 1] = { name = name, body = function()
    wg.gemm(opts):run(A, B, wg.zeros("f32", { M, N }), { grid = { ctas or opts.cluster or 1 }, bias = bias })
  end }
end
emulated("emulated", 300, 128, 160, { precision = "bf16x6", tile = { 256, 64 }, stages = 2, epilogue = { bias = "column" } })
emulated("emulated, cluster", 300, 128, 96, { precision = "bf16x6", tile = { 128, 64 }, stages = 2, cluster = 2 })
emulated("emulated, parts of K in a cluster", 300, 192, 320, { precision = "3xtf32", tile = { 128, 64 }, stages = 2, splits = 2 }, 2)

-- One block of keys, so that dQ has the same sums in every order of the threads.
local function attention_backward(name, queries, keys, opts)
  local function random(rows, heads, seed) return wg.randn { shape = { 1, rows, heads, opts.dim }, dtype = "bf16", seed = seed } end
  local kv_heads = opts.kv_heads or opts.heads
  local given = { Q = random(queries, opts.heads, 1), K = random(keys, kv_heads, 2), V = random(keys, kv_heads, 3), dO = random(queries, opts.heads, 4) }
  given.O, given.lse = wg.zeros("bf16", given.Q.shape), wg.zeros("f32", { 1, opts.heads, queries })
  local forward = { lse = true }
  for key, value in pairs(opts) do forward[key] = value end
  wg.attention(forward):run(given.Q, given.K, given.V, given.O, { lse = given.lse })
  cases[#cases + 1] = { name = name, body = function()
    for _, gradient in ipairs { "Q", "K", "V" } do given["d" .. gradient] = wg.zeros("bf16", given[gradient].shape) end
    wg.attention_backward(opts):run(given)
  end }
end

attention_backward("backward", 400, 100, { dim = 64, heads = 1 })
attention_backward("backward, causal", 130, 128, { dim = 128, heads = 2, kv_heads = 1, causal = true })
attention_backward("backward, 96", 150, 100, { dim = 96, heads = 1 })
attention_backward("backward, wide", 200, 64, { dim = 256, heads = 2, kv_heads = 1, causal = true })

-- Nine chunks, of a segment eleven, so that stages are used again; a packed sequence that ends within a chunk.
local function delta_rule(name, tokens, opts)
  local function random(seed) return wg.randn { shape = opts.packed and { tokens, 1, 128 } or { 1, tokens, 1, 128 }, dtype = "bf16", seed = seed } end
  local Q, K, V = random(1), random(2), random(3)
  K = (K:convert "f32" / 16):convert "bf16"
  local gates, decays = opts.packed and { tokens, 1 } or { 1, tokens, 1 }, opts.packed and { tokens, 1 } or { 1, tokens, 1 }
  if opts.decay == "channel" then decays[#decays + 1] = 128 end
  opts.final_state = true
  cases[#cases + 1] = { name = name, body = function()
    local launches = wg.delta_rule(opts):launches(Q, K, V, wg.zeros("bf16", V.shape), {
      g = wg.full("f32", decays, -0.05), beta = wg.full("f32", gates, 0.5), final_state = wg.zeros("f32", { 1, 1, 128, 128 }),
      initial_state = opts.initial_state and wg.randn { shape = { 1, 1, 128, 128 }, dtype = "f32", seed = 4 } or nil,
      starts = opts.packed and wg.tensor("s32", { 2 }, { 0, tokens - 30 }) or nil,
    })
    if opts.decay then launches[1][2].grid = { 1 } end -- which prepares all chunks
    for _, launch in ipairs(launches) do launch[1]:run(launch[2]) end
  end }
end
delta_rule("delta rule", 576, {})
delta_rule("delta rule, packed", 600, { packed = true })
delta_rule("delta rule, segments", 1300, { segments = 2, initial_state = true })
delta_rule("delta rule, decays for each channel", 576, { decay = "channel" })

local function delta_rule_backward(name, tokens, opts)
  opts.initial_state, opts.final_state = true, true
  local function shape(...) return opts.packed and { tokens, ... } or { 1, tokens, ... } end
  local function rows(count, seed) return wg.randn { shape = shape(count, 128), dtype = "bf16", seed = seed } end
  local heads, states = opts.heads or 1, { 1, opts.heads or 1, 128, 128 }
  local Q, K, V, dO = rows(1, 1), (rows(1, 2):convert "f32" / 16):convert "bf16", rows(heads, 3), rows(heads, 4)
  local gates = opts.decay and shape(heads, 128) or shape(heads)
  cases[#cases + 1] = { name = name, body = function()
    local launches = wg.delta_rule_backward(opts):launches {
      Q = Q, K = K, V = V, dO = dO, g = wg.full("f32", gates, -0.05), beta = wg.full("f32", shape(heads), 0.5),
      dQ = wg.zeros("bf16", Q.shape), dK = wg.zeros("bf16", K.shape), dV = wg.zeros("bf16", V.shape),
      dg = wg.zeros("f32", gates), dbeta = wg.zeros("f32", shape(heads)),
      initial_state = wg.randn { shape = states, dtype = "f32", seed = 5 }, d_initial_state = wg.zeros("f32", states),
      d_final_state = wg.randn { shape = states, dtype = "f32", seed = 6 },
      starts = opts.packed and wg.tensor("s32", { 2 }, { 0, tokens - 30 }) or nil,
    }
    launches[#launches][2].grid = { 1 } -- a CTA that has all units
    if opts.decay then launches[1][2].grid = { 1 } end
    for _, launch in ipairs(launches) do launch[1]:run(launch[2]) end
  end }
end
delta_rule_backward("gradients of the delta rule", 576, {})
delta_rule_backward("gradients of the delta rule, packed, two heads", 330, { packed = true, heads = 2, qk_heads = 1 })
delta_rule_backward("gradients of the delta rule, decays for each channel", 330, { decay = "channel", heads = 2, qk_heads = 1 })

-- Nine chunks, so that stages are used again; a CTA with two heads, two that share copies, and segments.
local function ssd(name, tokens, opts)
  opts.heads, opts.final_state = opts.heads or 2, true
  local function shape(...) return opts.packed and { tokens, ... } or { 1, tokens, ... } end
  local function random(seed, ...) return wg.randn { shape = shape(...), dtype = "bf16", seed = seed } end
  local x, B, C, dt = random(1, opts.heads, 64), random(2, 1, 128), random(3, 1, 128), wg.full("f32", shape(opts.heads), 0.05)
  local states = { 1, opts.heads, 64, 128 }
  cases[#cases + 1] = { name = name, body = function()
    wg.ssd(opts):run(x, dt, wg.full("f32", { opts.heads }, -0.5), B, C, wg.zeros("bf16", x.shape), {
      final_state = wg.zeros("f32", states), initial_state = opts.initial_state and wg.randn { shape = states, dtype = "f32", seed = 4 } or nil,
      starts = opts.packed and wg.tensor("s32", { 2 }, { 0, tokens - 30 }) or nil, z = opts.z and x or nil,
    })
  end }
end
ssd("ssd", 576, {})
ssd("ssd, pairs", 576, { pairs = true })
ssd("ssd, packed", 600, { heads = 1, packed = true })
ssd("ssd, segments", 1700, { heads = 1, segments = 3, initial_state = true })
ssd("ssd, gate", 576, { z = true })

-- Five heads, and in the states' kernel six chunks: stages are used again.
local function ssd_backward(name, tokens, opts)
  opts.heads = 5
  local function shape(...) return opts.packed and { tokens, ... } or { 1, tokens, ... } end
  local function random(seed, ...) return wg.randn { shape = shape(...), dtype = "bf16", seed = seed } end
  local x, dy, B, C = random(1, 5, 64), random(2, 5, 64), random(3, 1, 128), random(4, 1, 128)
  local dt, A = wg.full("f32", shape(5), 0.05), wg.full("f32", { 5 }, -0.5)
  cases[#cases + 1] = { name = name, body = function()
    local given = { x = x, dt = dt, A = A, B = B, C = C, dy = dy, D = opts.D and A, z = opts.z and dy }
    local function add(result, like) given[result] = wg.zeros(like.dtype, like.shape) end
    for result, like in pairs { dx = x, ddt = dt, dA = A, dB = B, dC = C } do add(result, like) end
    if opts.D then add("dD", A) end
    if opts.z then add("dz", dy) end
    if opts.packed then given.starts = wg.tensor("s32", { 2 }, { 0, tokens - 30 }) end
    wg.ssd_backward(opts):run(given)
  end }
end
ssd_backward("ssd_backward", 350, { D = true })
ssd_backward("ssd_backward, gate, packed", 330, { z = true, packed = true, D = true })

-- Five CTAs, which share sequences of uneven lengths, one of them empty: a head in two parts, one in three. Two stages, so that they are used
-- again and again.
local function decode(name, opts, keys)
  local lengths, page = { keys, 0, 70 }, opts.page
  local width = page and keys // page
  local shape = page and { 3 * width, page, 2, 64 } or { 3, keys, 2, 64 }
  local Q = wg.randn { shape = { 3, 1, 4, 64 }, dtype = "bf16", seed = 1 }
  local K, V = wg.randn { shape = shape, dtype = "bf16", seed = 2 }, wg.randn { shape = shape, dtype = "bf16", seed = 3 }
  local order = {}
  for i = 1, page and 3 * width or 0 do order[i] = 3 * width - i end
  cases[#cases + 1] = { name = name, body = function()
    local made = wg.attention_decode(opts)
    made:run(Q, K, V, wg.zeros("bf16", Q.shape), {
      grid = 5, lengths = wg.tensor("s32", { 3 }, lengths), pages = page and wg.tensor("s32", { 3, width }, order) or nil,
    })
  end }
end

decode("decode", { dim = 64, heads = 4, kv_heads = 2, block = 64, stages = 2 }, 512)
decode("decode, pages of 16", { dim = 64, heads = 4, kv_heads = 2, block = 64, stages = 2, page = 16 }, 512)
decode("decode, pages of 4", { dim = 64, heads = 4, kv_heads = 2, block = 64, stages = 2, page = 4 }, 512)

-- One CTA draws all tiles; where the keys are in parts, each tile has a cluster.
local function attention(name, queries, keys, opts)
  local function random(rows, heads, seed)
    return wg.randn { shape = opts.packed and { rows, heads, opts.dim } or { 1, rows, heads, opts.dim }, dtype = opts.dtype or "bf16", seed = seed }
  end
  local Q, K, V = random(queries, opts.heads, 1), random(keys, opts.kv_heads or opts.heads, 2), random(keys, opts.kv_heads or opts.heads, 3)
  cases[#cases + 1] = { name = name, body = function()
    local given = { grid = not opts.splits and { 1 } or nil, lse = opts.lse and wg.zeros("f32", opts.packed and { opts.heads, queries } or { 1, opts.heads, queries }) or nil }
    if opts.packed then
      given.max_queries = queries - 10
      given.query_starts = wg.tensor("s32", { 3 }, { 0, queries - 10, queries })
      given.key_starts = wg.tensor("s32", { 3 }, { 0, keys - 40, keys })
    end
    for _, name in ipairs(opts.descale and { "q_descale", "k_descale", "v_descale" } or {}) do given[name] = wg.tensor("f32", { 1 }, { 0.75 }) end
    wg.attention(opts):run(Q, K, V, wg.zeros("bf16", Q.shape), given)
  end }
end

attention("wg.attention", 400, 150, { dim = 64, heads = 2, lse = true, block = 32 })
attention("wg.attention, tiles of one block", 380, 380, { dim = 64, heads = 4, causal = true, block = 192 })
attention("wg.attention, causal", 300, 300, { dim = 128, heads = 2, kv_heads = 1, causal = true, block = 32 })
attention("wg.attention, one stage of queries", 130, 100, { dim = 256, heads = 3, block = 32 })
attention("wg.attention, packed, a window", 300, 600, {
  dim = 64, heads = 2, causal = true, packed = true, window = 230, block = 32, lse = true, problem = { 300, 600 },
})

attention("wg.attention, parts of the keys", 200, 800, { dim = 64, heads = 1, causal = true, splits = 3, lse = true, block = 32, problem = { 200, 670 } })
attention("wg.attention, parts of the keys, packed", 140, 360, { dim = 128, heads = 1, packed = true, splits = 2, lse = true, block = 32 })

attention("wg.attention, 8-bit", 400, 200, { dtype = "e4m3", dim = 64, heads = 2, lse = true, block = 32, descale = "tensor" })
attention("wg.attention, 8-bit, causal", 300, 300, { dtype = "e4m3", dim = 256, heads = 2, kv_heads = 1, causal = true, block = 32 })
attention("wg.attention, 8-bit, tiles of two blocks", 128, 64, { dtype = "e4m3", dim = 256, heads = 4, block = 32 })
attention("wg.attention, 8-bit, packed", 300, 600, { dtype = "e4m3", dim = 128, heads = 2, packed = true, block = 32 })

-- Scripts whose kernels take any number of CTAs: one has all the tiles, as above.
local persistent = { gemm_fast = { 1 } }

-- A script as it is, silent, with its arguments.
local function script(name, path, arguments)
  cases[#cases + 1] = { name = name, grid = persistent[name], body = function()
    local silent = { write = function() end }
    local sandbox = setmetatable({
      arg = { [0] = path, table.unpack(arguments) }, print = function() end,
      io = setmetatable({ write = function() end, stdout = silent, stderr = silent }, { __index = io }),
      os = setmetatable({ exit = function(code)
        if code ~= 0 and code ~= true then error({ killer = "result", message = "exit " .. tostring(code) }, 0) end
        error({ killer = false }, 0)
      end }, { __index = os }),
    }, { __index = _G })
    assert(loadfile(path, "t", sandbox))(table.unpack(arguments))
  end }
end

local function files(pattern)
  local list = {}
  for path in io.popen("ls " .. root .. "/" .. pattern):lines() do list[#list + 1] = path end
  return list
end

-- Arguments of the scripts: small problems. false: has no kernel of its own.
local arguments = {
  figures = false, ldmatrix_layouts = false, tune = false,
  gemm = { "--m", "64", "--n", "64", "--k", "256" },
  gemm_fast = { "--m", "64", "--n", "320", "--k", "1024" },
  convolution = { "--height", "9", "--width", "8", "--channels", "72" },
}

--- Those of the scripts and of the scripts that keep a rule, besides the ones above.
function cases.with_files()
  for _, path in ipairs(files "scripts/*.lua") do
    local name = path:match "([^/]*)%.lua$"
    if name == "sparse_gemm" then
      for _, dtype in ipairs { "f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8" } do
        script(name .. " " .. dtype, path, { "--dtype", dtype })
      end
    elseif arguments[name] ~= false then
      script(name, path, arguments[name] or {})
    end
  end
  for _, path in ipairs(files "tests/rules/*/ok_*.lua") do
    local file <close> = io.open(path)
    if not file:read "a":find "CHECK ONLY" then script(path:match "rules/(.*)%.lua$", path, {}) end
  end
  return cases
end

return cases
