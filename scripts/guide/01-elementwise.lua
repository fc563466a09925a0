-- Step 1 of the guide (docs/guide/01-elementwise.md): y = a * x + y, one element a thread.
--   wgrun scripts/guide/01-elementwise.lua
local wg = require "wgrun"

local threads = 128
local axpy = wg.kernel("axpy", { threads = threads }, function(k)
  local X, Y = k:param("X", "const f32*"), k:param("Y", "f32*")
  local n, a = k:param("n", "u32"), k:param("a", "f32")

  local i = k:special "ctaid.x" * threads + k:special "tid.x"
  k:if_(i:lt(n), function()
    local y = k:element(Y, i)
    local x = k:ld_global_f32(k:element(X, i))
    k:st_global_f32(y, k:fma(a, x, k:ld_global_f32(y)))
  end)
end)

local n = 1000
local X = wg.randn { shape = { n }, dtype = "f32", seed = 1 }
local Y = wg.arange("f32", n)
local want = 2.0 * X + Y

local backend = axpy:run { grid = { (n + threads - 1) // threads }, args = { X, Y, n, 2.0 } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local ok, worst, where = wg.compare(Y, want)
print(("axpy on %s: worst error %.1g"):format(backend, worst))
if not ok then
  print(where)
  os.exit(5)
end
