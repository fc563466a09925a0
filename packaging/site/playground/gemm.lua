-- The library's product of matrices, on the simulator.
local wg = require "wgrun"

local gemm = wg.gemm { dtype = "bf16" }
local A = wg.randn { shape = { 256, 256 }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { 256, 256 }, dtype = "bf16", seed = 2 }
local D = wg.zeros("bf16", { 256, 256 })
local backend = gemm:run(A, B, D)
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them
print("wg.gemm of 256 cubed on " .. backend)
print(("D[0][0] = %.4g, and in binary64 %.4g"):format(D[{ 0, 0 }], wg.dot(A, 0, 1, B, 0, 1, 256)))
