-- Step 9 of the guide (docs/guide/09-product.md): a product put together from the library's main loop with an epilogue
-- of your own. For each point, a row of A, it finds the nearest of N centres, the rows of B, as k-means does:
--
--   nearest(i) = the j with the least |B_j|^2 - 2 * A_i . B_j
--
-- The distances, M x N of them, never leave the registers: D is one number for each row of A.
--   wgrun scripts/guide/09-product.lua
local wg = require "wgrun"

local loop = wg.mainloop.dense { dtype = "bf16", tile = { 128, 256, 64 }, constant = "B" }

local nearest = wg.kernel("nearest", { threads = loop.threads, cluster = { loop.cluster } }, function(k)
  local sizes = loop:parameters(k)               -- A, B, M, N, K
  local norms = k:param("norms", "const f32*")   -- |B_j|^2
  local out = k:param("nearest", "s64*")         -- of each row the distance, as an integer of the same order, and j

  -- A signed integer that is less where the f32 is less: of negative numbers all bits but the sign are flipped.
  local function ordered(x)
    local bits = k:mov(x, { type = "b32" })
    return bits ~ (k:shr(bits, 31, { type = "s32" }) & 0x7FFFFFFF)
  end

  local function epilogue()
    return function(acc, row, column)            -- the sums of 64 rows of a tile, and the place of the first
      local least, where = k:regs("f32", 2), k:regs("u32", 2) -- of the thread's two rows
      local norm = k:mov(0.0, { type = "f32" })
      for half = 0, 1 do
        k:mov(least[half], math.huge)
        k:mov(where[half], 0)
      end
      k:fragment(acc):map(function(x, at)
        local j = column + at.column
        local inside = j:lt(sizes.N)             -- behind the last column TMA filled in zeros
        local distance = k:fma(x, -2.0, k:ld_global_f32(norm, k:element(norms, j), { guard = inside }))
        local nearer = distance:lt(least[at.half]) & inside
        k:mov(least[at.half], distance, { guard = nearer })
        k:mov(where[at.half], j, { guard = nearer })
        return x
      end)
      local thread = k:special "tid.x"
      local first = row + ((thread >> 5 & 3) << 4) + (thread >> 2 & 7)
      for half = 0, 1 do
        local i = first + 8 * half
        local both = k:cvt_u64_u32(ordered(least[half])) << 32 | k:cvt_u64_u32(where[half])
        k:red_global_min_s64(k:element(out, i), both, { guard = i:lt(sizes.M) })
      end
    end
  end

  loop:emit(k, { epilogue = epilogue })
end)

local M, N, K = 300, 520, 136
local A = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 }
local norms = wg.zeros("f32", { N })
for j = 0, N - 1 do norms[j] = wg.dot(B, j * K, 1, B, j * K, 1, K) end
local out = wg.full("s64", { M }, 0x7FFFFF0000000000) -- no distance is as large

local launch = loop:launch(nearest, A, B)        -- the grid, and the arguments for loop:parameters
for _, more in ipairs { norms, out } do launch.args[#launch.args + 1] = more end
local backend = nearest:run(launch)
if backend == "none" then return end             -- wgrun check, ptx and cuda trace kernels without running them

local function distance(i, j) return norms[j] - 2 * wg.dot(A, i * K, 1, B, j * K, 1, K) end
local wrong = 0
for i = 0, M - 1, 7 do
  local found, least = out[i] & 0xFFFFFFFF, math.huge
  for j = 0, N - 1 do least = math.min(least, distance(i, j)) end
  if distance(i, found) > least + 1e-3 * math.abs(least) then wrong = wrong + 1 end
end
print(("nearest %dx%dx%d on %s: %d of %d rows are wrong"):format(M, N, K, backend, wrong, (M + 6) // 7))
if wrong > 0 then os.exit(5) end
