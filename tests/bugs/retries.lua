-- https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait:
-- an attempt to wait for an mbarrier may return before the phase is complete. Code that makes a limited number of
-- attempts, and then goes on, reads what is not there yet; whoever runs it hardly ever sees that.
-- bad: once thrice ten_times thousand_times hundred_thousand_times
-- good: then_waits until_it_is_there counted_until_it_is_there timed_out soon_timed_out timed_out_behind_it
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("attempts", { threads = 64 }, function(k)
  local Y, thread = k:param("Y", "u32*"), k:special "tid.x"
  local data = k:shared { bytes = 128, align = 16, name = "data" }
  local full = kit.mbarriers(k, { 32 })
  local function attempt() return k:mbarrier_try_wait_parity(full, 0) end
  k:if_(thread:lt(32), function()
    k:st_shared_u32(k:address(data, thread * 4), thread)
    k:mbarrier_arrive(full)
  end, function()
    if kit.is "once" then attempt() end
    if kit.is "thrice" then
      for _ = 1, 3 do attempt() end
    end
    if kit.is "ten_times" then
      local tries = k:mov(0, { type = "u32" })
      k:while_(function() return tries:lt(10) end, function()
        k:if_(attempt(), function() tries:set(10) end, function() tries:set(tries + 1) end)
      end)
    end
    if kit.is("thousand_times", "hundred_thousand_times") then
      local left = k:mov(kit.is "thousand_times" and 1000 or 100000, { type = "u32" })
      k:while_(function() return left:gt(0) end, function()
        k:if_(attempt(), function() k:break_() end)
        left:set(left - 1)
      end)
    end
    if kit.is "then_waits" then
      k:if_(attempt(), function() end, function() k:mbarrier_wait(full, 0) end)
    end
    if kit.is "until_it_is_there" then
      local there = k:selp(1, 0, attempt(), { type = "u32" })
      k:while_(function() return there:eq(0) end, function() there:set(k:selp(1, 0, attempt(), { type = "u32" })) end)
    end
    if kit.is "counted_until_it_is_there" then
      local there, tries = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      k:while_(function() return there:eq(0) end, function()
        there:set(k:selp(1, 0, attempt(), { type = "u32" }))
        tries:set(tries + 1)
        k:if_(tries:gt(100000), function() k:trap() end)
      end)
    end
    -- What traps does not go on: the limit is for a fault of others.
    if kit.is("timed_out", "soon_timed_out", "timed_out_behind_it") then
      local there, tries, limit = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" }), kit.is "soon_timed_out" and 20 or 100000
      k:while_(function() return there:eq(0) end, function()
        there:set(k:selp(1, 0, attempt(), { type = "u32" }))
        tries:set(tries + 1)
        k:if_(tries:gt(limit), function()
          if kit.is "timed_out_behind_it" then k:break_() else k:trap "nothing comes" end
        end)
      end)
      if kit.is "timed_out_behind_it" then k:if_(there:eq(0), function() k:trap() end) end
    end
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(k:address(data, (thread - 32) * 4))) -- EXPECT: WG-RACE-01
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 64 }) } }
