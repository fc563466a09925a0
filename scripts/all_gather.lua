-- A product of several devices (docs/devices.md): each has some rows of A and its own columns of D, which need all of
-- A. It multiplies its own rows first, and fetches those of the others meanwhile: an all-gather.
--   wgrun scripts/all_gather.lua
local wg = require "wgrun"

local devices, rows, N, K = 4, 200, 256, 128 -- of each device
local gemm = wg.gemm { collective = "all_gather", devices = devices, problem = { devices * rows, N, K } }

local A, B, D, flags, arguments, grid = {}, {}, {}, {}, {}, nil
for d = 1, devices do
  A[d] = wg.randn { shape = { rows, K }, dtype = "bf16", seed = d }
  B[d] = wg.randn { shape = { N, K }, dtype = "bf16", seed = devices + d }
  D[d] = wg.zeros("bf16", { devices * rows, N })
  flags[d] = wg.zeros("u32", gemm:exchange(devices * rows, N).flags)
end
for d = 1, devices do
  local launch = gemm:launch(A[d], B[d], D[d], { rank = d - 1, flags = flags, shards = A })
  arguments[d], grid = launch.args, launch.grid
end
local backend = gemm.kernel:run { grid = grid, backend = "sim", devices = arguments }
if backend == "none" then return gemm.kernel end -- wgrun check, ptx and cuda trace kernels without running them

for d = 1, devices do
  for owner = 1, devices do
    local got, want = D[d]:rows((owner - 1) * rows, owner * rows), wg.matmul(A[owner], B[d]:transpose()):convert "bf16"
    local ok, worst, at = wg.compare(got, want)
    print(("all_gather, device %d, rows of device %d: worst error %.2g"):format(d - 1, owner - 1, worst))
    if not ok then
      print(at)
      os.exit(5)
    end
  end
end
