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
local Y = wg.zeros("f32", { n })
for i = 0, n - 1 do Y[{ i }] = i end

local backend = axpy:run { grid = { (n + threads - 1) // threads }, args = { X, Y, n, 2.0 } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local worst = 0
for i = 0, n - 1 do worst = math.max(worst, math.abs(Y[{ i }] - (2 * X[{ i }] + i))) end
print(("axpy on %s: worst error %.1g"):format(backend, worst))
if worst > 1e-4 then os.exit(5) end
