-- D = A * B with a sparse A: prune, compress, multiply, and compare with the dense product of the pruned matrix.
--   wgrun scripts/sparse_gemm.lua [--dtype f16|bf16|tf32|e4m3|e5m2|s8|u8] [--m 64] [--n 64] [--k 256] [--seed 1]
-- A is M x K, of which half is stored; B is K x N, its columns one after the other (N rows of K elements). Without
-- --dtype every type has its turn. M is a multiple of 64, N of 64, K of what 128 bytes of B hold.
local wg = require "wgrun"

local types = { "f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8" }
local bytes = { f16 = 2, bf16 = 2, tf32 = 4, e4m3 = 1, e5m2 = 1, s8 = 1, u8 = 1 }
local tile_n = 64

local o = { m = 64, n = 64, k = 256, seed = 1 }
for i = 1, #arg, 2 do
  local key, value = arg[i]:match "^%-%-(.+)$", arg[i + 1]
  if key == "dtype" and bytes[value] then
    types = { value }
  elseif o[key] and math.tointeger(tonumber(value)) then
    o[key] = math.tointeger(tonumber(value))
  else
    io.stderr:write(("sparse_gemm.lua: %s %s: see the first lines of the script\n"):format(arg[i], value or ""))
    os.exit(2)
  end
end

-- One warpgroup makes 64 x 64 of D. A block of 128 bytes of B's K is 64 bytes of A as stored, and two instructions.
local function make(dtype, d)
  local block_k = 128 // bytes[dtype]
  local tile_a = wg.tile { dtype = dtype, mn = 64, k = block_k // 2, major = "K", swizzle = "64B" }
  local tile_b = wg.tile { dtype = dtype, mn = tile_n, k = block_k, major = "K", swizzle = "128B" }
  return wg.kernel("sparse_gemm_" .. dtype, { threads = 128 }, function(k)
    local values, metadata = k:param("A", "const " .. dtype .. "*"), k:param("metadata", "const u32*")
    local B, D = k:param("B", "const " .. dtype .. "*"), k:param("D", d .. "*")
    local M, N, K = k:param("M", "u32"), k:param("N", "u32"), k:param("K", "u32")
    local a, b = k:shared(tile_a, "a"), k:shared(tile_b, "b")
    local row, col = k:special "ctaid.y" * 64, k:special "ctaid.x" * tile_n

    -- The words of this thread, for one instruction after the other along K: 128 apart.
    local steps = k:div(K, block_k // 2)
    local words = k:element(metadata, k:special "ctaid.y" * steps * 128 + k:special "tid.x")
    local meta = k:regs("b32", 2)

    local acc = k:regs(d, tile_n // 2)
    for i = 0, #acc - 1 do k:mov(acc[i], 0) end
    local half_k = k:shr(K, 1)
    k:loop({ from = 0, to = K, step = block_k }, function(first)
      k:copy_tile {
        to = a, from = values, ld = half_k, line = row, along = k:shr(first, 1), lines = M, length = half_k,
        vector = true,
      }
      k:copy_tile { to = b, from = B, ld = K, line = col, along = first, lines = N, length = K, vector = true }
      for i = 0, 1 do k:ld_global_b32(meta[i], words, { offset = 512 * i }) end
      k:add(words, words, 1024)
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_sync(0)
      k:wgmma_fence()
      k:mma(acc, { a = a, b = b, metadata = meta, d = d })
      k:wgmma_wait_group(0)
      k:bar_sync(0) -- before the next block overwrites the tiles
    end)
    k:store_accumulator(acc, { to = D, ld = N, row = row, col = col, rows = M, cols = N, vector = true })
  end)
end

local function random(dtype, shape, seed)
  if dtype == "s8" then return wg.randint { dtype = dtype, shape = shape, lo = -128, hi = 127, seed = seed } end
  if dtype == "u8" then return wg.randint { dtype = dtype, shape = shape, lo = 0, hi = 255, seed = seed } end
  return wg.randn { dtype = dtype, shape = shape, seed = seed }
end

local good = true
for _, dtype in ipairs(types) do
  local d = (dtype == "s8" or dtype == "u8") and "s32" or "f32"
  local A = wg.sparse.prune(random(dtype, { o.m, o.k }, o.seed))
  local values, metadata = wg.sparse.compress(A)
  local B, D = random(dtype, { o.n, o.k }, o.seed + 1), wg.zeros(d, { o.m, o.n })
  local backend = make(dtype, d):run {
    grid = { o.n // tile_n, o.m // 64, 1 }, args = { values, metadata, B, D, o.m, o.n, o.k },
  }
  if backend ~= "none" then
    -- Every element, or of a large D every so many.
    local worst = 0
    for at = 0, o.m * o.n - 1, math.max(1, o.m * o.n // 8192) | 1 do
      local i, j = at // o.n, at % o.n
      worst = math.max(worst, math.abs(wg.dot(A, i * o.k, 1, B, j * o.k, 1, o.k) - D[{ i, j }]))
    end
    -- The 8-bit floats are added up with 14 significant bits by the tensor core.
    local tolerance = d == "s32" and 0 or bytes[dtype] == 1 and 2e-3 * o.k or 2e-6 * o.k + 1e-5
    print((
      "sparse_gemm %dx%dx%d %-4s on %s: stored %d of %d bytes of A and %d of metadata, worst error %.3g"
    ):format(o.m, o.n, o.k,
      dtype, backend, values.bytes, A.bytes, metadata.bytes, worst))
    good = good and worst <= tolerance
  end
end
if not good then os.exit(5) end
