-- Values that CTAs and warps hand on: decoupled look-back, a barrier of the grid, pieces that one CTA adds up and its flag,
-- an mbarrier as a semaphore, rings of named barriers, warps that drop out one after the other.
-- good: look_back grid_barrier pieces semaphore named_ring dropping
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local case = {}

function case.look_back()
  -- a word of 64 bits for each CTA: its value, and how far it is
  local kernel = wg.kernel("look_back", { threads = 32 }, function(k)
    local X, W, Y = k:param("X", "const u32*"), k:param("W", "u64*"), k:param("Y", "u32*")
    local lane, cta = k:special "laneid", k:special "ctaid.x"
    local sum = k:ld_global_u32(k:element(X, cta * 32 + lane))
    for _, distance in ipairs { 1, 2, 4, 8, 16 } do
      local inside = k:reg "pred"
      local other = k:shfl_sync_up(sum, distance, 0, { p = inside })
      k:add(sum, sum, other, { guard = inside })
    end
    local total, before = k:shfl_sync_idx(sum, 31, 31), k:mov(0, { type = "u32" })
    k:if_(lane:eq(0), function()
      k:if_(cta:gt(0), function()
        k:st_relaxed_gpu_global_u64(k:element(W, cta), (k:cvt_u64_u32(total) << 2) | 1)
        local at, word = k:mov(cta, { type = "u32" }), k:reg "u64"
        k:repeat_(function()
          k:sub(at, at, 1)
          k:repeat_(function()
            k:ld_relaxed_gpu_global_u64(word, k:element(W, at))
            return (word & 3):eq(0)
          end)
          k:add(before, before, k:cvt_u32_u64(word >> 2))
          return (word & 3):ne(2)
        end)
      end)
      k:st_relaxed_gpu_global_u64(k:element(W, cta), (k:cvt_u64_u32(before + total) << 2) | 2)
    end)
    k:st_global_u32(k:element(Y, cta * 32 + lane), sum + k:shfl_sync_idx(before, 0, 31))
  end)
  local Y = wg.zeros("u32", 160)
  if kit.ran(kernel, { grid = 5, args = { wg.ones("u32", 160), wg.zeros("u64", 5), Y } }) then assert(Y[159] == 160) end
end

function case.grid_barrier()
  local kernel = wg.kernel("grid_barrier", { threads = 64 }, function(k)
    local B, D, Y = k:param("B", "u32*"), k:param("D", "u32*"), k:param("Y", "u32*")
    local thread, cta, ctas = k:special "tid.x", k:special "ctaid.x", k:special "nctaid.x"
    local function meet()
      k:bar_sync(0)
      k:if_(thread:eq(0), function()
        local round = k:ld_acquire_gpu_global_u32(k:element(B, 1))
        k:if_(k:atom_acq_rel_gpu_global_add_u32(k:element(B, 0), 1):eq(ctas - 1), function()
          k:st_relaxed_gpu_global_u32(k:element(B, 0), 0)
          k:red_release_gpu_global_add_u32(k:element(B, 1), 1)
        end, function()
          k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(B, 1)):eq(round) end, function() end)
        end)
      end)
      k:bar_sync(0)
    end
    local mine, theirs = k:element(D, cta * 64 + thread), k:element(D, k:rem(cta + 1, ctas) * 64 + 63 - thread)
    k:st_global_u32(mine, cta)
    meet()
    local x = k:ld_global_u32(theirs)
    meet()
    k:st_global_u32(mine, x)
    meet()
    k:st_global_u32(k:element(Y, cta * 64 + thread), k:ld_global_u32(theirs))
  end)
  local Y = wg.zeros("u32", 192)
  if kit.ran(kernel, { grid = 3, args = { wg.zeros("u32", 2), wg.zeros("u32", 192), Y } }) then assert(Y[0] == 2) end
end

function case.pieces()
  local kernel = wg.kernel("pieces", { threads = 64 }, function(k)
    local P, F, Y = k:param("P", "f32*"), k:param("F", "u32*"), k:param("Y", "f32*")
    local thread, cta, ctas = k:special "tid.x", k:special "ctaid.x", k:special "nctaid.x"
    local sum = k:cvt_rn_f32_u32(cta)
    k:if_(cta:gt(0), function()
      k:st_global_f32(k:element(P, cta * 64 + thread), sum)
      k:fence_acq_rel_gpu()
      k:bar_sync(0)
      k:if_(thread:eq(0), function() k:red_release_gpu_global_add_u32(k:element(F, 0), 1) end)
    end, function()
      k:if_(thread:eq(33), function()
        k:while_(function() return k:ld_relaxed_gpu_global_u32(k:element(F, 0)):ne(ctas - 1) end, function() end)
        k:fence_acq_rel_gpu()
        k:st_global_u32(k:element(F, 0), 0)
      end)
      k:bar_sync(0)
      k:loop({ from = 1, to = ctas, step = 1 }, function(i) k:add(sum, sum, k:ld_global_f32(k:element(P, i * 64 + thread))) end)
      k:st_global_f32(k:element(Y, thread), sum)
    end)
  end)
  local F, Y = wg.zeros("u32", 1), wg.zeros("f32", 64)
  if kit.ran(kernel, { grid = 4, args = { wg.zeros("f32", 256), F, Y } }) then assert(Y[3] == 6 and F[0] == 0) end
end

function case.semaphore()
  -- four warps in turn around one word: each passes an mbarrier to the next
  local kernel = wg.kernel("semaphore", { threads = 128 }, function(k)
    local Y, thread = k:param("Y", "u32*"), k:special "tid.x"
    local count, turn = k:shared { bytes = 4, name = "count" }, k:shared { bytes = 32, align = 8, name = "turn" }
    local warp, lane = thread >> 5, thread & 31
    k:if_(thread:eq(0), function()
      for i = 0, 3 do k:mbarrier_init(k:address(turn, 8 * i), 1) end
      k:st_shared_u32(count, 0)
      k:mbarrier_arrive(turn)
    end)
    k:bar_sync(0)
    k:loop(3, function(i)
      k:mbarrier_wait(k:address(turn, warp * 8), i & 1)
      k:if_(lane:eq(0), function()
        k:st_shared_u32(count, k:ld_shared_u32(count) + 1)
        k:mbarrier_arrive(k:address(turn, ((warp + 1) & 3) * 8))
      end)
    end)
    k:mbarrier_wait(k:address(turn), 1)
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(count))
  end)
  local Y = wg.zeros("u32", 128)
  if kit.ran(kernel, { args = { Y } }) then assert(Y[127] == 12) end
end

function case.named_ring()
  local kernel = wg.kernel("named_ring", { threads = 96 }, function(k)
    local Y, thread, rounds = k:param("Y", "u32*"), k:special "tid.x", 6
    local stages = k:shared { bytes = 256, name = "stages" }
    local lane = thread & 31
    k:if_(thread:lt(32), function()
      k:loop(rounds, function(i)
        k:if_(i:ge(2), function() k:bar_sync((i & 1) + 3, { threads = 96 }) end)
        k:st_shared_u32(k:address(stages, (i & 1) * 128 + lane * 4), i)
        k:bar_arrive((i & 1) + 1, { threads = 96 })
      end)
    end, function()
      local sum = k:mov(0, { type = "u32" })
      k:loop(rounds, function(i)
        k:bar_sync((i & 1) + 1, { threads = 96 })
        k:add(sum, sum, k:ld_shared_u32(k:address(stages, (i & 1) * 128 + (31 - lane) * 4)))
        k:if_(i:lt(rounds - 2), function() k:bar_arrive((i & 1) + 3, { threads = 96 }) end)
      end)
      k:st_global_u32(k:element(Y, thread), sum)
    end)
  end)
  local Y = wg.zeros("u32", 96)
  if kit.ran(kernel, { args = { Y } }) then assert(Y[95] == 15) end
end

function case.dropping()
  -- each round the last warp left arrives for the last time and ends
  local kernel = wg.kernel("dropping", { threads = 96 }, function(k)
    local Y, thread = k:param("Y", "u32*"), k:special "tid.x"
    local words, met = k:shared { bytes = 384, name = "words" }, k:shared { bytes = 8, align = 8, name = "met" }
    k:if_(thread:eq(0), function()
      k:mbarrier_init(met, 3)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local warp, first = thread >> 5, (thread & 31):eq(0)
    k:loop(4, function(i)
      k:st_shared_u32(k:address(words, thread * 4), i)
      k:bar_warp_sync()
      k:if_((warp + i):ge(5), function()
        k:mbarrier_arrive_drop(met, { guard = first })
        k:exit()
      end)
      k:mbarrier_arrive(met, { guard = first })
      k:mbarrier_wait(met, i & 1)
    end)
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(k:address(words, (64 + (thread & 31)) * 4)))
  end)
  kernel:run { args = { wg.zeros("u32", 96) } }
end

for name, run in pairs(case) do
  if kit.variant == "" or kit.is(name) then run() end
end
