-- What CTAs tell each other by flags, counters and locks in global memory: sums of parts, tickets, barriers of the grid, chains,
-- trees, and bulk copies on either side of a flag.
-- good: splitk counter ticket grid chain by_way max turns last tree stored loaded told
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local function word(k, buffer, i) return k:mad_lo_u32(i, 4, k:mov(buffer, { type = "u32" })) end

local function mbarrier(k, count) return kit.mbarriers(k, { count }) end

local case = {}

function case.splitk()
  local kernel = wg.kernel("splitk", { threads = 64 }, function(k)
    local P, F, Y = k:param("P", "f32*"), k:param("F", "u32*"), k:param("Y", "f32*")
    local thread, part, parts = k:special "tid.x", k:special "ctaid.x", k:special "nctaid.x"
    k:if_(part:ne(0), function()
      k:st_global_f32(k:element(P, part * 64 + thread), 1.0)
      k:bar_sync(0)
      k:if_(thread:eq(0), function() k:st_release_gpu_global_u32(k:element(F, part), 1) end)
    end, function()
      local s = k:mov(1.0, { type = "f32" })
      k:loop({ from = 1, to = parts }, function(p)
        k:if_(thread:eq(0), function()
          k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, p)):eq(0) end, function() k:nanosleep(64) end)
        end)
        k:bar_sync(1)
        k:add(s, s, k:ld_global_f32(k:element(P, p * 64 + thread)))
      end)
      k:st_global_f32(k:element(Y, thread), s)
    end)
  end)
  local Y = wg.zeros("f32", 64)
  if kit.ran(kernel, { grid = 3, args = { wg.zeros("f32", 192), wg.zeros("u32", 3), Y } }) then assert(Y[5] == 3) end
end

function case.counter()
  local kernel = wg.kernel("counter", { threads = 96 }, function(k)
    local C, Y, n = k:param("C", "u32*"), k:param("Y", "u32*"), k:param("n", "u32")
    local slot = k:shared { bytes = 4, align = 4, name = "slot" }
    local thread = k:special "tid.x"
    k:while_(function()
      k:bar_sync(0)
      k:if_(thread:eq(0), function() k:st_shared_u32(slot, k:atom_global_add_u32(k:element(C, 0), 1)) end)
      k:bar_sync(0)
      return k:ld_shared_u32(slot):lt(n)
    end, function()
      local i = k:ld_shared_u32(slot)
      k:st_global_u32(k:element(Y, i * 96 + thread), i)
    end)
  end)
  kernel:run { grid = 3, args = { wg.zeros("u32", 1), wg.zeros("u32", 96 * 7), 7 } }
end

function case.ticket()
  local kernel = wg.kernel("ticket", { threads = 32 }, function(k)
    local L, X = k:param("L", "u32*"), k:param("X", "u32*")
    k:if_(k:elect_sync(), function()
      local ticket = k:atom_relaxed_gpu_global_add_u32(k:element(L, 0), 1)
      local serving = k:element(L, 1)
      k:while_(function() return k:ld_acquire_gpu_global_u32(serving):ne(ticket) end, function() end)
      local at = k:element(X, 0)
      k:st_global_u32(at, k:ld_global_u32(at) + 1)
      k:st_release_gpu_global_u32(serving, ticket + 1)
    end)
  end)
  local X = wg.zeros("u32", 1)
  if kit.ran(kernel, { grid = 5, args = { wg.zeros("u32", 2), X } }) then assert(X[0] == 5) end
end

function case.grid()
  local kernel = wg.kernel("grid", { threads = 64 }, function(k)
    local C, X, Y = k:param("C", "u32*"), k:param("X", "u32*"), k:param("Y", "u32*")
    local thread, cta, ctas = k:special "tid.x", k:special "ctaid.x", k:special "nctaid.x"
    k:loop(3, function(round)
      k:st_global_u32(k:element(X, cta * 64 + thread), round + cta)
      for half = 0, 1 do
        k:bar_sync(0)
        k:if_(thread:eq(0), function()
          k:atom_acq_rel_gpu_global_add_u32(k:element(C, 0), 1)
          local goal = (round * 2 + (half + 1)) * ctas
          k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(C, 0)):lt(goal) end, function() end)
        end)
        k:bar_sync(0)
        if half == 0 then
          local next = k:selp(0, cta + 1, (cta + 1):eq(ctas), { type = "u32" })
          k:st_global_u32(k:element(Y, cta * 64 + thread), k:ld_global_u32(k:element(X, next * 64 + thread)))
        end
      end
    end)
  end)
  kernel:run { grid = 3, args = { wg.zeros("u32", 1), wg.zeros("u32", 192), wg.zeros("u32", 192) } }
end

-- A barrier of the grid as Triton writes it: one thread looks, and all go round by what it tells them.
function case.told()
  local kernel = wg.kernel("told", { threads = 64 }, function(k)
    local X, C, Y = k:param("X", "u32*"), k:param("C", "u32*"), k:param("Y", "u32*")
    local thread, part, parts = k:special "tid.x", k:special "ctaid.x", k:special "nctaid.x"
    local seen = k:shared { bytes = 4, align = 4, name = "seen" }
    k:st_global_u32(k:element(X, part * 64 + thread), part + 1)
    k:bar_sync(0)
    k:if_(thread:eq(0), function() k:red_release_gpu_global_add_u32(k:element(C, 0), 1) end)
    k:while_(function()
      k:bar_sync(0)
      k:if_(thread:eq(0), function() k:st_shared_u32(word(k, seen, 0), k:ld_acquire_gpu_global_u32(k:element(C, 0))) end)
      k:bar_sync(0)
      return k:ld_shared_u32(word(k, seen, 0)):lt(parts)
    end, function() end)
    k:st_global_u32(k:element(Y, part * 64 + thread), k:ld_global_u32(k:element(X, ((part + 1) % parts) * 64 + thread)))
  end)
  local Y = wg.zeros("u32", 192)
  if kit.ran(kernel, { grid = 3, args = { wg.zeros("u32", 192), wg.zeros("u32", 1), Y } }) then assert(Y[5] == 2 and Y[133] == 1) end
end

function case.chain()
  -- decoupled look-back in its simplest form: each CTA waits for the one before
  local kernel = wg.kernel("chain", { threads = 32 }, function(k)
    local V, F, Y = k:param("V", "u32*"), k:param("F", "u32*"), k:param("Y", "u32*")
    local lane, cta = k:special "laneid", k:special "ctaid.x"
    local before = k:mov(0, { type = "u32" })
    k:if_(cta:gt(0), function()
      k:if_(lane:eq(0), function()
        k:while_(function() return k:ld_relaxed_gpu_global_u32(k:element(F, cta - 1)):eq(0) end, function() end)
        k:fence_acq_rel_gpu()
        before:set(k:ld_global_u32(k:element(V, cta - 1)))
      end)
      before:set(k:mov(k:shfl_sync_idx(k:mov(before, { type = "b32" }), 0, 31), { type = "u32" }))
    end)
    k:st_global_u32(k:element(Y, cta * 32 + lane), before + lane)
    k:if_(lane:eq(0), function()
      k:st_global_u32(k:element(V, cta), before + 32)
      k:fence_acq_rel_gpu()
      k:st_relaxed_gpu_global_u32(k:element(F, cta), 1)
    end)
  end)
  local Y = wg.zeros("u32", 128)
  if kit.ran(kernel, { grid = 4, args = { wg.zeros("u32", 4), wg.zeros("u32", 4), Y } }) then assert(Y[97] == 97) end
end

function case.by_way()
  local kernel = wg.kernel("by_way", { threads = 32 }, function(k)
    local X, F, Y = k:param("X", "u32*"), k:param("F", "u32*"), k:param("Y", "u32*")
    local lane, cta = k:special "laneid", k:special "ctaid.x"
    local function await(i)
      k:if_(lane:eq(0), function() k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, i)):eq(0) end, function() end) end)
      k:bar_warp_sync()
    end
    local function set(i)
      k:bar_warp_sync()
      k:if_(lane:eq(0), function() k:st_release_gpu_global_u32(k:element(F, i), 1) end)
    end
    k:if_(cta:eq(0), function() k:st_global_u32(k:element(X, lane), 7) set(0) end)
    k:if_(cta:eq(1), function() await(0) set(1) end)
    k:if_(cta:eq(2), function() await(1) k:st_global_u32(k:element(Y, lane), k:ld_global_u32(k:element(X, lane ~ 1))) end)
  end)
  kernel:run { grid = 3, args = { wg.zeros("u32", 32), wg.zeros("u32", 2), wg.zeros("u32", 32) } }
end

function case.max()
  local kernel = wg.kernel("max", { threads = 64 }, function(k)
    local M = k:param("M", "u32*")
    local v = k:special "tid.x" * 3
    local old = k:ld_relaxed_gpu_global_u32(k:element(M, 0))
    k:while_(function() return old:lt(v) end, function()
      local seen = k:atom_cas_relaxed_gpu_global_b32(k:element(M, 0), old, v)
      k:if_(seen:eq(old), function() k:break_() end)
      old:set(seen)
    end)
  end)
  kernel:run { grid = 2, args = { wg.zeros("u32", 1) } }
end

function case.turns()
  local kernel = wg.kernel("turns", { threads = 32 }, function(k)
    local X, F, n = k:param("X", "u32*"), k:param("F", "u32*"), k:param("n", "u32")
    local lane, me = k:special "laneid", k:special "ctaid.x"
    local at = k:element(X, lane)
    k:loop(n, function(i)
      k:if_(lane:eq(0), function() k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, me)):lt(i + 1) end, function() end) end)
      k:bar_warp_sync()
      k:st_global_u32(at, k:ld_global_u32(at) + 1)
      k:bar_warp_sync()
      k:if_(lane:eq(0), function() k:red_release_gpu_global_add_u32(k:element(F, 1 - me), 1) end)
      k:bar_warp_sync()
    end)
  end)
  local X, F = wg.zeros("u32", 32), wg.zeros("u32", 2)
  F[0] = 1
  if kit.ran(kernel, { grid = 2, args = { X, F, 4 } }) then assert(X[4] == 8) end
end

function case.last()
  local kernel = wg.kernel("last", { threads = 64 }, function(k)
    local P, C, Y = k:param("P", "f32*"), k:param("C", "u32*"), k:param("Y", "f32*")
    local flag = k:shared { bytes = 4, align = 4, name = "flag" }
    local thread, cta, ctas = k:special "tid.x", k:special "ctaid.x", k:special "nctaid.x"
    k:st_global_f32(k:element(P, cta * 64 + thread), 1.0)
    k:fence_acq_rel_gpu() -- __threadfence by all
    k:bar_sync(0)
    k:if_(thread:eq(0), function()
      k:st_shared_u32(flag, k:atom_global_add_u32(k:element(C, 0), 1))
      k:fence_acq_rel_gpu()
    end)
    k:bar_sync(0)
    k:if_(k:ld_shared_u32(flag):eq(ctas - 1), function()
      local s = k:mov(0, { type = "f32" })
      k:loop(ctas, function(i) k:add(s, s, k:ld_global_f32(k:element(P, i * 64 + thread))) end)
      k:st_global_f32(k:element(Y, thread), s)
    end)
  end)
  local Y = wg.zeros("f32", 64)
  if kit.ran(kernel, { grid = 5, args = { wg.zeros("f32", 320), wg.zeros("u32", 1), Y } }) then assert(Y[3] == 5) end
end

function case.tree()
  -- CTAs in a tree: a parent sums its two children
  local kernel = wg.kernel("tree", { threads = 32 }, function(k)
    local V, F = k:param("V", "u32*"), k:param("F", "u32*")
    local lane, cta, ctas = k:special "laneid", k:special "ctaid.x", k:special "nctaid.x"
    local s = k:mov(cta, { type = "u32" })
    for side = 1, 2 do
      local child = cta * 2 + side
      k:if_(child:lt(ctas), function()
        k:if_(lane:eq(0), function() k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, child)):eq(0) end, function() end) end)
        k:bar_warp_sync()
        k:add(s, s, k:ld_global_u32(k:element(V, child * 32 + lane)))
      end)
    end
    k:st_global_u32(k:element(V, cta * 32 + lane), s)
    k:bar_warp_sync()
    k:if_(lane:eq(0), function() k:st_release_gpu_global_u32(k:element(F, cta), 1) end)
  end)
  local V = wg.zeros("u32", 7 * 32)
  if kit.ran(kernel, { grid = 7, args = { V, wg.zeros("u32", 7) } }) then assert(V[5] == 21) end
end

function case.stored()
  local kernel = wg.kernel("stored", { threads = 32 }, function(k)
    local X, F, Y = k:param("X", "f32*"), k:param("F", "u32*"), k:param("Y", "f32*")
    local S = k:shared { bytes = 128, align = 16, name = "S" }
    local lane = k:special "laneid"
    k:if_(k:special "ctaid.x":eq(0), function()
      k:st_shared_f32(word(k, S, lane), 4.0)
      k:fence_proxy_async()
      k:bar_warp_sync()
      k:if_(lane:eq(0), function()
        k:cp_async_bulk_store(k:element(X, 0), S, 128)
        k:cp_async_bulk_commit_group()
        k:cp_async_bulk_wait_group(0)
        k:st_release_gpu_global_u32(k:element(F, 0), 1)
      end)
    end, function()
      k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, 0)):eq(0) end, function() end)
      k:st_global_f32(k:element(Y, lane), k:ld_global_f32(k:element(X, lane)))
    end)
  end)
  kernel:run { grid = 2, args = { wg.zeros("f32", 32), wg.zeros("u32", 1), wg.zeros("f32", 32) } }
end

function case.loaded()
  local kernel = wg.kernel("loaded", { threads = 32 }, function(k)
    local X, F, Y = k:param("X", "f32*"), k:param("F", "u32*"), k:param("Y", "f32*")
    local S = k:shared { bytes = 128, align = 16, name = "S" }
    local full = mbarrier(k, 1)
    local lane = k:special "laneid"
    k:if_(k:special "ctaid.y":eq(1), function()
      k:st_global_f32(k:element(X, lane), 4.0)
      k:fence_proxy_async()
      k:bar_warp_sync()
      k:if_(lane:eq(0), function() k:st_release_gpu_global_u32(k:element(F, 0), 1) end)
    end, function()
      k:if_(lane:eq(0), function()
        k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, 0)):eq(0) end, function() end)
        k:fence_proxy_async_global()
        k:mbarrier_arrive_expect_tx(full, 128)
        k:cp_async_bulk(S, k:element(X, 0), 128, full)
      end)
      k:mbarrier_wait(full, 0)
      k:st_global_f32(k:element(Y, lane), k:ld_shared_f32(word(k, S, lane)))
    end)
  end)
  kernel:run { grid = { 1, 2 }, args = { wg.zeros("f32", 32), wg.zeros("u32", 1), wg.zeros("f32", 32) } }
end

-- Without a variant all of them, for what looks at the kernels alone.
for name, run in pairs(case) do
  if kit.variant == "" or kit.is(name) then run() end
end
