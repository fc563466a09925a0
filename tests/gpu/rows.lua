-- Rows of the library, for a comparison of two builds (rows.sh): a name, microseconds, and a sum of the result's bits.
--   wgrun tests/gpu/rows.lua [PATTERN]     rows whose names match
local wg = require "wgrun"
local pattern = arg[1] or ""
local backend = wg.device() and "gpu" or "sim"
local small = backend == "sim" and 16 or 1 -- the simulator takes a sixteenth of M, N and K

local seeds = 0
local function random(dtype, ...)
  seeds = seeds + 1
  if dtype == "s8" then return wg.randint { shape = { ... }, dtype = dtype, lo = -8, hi = 8, seed = seeds } end
  return wg.randn { shape = { ... }, dtype = dtype, seed = seeds }
end

-- A sum of words of the tensor's file, each times an odd number of its own.
local function sum_of(tensor)
  local name = os.tmpname() .. ".npy"
  tensor:save(name)
  local file <close> = assert(io.open(name, "rb"))
  local text, sum = file:read "a", 0
  os.remove(name)
  for at = 129, #text - 7, 8 do sum = (sum * 31 + string.unpack("<i8", text, at)) & 0x7FFFFFFFFFFFFFFF end
  return sum
end

local function row(name, make)
  if not name:find(pattern, 1, true) then return end
  local run, time, result = make()
  run()
  local sum = sum_of(result)
  print(("%-44s %10.2f us  %016x"):format(name, backend == "gpu" and time().median_us or 0, sum))
end

local function gemm(name, m, n, k, options, more)
  row(("%s %dx%dx%d"):format(name, m, n, k), function()
    m, n, k = m // small, n // small, k // small
    options.backend = nil
    local dtype = options.dtype or "bf16"
    options.problem = options.groups and { m, n, k, 4 } or { m, n, k }
    local product = wg.gemm(options)
    local A = options.a_major == "MN" and random(dtype, k, m) or random(dtype, m, k)
    local columns = options.groups and 4 * n or n
    local B = options.b_major == "MN" and random(dtype, k, columns) or random(dtype, columns, k)
    local out = options.d or ({ e4m3 = "bf16", s8 = "s32", tf32 = "f32" })[dtype] or dtype
    local D, launch = wg.zeros(out, { m, n }), more and more(m, n, k) or {}
    if options.sparse then A, launch.metadata = wg.sparse.compress(wg.sparse.prune(A), "gemm") end
    launch.backend = backend
    return function() product:run(A, B, D, launch) end, function() return product:time(A, B, D, launch) end, D
  end)
end

gemm("cooperative", 4096, 4096, 4096, { schedule = "cooperative" })
gemm("pingpong", 4096, 4096, 4096, { schedule = "pingpong", tile = { 64, 256, 64 } })
gemm("as planned", 8192, 4096, 2048, {})
gemm("MN-major", 4096, 4096, 2048, { a_major = "MN", b_major = "MN" })
gemm("cluster", 4096, 4096, 4096, { tile = { 128, 256, 64 }, cluster = 2 })
gemm("split-K", 512, 1024, 8192, { tile = { 128, 128, 64 }, splits = 4 })
gemm("stream-K", 2048, 2560, 8192, { tile = { 128, 256, 64 }, stream_k = true })
gemm("tail tiles", 2048, 8192, 4096, { tile = { 256, 128, 64 }, halves = true, swap_ab = false })
gemm("few rows", 16, 8192, 8192, {})
gemm("few rows", 64, 4096, 4096, {})
gemm("e4m3", 4096, 4096, 4096, { dtype = "e4m3" })
gemm("s8", 4096, 4096, 4096, { dtype = "s8" })
gemm("tf32", 2048, 2048, 2048, { dtype = "tf32" })
gemm("sparse", 4096, 4096, 4096, { sparse = "A" })
gemm("gelu and bias", 4096, 4096, 4096, { epilogue = { bias = "column", activation = "gelu" } }, function(_, n)
  return { bias = random("f32", n) }
end)
gemm("groups", 4096, 4096, 2048, { groups = "contiguous" }, function(m)
  return { offsets = wg.tensor("s32", { 4 }, { m // 4, m // 4, m // 2, m }) }
end)
gemm("block-scaled", 4096, 4096, 4096, { dtype = "e4m3", scales = { a = "1x128", b = "128x128" } }, function(m, n, k)
  return { a_scales = wg.full("f32", { (k + 127) // 128, m }, 0.5), b_scales = wg.full("f32", { (n + 127) // 128, (k + 127) // 128 }, 0.25) }
end)

for _, bits in ipairs { "s4", "s8" } do
  for _, m in ipairs { 16, 256, 2048 } do
    row(("mixed-input %s %dx4096x4096"):format(bits, m), function()
      local rows, n, k = math.max(m // small, 1), 4096 // small, 4096 // small
      local product = wg.gemm { a_type = "bf16", b_type = bits, problem = { rows, n, k }, constant = "B" }
      local W = wg.randint { shape = { n, bits == "s4" and k // 2 or k }, dtype = bits == "s4" and "u8" or "s8",
        lo = bits == "s4" and 0 or -100, hi = bits == "s4" and 255 or 100, seed = 9 }
      local A, B, D = random("bf16", rows, k), wg.prepack(W, bits), wg.zeros("bf16", { rows, n })
      local launch = { b_scales = wg.full("bf16", { k // 128, n }, 0.125), backend = backend }
      return function() product:run(A, B, D, launch) end, function() return product:time(A, B, D, launch) end, D
    end)
  end
end

for _, options in ipairs { { dim = 128 }, { dim = 128, causal = true }, { dim = 64, causal = true }, { dim = 256 },
  { dim = 128, dtype = "e4m3" }, { dim = 128, softcap = 20.0 }, { dim = 128, causal = true, window = 512 } } do
  local named = {}
  for key, value in pairs(options) do named[#named + 1] = ("%s = %s"):format(key, value) end
  table.sort(named)
  row("attention 2x4096x8, " .. table.concat(named, ", "), function()
    local s, d = 4096 // small, options.dim
    options.heads = 8
    local attention = wg.attention(options)
    local dtype = options.dtype or "bf16"
    local Q, K, V = random(dtype, 2, s, 8, d), random(dtype, 2, s, 8, d), random(dtype, 2, s, 8, d)
    local O, launch = wg.zeros("bf16", { 2, s, 8, d }), { backend = backend }
    return function() attention:run(Q, K, V, O, launch) end, function() return attention:time(Q, K, V, O, launch) end, O
  end)
end

for _, d in ipairs { 64, 128, 256 } do
  row(("gradients 2x2048x8x%d, causal: dK"):format(d), function()
    local s = 2048 // small
    local forward = wg.attention { dim = d, heads = 8, causal = true, lse = true }
    local backward = wg.attention_backward { dim = d, heads = 8, causal = true }
    local Q, K, V, dO = random("bf16", 2, s, 8, d), random("bf16", 2, s, 8, d), random("bf16", 2, s, 8, d), random("bf16", 2, s, 8, d)
    local function like() return wg.zeros("bf16", { 2, s, 8, d }) end
    local O, dQ, dK, dV, lse = like(), like(), like(), like(), wg.zeros("f32", { 2, 8, s })
    forward:run(Q, K, V, O, { lse = lse, backend = backend })
    local all = { Q = Q, K = K, V = V, O = O, lse = lse, dO = dO, dQ = dQ, dK = dK, dV = dV, backend = backend }
    return function() backward:run(all) end, function() return backward:time(all) end, dK
  end)
end

row("decode 32x1x32/8x128, 4096 keys", function()
  local b, s = math.max(32 // small, 1), 4096 // small
  local decode = wg.attention_decode { dim = 128, heads = 32, kv_heads = 8 }
  local Q, K, V = random("bf16", b, 1, 32, 128), random("bf16", b, s, 8, 128), random("bf16", b, s, 8, 128)
  local O, launch = wg.zeros("bf16", { b, 1, 32, 128 }), { lengths = wg.full("s32", { b }, s), backend = backend }
  return function() decode:run(Q, K, V, O, launch) end, function() return decode:time(Q, K, V, O, launch) end, O
end)
