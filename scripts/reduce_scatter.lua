-- A product of several devices (docs/devices.md): each has some of K, and gets some rows of the sum of all products. It
-- multiplies the rows of the others first, and hands them over while it multiplies its own: a reduce-scatter.
--   wgrun scripts/reduce_scatter.lua
local wg = require "wgrun"

local devices, M, N, K = 4, 800, 256, 128 -- K of each device
local gemm = wg.gemm { collective = "reduce_scatter", devices = devices, problem = { M, N, K } }

local rows = M // devices
local exchange = gemm:exchange(rows, N)
local A, B, D, flags, inboxes, arguments, grid = {}, {}, {}, {}, {}, {}, nil
local sum
for d = 1, devices do
  A[d] = wg.randn { shape = { M, K }, dtype = "bf16", seed = 2 * d }
  B[d] = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 * d + 1 }
  D[d] = wg.zeros("bf16", { rows, N })
  flags[d], inboxes[d] = wg.zeros("u32", exchange.flags), wg.zeros("bf16", exchange.inbox)
  local product = wg.matmul(A[d], B[d]:transpose())
  sum = sum and sum + product or product
end
for d = 1, devices do
  local launch = gemm:launch(A[d], B[d], D[d], { rank = d - 1, flags = flags, inboxes = inboxes })
  arguments[d], grid = launch.args, launch.grid
end
local backend = gemm.kernel:run { grid = grid, backend = "sim", devices = arguments }
if backend == "none" then return gemm.kernel end -- wgrun check, ptx and cuda trace kernels without running them

for d = 1, devices do
  -- The parts of the other devices are rounded to bf16.
  local want = sum:rows((d - 1) * rows, d * rows):convert "bf16"
  local ok, worst, at = wg.compare(D[d], want, { absolute = 0.25, relative = 1 / 128 })
  print(("reduce_scatter, device %d: worst error %.2g"):format(d - 1, worst))
  if not ok then
    print(at)
    os.exit(5)
  end
end
