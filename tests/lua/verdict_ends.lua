-- Loops of PTX that end since they count, or since they draw numbers from a counter that grows, and loops that nearly do.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local frame <const> = [[
.version 8.3
.target sm_90a
.address_size 64
.visible .entry loop(.param .u64 counters, .param .u32 tiles, .param .u32 which, .param .u32 turns)
.reqntid 32, 1, 1
{
  .reg .pred goes, again, some, other; .reg .b32 i, j, n, drawn, limit, given, tid; .reg .b16 short, last;
  .reg .b64 all, at, offset;
  ld.param.u64 all, [counters]; cvta.to.global.u64 all, all; mov.b64 at, all;
  ld.param.u32 limit, [tiles]; ld.param.u32 given, [which];
  mov.u32 i, 0; mov.u32 tid, %%tid.x;
  setp.eq.u32 some, given, 7; setp.eq.u32 other, tid, 1;
%s
DONE:
  ret;
}
]]

local function verdict(body) return check.verdict(wg.ptx { text = frame:format(body), name = "loop.ptx" }[1], "no-deadlock").verdict end

--- One thread draws until it comes to the limit. as: address (how it is computed in each turn), draw, test, others (what the
--- other threads do).
local function drawing(as)
  return ([[
  setp.ne.u32 goes, tid, 0;
  @goes bra OTHERS;
AGAIN:
  %s
  atom.global.%s;
  mov.u32 n, drawn;
  setp.%s;
  @goes bra AGAIN;
  bra DONE;
OTHERS:
  %s]]):format(as.address or "", as.draw or "add.u32 drawn, [at], 1", as.test or "lt.u32 goes, n, limit", as.others or "")
end

for what, body in pairs {
  ["a counter that grows"] = drawing {},
  ["... by 2^30"] = drawing { draw = "add.u32 drawn, [at], 0x40000000" },
  ["... which others add to"] = drawing { others = "@other red.global.add.u32 [at], 3;" },
  ["... whose address each turn computes anew"] = drawing {
    address = "mul.wide.u32 offset, given, 4; add.s64 at, all, offset;",
  },
  ["up to a number"] = "UP: add.u32 i, i, 2; setp.lt.u32 goes, i, limit; @goes bra UP;",
  ["down below a number that is at least 1"] =
  "mov.u32 j, %nctaid.x; mov.u32 i, limit; DOWN: sub.u32 i, i, 1; setp.ge.u32 goes, i, j; @goes bra DOWN;",
} do
  check.equal({ what, verdict(body) }, { what, "proved" })
end

--- Each turn of the loop has two turns of an inner one.
local function twice(begin, step, test)
  return ([[
  %s
AGAIN:
  mov.u32 j, 0;
INNER:
  %s
  add.u32 j, j, 1; setp.lt.u32 again, j, 2; @again bra INNER;
  setp.%s;
  @goes bra AGAIN;]]):format(begin, step, test)
end

for what, body in pairs {
  ["another counter in each turn"] = drawing {
    address = "mul.wide.u32 offset, i, 4; add.s64 at, all, offset; add.u32 i, i, 1;",
  },
  ["... by an address that grows"] = drawing { address = "add.s64 at, at, 4;" },
  ["... that memory says"] = drawing {
    address = "ld.global.u32 j, [all]; mul.wide.u32 offset, j, 4; add.s64 at, all, offset;",
  },
  ["... of the time"] = drawing { address = "mov.u32 j, %clock; mul.wide.u32 offset, j, 4; add.s64 at, all, offset;" },
  ["a counter that falls, of unsigned numbers"] = drawing { draw = "add.u32 drawn, [at], 0xffffffff" },
  ["a counter that goes round in two draws"] = drawing { draw = "add.u32 drawn, [at], 0x80000000" },
  ["a step over all that would end it"] = drawing {
    draw = "add.u32 drawn, [at], 0x40000000", test = "lt.u32 goes, n, 0xfffffff0",
  },
  ["another thread adds -1"] = drawing { others = "@other red.global.add.u32 [at], 0xffffffff;" },
  ["... a float"] = drawing { others = "@other red.global.add.f32 [at], 0f3F800000;" },
  ["... sets it back by inc"] = drawing { others = "@other atom.global.inc.u32 j, [at], 5;" },
  ["... by exch"] = drawing { others = "@other atom.global.exch.b32 j, [at], 0;" },
  ["... at a computed place"] = drawing {
    others = "mul.wide.u32 offset, tid, 4; add.s64 at, all, offset; st.global.u32 [at], 0;",
  },
  ["a counter that wraps at a number"] = drawing { draw = "inc.u32 drawn, [at], 5" },
  ["a counter that is lowered"] = drawing { draw = "min.u32 drawn, [at], 5" },
  ["a condition that not each turn computes"] =
  "setp.eq.u32 goes, i, 0; UP: add.u32 i, i, 1; @!some bra STALE; setp.lt.u32 goes, i, limit; STALE: @goes bra UP;",
  ["an inner loop goes past the number"] = twice("", "add.u32 i, i, 1;", "ne.u32 goes, i, limit"),
  ["... past 0"] = twice("mov.u32 i, limit;", "sub.u32 i, i, 1;", "gt.u32 goes, i, 0"),
  ["... past 1, in parts"] = twice("mov.u32 i, limit;", "sub.u32 i, i, 1; sub.u32 i, i, 1;", "gt.u32 goes, i, 1"),
  ["16 bits wrap"] =
  "cvt.u16.u32 last, limit; mov.u16 short, 0; UP: add.u16 short, short, 2; setp.lt.u16 goes, short, last; @goes bra UP;",
  ["below 2^31 - 1 in steps of 2"] = "UP: add.s32 i, i, 2; setp.lt.s32 goes, i, 0x7fffffff; @goes bra UP;",
  ["back and forth between two signs"] = "UP: add.s32 i, i, 0x80000000; setp.lt.s32 goes, i, limit; @goes bra UP;",
  ["down from 2^31 - 1 to it"] =
  "mov.u32 i, 0x7fffffff; DOWN: sub.u32 i, i, 0x80000000; setp.ge.u32 goes, i, 0x7fffffff; @goes bra DOWN;",
  ["down below a number that may be 0"] =
  "sub.u32 j, limit, 1; mov.u32 i, limit; DOWN: sub.u32 i, i, 1; setp.ge.u32 goes, i, j; @goes bra DOWN;",
} do
  if verdict(body) == "proved" then error(("proved, and wrong: %s"):format(what)) end
end
print "ok"
