-- wg.gemm in clusters of every size, with the operands that its CTAs share: wgrun clusters.lua.
local wg = require "wgrun"
local on_chip = wg.backend ~= "sim"

local function product(M, N, K, opts)
  local A, B = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }, wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 }
  local D = wg.zeros("bf16", { M, N })
  opts.problem = { M, N, K }
  local gemm = wg.gemm(opts)
  gemm:run(A, B, D)
  for s = 1, 200 do
    local i, j = s * 7919 % M, s * 104729 % N
    local want = wg.dot(A, i * K, 1, B, j * K, 1, K)
    if math.abs(D[{ i, j }] - want) > 2 ^ -8 * (math.abs(want) + math.sqrt(K)) then
      io.stderr:write(("clusters of %d: D[%d, %d] is %g, not %g\n"):format(opts.cluster, i, j, D[{ i, j }], want))
      os.exit(5)
    end
  end
  local resident = gemm.kernel:resident_clusters()
  local us = on_chip and (", %.1f us"):format(gemm:time(A, B, D, { rounds = 5 }).median_us) or ""
  print(("%d x %d x %d in clusters of %d: right; %s at a time%s"):format(M, N, K, opts.cluster, resident or "?", us))
end

for _, cluster in ipairs { 1, 2, 4, 8, 16 } do
  product(on_chip and 4096 or 64 * cluster, on_chip and 4096 or 128, on_chip and 4096 or 128, { tile = { 64, 128 }, cluster = cluster })
end
for _, cluster in ipairs { 1, 2, 4, 8 } do
  product(64, on_chip and 8192 or 64 * cluster, on_chip and 8192 or 256, { cluster = cluster })
end
