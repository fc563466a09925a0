-- wg.gemm with D as its own residual: each element is read by a bulk copy before it is written, and the simulator sees that.
local wg = require "wgrun"

for _, case in ipairs { { 128, 128 }, { 200, 136 }, { 256, 256, schedule = "pingpong" } } do
  local m, n, inner = case[1], case[2], 64
  local A = wg.randn { dtype = "bf16", shape = { m, inner }, seed = 1 }
  local B = wg.randn { dtype = "bf16", shape = { n, inner }, seed = 2 }
  local D = wg.randn { dtype = "bf16", shape = { m, n }, seed = 3 }
  local gemm = wg.gemm { dtype = "bf16", schedule = case.schedule, epilogue = { residual = true } }
  local apart, residual = wg.zeros("bf16", { m, n }), D:copy()
  gemm:run(A, B, apart, { residual = residual, backend = "sim" })
  gemm:run(A, B, D, { residual = D, backend = "sim" })
  for i = 0, m * n - 1 do
    local at = { i // n, i % n }
    assert(D[at] == apart[at], "in place another sum")
  end
end
