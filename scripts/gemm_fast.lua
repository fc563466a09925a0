-- D = A * B with wg.gemm, checked against sums in binary64 and timed against cuBLASLt where there is a GPU.
--   wgrun scripts/gemm_fast.lua [--m 192] [--n 256] [--k 256] [--dtype bf16|f16|tf32|e4m3|e5m2|s8] [--a-major K|M]
--                               [--b-major K|N] [--rounds 20] [--seed 1]
--                               [--epilogue gelu]
--   wgrun scripts/gemm_fast.lua --bench large|small|weights|uneven|types|majors|epilogues|all [--rounds 20]
-- A is M x K and B is K x N; in memory a K-major operand has rows of K elements. D is bf16 for bf16 and 8-bit floats,
-- f16 for f16, f32 for tf32, s32 for s8. With an epilogue, D = gelu(A * B / 2 - C + bias), where cuBLASLt, to compare
-- with, still computes A * B alone. `weights` are the problems of few rows, B being constant: no launch writes it;
-- `uneven` are those of which tiles of 128 x 256 fill no whole number of rounds of the chip.
local wg = require "wgrun"

local function usage(message)
  io.stderr:write("gemm_fast.lua: ", message, " (see the first lines of the script)\n")
  os.exit(2)
end

---@type table<string, any>
local o = {
  dtype = "bf16", ["a-major"] = "K", ["b-major"] = "K", rounds = "20", seed = "1", m = "192", n = "256", k = "256",
  epilogue = "none",
}
for i = 1, #arg, 2 do
  local key = arg[i]:match "^%-%-(.+)$"
  if key ~= "bench" and not o[key] then usage("unknown option " .. arg[i]) end
  o[key] = arg[i + 1] or usage(arg[i] .. " needs a value")
end
for _, key in ipairs { "m", "n", "k", "rounds", "seed" } do
  o[key] = math.tointeger(tonumber(o[key])) or usage("--" .. key .. " must be an integer, not " .. o[key])
end

if o.epilogue ~= "none" and (o.epilogue ~= "gelu" or o.dtype == "s8") then
  usage "--epilogue must be gelu, of floats, or none"
end

local result = { bf16 = "bf16", f16 = "f16", tf32 = "f32", e4m3 = "bf16", e5m2 = "bf16", s8 = "s32" }
-- What D may differ by from the exact sum: its own rounding, and the accumulators' (docs/silicon.md).
local tolerance = { bf16 = 2 ^ -8, f16 = 2 ^ -10, tf32 = 2 ^ -10, e4m3 = 2 ^ -5, e5m2 = 2 ^ -5, s8 = 0 }

local function random(dtype, shape, seed)
  if dtype == "s8" then return wg.randint { shape = shape, dtype = dtype, lo = -64, hi = 63, seed = seed } end
  return wg.randn { shape = shape, dtype = dtype, seed = seed }
end

local function gelu(x) return x / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ^ 3))) end

-- The worst error of a sample of D's elements, in units of the tolerance.
local function worst_error(c, A, B, D, given)
  local worst, state = 0, o.seed
  for _ = 1, math.min(4096, c.m * c.n) do
    state = state * 6364136223846793005 + 1442695040888963407
    local i, j = (state >> 33) % c.m, (state >> 40) % c.n
    local want = wg.dot(A, i * (c.a == "K" and c.k or 1), c.a == "K" and 1 or c.m,
      B, j * (c.b == "K" and c.k or 1), c.b == "K" and 1 or c.n, c.k)
    if c.epilogue then want = gelu(given.alpha * want + given.beta * given.C[{ i, j }] + given.bias[{ j }]) end
    local allowed = c.dtype == "s8" and 0.5 or tolerance[c.dtype] * (math.abs(want) + math.sqrt(c.k))
    worst = math.max(worst, math.abs(D[{ i, j }] - want) / allowed)
  end
  return worst
end

-- One problem: { m =, n =, k =, dtype =, a =, b = (majors), epilogue =, constant = }. Returns its speed over
-- cuBLASLt's, if that is here.
local function problem(c)
  local A = random(c.dtype, c.a == "K" and { c.m, c.k } or { c.k, c.m }, o.seed)
  local B = random(c.dtype, c.b == "K" and { c.n, c.k } or { c.k, c.n }, o.seed + 1)
  local D = wg.zeros(result[c.dtype], { c.m, c.n })
  local given = c.epilogue and {
    alpha = 0.5, beta = -1.0, C = random(result[c.dtype], { c.m, c.n }, o.seed + 2),
    bias = wg.randn { shape = { c.n }, dtype = "f32", seed = o.seed + 3 },
  } or {}
  local gemm = wg.gemm {
    epilogue = c.epilogue and { alpha = true, beta = true, bias = "column", activation = "gelu" } or nil,
    dtype = c.dtype, a_major = c.a == "K" and "K" or "MN", b_major = c.b == "K" and "K" or "MN",
    problem = { c.m, c.n, c.k },
    constant = c.constant,
  }
  local function with(options)
    for key, value in pairs(given) do options[key] = value end
    return options
  end
  local backend = gemm:run(A, B, D, with {})
  if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them
  local worst = worst_error(c, A, B, D, given)
  local p = gemm.plan
  local line = ("%5d %5d %5d  %-4s %s%s  %-11s %3dx%-3d"):format(c.m, c.n, c.k, c.dtype, c.a, c.b, p.schedule, p.m, p.n)
  local ratio
  if backend ~= "sim" then
    local cublas, why = wg.cublas { a = A, b = B, d = wg.zeros(result[c.dtype], { c.m, c.n }),
      a_major = c.a == "K" and "K" or "MN", b_major = c.b == "K" and "K" or "MN" }
    local t = gemm:time(A, B, D, with { rounds = o.rounds, against = cublas })
    line = ("%s  %8.1f us (%.1f to %.1f) %6.1f TFLOP/s"):format(line, t.median_us, t.min_us, t.max_us, t.tflops)
    if cublas then
      ratio = t.against.median_us / t.median_us
      line = ("%s  cuBLASLt %6.1f TFLOP/s  %.3f"):format(line, t.against.tflops, ratio)
    else
      line = line .. "  no cuBLASLt: " .. why
    end
  end
  print(("%s  error %.2f of what is allowed on %s"):format(line, worst, backend))
  if worst > 1 then os.exit(5) end
  return ratio
end

local function list(dtype, a, b, shapes, more)
  local out = {}
  for m, n, k in shapes:gmatch "(%d+)x(%d+)x(%d+)" do
    local case = { m = tonumber(m), n = tonumber(n), k = tonumber(k), dtype = dtype, a = a, b = b }
    for key, value in pairs(more or {}) do case[key] = value end
    out[#out + 1] = case
  end
  return out
end

local suites = {
  large = { list("bf16", "K", "K", "1024x1024x1024 2048x2048x2048 4096x4096x4096 8192x8192x8192 16384x16384x8192 "
    .. "4096x14336x4096 4096x4096x14336 8192x8192x512") },
  small = { list("bf16", "K", "K", "16x8192x8192 64x8192x8192 128x8192x8192") },
  weights = { list("bf16", "K", "K", "16x8192x8192 64x8192x8192 128x8192x8192", { constant = "B" }) },
  uneven = {
    list("bf16", "K", "K", "1536x1536x4096 2304x2048x4096 2432x2048x8192 2560x2560x4096 3072x3072x3072 1792x4096x4096 "
      .. "2048x5120x2048 4096x7168x2048 5120x5120x5120 2048x11008x4096"),
  },
  types = {
    list("f16", "K", "K", "4096x4096x4096 8192x8192x8192"), list("tf32", "K", "K", "4096x4096x4096 8192x8192x8192"),
    list("e4m3", "K", "K", "4096x4096x4096 8192x8192x8192"), list("e5m2", "K", "K", "4096x4096x4096 8192x8192x8192"),
    list("s8", "K", "K", "4096x4096x4096 8192x8192x8192"),
  },
  majors = {
    list("bf16", "K", "N", "4096x4096x4096"), list("bf16", "M", "K", "4096x4096x4096"),
    list("bf16", "M", "N", "4096x4096x4096"),
  },
  epilogues = {
    list("bf16", "K", "K", "4096x4096x4096 8192x8192x512 64x8192x8192", { epilogue = true }),
    list("f16", "K", "K", "4096x4096x4096", { epilogue = true }),
  },
}

if not o.bench then
  problem {
    m = o.m, n = o.n, k = o.k, dtype = o.dtype, a = o["a-major"], b = o["b-major"], epilogue = o.epilogue == "gelu",
  }
  return
end
local names = o.bench == "all" and { "large", "small", "weights", "uneven", "types", "majors", "epilogues" }
  or { o.bench }
for _, name in ipairs(names) do
  local product, count = 1, 0
  for _, cases in ipairs(
    suites[name] or usage("--bench must be large, small, weights, uneven, types, majors, epilogues or all")) do
    for _, case in ipairs(cases) do
      local ratio = problem(case)
      if ratio then product, count = product * ratio, count + 1 end
      collectgarbage()
    end
  end
  if count > 0 then
    print(("%s: geometric mean of the speed over cuBLASLt's: %.3f"):format(name, product ^ (1 / count)))
  end
end
