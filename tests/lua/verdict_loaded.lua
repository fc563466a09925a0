-- Numbers that the memory of a launch holds decide what a kernel does: how many turns a sequence has. Whoever loads such a
-- number gets the same one, as long as no thread of the launch writes it. What is right is proved, and what is nearly so
-- is not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local verdict = check.verdict

--- Thread 0 fills a ring of two stages as often as the sequence of the CTA has rows, and warp 1 empties it. `as` changes
--- a part of it.
local function ring(as)
  return wg.kernel("packed", { threads = 64 }, function(k)
    local starts = k:param("starts", as.starts or "const u32*")
    local other, D = k:param("other", "const u32*"), k:param("D", "u32*")
    local tid, batch = k:special "tid.x", k:special "ctaid.x"
    local full, empty = check.ring(k, 2)
    local function load(options) return k:ld_global_u32(k:element(starts, batch), options or {}) end
    local function length() return load { offset = 4 } - load() end
    local function role(trips, body)
      local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      k:loop({ from = 0, to = trips }, function(i)
        body(stage, phase, i)
        k:xor(stage, stage, 1)
        k:if_(stage:eq(0), function() k:xor(phase, phase, 1) end)
      end)
    end
    local at = { k = k, starts = starts, other = other, D = D, batch = batch, tid = tid, length = length, load = load }
    k:if_(tid:eq(0), function()
      role((as.produced or length)(at), function(stage, phase)
        k:mbarrier_wait(k:address(empty, stage << 3), phase ~ 1)
        k:mbarrier_arrive(k:address(full, stage << 3))
      end)
    end)
    k:if_((tid >> 5):eq(1), function()
      role((as.consumed or length)(at), function(stage, phase, i)
        k:mbarrier_wait(k:address(full, stage << 3), phase)
        k:bar_warp_sync()
        local last = (tid & 31):eq(0)
        if as.released then last = last & as.released(i, at) end
        k:if_(last, function() k:mbarrier_arrive(k:address(empty, stage << 3)) end)
      end)
    end)
    if as.finally then as.finally(at) end
  end)
end

local function of_lane_0(at, value)
  local k, out = at.k, at.k:reg "u32"
  k:shfl_sync_idx_b32(out, value, 0, 31)
  return out
end

local assumed <const> = "the numbers in starts lie between 0 and 2^30"
for what, as in pairs {
  ["the number of rows"] = {},
  ["blocks of rows"] = {
    produced = function(at) return (at.length() + 63) >> 6 end,
    consumed = function(at) return at.k:div(at.length() + 63, 64) end,
  },
  ["lane 0 shows it to the others"] = { consumed = function(at) return of_lane_0(at, at.length()) end },
  ["at most 10 rows"] = {
    produced = function(at) return at.k:min(at.length(), 10) end,
    consumed = function(at) return at.k:min(at.length(), 10) end,
  },
} do
  if what == "blocks of rows" then
    -- The two quotients are two numbers, as of parameters.
    as.consumed = as.produced
  end
  local one = verdict(ring(as), "no-deadlock")
  check.equal({ what, one.verdict, one.reason or one.assumption }, { what, "proved", assumed })
end

for what, as in pairs {
  ["a row more"] = { produced = function(at) return at.length() + 1 end },
  ["the length of another sequence"] = {
    consumed = function(at) return at.load { offset = 8 } - at.load { offset = 4 } end,
  },
  ["the same of another tensor"] = {
    consumed = function(at)
      local place = at.k:element(at.other, at.batch)
      return at.k:ld_global_u32(place, { offset = 4 }) - at.k:ld_global_u32(place)
    end,
  },
  ["a kernel that writes it"] = {
    starts = "u32*", finally = function(at) at.k:st_global_u32(at.k:element(at.starts, at.batch), 1) end,
  },
  ["a kernel that adds to it"] = {
    starts = "u32*", finally = function(at) at.k:red_relaxed_gpu_global_add_u32(at.k:element(at.starts, at.batch), 1) end,
  },
  ["a load of what others may write"] = {
    produced = function(at)
      local k, place = at.k, at.k:element(at.starts, at.batch)
      return k:ld_volatile_global_u32(place, { offset = 4 }) - k:ld_volatile_global_u32(place)
    end,
  },
  ["each lane its own"] = {
    consumed = function(at) return of_lane_0(at, at.k:ld_global_u32(at.k:element(at.starts, at.tid & 31))) end,
  },
  ["no release in row 20"] = { released = function(i) return i:ne(20) end },
  ["no release where the sequence begins with row 7"] = { released = function(_, at) return at.load():ne(7) end },
  ["no release in the last row but two"] = { released = function(i, at) return (i + 3):lt(at.length()) end },
  ["at most 10 rows, and at most 11"] = {
    produced = function(at) return at.k:min(at.length(), 10) end,
    consumed = function(at) return at.k:min(at.length(), 11) end,
  },
} do
  local one = verdict(ring(as), "no-deadlock")
  if one.verdict == "proved" then error(("proved, and wrong: %s"):format(what)) end
end
print "ok"
