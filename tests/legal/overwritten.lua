-- What is read behind a flag may be overwritten once its reader has said that it has read. One writer and one reader, between CTAs, in
-- a cluster, between warps; rings, two buffers in turn, several readers; bulk copies on either side; look-back. The bad ones
-- overwrite too early, which every schedule has to show.
-- good: ok ok_later ok_cluster ok_ring ok_turns ok_stored ok_added ok_loaded ok_readers ok_warps ok_look ok_zeroed ok_fence
-- bad: once later cluster ring short_ring turns turns_later stored added loaded told_early readers warps look zeroed zeroed_lane zeroed_ctas other_warp other_fence
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")
if kit.each_good() then return end
local is, ok = kit.is, kit.variant:match "^ok" ~= nil
local rounds = 8

local function word(k, buffer, i) return k:mad_lo_u32(i, 4, k:mov(buffer, { type = "u32" })) end

--- wait(i, v): until flag i is at least v; tell(i, v): sets it. By a whole warp.
local function flags(k, F)
  local leader = k:special "laneid":eq(0)
  local function wait(i, v)
    k:if_(leader, function() k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, i)):lt(v) end, function() end) end)
    k:bar_warp_sync()
  end
  local function tell(i, v)
    k:bar_warp_sync()
    k:if_(leader, function() k:st_release_gpu_global_u32(k:element(F, i), v) end)
  end
  return wait, tell
end

--- A kernel of X, flags F and Y, which runs.
local function run(options, grid, body)
  local kernel = wg.kernel(kit.variant, options, function(k) body(k, k:param("X", "u32*"), k:param("F", "u32*"), k:param("Y", "u32*")) end)
  kernel:run { grid = grid, args = { wg.zeros("u32", 256), wg.zeros("u32", 64), wg.zeros("u32", 256) } }
end

-- Slots of X by threads. Round i waits for the reader of round i - distance.
local function stream(slots, distance, writer, cluster)
  run({ threads = 32, cluster = cluster and { 2 } or nil }, 2, function(k, X, F, Y)
    local lane = k:special "laneid"
    local wait, tell = flags(k, F)
    local function place(i) return k:element(X, k:rem_u32(i, slots) * 32 + lane) end
    k:if_((k:special "ctaid.x" & 1):eq(writer), function()
      k:loop(rounds, function(i)
        k:if_(i:ge(distance), function()
          if is("turns", "turns_later") then k:if_((i & 1):eq(0), function() wait(32, i - (distance - 1)) end)
          else wait(32, i - (distance - 1)) end
        end)
        k:st_global_u32(place(i), i) -- MAYBE(once later cluster ring short_ring turns turns_later): WG-RACE-04
        tell(0, i + 1)
      end)
    end, function()
      k:loop(rounds, function(i)
        wait(0, i + 1)
        k:st_global_u32(k:element(Y, lane), k:ld_global_u32(place(i))) -- MAYBE(cluster): WG-RACE-04
        tell(32, i + 1)
      end)
    end)
  end)
end
if is("ok", "once") then stream(1, ok and 1 or 99, 0) end
if is("ok_later", "later") then stream(1, ok and 1 or 99, 1) end
if is("ok_cluster", "cluster") then stream(1, ok and 1 or 99, 0, true) end
if is("ok_ring", "ring", "short_ring") then stream(3, ok and 3 or is "ring" and 99 or 4, 0) end
if is("ok_turns", "turns", "turns_later") then stream(2, 2, is "turns_later" and 1 or 0) end

-- X by bulk copies of CTA 0
if is("ok_stored", "stored", "ok_added", "added") then
  run({ threads = 32 }, 2, function(k, X, F, Y)
    local S = k:shared { bytes = 128, align = 128, name = "S" }
    local lane = k:special "laneid"
    local wait, tell = flags(k, F)
    k:if_(k:special "ctaid.x":eq(0), function()
      k:loop(rounds, function(i)
        if ok then
          wait(32, i)
          k:fence_proxy_async_global()
          k:bar_warp_sync()
        end
        k:st_shared_u32(word(k, S, lane), i)
        k:fence_proxy_async()
        k:bar_warp_sync()
        k:if_(lane:eq(0), function()
          if is("ok_stored", "stored") then k:cp_async_bulk_store(k:element(X, 0), S, 128) -- EXPECT(stored): WG-RACE-04
          else k:cp_reduce_async_bulk_add_u32(k:element(X, 0), S, 128) end -- EXPECT(added): WG-RACE-04
          k:cp_async_bulk_commit_group()
          k:cp_async_bulk_wait_group(0)
        end)
        tell(0, i + 1)
      end)
    end)
    k:if_(k:special "ctaid.x":eq(1), function()
      k:loop(rounds, function(i)
        wait(0, i + 1)
        k:st_global_u32(k:element(Y, lane), k:ld_global_u32(k:element(X, lane)))
        tell(32, i + 1)
      end)
    end)
  end)
end

-- X is read by bulk copies of CTA 1, which says that it has read: before the copy has come, or never.
if is("ok_loaded", "loaded", "told_early") then
  run({ threads = 32 }, 2, function(k, X, F, Y)
    local S = k:shared { bytes = 128, align = 128, name = "S" }
    local full = kit.mbarriers(k, { 1 })
    local lane = k:special "laneid"
    local wait, tell = flags(k, F)
    k:if_(k:special "ctaid.x":eq(0), function()
      k:loop(rounds, function(i)
        if not is "loaded" then wait(32, i) end
        k:st_global_u32(k:element(X, lane), i) -- EXPECT(loaded told_early): WG-RACE-04
        k:fence_proxy_async()
        tell(0, i + 1)
      end)
    end)
    k:if_(k:special "ctaid.x":eq(1), function()
      k:loop(rounds, function(i)
        wait(0, i + 1)
        k:if_(lane:eq(0), function()
          k:fence_proxy_async_global()
          k:mbarrier_arrive_expect_tx(full, 128)
          k:cp_async_bulk(S, k:element(X, 0), 128, full)
        end)
        if is "told_early" then tell(32, i + 1) end
        k:mbarrier_wait(full, i & 1)
        k:st_global_u32(k:element(Y, lane), k:ld_shared_u32(word(k, S, lane)))
        k:fence_proxy_async()
        k:bar_warp_sync()
        if not is "told_early" then tell(32, i + 1) end
      end)
    end)
  end)
end

-- Several readers count themselves; the bad writer waits for all but one.
if is("ok_readers", "readers") then
  run({ threads = 32 }, 5, function(k, X, F, Y)
    local lane, cta, readers = k:special "laneid", k:special "ctaid.x", k:special "nctaid.x" - 1
    local wait = flags(k, F)
    k:if_(cta:eq(0), function()
      k:loop(3, function(i)
        wait(32, i * (ok and readers or readers - 1))
        k:st_global_u32(k:element(X, lane), i) -- EXPECT(readers): WG-RACE-04
        k:bar_warp_sync()
        k:if_(lane:eq(0), function() k:red_release_gpu_global_add_u32(k:element(F, 0), 1) end)
      end)
    end, function()
      k:loop(3, function(i)
        wait(0, i + 1)
        k:st_global_u32(k:element(Y, cta * 32 + lane), k:ld_global_u32(k:element(X, lane)))
        k:bar_warp_sync()
        k:if_(lane:eq(0), function() k:red_release_gpu_global_add_u32(k:element(F, 32), 1) end)
      end)
    end)
  end)
end

-- From warp to warp, through shared memory
if is("ok_warps", "warps") then
  run({ threads = 64 }, 1, function(k, _, _, Y)
    local S, flag = k:shared { bytes = 128, align = 16, name = "S" }, k:shared { bytes = 8, align = 8, name = "flag" }
    local thread = k:special "tid.x"
    local lane = thread & 31
    local function wait(i, v)
      k:if_(lane:eq(0), function() k:while_(function() return k:ld_acquire_cta_shared_u32(word(k, flag, i)):lt(v) end, function() end) end)
      k:bar_warp_sync()
    end
    local function tell(i, v)
      k:bar_warp_sync()
      k:if_(lane:eq(0), function() k:st_release_cta_shared_u32(word(k, flag, i), v) end)
    end
    k:if_(thread:lt(2), function() k:st_shared_u32(word(k, flag, thread), 0) end)
    k:bar_sync(0)
    k:if_(thread:lt(32), function()
      k:loop(rounds, function(i)
        if ok then wait(1, i) end
        k:st_shared_u32(word(k, S, lane), i) -- MAYBE(warps): WG-RACE-01
        tell(0, i + 1)
      end)
    end, function()
      k:loop(rounds, function(i)
        wait(0, i + 1)
        k:st_global_u32(k:element(Y, lane), k:ld_shared_u32(word(k, S, lane))) -- MAYBE(warps): WG-RACE-01
        tell(1, i + 1)
      end)
    end)
  end)
end

-- Decoupled look-back: the bad one writes the prefix in place of the aggregate, which others may still be adding up.
if is("ok_look", "look") then
  run({ threads = 32 }, 8, function(k, X, F, Y)
    local cta = k:special "ctaid.x"
    local prefixes = ok and 64 or 0
    k:if_(k:special "laneid":eq(0), function()
      local sum, done, before = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" }), k:mov(cta, { type = "u32" })
      k:st_global_u32(k:element(X, cta), cta + 1)
      k:st_release_gpu_global_u32(k:element(F, cta), 1)
      k:while_(function() return before:gt(0) & done:eq(0) end, function()
        local state = k:mov(0, { type = "u32" })
        k:while_(function() state:set(k:ld_acquire_gpu_global_u32(k:element(F, before - 1))) return state:eq(0) end, function() end)
        k:sub(before, before, 1)
        k:if_(state:eq(1), function() k:add(sum, sum, k:ld_global_u32(k:element(X, before))) end, function() -- MAYBE(look): WG-RACE-04
          k:add(sum, sum, k:ld_global_u32(k:element(X, before + prefixes))) -- MAYBE(look): WG-RACE-04
          done:set(1)
        end)
      end)
      k:st_global_u32(k:element(X, cta + prefixes), sum + cta + 1) -- MAYBE(look): WG-RACE-04
      k:st_release_gpu_global_u32(k:element(F, cta), 2)
      k:st_global_u32(k:element(Y, cta), sum)
    end)
  end)
end

-- A counter that one thread sets to zero, and all count up. The zero is written by a step that is no atomic.
if is("ok_zeroed", "zeroed", "zeroed_lane", "zeroed_ctas") then
  run({ threads = is "zeroed_lane" and 32 or 64 }, is "zeroed_ctas" and 3 or 1, function(k, X, _, Y)
    local S = k:shared { bytes = 16, align = 16, name = "S" }
    local thread = k:special "tid.x"
    if is "zeroed_ctas" then
      k:if_((thread | k:special "ctaid.x"):eq(0), function() k:st_global_u32(k:element(X, 0), 0) end) -- MAYBE(zeroed_ctas): WG-RACE-04
      k:bar_sync(0)
      k:red_global_add_u32(k:element(X, 0), 1) -- MAYBE(zeroed_ctas): WG-RACE-04
    else
      k:if_(thread:eq(0), function() k:st_shared_u32(S, 0) end) -- MAYBE(zeroed zeroed_lane): WG-RACE-01
      if ok then k:bar_sync(0) end
      k:red_shared_add_u32(k:mov(S, { type = "u32" }), 1) -- MAYBE(zeroed zeroed_lane): WG-RACE-01 -- MAYBE(zeroed): WG-MEM-04
      k:bar_sync(0)
      k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(S))
    end
  end)
end

-- One warp sees the flag, another reads what is behind it (other_warp: without a barrier between them); by a fence, or not (other_fence).
if is("ok_fence", "other_warp", "other_fence") then
  run({ threads = 64 }, 2, function(k, X, F, Y)
    local thread = k:special "tid.x"
    local flag = k:element(F, 0)
    k:if_(k:special "ctaid.x":eq(0), function()
      if is "other_fence" then k:fence_acq_rel_gpu() end
      k:st_global_u32(k:element(X, thread), thread) -- MAYBE(other_warp other_fence): WG-RACE-04
      if not is "other_fence" then k:fence_acq_rel_gpu() end
      k:bar_sync(0)
      k:if_(thread:eq(0), function() k:st_relaxed_gpu_global_u32(flag, 1) end)
    end, function()
      k:if_(thread:eq(0), function()
        k:while_(function() return k:ld_relaxed_gpu_global_u32(flag):eq(0) end, function() end)
        k:fence_acq_rel_gpu()
      end)
      if not is "other_warp" then k:bar_sync(0) end
      k:st_global_u32(k:element(Y, thread), k:ld_global_u32(k:element(X, thread))) -- MAYBE(other_warp other_fence): WG-RACE-04
    end)
  end)
end
