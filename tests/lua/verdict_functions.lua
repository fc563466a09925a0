-- How many turns a ring has is a function of several numbers of the launch: where all roles compute the same one, that is
-- proved, and where one of them computes another one it is not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local function verdict(kernel, property)
  local one = check.verdict(kernel, property, { budget = 1 })
  return one.verdict, one.reason
end

--- Thread 0 fills a ring of two stages, and thread 32 empties it, as often as produced(k, n, m, part) and consumed() say;
--- part is the place of the CTA among four.
local function ring(produced, consumed, step)
  return wg.kernel("ring", { threads = 64, cluster = step and { 2 } }, function(k)
    local n, m, tid = k:param("n", "u32"), k:param("m", "u32"), k:special "tid.x"
    local part = k:special "ctaid.z" & 3
    local full, empty = check.ring(k, 2)
    local function role(trips, body)
      local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      local count, from, by = trips(k, n, m, part), 0, 1
      if step then from, by = k:special "ctaid.x" >> 1, step(k) end
      k:loop({ from = from, to = count, step = by }, function()
        body(stage, phase)
        k:xor(stage, stage, 1)
        k:if_(stage:eq(0), function() k:xor(phase, phase, 1) end)
      end)
    end
    k:if_(tid:eq(0), function()
      role(produced, function(stage, phase)
        k:mbarrier_wait(k:address(empty, stage << 3), phase ~ 1)
        k:mbarrier_arrive(k:address(full, stage << 3))
      end)
    end)
    k:if_(tid:eq(32), function()
      role(consumed, function(stage, phase)
        k:mbarrier_wait(k:address(full, stage << 3), phase)
        k:mbarrier_arrive(k:address(empty, stage << 3))
      end)
    end)
  end)
end

--- The blocks of one of `parts` parts of n.
local function blocks_of(part_of)
  return function(k, n, _, part)
    local each = (n + 3) >> 2
    local before = k:min(each * part_of(part), n)
    return k:min(each, n - before)
  end
end
local function fifths(shift) return function(k, n) return k:mul_hi_u32(n + 4, 0xCCCCCCCD) >> shift end end
local function same(part) return part end
local functions = {
  ["a fifth"] = { fifths(2), fifths(3) },
  ["the smaller one"] = { function(k, n, m) return k:min(n, m) end, function(k, n, m) return k:max(n, m) end },
  ["the greater one"] = { function(k, n, m) return k:max(n, m) end, function(_, n, m) return n + m end },
  ["at most 7"] = { function(k, n) return k:min(n, 7) end, function(k, n) return k:min(n, 11) end },
  ["at least 7"] = { function(k, n) return k:max(n, 7) end, function(_, n) return n end },
  ["blocks of both"] = { function(_, n, m) return (n + m + 63) >> 6 end, function(_, n, m) return (n + m) >> 5 end },
  ["a quotient of a quotient"] = {
    function(k, n) return k:div((n + 63) >> 6, 3) end, function(k, n) return k:div((n + 63) >> 6, 4) end,
  },
  ["what one is more"] = { function(_, n, m) return n - m end, function(_, n, m) return m - n end },
  ["a part"] = { blocks_of(same), blocks_of(function(part) return part ~ 1 end) },
}
for what, of in pairs(functions) do
  local right, other = of[1], of[2]
  local its, reason = verdict(ring(right, right), "no-deadlock")
  check.equal({ what, its, reason }, { what, "proved" })
  for name, wrong in pairs { produced = ring(other, right), consumed = ring(right, other) } do
    if verdict(wrong, "no-deadlock") == "proved" then error(("proved, and wrong: %s, %s"):format(what, name)) end
  end
end

-- CTAs of clusters of two go on by half of the grid's size, which is at least 1; a quarter of it may be 0.
local function tiles(_, n) return n end
local function grid(shift) return function(k) return k:special "nctaid.x" >> shift end end
check.equal(verdict(ring(tiles, tiles, grid(1)), "no-deadlock"), "proved")
if verdict(ring(tiles, tiles, grid(2)), "no-deadlock") == "proved" then error "proved, and wrong: by a quarter of the grid" end

-- A quotient of a number below 0 is a great one, and below 0 where it is compared as a signed one.
local function negative(quotient)
  return wg.kernel("negative", { threads = 64 }, function(k)
    local a, b, c, tid = k:param("a", "u32"), k:param("b", "u32"), k:param("c", "u32"), k:special "tid.x"
    local full = check.ring(k, 1)
    local below = k:reg "pred"
    k:setp_lt_s32(below, quotient(k, a, b, c), 0)
    k:if_(tid:eq(0), function() k:if_(~below, function() k:mbarrier_arrive(full) end) end)
    k:if_(tid:eq(32), function() k:mbarrier_wait(full, 0) end)
  end)
end
for what, quotient in pairs {
  ["of a sum"] = function(k, a, b, c) return k:div(a + b, c) end,
  ["of a difference, by 2"] = function(k, a, b) return k:div(a - b, 2) end,
} do
  check.equal({ what, verdict(negative(quotient), "no-deadlock") }, { what, "proved" })
end
for what, quotient in pairs {
  ["of a difference"] = function(k, a, b, c) return k:div(a - b, c) end,
  ["of a difference, by 1"] = function(k, a, b) return k:div(a - b, 1) end,
  ["what a division leaves of it"] = function(k, a, b, c) return k:rem(a - b, 0 - c) end,
  ["a sum with it"] = function(k, a, b, c) return k:div(a - b, c) - 5 end,
} do
  if verdict(negative(quotient), "no-deadlock") == "proved" then error(("proved, and wrong: %s"):format(what)) end
end
