-- Step 3 of the guide (docs/guide/03-mbarrier.md): each row of a matrix is brought into shared memory by one bulk
-- copy, an mbarrier tells when it is there, and the row is written back in reverse order.
--   wgrun scripts/guide/03-mbarrier.lua
local wg = require "wgrun"

local n = 256 -- elements of a row, and threads of a CTA
local reverse = wg.kernel("reverse", { threads = n }, function(k)
  local X, Y = k:param("X", "const f32*"), k:param("Y", "f32*")
  local row = k:shared { bytes = 4 * n, align = 128, name = "row" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  local first = k:special "ctaid.x" * n -- the first element of this CTA's row

  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)                  -- one arrival completes a phase
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)

  k:if_(thread:eq(0), function()
    k:mbarrier_arrive_expect_tx(full, 4 * n)  -- that arrival, and 1024 bytes
    k:cp_async_bulk(row, k:element(X, first), 4 * n, full)
  end)
  k:mbarrier_wait(k:address(full), 0)         -- the first phase has parity 0

  local mirrored = k:sub(n - 1, thread)
  local value = k:ld_shared_f32(k:address(row) + (mirrored << 2))
  k:st_global_f32(k:element(Y, first + thread), value)
end)

local rows = 3
local X, Y = wg.randn { shape = { rows, n }, dtype = "f32", seed = 1 }, wg.zeros("f32", { rows, n })
local backend = reverse:run { grid = { rows }, args = { X, Y } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local ok, _, where = wg.compare(Y, X:slice { true, { n - 1, -1, -1 } }, 0)
print(("reverse on %s: %s"):format(backend, where))
if not ok then os.exit(5) end
