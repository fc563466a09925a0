-- One warp, one product: mma.sync m16n8k16, with operands that ldmatrix takes from swizzled tiles.
--   wgrun scripts/mma_sync.lua
-- mma.sync wants A and B by rows of K: row 0 of A in the registers of lanes 0 to 3, and so on. A K-major tile has
-- such rows, ldmatrix copies them as they are. An MN-major tile has them as columns: ldmatrix.trans transposes on
-- the way to the registers. The swizzle changes where a 16-byte chunk of a row lies and nothing else: it spreads
-- the eight rows that ldmatrix reads at once over all banks.
local wg = require "wgrun"

local M, N, K = 16, 8, 64

--- The address of elements (mn .. mn + 7, k) or (mn, k .. k + 7) of a tile at `base`, whatever its layout: 16 bytes.
--- `line` counts rows of a K-major tile or columns of an MN-major one; `unit` the chunks along it.
local function chunk(tile, base, line, unit)
  local width = ({ none = 16, ["32B"] = 32, ["64B"] = 64, ["128B"] = 128 })[tile.swizzle]
  local offset = line * width + unit * 16
  -- Swizzle<B,4,3>: the chunk's number in its line, XOR the line's number (modulo chunks, in 128-byte lines).
  return base + (offset ~ ((offset >> 3) & (width - 16)))
end

local function product(major)
  -- Lines no longer than a swizzle atom is wide: M = 16 and N = 8 of MN-major tiles, K = 64 of K-major ones.
  local k_major = major == "K"
  local function tile(mn)
    return wg.tile {
      dtype = "bf16", mn = mn, k = K, major = major, swizzle = k_major and "128B" or mn == 16 and "32B" or "none",
    }
  end
  local tile_a, tile_b = tile(M), tile(N)

  return wg.kernel("mma_sync_" .. major, { threads = 32, grid = 1 }, function(k)
    local A, B, D = k:param("A", "const bf16*"), k:param("B", "const bf16*"), k:param("D", "f32*")
    local a, b = k:shared(tile_a, "a"), k:shared(tile_b, "b")
    for _, copy in ipairs { { a, A, M }, { b, B, N } } do
      local lines, length = k_major and copy[3] or K, k_major and K or copy[3]
      k:copy_tile {
        to = copy[1], from = copy[2], ld = length, line = 0, along = 0, lines = lines, length = length, vector = true,
      }
    end
    k:bar_warp_sync() -- ldmatrix reads what other lanes wrote

    local lane = k:special "laneid"
    local base_a, base_b = k:mov(a, { type = "u32" }), k:mov(b, { type = "u32" })
    local acc = k:regs("f32", 4)
    for i = 0, 3 do k:mov(acc[i], 0) end
    for first = 0, K - 1, 16 do
      -- Lane 8 i + r gives row r of matrix i. A is four 8x8 matrices, the upper left, lower left, upper right and
      -- lower right one; B is two, for k and k + 8.
      local fa, fb
      if k_major then
        fa = k:ldmatrix_x4(chunk(tile_a, base_a, lane & 15, (lane >> 4) + first // 8))
        fb = k:ldmatrix_x2(chunk(tile_b, base_b, lane & 7, ((lane >> 3) & 1) + first // 8))
      else
        fa = k:ldmatrix_x4_trans(chunk(tile_a, base_a, (lane & 7) + ((lane >> 4) << 3) + first, (lane >> 3) & 1))
        fb = k:ldmatrix_x2_trans(chunk(tile_b, base_b, (lane & 15) + first, 0))
      end
      k:mma_sync(acc, fa, fb, acc, { d = "f32", a = "bf16", b = "bf16", k = 16 })
    end

    -- Register r of lane l is row l / 4 + 8 (r / 2), column 2 (l % 4) + r % 2.
    local row, col = lane >> 2, (lane & 3) << 1
    local to = k:mad_wide_u32(row * N + col, 4, D)
    k:st_global_v2_f32(to, { acc[0], acc[1] })
    k:st_global_v2_f32(to, { acc[2], acc[3] }, { offset = 8 * N * 4 })
  end)
end

for _, major in ipairs { "K", "MN" } do
  local k_major = major == "K"
  local A = wg.randn { shape = k_major and { M, K } or { K, M }, dtype = "bf16", seed = 1 }
  local B = wg.randn { shape = k_major and { N, K } or { K, N }, dtype = "bf16", seed = 2 }
  local D = wg.zeros("f32", { M, N })
  local backend = product(major):run { grid = { 1, 1, 1 }, args = { A, B, D } }
  if backend ~= "none" then -- wgrun check, ptx and cuda trace kernels without running them
    local worst = 0
    for i = 0, M - 1 do
      for j = 0, N - 1 do
        local sum = wg.dot(
          A, i * (k_major and K or 1), k_major and 1 or M, B, j * (k_major and K or 1), k_major and 1 or N, K)
        worst = math.max(worst, math.abs(sum - D[{ i, j }]))
      end
    end
    print(("mma_sync, %s-major operands, on %s: worst error %.3g"):format(major, backend, worst))
    if worst > 1e-4 then os.exit(5) end
  end
end
