-- Rings of stages that go on from tile to tile: two loops inside each other, each up to a number of the launch. What
-- is right is proved, and what is wrong for some numbers is not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local function verdict(kernel, property, options)
  local one = check.verdict(kernel, property, options)
  return one.verdict, one.reason
end

--- Thread 0 fills `stages` stages, and thread 32 empties them: K for each of T tiles. `as` changes a part of it.
local function ring(stages, as)
  as = as or {}
  local function always() end
  return wg.kernel("ring", { threads = 64 }, function(k)
    local T, K, tid = k:param("T", "u32"), k:param("K", "u32"), k:special "tid.x"
    local full, empty = check.ring(k, stages)

    local function role(body, each_tile, trips)
      local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      local tile, all = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      k:while_(function() return tile:lt(T) end, function()
        each_tile(k, stage, phase)
        local i = k:mov(0, { type = "u32" })
        k:while_(function() return trips(i, K, tile, k) end, function()
          body(stage, phase, { tile = tile, i = i, all = all, K = K })
          k:add(stage, stage, 1)
          k:if_(stage:eq(stages), function()
            k:mov(stage, 0)
            k:xor(phase, phase, 1)
          end)
          k:add(i, i, 1)
          k:add(all, all, 1)
        end)
        k:add(tile, tile, 1)
      end)
    end
    local function K_trips(i, n) return i:lt(n) end
    local function arrive(at, guard)
      if guard then k:if_(guard, function() k:mbarrier_arrive(at) end) else k:mbarrier_arrive(at) end
    end
    k:if_(tid:eq(0), function()
      role(function(stage, phase)
        k:mbarrier_wait(k:address(empty, stage * 8), phase ~ 1)
        k:mbarrier_arrive(k:address(full, stage * 8))
      end, always, as.produces or K_trips)
    end)
    k:if_(tid:eq(32), function()
      role(function(stage, phase, at)
        k:mbarrier_wait(k:address(full, stage * 8), phase)
        arrive(k:address(empty, stage * 8), as.releases and as.releases(at))
      end, as.each_tile or always, as.consumes or K_trips)
    end)
  end)
end

for _, stages in ipairs { 1, 2, 3, 4, 7, 16 } do
  local its, reason = verdict(ring(stages), "no-deadlock")
  check.equal({ stages, its, reason }, { stages, "proved" })
end
check.equal(verdict(ring(4, { releases = function(at) return at.i:ge(0) end }), "no-deadlock"), "proved")

-- What is wrong gets no more time than what is right takes.
local enough = { budget = 1 }
for _, stages in ipairs { 2, 9 } do check.equal({ stages, verdict(ring(stages), "no-deadlock", enough) }, { stages, "proved" }) end

local function begin_anew(k, stage, phase)
  k:mov(stage, 0)
  k:mov(phase, 0)
end
for what, as in pairs {
  ["each tile begins with the first stage"] = { each_tile = begin_anew },
  ["the phase begins anew"] = { each_tile = function(k, _, phase) k:mov(phase, 0) end },
  ["a trip more"] = { produces = function(i, K) return i:le(K) end },
  ["a trip more in the third tile"] = {
    produces = function(i, K, tile, k) return i:lt(K + k:selp_b32(1, 0, tile:eq(2))) end,
  },
  ["no trip of the consumer in the second tile"] = {
    consumes = function(i, K, tile, k) return i:lt(k:selp_b32(0, K, tile:eq(1))) end,
  },
  ["no release in the first trip"] = { releases = function(at) return at.i:gt(0) end },
  ["no release in the third tile"] = { releases = function(at) return at.tile:ne(2) end },
  ["no release in tile 37"] = { releases = function(at) return at.tile:ne(37) end },
  ["no release after 50 trips"] = { releases = function(at) return at.all:lt(50) end },
  ["no release in trip 23 of a tile"] = { releases = function(at) return at.i:ne(23) end },
  ["no release in the last trip"] = { releases = function(at) return (at.i + 1):lt(at.K) end },
  ["no release where K is 6"] = { releases = function(at) return at.K:ne(6) end },
  ["no release in every eighth trip"] = { releases = function(at) return (at.all & 7):ne(7) end },
} do
  for _, stages in ipairs { 2, 9 } do
    if verdict(ring(stages, as), "no-deadlock", enough) == "proved" then error(("proved, and wrong: %s"):format(what)) end
  end
end

-- That a loop's states come back does not show that it ends.
local function loop(test, step)
  return wg.kernel("loop", { threads = 32 }, function(k)
    local K, tid = k:param("K", "u32"), k:special "tid.x"
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(bar, 32)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local i, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
    k:while_(function() return test(i, K) end, function()
      k:mbarrier_arrive(bar)
      k:mbarrier_wait(k:address(bar), phase)
      k:xor(phase, phase, 1)
      step(k, i)
    end)
  end)
end
local function less(i, K) return i:lt(K) end
local function by(more) return function(k, i) k:add(i, i, more) end end
check.equal(verdict(loop(less, by(1)), "no-deadlock"), "proved")
for what, one in pairs {
  ["a counter that stands still"] = loop(less, by(0)),
  ["a number that is passed by"] = loop(function(i, K) return i:ne(K) end, by(2)),
  ["a counter that begins anew"] = loop(less, function(k, i)
    k:add(i, i, 1)
    k:if_(i:eq(9), function() k:mov(i, 0) end)
  end),
} do
  if verdict(one, "no-deadlock") == "proved" then error(("proved, and wrong: %s"):format(what)) end
end
-- A counter that falls, and is no number below 0: it must not jump over what ends the loop.
local function falling(from_n, test, body)
  return wg.kernel("falling", { threads = 32 }, function(k)
    local left = k:mov(from_n(k, k:param("n", "u32")), { type = "u32" })
    k:while_(function() return test(left) end, function() body(k, left) end)
    k:st_global_u32(k:element(k:param("D", "u32*"), k:special "tid.x"), left)
  end)
end
local function n(_, number) return number end
local function less_by(step) return function(k, left) k:sub(left, left, step) end end
local function above(least) return function(left) return left:gt(least) end end
--- Less by a step twice; between them the loop may end, at that `last`.
local function twice(last)
  return function(k, left)
    k:sub(left, left, 2)
    if last then k:if_(left:le(last), function() k:break_() end) end
    k:sub(left, left, 2)
  end
end
for what, one in pairs {
  ["1 down to 0"] = falling(n, above(0), less_by(1)), ["3 down to 0"] = falling(n, above(0), less_by(3)),
  ["2 down to 1"] = falling(n, above(1), less_by(2)), ["128 of them"] = falling(n, above(128), less_by(128)),
  ["4 in two steps"] = falling(n, above(3), twice()), ["a test before each step"] = falling(n, above(1), twice(1)),
} do
  check.equal({ what, verdict(one, "no-deadlock") }, { what, "proved" })
end
for what, one in pairs {
  ["2 down to 0"] = falling(n, above(0), less_by(2)), ["128 down to 126"] = falling(n, above(126), less_by(128)),
  ["4 in two steps, down to 2"] = falling(n, above(2), twice()), ["too late a test"] = falling(n, above(1), twice(0)),
  ["up from an odd number"] = falling(n, above(0), function(k, left) k:add(left, left, 2) end),
  ["up and down"] = falling(n, above(5), function(k, left)
    k:sub(left, left, 3)
    k:add(left, left, 3)
  end),
} do
  if verdict(one, "no-deadlock") == "proved" then error(("proved, and wrong: %s"):format(what)) end
end

-- A predicate is no counter: one that changes after some turns, and that a branch or a guard is executed by.
local function late(turns, meet)
  return wg.kernel("late", { threads = 64 }, function(k)
    local n, tid = k:param("n", "u32"), k:special "tid.x"
    local after = {}
    for turn = 0, turns do
      after[turn] = k:reg "pred"
      k:setp_eq_u32(after[turn], tid, 64)
    end
    k:if_(tid:lt(32), function()
      k:loop({ from = 0, to = n }, function()
        meet(k, ~after[turns])
        for turn = turns, 1, -1 do k:or_pred(after[turn], after[turn - 1], after[turn - 1]) end
        k:setp_lt_u32(after[0], tid, 64)
      end)
    end, function()
      k:loop({ from = 0, to = n }, function() k:bar_sync(1, { threads = 64 }) end)
    end)
  end)
end
for what, meet in pairs {
  ["a branch"] = function(k, guard) k:if_(guard, function() k:bar_sync(1, { threads = 64 }) end) end,
  ["a guard"] = function(k, guard) k:bar_sync(1, { threads = 64, guard = guard }) end,
} do
  if verdict(late(7, meet), "no-deadlock") == "proved" then error(("proved, and wrong: %s"):format(what)) end
end
check.equal(verdict(late(7, function(k) k:bar_sync(1, { threads = 64 }) end), "no-deadlock"), "proved")
