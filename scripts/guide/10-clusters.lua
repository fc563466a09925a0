-- Step 10 of the guide (docs/guide/10-clusters.md): the CTAs of a cluster share a vector by multicast and exchange sums
-- through distributed shared memory. Y is each row's product with the vector, over the sum of the cluster's products.
--   wgrun scripts/guide/10-clusters.lua
local wg = require "wgrun"

local ctas, n, threads = 4, 1024, 128
local shares = wg.kernel("shares", { threads = threads, cluster = { ctas } }, function(k)
  local X, w, Y = k:param("X", "const f32*"), k:param("w", "const f32*"), k:param("Y", "f32*")
  local vector = k:shared { bytes = 4 * n, align = 128, name = "vector" }
  local partial = k:shared { bytes = 4 * threads // 32, align = 16, name = "partial" } -- of each warp
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread, rank, row = k:special "tid.x", k:special "cluster_ctarank", k:special "ctaid.x"
  local first = thread:eq(0)

  k:if_(first, function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
  end)
  k:barrier_cluster_arrive()                    -- every mbarrier of the cluster exists,
  k:barrier_cluster_wait()                      -- and every CTA runs

  k:if_(first, function()
    k:mbarrier_arrive_expect_tx(full, 4 * n)    -- the bytes of all four copies arrive here
    local part = rank * (n // ctas)             -- this CTA copies a quarter, to all four
    k:cp_async_bulk(k:address(vector, part << 2), k:element(w, part), 4 * n // ctas, full,
      { multicast = true, mask = (1 << ctas) - 1 })
  end)
  k:mbarrier_wait(k:address(full), 0)

  local sum = k:mov(0.0, { type = "f32" })
  k:loop({ from = thread, to = n, step = threads }, function(i)
    k:fma(sum, k:ld_global_f32(k:element(X, row * n + i)), k:ld_shared_f32(k:address(vector, i << 2)), sum)
  end)
  for _, distance in ipairs { 16, 8, 4, 2, 1 } do
    k:add(sum, sum, k:shfl_sync_bfly_b32(sum, distance, 31))
  end
  k:st_shared_f32(k:address(partial, (thread >> 5) << 2), sum, { guard = (thread & 31):eq(0) })
  k:bar_sync(0)

  local total = k:shared { bytes = 4, align = 4, name = "total" }
  k:if_(first, function()
    local all = k:ld_shared_f32(k:address(partial))
    for warp = 1, threads // 32 - 1 do all = all + k:ld_shared_f32(k:address(partial, 4 * warp)) end
    k:st_shared_f32(k:address(total), all)
  end)
  k:barrier_cluster_arrive()                    -- releases each CTA's total,
  k:barrier_cluster_wait()                      -- and acquires those of its peers

  k:if_(first, function()
    local all = k:mov(0.0, { type = "f32" })
    for peer = 0, ctas - 1 do                   -- the same address in each CTA of the cluster
      k:add(all, all, k:ld_f32(k:mapa(k:address(total), peer), { space = "shared::cluster" }))
    end
    k:st_global_f32(k:element(Y, row), k:div_rn_f32(k:ld_shared_f32(k:address(total)), all))
  end)
  k:barrier_cluster_arrive()                    -- no CTA ends while a peer reads its memory
  k:barrier_cluster_wait()
end)

local rows = 2 * ctas
local X = wg.randint { shape = { rows, n }, lo = 1, hi = 9, seed = 1 }
local w = wg.randint { shape = { n }, lo = 1, hi = 9, seed = 2 }
local Y = wg.zeros("f32", { rows })
local backend = shares:run { grid = { rows }, args = { X, w, Y } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local worst = 0
for row = 0, rows - 1 do
  local all, base = 0, row // ctas * ctas
  for peer = base, base + ctas - 1 do all = all + wg.dot(X, peer * n, 1, w, 0, 1, n) end
  worst = math.max(worst, math.abs(Y[row] - wg.dot(X, row * n, 1, w, 0, 1, n) / all))
end
print(("shares on %s: worst error %.1g"):format(backend, worst))
if worst > 1e-6 then os.exit(5) end
