-- A wait for an mbarrier may return before the phase is complete (PTX ISA 9.7.13.15.16). Who waits again then, or asks before
-- the wait alone, hangs no sooner; who does something else may.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local frame <const> = [[
.version 8.3
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 data)
.reqntid 64, 1, 1
{
  .reg .pred p, first, mine, yes, no, again; .reg .b32 tid, bar, other, turns, word; .reg .b64 state, at;
  .shared .align 8 .b8 bars[16];
  mov.u32 tid, %%tid.x; mov.u32 bar, bars; add.u32 other, bar, 8; mov.u32 turns, 0;
  ld.param.u64 at, [data];
  setp.ne.u32 first, tid, 0;
  @first bra BEGUN;
  mbarrier.init.shared.b64 [bar], 1;
  mbarrier.init.shared.b64 [other], 1;
BEGUN:
  bar.sync 0;
  setp.ge.u32 mine, tid, 32;
  @mine bra SECOND;
%s
  bra DONE;
SECOND:
  setp.ne.u32 first, tid, 32;
%s
DONE:
  ret;
}
]]
local arrive <const>, arrive_other <const> = "@!first mbarrier.arrive.shared.b64 state, [bar];", "@!first mbarrier.arrive.shared.b64 state, [other];"
local function wait(of, label) return ("%s: mbarrier.try_wait.parity.shared.b64 p, [%s], 0; @!p bra %s;"):format(label, of, label) end

local function kernel(warp, second) return wg.ptx { text = frame:format(warp, second), name = "kernel.ptx" }[1] end
local function verdict(warp, second) return check.verdict(kernel(warp, second), "no-deadlock").verdict end

local ask <const> = "mbarrier.try_wait.parity.shared.b64 yes, [bar], 0;"
local ask_first <const> = ask .. " add.u32 word, tid, 1; @yes bra GO; " .. wait("bar", "WAIT") .. " GO:"
for what, one in pairs {
  ["waits again"] = { wait("bar", "WAIT"), arrive },
  ["... by a test"] = { "WAIT: mbarrier.test_wait.parity.shared.b64 p, [bar], 0; @p bra GO; bra WAIT; GO:", arrive },
  ["... after a pause"] = {
    "WAIT: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @p bra GO; nanosleep.u32 20; bra WAIT; GO:", arrive,
  },
  ["... by a number"] = {
    "WAIT: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; selp.u32 word, 1, 0, p; setp.eq.u32 no, word, 0; @no bra WAIT;",
    arrive,
  },
  ["... some turns, then traps"] = {
    "WAIT: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @p bra GO; add.u32 turns, turns, 1; setp.lt.u32 again, turns, 99; "
    .. "@again bra WAIT; trap; GO:", arrive,
  },
  ["asks, and waits where the answer was no"] = { ask_first, arrive },
  ["... through a number"] = {
    ask .. " selp.u32 word, 1, 0, yes; setp.ne.u32 no, word, 0; @no bra GO; " .. wait("bar", "WAIT") .. " GO:", arrive,
  },
  ["... which another step may have set"] = {
    "mov.u32 word, 0; " .. ask .. " selp.u32 turns, 1, 0, yes; mov.u32 word, turns; "
    .. "setp.ne.u32 no, word, 0; @no bra GO; " .. wait("bar", "WAIT") .. " GO:", arrive,
  },
} do
  check.equal({ what, verdict(table.unpack(one)) }, { what, "proved" })
end

local never <const> = wait("other", "NEVER")
for what, one in pairs {
  ["waits for another phase where the attempt was too early"] = { ask .. " @yes bra DONE; " .. never, arrive },
  ["... by a test"] = { "mbarrier.test_wait.parity.shared.b64 yes, [bar], 0; @yes bra DONE; " .. never, arrive },
  ["... by a guard"] = { ask .. " setp.eq.u32 no, tid, 0; @yes mov.pred no, yes; @no bra DONE; " .. never, arrive },
  ["waits once more alone, and for another phase then"] = { ask .. " @yes bra DONE; " .. ask .. " @yes bra DONE; " .. never, arrive },
  ["an answer that something else may hide"] = {
    ask .. " selp.u32 word, 1, 0, yes; or.b32 word, word, tid; setp.ne.u32 no, word, 0; @no bra GO; " .. wait("bar", "WAIT") .. " GO: "
    .. ask .. " @yes bra DONE; " .. never, arrive,
  },
  ["a stale answer"] = { ask_first .. " @yes bra DONE; " .. wait("other", "LATER"), arrive },
  ["turns decide later"] = {
    "WAIT: add.u32 turns, turns, 1; mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra WAIT; "
    .. "setp.lt.u32 no, turns, 9; @no bra DONE; " .. never, arrive,
  },
  ["asks, and arrives where the answer was no"] = { ask .. " @yes bra DONE; @!first mbarrier.arrive.shared.b64 state, [other];", arrive .. wait("other", "LAST") },
  ["gives up and goes on"] = {
    "WAIT: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @p bra DONE; add.u32 turns, turns, 1; setp.lt.u32 again, turns, 9; "
    .. "@again bra WAIT; " .. never, arrive,
  },
  ["writes to memory in each turn, which decides"] = {
    "WAIT: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @p bra DONE; ld.volatile.global.u32 word, [at]; "
    .. "setp.eq.u32 again, word, 0; @again bra WAIT; " .. never, arrive,
  },
} do
  if verdict(table.unpack(one)) == "proved" then error(("proved, and wrong: %s"):format(what)) end
end

-- Who gives up after some attempts, and does without, does not hang: this is no finding.
for _, most in ipairs { 1, 100, 1000, 10000 } do
  local one = kernel(("WAIT: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @p bra DONE; add.u32 turns, turns, 1; "
    .. "setp.lt.u32 again, turns, %d; @again bra WAIT; "):format(most) .. arrive_other, wait("other", "LAST"))
  check.equal({ most, #one:check() }, { most, 0 })
end
-- A hang with some sizes alone, behind an attempt that is not in vain with others, is none of all launches.
local some_sizes = wg.kernel("some_sizes", { threads = 64 }, function(k)
  local n, tid = k:param("n", "u32"), k:special "tid.x"
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:if_(tid:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  k:if_(tid:eq(32) & n:lt(100), function() k:mbarrier_arrive(full) end)
  k:if_(tid:lt(32), function()
    local arrived = k:mbarrier_try_wait_parity(k:address(full), 0)
    k:if_(~arrived, function() k:mbarrier_wait(k:address(full), 0) end)
  end)
end)
check.equal(#some_sizes:check(), 0)
check.equal(check.verdict(some_sizes, "no-deadlock").verdict, "refuted")
print "ok"
