-- D = A * B on the tensor cores: bf16 or f16 in, f32 out, any M, N, K from 1 to 16384, any major-ness.
--   wgrun scripts/gemm.lua [--m 256] [--n 256] [--k 256] [--dtype bf16|f16] [--a-major K|M] [--b-major K|N]
--                          [--a A.npy] [--b B.npy] [--d D.npy] [--seed 1] [--rounds 20] [--against cublas]
-- A is M x K and B is K x N. In memory a K-major A has M rows of K elements, an M-major one K rows of M; a K-major
-- B has N rows of K elements, an N-major one K rows of N. D has M rows of N elements.
local wg = require "wgrun"

local function usage(message)
  io.stderr:write("gemm.lua: ", message, " (see the first lines of the script)\n")
  os.exit(2)
end

local function parse(arguments)
  ---@type table<string, any>
  local o = { dtype = "bf16", ["a-major"] = "K", ["b-major"] = "N", seed = "1", rounds = "20" }
  local known = {
    m = 1, n = 1, k = 1, dtype = 1, ["a-major"] = 1, ["b-major"] = 1, a = 1, b = 1, d = 1, seed = 1, rounds = 1,
    against = 1,
  }
  for i = 1, #arguments, 2 do
    local key = arguments[i]:match "^%-%-(.+)$"
    if not known[key] then usage("unknown option " .. arguments[i]) end
    o[key] = arguments[i + 1] or usage(arguments[i] .. " needs a value")
  end
  for _, key in ipairs { "m", "n", "k", "seed", "rounds" } do
    if o[key] then
      o[key] = math.tointeger(tonumber(o[key])) or usage("--" .. key .. " must be an integer, not " .. o[key])
    end
  end
  if o.dtype ~= "bf16" and o.dtype ~= "f16" then usage("--dtype must be bf16 or f16") end
  if o.against and o.against ~= "cublas" then usage "--against must be cublas" end
  if o["a-major"] ~= "K" and o["a-major"] ~= "M" then usage "--a-major must be K or M" end
  if o["b-major"] ~= "K" and o["b-major"] ~= "N" then usage "--b-major must be K or N" end
  return o
end

-- The kernel: a CTA of two warpgroups computes a 128 x tile_n block of D, 64 rows each. Two pairs of operand tiles
-- take turns, so that the copy of one k-block overlaps the product of the other.
local function gemm(o)
  local block_k = 64
  local function tile(mn, k_major)
    return wg.tile { dtype = o.dtype, mn = mn, k = block_k, major = k_major and "K" or "MN", swizzle = "128B" }
  end
  local tile_a, tile_b = tile(128, o.a_k_major), tile(o.tile_n, o.b_k_major)

  return wg.kernel("gemm", { threads = 256 }, function(k)
    local A, B, D = k:param("A", "const " .. o.dtype .. "*"), k:param("B", "const " .. o.dtype .. "*"),
      k:param("D", "f32*")
    local M, N, K = k:param("M", "u32"), k:param("N", "u32"), k:param("K", "u32")
    local stages = {}
    for s = 1, 2 do stages[s] = { a = k:shared(tile_a, "a" .. s), b = k:shared(tile_b, "b" .. s) } end

    local row, col = k:special "ctaid.y" * 128, k:special "ctaid.x" * o.tile_n
    local warpgroup = k:special "tid.x" >> 7
    -- The second warpgroup reads the lower 64 rows of A: its descriptors start that many bytes further on.
    local half = warpgroup * ((tile_a:descriptor(0, 0, 64) - tile_a:descriptor(0)) << 4)

    local function copy(stage, first_k)
      -- A line of a tile is a row when it is K-major and a column otherwise.
      local function one(buffer, from, k_major, mn, extent, vector)
        k:copy_tile {
          to = buffer, from = from, vector = vector,
          ld = k_major and K or extent,
          line = k_major and mn or first_k, lines = k_major and extent or K,
          along = k_major and first_k or mn, length = k_major and K or extent,
        }
      end
      one(stage.a, A, o.a_k_major, row, M, o.a_vector)
      one(stage.b, B, o.b_k_major, col, N, o.b_vector)
    end

    local acc = k:regs("f32", o.tile_n // 2)
    for i = 0, #acc - 1 do k:mov(acc[i], 0) end

    -- Blocks come in pairs, one a stage; what lies beyond K is copied as zeros.
    k:loop({ from = 0, to = K, step = 2 * block_k }, function(first_k)
      for s = 1, 2 do
        k:wgmma_wait_group(1) -- the product that read this stage is done...
        k:bar_sync(0)         -- ...in both warpgroups
        copy(stages[s], s == 1 and first_k or first_k + block_k)
        k:fence_proxy_async { space = "shared::cta" }
        k:bar_sync(0)
        k:wgmma_fence()
        k:mma(acc, { a = stages[s].a, b = stages[s].b, a_offset = half })
      end
    end)
    k:wgmma_wait_group(0)

    k:store_accumulator(acc, {
      to = D, ld = N, row = row + (warpgroup << 6), col = col, rows = M, cols = N, vector = o.d_vector,
    })
  end)
end

-- The worst error against sums in binary64: of every element where that is cheap, else of a sample.
local function worst_error(o, A, B, D)
  local a_step, b_step = o.a_k_major and 1 or o.m, o.b_k_major and 1 or o.n
  local every = o.m * o.n * o.k <= 2 ^ 26
  local worst, state = 0, o.seed
  local function visit(i, j)
    local want = wg.dot(A, i * (o.a_k_major and o.k or 1), a_step, B, j * (o.b_k_major and o.k or 1), b_step, o.k)
    worst = math.max(worst, math.abs(D[{ i, j }] - want))
  end
  if every then
    for i = 0, o.m - 1 do for j = 0, o.n - 1 do visit(i, j) end end
  else
    for _ = 1, 4096 do
      state = (state * 6364136223846793005 + 1442695040888963407)
      visit((state >> 33) % o.m, (state >> 40) % o.n)
    end
  end
  return worst, every
end

local o = parse(arg)
o.a_k_major, o.b_k_major = o["a-major"] == "K", o["b-major"] == "K"

local function operand(path, name, rows, cols, seed)
  if path then
    local t = assert(wg.load(path, o.dtype))
    if #t.shape ~= 2 then usage(("--%s: %s is not a matrix"):format(name, path)) end
    return t
  end
  return wg.randn { shape = { rows or 256, cols or 256 }, dtype = o.dtype, seed = seed }
end
local A = operand(o.a, "a", o.a_k_major and o.m or o.k, o.a_k_major and o.k or o.m, o.seed)
local a_rows, a_cols = A.shape[1], A.shape[2]
o.m, o.k = o.a_k_major and a_rows or a_cols, o.a_k_major and a_cols or a_rows
local B = operand(o.b, "b", o.b_k_major and o.n or o.k, o.b_k_major and o.k or o.n, o.seed + 1)
o.n = o.b_k_major and B.shape[1] or B.shape[2]
local b_k = o.b_k_major and B.shape[2] or B.shape[1]
if b_k ~= o.k then usage(("K differs: A has %d, B has %d"):format(o.k, b_k)) end
for name, extent in pairs { M = o.m, N = o.n, K = o.k } do
  if extent < 1 or extent > 16384 then usage(("%s = %d: 1 to 16384"):format(name, extent)) end
end

o.tile_n = o.n > 128 and o.m * o.n >= 2 ^ 22 and 256 or o.n > 64 and 128 or 64
o.a_vector = (o.a_k_major and o.k or o.m) % 8 == 0
o.b_vector = (o.b_k_major and o.k or o.n) % 8 == 0
o.d_vector = o.n % 2 == 0

local kernel = gemm(o)
local D = wg.zeros("f32", { o.m, o.n })
local launch = { grid = { (o.n + o.tile_n - 1) // o.tile_n, (o.m + 127) // 128, 1 }, args = { A, B, D, o.m, o.n, o.k } }
local backend = kernel:run(launch)
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them
local worst, every = worst_error(o, A, B, D)

launch.flops = 2.0 * o.m * o.n * o.k
launch.rounds = backend == "sim" and 1 or o.rounds
if o.against and backend ~= "sim" then
  launch.against = assert(wg.cublas { a = A, b = B, d = wg.zeros("f32", { o.m, o.n }),
    a_major = o.a_k_major and "K" or "MN", b_major = o.b_k_major and "K" or "MN" })
end
local timing = kernel:time(launch)
print(("gemm %dx%dx%d %s, A %s-major, B %s-major, on %s"):format(
  o.m, o.n, o.k, o.dtype, o["a-major"], o["b-major"], backend))
print(("median %.1f us (%d rounds), %.3g TFLOP/s"):format(timing.median_us, timing.rounds, timing.tflops))
if timing.against then
  print(("cuBLAS median %.1f us, %.3g TFLOP/s: %.2f of its speed, in alternating rounds")
    :format(timing.against.median_us, timing.against.tflops, timing.against.median_us / timing.median_us))
end
print(("worst error %.3g (%s)"):format(worst, every and "all elements" or "4096 sampled"))
if o.d then
  assert(D:save(o.d))
  print("wrote " .. o.d)
end
-- Sums of k products of standard normal numbers, each rounded to binary32 with the unit's own truncation.
if worst > 2e-6 * o.k + 1e-5 then os.exit(5) end
