-- Clusters of 2 to 8 CTAs in 1 to 3 dimensions: sums by distributed shared memory, st.async, multicast along rows and columns, a
-- ring of bulk copies, a producer that waits for its tail, warps that arrive at the barrier of the cluster and end.
-- good: tree exchange tail rows_and_columns histogram ring leaves
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local function word(k, buffer, i) return k:mad_lo_u32(i, 4, k:mov(buffer, { type = "u32" })) end

local function meet(k)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end

--- mbarriers for `arrivals`, known to all CTAs of the cluster.
local function mbarriers(k, arrivals)
  local made = {}
  for i, count in ipairs(arrivals) do made[i] = k:shared { bytes = 8, align = 8, name = "mbarrier" .. i } end
  k:if_(k:special("tid.x"):eq(0), function()
    for i, count in ipairs(arrivals) do k:mbarrier_init(made[i], count) end
    k:fence_mbarrier_init()
  end)
  meet(k)
  return table.unpack(made)
end

local case = {}

function case.tree()
  local kernel = wg.kernel("tree", { threads = 64, cluster = { 2, 2, 2 } }, function(k)
    local Y = k:param("Y", "u32*")
    local S = k:shared { bytes = 256, align = 16, name = "S" }
    local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
    local mine = word(k, S, thread)
    k:st_shared_u32(mine, rank + thread)
    meet(k)
    local stride = k:mov(4, { type = "u32" })
    k:while_(function() return stride:gt(0) end, function()
      k:if_(rank:lt(stride), function()
        local theirs = k:ld_u32(k:mapa(mine, rank + stride), { space = "shared::cluster" })
        k:st_shared_u32(mine, k:ld_shared_u32(mine) + theirs)
      end)
      meet(k)
      k:shr(stride, stride, 1)
    end)
    k:if_(rank:eq(0), function() k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(mine)) end)
  end)
  local Y = wg.zeros("u32", 64)
  if kit.ran(kernel, { grid = { 2, 2, 2 }, args = { Y } }) then assert(Y[1] == 28 + 8) end
end

function case.exchange()
  local kernel = wg.kernel("exchange", { threads = 64, cluster = { 1, 2, 2 } }, function(k)
    local Y = k:param("Y", "u32*")
    local S = k:shared { bytes = 1024, align = 16, name = "S" }
    local bar = mbarriers(k, { 1 })
    local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
    k:if_(thread:eq(0), function() k:mbarrier_arrive_expect_tx(bar, 1024) end)
    k:loop(4, function(r)
      k:st_async_u32(k:mapa(word(k, S, rank * 64 + thread), r), rank, k:mapa(k:address(bar), r))
    end)
    k:mbarrier_wait(bar, 0)
    local s = k:mov(0, { type = "u32" })
    k:loop(4, function(r) k:add(s, s, k:ld_shared_u32(word(k, S, r * 64 + thread))) end)
    k:st_global_u32(k:element(Y, rank * 64 + thread), s)
    meet(k)
  end)
  local Y = wg.zeros("u32", 256)
  if kit.ran(kernel, { grid = { 1, 2, 2 }, args = { Y } }) then assert(Y[100] == 6) end
end

function case.tail()
  local kernel = wg.kernel("tail", { threads = 64, cluster = 2 }, function(k)
    local n, Y = k:param("n", "u32"), k:param("Y", "f32*")
    local map = k:tensor_map("X", { dtype = "f32", box = { 32 } })
    local S = k:shared { bytes = 512, align = 128, name = "S" }
    local f0, _, e0 = mbarriers(k, { 1, 1, 2, 2 })
    local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
    local function at(buf, stage) return k:address(buf, stage * 8) end
    k:if_(thread:lt(32), function()
      k:if_(thread:eq(0), function()
        local stage, phase = k:mov(0, { type = "u32" }), k:mov(1, { type = "u32" })
        local function step()
          k:add(stage, stage, 1)
          local w = stage:eq(2)
          k:mov(stage, 0, { guard = w })
          k:xor(phase, phase, 1, { guard = w })
        end
        k:loop(n, function(i)
          k:mbarrier_wait(at(e0, stage), phase)
          k:mbarrier_arrive_expect_tx(at(f0, stage), 256)
          k:cp_async_bulk_tensor_1d(k:address(S, stage * 256 + rank * 128), map, { k:mov(i * 64 + rank * 32, { type = "s32" }) }, at(f0, stage), { mask = 3 })
          step()
        end)
        for _ = 1, 2 do k:mbarrier_wait(at(e0, stage), phase) step() end
      end)
    end, function()
      local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      k:loop(n, function(i)
        k:mbarrier_wait(at(f0, stage), phase)
        k:st_global_f32(k:element(Y, (i * 2 + rank) * 32 + thread - 32), k:ld_shared_f32(word(k, S, stage * 64 + thread - 32)))
        k:fence_proxy_async()
        k:bar_warp_sync()
        k:if_(thread:lt(34), function()
          k:mbarrier_arrive(k:mapa(at(e0, stage), thread - 32), { space = "shared::cluster", sem = "release.cluster" })
        end)
        k:add(stage, stage, 1)
        local w = stage:eq(2)
        k:mov(stage, 0, { guard = w })
        k:xor(phase, phase, 1, { guard = w })
      end)
    end)
    meet(k)
  end)
  kernel:run { grid = 2, args = { 5, wg.zeros("f32", 320), wg.zeros("f32", 320) } }
end

function case.rows_and_columns()
  -- 2 x 2: A along rows, B along columns, as CUTLASS
  local kernel = wg.kernel("rows_and_columns", { threads = 64, cluster = { 2, 2 } }, function(k)
    local n, Y = k:param("n", "u32"), k:param("Y", "f32*")
    local A = k:tensor_map("A", { dtype = "f32", box = { 32 } })
    local B = k:tensor_map("B", { dtype = "f32", box = { 32 } })
    local a, b = k:shared { bytes = 256, align = 128, name = "a" }, k:shared { bytes = 256, align = 128, name = "b" }
    local full, empty = mbarriers(k, { 1, 3 })
    local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
    local x, y = rank & 1, rank >> 1
    local row_mask = k:cvt_u16_u32(k:shl_b32(k:mov(3, { type = "b32" }), y * 2))
    local col_mask = k:cvt_u16_u32(k:shl_b32(k:mov(5, { type = "b32" }), x))
    k:if_(thread:lt(32), function()
      k:if_(thread:eq(0), function()
        local parity = k:mov(1, { type = "u32" })
        k:loop(n, function(i)
          k:mbarrier_wait(empty, parity)
          k:mbarrier_arrive_expect_tx(full, 512)
          local c = k:mov(i * 32, { type = "s32" })
          k:cp_async_bulk_tensor_1d(k:address(a, x * 128), A, { c }, full, { mask = row_mask })
          k:cp_async_bulk_tensor_1d(k:address(b, y * 128), B, { c }, full, { mask = col_mask })
          parity:set(parity ~ 1)
        end)
      end)
    end, function()
      local parity = k:mov(0, { type = "u32" })
      local lane = thread - 32
      k:loop(n, function(i)
        k:mbarrier_wait(full, parity)
        k:st_global_f32(k:element(Y, (i * 4 + rank) * 32 + lane), k:ld_shared_f32(word(k, a, lane)) + k:ld_shared_f32(word(k, b, lane)))
        k:fence_proxy_async()
        k:bar_warp_sync()
        k:if_(lane:eq(0), function()
          for r = 0, 3 do
            local same = (k:mov(r & 1, { type = "u32" }):eq(x)) | (k:mov(r >> 1, { type = "u32" }):eq(y))
            k:mbarrier_arrive(k:mapa(k:address(empty), r), { space = "shared::cluster", sem = "release.cluster", guard = same })
          end
        end)
        parity:set(parity ~ 1)
      end)
    end)
    meet(k)
  end)
  kernel:run { grid = { 2, 2 }, args = { 4, wg.zeros("f32", 512), wg.zeros("f32", 128), wg.zeros("f32", 128) } }
end

function case.histogram()
  local kernel = wg.kernel("histogram", { threads = 64, cluster = { 4, 1, 1 } }, function(k)
    local X, H = k:param("X", "const u32*"), k:param("H", "u32*")
    local S = k:shared { bytes = 64, align = 16, name = "S" }
    local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
    k:if_(thread:lt(16), function() k:st_shared_u32(word(k, S, thread), 0) end)
    meet(k)
    local x = k:ld_global_u32(k:element(X, k:special "ctaid.x" * 64 + thread)) & 63
    local there = k:mapa(word(k, S, x & 15), x >> 4)
    k:red_relaxed_cluster_u32(there, 1, { space = "shared::cluster", op = "add" })
    meet(k)
    k:if_(thread:lt(16), function() k:red_global_add_u32(k:element(H, rank * 16 + thread), k:ld_shared_u32(word(k, S, thread))) end)
  end)
  kernel:run { grid = 8, args = { wg.zeros("u32", 512), wg.zeros("u32", 64) } }
end

function case.ring()
  local kernel = wg.kernel("ring", { threads = 32, cluster = 3 }, function(k)
    local Y, n = k:param("Y", "u32*"), k:param("n", "u32")
    local S, T = k:shared { bytes = 128, align = 16, name = "S" }, k:shared { bytes = 128, align = 16, name = "T" }
    local full, empty = mbarriers(k, { 1, 1 })
    local lane, rank = k:special "laneid", k:special "cluster_ctarank"
    local to = k:selp(0, rank + 1, rank:eq(2), { type = "u32" })
    local from = k:selp(2, rank - 1, rank:eq(0), { type = "u32" })
    local phase = k:mov(0, { type = "u32" })
    k:loop(n, function(i)
      k:st_shared_u32(word(k, S, lane), i)
      k:fence_proxy_async()
      k:bar_warp_sync()
      k:if_(lane:eq(0), function()
        k:mbarrier_arrive_expect_tx(full, 128)
        k:mbarrier_wait(empty, phase ~ 1)
        k:cp_async_bulk_cluster(k:mapa(k:address(T), to), S, 128, k:mapa(k:address(full), to))
      end)
      k:mbarrier_wait(full, phase)
      k:st_global_u32(k:element(Y, (rank * n + i) * 32 + lane), k:ld_shared_u32(word(k, T, lane)))
      k:fence_proxy_async()
      meet(k) -- everybody's copies have been read and have arrived
      k:if_(lane:eq(0), function() k:mbarrier_arrive(k:mapa(k:address(empty), from), { space = "shared::cluster", sem = "release.cluster" }) end)
      phase:set(phase ~ 1)
    end)
    meet(k)
  end)
  kernel:run { grid = 3, args = { wg.zeros("u32", 3 * 3 * 32), 3 } }
end

function case.leaves()
  local kernel = wg.kernel("leaves", { threads = 96, cluster = 2 }, function(k)
    k:if_(k:special "tid.x":ge(64), function()
      k:barrier_cluster_arrive()
      k:exit()
    end)
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end)
  kernel:run { grid = 2, args = {} }
end

-- Without a variant all of them, for what looks at the kernels alone.
for name, run in pairs(case) do
  if kit.variant == "" or kit.is(name) then run() end
end
