-- What is proved of a kernel, and that nothing is proved which a run with some size refutes: rings of random shapes,
-- of which some lack a wait, an arrival or bytes at particular turns.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local function verdict(kernel, property)
  local one = check.verdict(kernel, property)
  return one.verdict, one
end

--- A ring of `stages` between a thread and a warp. fault: what is wrong with it, at turns of which at(k, turn) is true.
local function ring(stages, fault, at)
  return wg.kernel("ring", { threads = 64 }, function(k)
    local X, Y, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "u32")
    local room = k:shared { bytes = 128 * stages, align = 128, name = "room" }
    local tid = k:special "tid.x"
    local full, empty = check.ring(k, stages)
    local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
    local function advance()
      k:add(stage, stage, 1)
      local wrapped = stage:eq(stages)
      k:mov(stage, 0, { guard = wrapped })
      k:xor(phase, phase, 1, { guard = wrapped })
    end
    local function unless(name, turn, what)
      if fault ~= name then return what() end
      k:if_(at(k, turn), function() end, what)
    end
    k:if_(tid:eq(0), function()
      k:loop({ from = 0, to = n }, function(turn)
        unless("wait", turn, function() k:mbarrier_wait(k:address(empty, stage << 3), phase ~ 1) end)
        local bar = k:address(full, stage << 3)
        k:mbarrier_arrive_expect_tx(bar, 128)
        unless("copy", turn, function() k:cp_async_bulk(k:address(room, stage << 7), k:element(X, turn * 32), 128, bar) end)
        advance()
      end)
    end)
    k:if_(tid:ge(32), function()
      local sum = k:mov(0.0, { type = "f32" })
      k:loop({ from = 0, to = n }, function(turn)
        k:mbarrier_wait(k:address(full, stage << 3), phase)
        k:add(sum, sum, k:ld_shared_f32(k:address(room, (stage << 7) + ((tid & 31) << 2))))
        k:fence_proxy_async()
        if fault ~= "meeting" then k:bar_warp_sync() end
        k:if_(tid:eq(32), function()
          unless("arrival", turn, function() k:mbarrier_arrive(k:address(empty, stage << 3)) end)
        end)
        advance()
      end)
      k:st_global_f32(k:element(Y, tid & 31), sum)
    end)
  end)
end

--- Does a launch with so many turns show a fault?
local function breaks(kernel, n)
  return not pcall(function()
    kernel:run { backend = "sim", args = { wg.ones("f32", { 32 * n }), wg.zeros("f32", { 32 }), n } }
  end)
end

local properties = { "no-deadlock", "phases", "copy-bytes", "shared-races", "proxy-order", "initialisation" }

-- Right for each size, and said so.
for stages = 1, 4 do
  local kernel = ring(stages)
  for _, property in ipairs(properties) do
    local what, all = verdict(kernel, property)
    check.equal({ stages, property, what }, { stages, property, "proved" })
    assert(all.domain:find("n", 1, true), all.domain)
  end
  for n = 1, 2 * stages + 2 do assert(not breaks(kernel, n)) end
end

-- Wrong at particular turns: nothing that a run refutes may be proved.
local seed = 7
local function random(most)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % most
end
for _, fault in ipairs { "wait", "copy", "arrival", "meeting" } do
  for _ = 1, 4 do
    local stages, modulus = 1 + random(3), 1 << (1 + random(4))
    local rest, from = random(modulus), random(12)
    local kernel = ring(stages, fault, function(k, turn) return turn:ge(from) & (turn & (modulus - 1)):eq(rest) end)
    local broken = false
    for n = 1, from + 2 * modulus + 2 * stages + 1 do broken = broken or breaks(kernel, n) end
    local all_proved = true
    for _, property in ipairs(properties) do all_proved = all_proved and verdict(kernel, property) == "proved" end
    if broken and all_proved then
      error(("proved, and a run breaks it: %s, %d stages, turn & %d == %d from %d on"):format(fault, stages, modulus - 1, rest, from))
    end
  end
end

-- A thread arrives under a condition that some size does not fulfil: that nobody waits in vain is never proved.
local conditions = {
  { "a difference below 0", function(k, n, zero) return zero:lt(n - 4) end },
  { "the same, shifted", function(_, n) return ((n - 4) >> 6):gt(0) end },
  { "the same, widened", function(k, n) return k:mov(0, { type = "u64" }):lt(k:cvt_u64_u32(n - 4)) end },
  { "a shift by a size", function(k, n) return k:shl(k:mov(1, { type = "b32" }), n):ne(32) end },
  { "a number shifted by a size", function(k, n) return k:shr(k:mov(1 << 14, { type = "u32" }), n):ne(0) end },
  { "a number divided by a size", function(k, n) return k:div(k:mov(100, { type = "u32" }), n):ne(3) end },
  { "a field at a size", function(k, n) return k:bfe_u32(k:mov(1 << 20, { type = "u32" }), n, 1):eq(0) end },
  { "a CTA without a turn", function(k, n) return k:special "ctaid.x":lt(n) end },
  { "a product of sizes", function(_, n) return (n * n):ne(49) end },
  { "a remainder", function(k, n) return k:rem(n, 9):ne(5) end },
}
for _, one in ipairs(conditions) do
  local kernel = wg.kernel("waits", { threads = 64 }, function(k)
    local n, tid, zero = k:param("n", "u32"), k:special "tid.x", k:mov(0, { type = "u32" })
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(bar, 1)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    k:if_(tid:eq(0), function() k:if_(one[2](k, n, zero), function() k:mbarrier_arrive(bar) end) end)
    k:if_(tid:eq(32), function() k:mbarrier_wait(k:address(bar), 0) end)
  end)
  local what = verdict(kernel, "no-deadlock")
  if what == "proved" then error("proved, and wrong: " .. one[1]) end
end

-- Nor is it of a place in shared memory that a size decides.
local far = wg.kernel("far", { threads = 64 }, function(k)
  local n, tid = k:param("n", "u32"), k:special "tid.x"
  local room = k:shared { bytes = 128, align = 128, name = "room" }
  k:if_(tid:eq(0), function() k:st_shared_u32(k:address(room) + (n << 2), 1) end)
  k:if_(tid:eq(32), function() k:st_shared_u32(k:address(room) + 28, 2) end)
end)
for _, property in ipairs { "shared-races", "bounds" } do assert(verdict(far, property) ~= "proved", property) end

-- Nor is it that something is written before it is read, where nothing orders the two.
local unordered = wg.kernel("unordered", { threads = 64 }, function(k)
  local Y, n, tid = k:param("Y", "f32*"), k:param("n", "u32"), k:special "tid.x"
  local room = k:shared { bytes = 128, align = 128, name = "room" }
  k:if_(tid:eq(0), function() k:st_shared_f32(k:address(room), 1.0) end)
  k:if_((n & 7):ne(6), function() k:bar_sync(0) end)
  k:if_(tid:eq(32), function() k:st_global_f32(Y, k:ld_shared_f32(k:address(room))) end)
end)
assert(verdict(unordered, "initialisation") ~= "proved")

-- Options are those of `wgrun check`.
local at_four = far:verdicts { assume = { n = 4 }, budget = 1 }
check.equal(at_four[1].domain, "all launches with n = 4")
local meets = wg.kernel("meets", { threads = 32 }, function(k) 
  local Y, alone = k:param("Y", "f32*"), k:special("tid.x"):eq(0)
  k:if_(alone, function() k:st_global_f32(Y, k:add(k:ld_global_f32(Y), 1.0)) end)
end)
local function races(options)
  for _, one in ipairs(meets:verdicts(options)) do
    if one.property == "global-races" then return one.verdict end
  end
end
check.equal({ races(), races { grid = 1 } }, { "undecided", "proved" })
check.raises("seconds, 0 or more, got number -1", far.verdicts, far, { budget = -1 })
check.raises("the kernel has no number `m`", far.verdicts, far, { assume = { m = 4 } })
check.raises("a table of integers by name, got string", far.verdicts, far, { assume = { n = "4" } })
