-- What the lemmas of a proof show, and that they show it of nothing else: each has a kernel that is right for their
-- reason alone, and some that are nearly so.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local function verdict(kernel, property)
  local one = check.verdict(kernel, property, { budget = 1 })
  return one.verdict
end
local function proved(what, kernel, property)
  check.equal({ what, property, verdict(kernel, property) }, { what, property, "proved" })
end
local function unproved(what, kernel, property)
  if verdict(kernel, property) == "proved" then error(("proved, and wrong: %s, %s"):format(what, property)) end
end

--- Thread 32 waits for an arrival of thread 0, which arrive(k, bar, n) may leave out.
local function awaited(arrive)
  return wg.kernel("awaited", { threads = 64 }, function(k)
    local n, tid = k:param("n", "u32"), k:special "tid.x"
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(bar, 1)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    k:if_(tid:eq(0), function() arrive(k, bar, n) end)
    k:if_(tid:eq(32), function() k:mbarrier_wait(k:address(bar), 0) end)
  end)
end
local function where(condition)
  return awaited(function(k, bar, n)
    k:if_(condition(k, n), function() k:mbarrier_arrive(bar) end)
  end)
end

-- The sign of what is not below 0.
local function signed(k, n) return k:mov(n, { type = "s32" }) end
proved("the sign of a number", where(function(k, n) return k:shr_s32(signed(k, n), 31):eq(0) end), "no-deadlock")
unproved("the sign of a difference", where(function(k, n) return k:shr_s32(signed(k, n - 4), 31):eq(0) end), "no-deadlock")
unproved("half of a number", where(function(k, n) return k:shr_s32(signed(k, n), 1):eq(0) end), "no-deadlock")
unproved("the highest bit of 32", where(function(k, n) return k:shr_u32(n << 3, 31):eq(0) end), "no-deadlock")

-- Places in the grid.
local function x(k) return k:special "ctaid.x" end
proved("any place", where(function(k) return x(k):ge(0) end), "no-deadlock")
unproved("all places but one", where(function(k) return x(k):ne(5) end), "no-deadlock")
unproved("the size of the grid", where(function(k) return k:special("nctaid.x"):ne(7) end), "no-deadlock")
unproved("places before a number", where(function(k, n) return x(k):lt(n + 3) end), "no-deadlock")

--- Both sides of a barrier count over tiles: the CTA's first one, and those that `stride` is added for.
local function tiles(stride, produces, consumes, extra)
  return wg.kernel("tiles", { threads = 64 }, function(k)
    local n, tid = k:param("n", "s32"), k:special "tid.x"
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    local done = k:shared { bytes = 8, align = 8, name = "done" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(bar, 1)
      k:mbarrier_init(done, 1)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local function each(goes_on, body)
      local tile, phase = k:mov(x(k), { type = "s32" }), k:mov(0, { type = "u32" })
      k:while_(function() return goes_on(tile, n) end, function()
        body(phase, tile)
        k:xor(phase, phase, 1)
        k:add(tile, tile, stride(k))
      end)
      return phase
    end
    k:if_(tid:eq(0), function()
      each(produces, function(phase)
        k:mbarrier_wait(k:address(done), phase ~ 1)
        k:mbarrier_arrive(bar)
      end)
    end)
    k:if_(tid:eq(32), function()
      local phase = each(consumes, function(phase)
        k:mbarrier_wait(k:address(bar), phase)
        k:mbarrier_arrive(done)
      end)
      if extra then k:mbarrier_wait(k:address(bar), phase) end
    end)
  end)
end
local function less(a, b) return a:lt(b) end
local function up_to(a, b) return a:le(b) end
local function of_grid(k) return k:special "nctaid.x" end
local function of_eight() return 8 end
for name, stride in pairs { grid = of_grid, eight = of_eight } do
  proved("tiles by the " .. name, tiles(stride, less, less), "no-deadlock")
  proved("tiles up to the last, by the " .. name, tiles(stride, up_to, up_to), "no-deadlock")
  unproved("one more on one side, by the " .. name, tiles(stride, less, up_to), "no-deadlock")
  -- Where the strides do not end at the number, both have as many turns.
  unproved("one more with some grids, by the " .. name, tiles(stride, up_to, less, true), "no-deadlock")
  unproved("all tiles but the fourth, by the " .. name,
    tiles(stride, function(a, b) return a:lt(b) & a:ne(24) end, less), "no-deadlock")
end

-- States of mbarriers.
local function wait_for(k, bar, state)
  local ok = k:reg "pred"
  k:repeat_(function()
    k:mbarrier_try_wait(ok, bar, state)
    return ~ok
  end)
end
local function states(arrives)
  return wg.kernel("states", { threads = 64 }, function(k)
    local n, tid = k:param("n", "u32"), k:special "tid.x"
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(bar, 64)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local before = k:mov(k:mbarrier_arrive_state(bar))
    wait_for(k, bar, before)
    k:loop({ from = 0, to = n }, function(turn) arrives(k, bar, before, turn) end)
  end)
end
local function in_turn(k, bar) wait_for(k, bar, k:mbarrier_arrive_state(bar)) end
proved("each waits for its arrival", states(in_turn), "phases")
proved("each waits for its arrival", states(in_turn), "no-deadlock")
unproved("the state of an old phase", states(function(k, bar, before)
  in_turn(k, bar)
  wait_for(k, bar, before)
end), "phases")
unproved("a bit of a state decides", states(function(k, bar)
  local state = k:mbarrier_arrive_state(bar)
  wait_for(k, bar, state)
  k:if_((k:cvt_u32_u64(state >> 37) & 1):eq(1), function() k:mbarrier_arrive(bar) end)
end), "no-deadlock")

-- A wgmma is one operation of its warpgroup: what one warp has waited for, all have read.
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
local function overwritten(early)
  return wg.kernel("overwritten", { threads = 128 }, function(k)
    local A, n, tid = k:param("A", "const bf16*"), k:param("n", "u32"), k:special "tid.x"
    local a, b = k:shared(tile, "a"), k:shared(tile, "b")
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(bar, 128)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local acc, phase = k:regs("f32", 32), k:mov(0, { type = "u32" })
    local function copy()
      k:if_(tid:eq(0), function()
        k:mbarrier_arrive_expect_tx(bar, 16384)
        k:cp_async_bulk(k:address(a), k:element(A, 0), 8192, bar)
        k:cp_async_bulk(k:address(b), k:element(A, 0), 8192, bar)
      end, function() k:mbarrier_arrive(bar) end)
    end
    copy()
    k:loop({ from = 0, to = n }, function()
      k:mbarrier_wait(k:address(bar), phase)
      k:xor(phase, phase, 1)
      k:wgmma_fence()
      k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
      k:wgmma_commit_group()
      if early then copy() end
      k:wgmma_wait_group(0)
      if not early then copy() end
    end)
    k:mbarrier_wait(k:address(bar), phase)
  end)
end
proved("overwritten after a wait", overwritten(false), "shared-races")
proved("overwritten after a wait", overwritten(false), "phases")
unproved("overwritten before a wait", overwritten(true), "shared-races")

-- One lane that has waited for a wgmma knows that all have read, though not what other lanes have loaded meanwhile.
local function handed_back(early, loaded)
  return wg.kernel("handed_back", { threads = 160 }, function(k)
    local A, n, tid = k:param("A", "const bf16*"), k:param("n", "u32"), k:special "tid.x"
    local a, b = k:shared(tile, "a"), k:shared(tile, "b")
    local words = k:shared { bytes = 512, align = 128, name = "words" }
    local full = k:shared { bytes = 8, align = 8, name = "full" }
    local empty = k:shared { bytes = 8, align = 8, name = "empty" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(full, 1)
      k:mbarrier_init(empty, 4)
      k:fence_mbarrier_init()
    end)
    k:if_(tid:lt(128), function() k:st_shared_u32(k:address(words, tid * 4), tid) end)
    k:fence_proxy_async()
    k:bar_sync(0)
    local phase = k:mov(0, { type = "u32" })
    local function each(body)
      k:loop({ from = 0, to = n }, function()
        body()
        k:xor(phase, phase, 1)
      end)
    end
    k:if_(tid:eq(128), function()
      each(function()
        k:mbarrier_wait(k:address(empty), phase ~ 1)
        k:mbarrier_arrive_expect_tx(full, loaded and 16896 or 16384)
        k:cp_async_bulk(k:address(a), k:element(A, 0), 8192, full)
        k:cp_async_bulk(k:address(b), k:element(A, 0), 8192, full)
        if loaded then k:cp_async_bulk(k:address(words), k:element(A, 0), 512, full) end
      end)
    end)
    k:if_(tid:lt(128), function()
      local acc, sum = k:regs("f32", 32), k:mov(0, { type = "u32" })
      local function arrive() k:if_((tid & 31):eq(0), function() k:mbarrier_arrive(k:address(empty)) end) end
      each(function()
        k:mbarrier_wait(k:address(full), phase)
        k:wgmma_fence()
        k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
        k:wgmma_commit_group()
        if early then arrive() end
        k:wgmma_wait_group(0)
        k:add(sum, sum, k:ld_shared_u32(k:address(words, tid * 4)))
        k:fence_proxy_async()
        if not early then arrive() end
      end)
    end)
  end)
end
proved("given back by a lane after a wait", handed_back(false, false), "shared-races")
unproved("given back by a lane before a wait", handed_back(true, false), "shared-races")
unproved("given back by a lane while others load", handed_back(false, true), "shared-races")

-- A race of data leaves the protocol as it is, and hides nothing else.
local function raced(arrives)
  return wg.kernel("raced", { threads = 64 }, function(k)
    local tid = k:special "tid.x"
    local room = k:shared { bytes = 128, align = 128, name = "room" }
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(bar, 1)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    k:st_shared_u32(k:address(room), tid)
    if arrives then k:if_(tid:eq(0), function() k:mbarrier_arrive(bar) end) end
    k:if_(tid:eq(32), function() k:mbarrier_wait(k:address(bar), 0) end)
  end)
end
unproved("a race", raced(true), "shared-races")
proved("a race beside a protocol", raced(true), "no-deadlock")
unproved("a race beside a missing arrival", raced(false), "no-deadlock")

-- Loops that nothing is synchronised by count.
local function counts(step, goes_on)
  return wg.kernel("counts", { threads = 32 }, function(k)
    local Y, n = k:param("Y", "u32*"), k:param("n", "u32")
    local i = k:mov(n)
    k:repeat_(function()
      k:st_global_u32(k:element(Y, 0), i)
      step(k, i)
      return goes_on(i)
    end)
  end)
end
local function not_zero(i) return i:ne(0) end
proved("down to 0 by 1", counts(function(k, i) k:sub(i, i, 1) end, not_zero), "no-deadlock")
proved("down to 0 by 3", counts(function(k, i) k:sub(i, i, 3) end, not_zero), "no-deadlock")
unproved("down to 0 by 2", counts(function(k, i) k:sub(i, i, 2) end, not_zero), "no-deadlock")
unproved("down to 0 by halves", counts(function(k, i) k:shl(i, i, 1) end, function(i) return i:ne(5) end), "no-deadlock")
unproved("back and forth", counts(function(k, i)
  k:add(i, i, 1)
  k:sub(i, i, 1)
end, not_zero), "no-deadlock")
unproved("its double", counts(function(k, i) k:add(i, i, i) end, function(i) return i:lt(7) end), "no-deadlock")

-- cp.async: a thread has what it has waited for, and others what it tells them of.
local function copied(pending, o)
  o = o or {}
  return wg.kernel("copied", { threads = 64 }, function(k)
    local X, Y, n, tid = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "u32"), k:special "tid.x"
    local room = k:shared { bytes = 512, align = 128, name = "room" }
    local function copy(stage)
      k:cp_async(k:address(room) + (stage << 8) + (tid << 2), k:element(X, tid), { bytes = 4 })
      if not o.uncommitted then k:cp_async_commit_group() end
    end
    local sum, stage = k:mov(0.0, { type = "f32" }), k:mov(0, { type = "u32" })
    copy(stage)
    k:loop({ from = 0, to = n }, function()
      copy(stage ~ 1)
      k:cp_async_wait_group(pending)
      if not o.alone then k:bar_sync(0) end
      k:add(sum, sum, k:ld_shared_f32(k:address(room) + (stage << 8) + ((tid ~ (o.own and 0 or 33)) << 2)))
      if not o.early then k:bar_sync(0) end
      k:xor(stage, stage, 1)
    end)
    if not o.unfinished then k:cp_async_wait_all() end
    k:st_global_f32(k:element(Y, tid), sum)
  end)
end
for _, property in ipairs { "shared-races", "initialisation", "groups" } do
  proved("all but the last copy", copied(1), property)
  proved("its own", copied(1, { own = true, early = true }), property)
end
unproved("a copy that runs", copied(2), "shared-races")
unproved("a copy in no group", copied(1, { uncommitted = true }), "shared-races")
unproved("those of other threads", copied(1, { alone = true }), "shared-races")
unproved("overwritten while others read", copied(1, { early = true }), "shared-races")
unproved("a copy that nobody waits for", copied(1, { unfinished = true }), "groups")

--- The first turn of a loop, or a later one, writes what is read behind it; all threads meet in each turn.
local function written_in_loop(bounds)
  return wg.kernel("written_in_loop", { threads = 64 }, function(k)
    local n, out = k:param("n", "u32"), k:param("out", "f32*")
    local x, from, to = k:reg "f32", bounds(k, n)
    k:loop({ from = from, to = to, step = 1 }, function()
      k:mov(x, 1.0)
      k:bar_sync(0)
    end)
    k:st_global_f32(k:element(out, k:special "tid.x"), x)
  end)
end
proved("a loop up to a number has a turn", written_in_loop(function(_, n) return 0, n end), "initialisation")
unproved("from 1 on it may have none", written_in_loop(function(_, n) return 1, n end), "initialisation")
unproved("up to a number less 1", written_in_loop(function(_, n) return 0, n - 1 end), "initialisation")
-- Each of its states has one number more, and what these take is taken from the budget: else it takes twenty seconds.
local start = os.clock()
unproved("between two numbers", written_in_loop(function(k, n) return k:param("m", "u32"), n end), "initialisation")
check.near(os.clock() - start, 0, 8)
unproved("a number that is written anew", written_in_loop(function(k, n)
  k:if_(k:special("tid.x"):eq(3), function() k:mov(n, 0) end)
  return 0, n
end), "initialisation")
proved("a copy of the number", written_in_loop(function(k, n) return 0, k:mov(n, { type = "u32" }) end), "initialisation")
unproved("a large number, as a signed one", wg.kernel("signed", { threads = 32 }, function(k)
  local n, out, x, i = k:param("n", "u32"), k:param("out", "f32*"), k:reg "f32", k:mov(0, { type = "u32" })
  k:while_(function() return k:setp_lt_s32(i, n) end, function()
    k:mov(x, 1.0)
    k:add(i, i, 1)
  end)
  k:st_global_f32(k:element(out, k:special "tid.x"), x)
end), "initialisation")

--- Each cluster takes work units from its own number on, and as many as there are clusters further.
local function strided(cluster, shift)
  return wg.kernel("strided", { threads = 32, cluster = { cluster } }, function(k)
    local units, bar = k:param("units", "u32"), k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(k:special("tid.x"):eq(0), function()
      k:mbarrier_init(bar, 32)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local phase = k:mov(0, { type = "u32" })
    local first, step = k:special "ctaid.x" >> shift, k:special "nctaid.x" >> shift
    k:loop({ from = first, to = units, step = step }, function()
      k:mbarrier_arrive(bar)
      k:mbarrier_wait(k:address(bar), phase)
      k:xor(phase, phase, 1)
    end)
  end)
end
proved("as many clusters as there are", strided(2, 1), "no-deadlock")
proved("clusters of four", strided(4, 2), "no-deadlock")
unproved("a quarter of the CTAs of clusters of two may be none", strided(2, 2), "no-deadlock")
unproved("half of one CTA is none", strided(1, 1), "no-deadlock")
