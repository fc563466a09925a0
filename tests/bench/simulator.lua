-- The simulator's rate: wgmma m64n256 of each family by one warpgroup, and the steps around it.
local wg = require "wgrun"

local function rate(d, dtype, sparse, numerics)
  local count = 1000
  local k_a = wg.tile { dtype = dtype, mn = 64, k = 64, major = "K" }.kstep_elements
  local k_b = k_a * (sparse and 2 or 1)
  local tile_a = wg.tile { dtype = dtype, mn = 64, k = k_a, major = "K" }
  local tile_b = wg.tile { dtype = dtype, mn = 256, k = k_b, major = "K" }
  local kernel = wg.kernel("rate", { threads = 128 }, function(k)
    local A, B = k:param("A", "const " .. dtype .. "*"), k:param("B", "const " .. dtype .. "*")
    local a, b = k:shared(tile_a, "a"), k:shared(tile_b, "b")
    k:copy_tile { to = a, from = A, ld = k_a, line = 0, along = 0, lines = 64, length = k_a, vector = true }
    k:copy_tile { to = b, from = B, ld = k_b, line = 0, along = 0, lines = 256, length = k_b, vector = true }
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(0)
    local acc = k:regs(d == "f16" and "b32" or d, d == "f16" and 64 or 128)
    for i = 0, #acc - 1 do k:mov(acc[i], 0) end
    local metadata = sparse and k:regs("b32", 1)
    if sparse then k:mov(metadata[0], 0x44444444) end
    k:loop(count, function()
      k:wgmma_fence()
      k:mma(acc, { a = a, b = b, d = d, metadata = metadata or nil })
      k:wgmma_wait_group(0)
    end)
  end)
  local function random(shape, seed)
    if d == "s32" then return wg.randint { shape = shape, dtype = dtype, lo = 0, hi = 100, seed = seed } end
    return wg.randn { shape = shape, dtype = dtype, seed = seed }
  end
  local timing = kernel:time { grid = { 1 }, args = { random({ 64, k_a }, 1), random({ 256, k_b }, 2) }, rounds = 3, numerics = numerics }
  return count / timing.median_us * 1e6
end

print "simulator, wgmma m64n256 a second of one CTA (race detection on)"
print "                          exact     h200  sparse exact     h200"
for _, family in ipairs { { "f32", "bf16" }, { "f32", "f16" }, { "f16", "f16" }, { "f32", "tf32" }, { "f32", "e4m3" }, { "f16", "e5m2" }, { "s32", "s8" } } do
  local d, dtype = family[1], family[2]
  local rates = {}
  for _, sparse in ipairs { false, true } do
    for _, numerics in ipairs { "exact", "h200" } do rates[#rates + 1] = rate(d, dtype, sparse, numerics) end
  end
  print(("  D %s, A and B %-5s %8.0f %8.0f      %8.0f %8.0f"):format(d, dtype, table.unpack(rates)))
end

-- What is written to global memory is watched too: a product that is nearly all epilogue, and a small whole one.
for _, problem in ipairs { { 1024, 1024, 64 }, { 256, 256, 256 } } do
  local m, n, k = table.unpack(problem)
  local A, B = wg.randn { shape = { m, k }, dtype = "bf16", seed = 1 }, wg.randn { shape = { n, k }, dtype = "bf16", seed = 2 }
  local launch = wg.gemm { problem = problem }:prepare(A, B, wg.zeros("bf16", { m, n }))
  local times = {}
  for i = 1, 15 do
    local start = os.clock()
    launch:start()
    launch:wait()
    times[i] = (os.clock() - start) * 1e3
  end
  table.sort(times)
  print(("wg.gemm %dx%dx%d: %.1f ms of CPU time (%.1f to %.1f)"):format(m, n, k, times[8], times[1], times[15]))
end
