-- Step 2 of the guide (docs/guide/02-shared-memory.md): a 32 x 32 matrix is transposed through shared memory.
--   wgrun scripts/guide/02-shared-memory.lua
local wg = require "wgrun"

local n = 32 -- lanes of a warp, banks of shared memory
local transpose = wg.kernel("transpose", { threads = n * n, grid = 1 }, function(k)
  local X, Y = k:param("X", "const f32*"), k:param("Y", "f32*")
  local tile = k:shared { bytes = 4 * n * n, align = 16, name = "tile" }
  local base = k:address(tile)

  local thread = k:special "tid.x"
  local row, column = thread >> 5, thread & 31 -- a warp has one row
  local function at(line, position) return base + (((line << 5) + position) << 2) end

  k:st_shared_f32(at(row, column), k:ld_global_f32(k:element(X, thread)))
  k:bar_sync(0)
  k:st_global_f32(k:element(Y, thread), k:ld_shared_f32(at(column, row)))
end)

local X = wg.randn { shape = { n, n }, dtype = "f32", seed = 1 }
local Y = wg.zeros("f32", { n, n })
local backend = transpose:run { grid = { 1 }, args = { X, Y } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local ok, _, where = wg.compare(Y, X:transpose(), 0)
print(("transpose on %s: %s"):format(backend, where))
if not ok then os.exit(5) end
