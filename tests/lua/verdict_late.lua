-- A ring whose producing warps are two: one fills, the other waits as the first does, and fills nothing. It may come late and
-- find its phase gone: so it may hang, but what else the kernel does is proved. Loops are unrolled, stages come from shifts.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

--- The mbarriers of four stages, each with one arrival.
local function init(k, tid, full, empty)
  k:if_(tid:eq(0), function()
    for s = 0, 3 do
      k:mbarrier_init(k:address(full, 8 * s), 1)
      k:mbarrier_init(k:address(empty, 8 * s), 1)
    end
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
end

--- as: idle (a second producing warp), unrolled (turns in one of the producer's loop), rest (how many are left for the second
--- loop; default: what the mask leaves), left (how many it then has of those), stage (of a turn, default by shifts), counts (false: the consumer does not hand back).
local function ring(as)
  return wg.kernel("ring", { threads = 96 }, function(k)
    local X, Y, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "u32")
    local room = k:shared { bytes = 512, align = 128, name = "room" }
    local full, empty = k:shared { bytes = 32, align = 8, name = "full" }, k:shared { bytes = 32, align = 8, name = "empty" }
    local tid, lane, u32 = k:special "tid.x", k:special "laneid", { type = "u32" }
    init(k, tid, full, empty)
    local function stage(turn)
      if as.stage then return as.stage(k, turn) end
      return ((turn << 3) & 24) >> 3
    end
    local function phase(turn) return (turn >> 2) & 1 end
    local warp = tid >> 5
    local function produce(fills)
      local turn = k:mov(0, u32)
      local function one()
        local at = stage(turn)
        k:mbarrier_wait(k:address(empty, at << 3), phase(turn) ~ 1)
        if fills then
          k:if_(lane:eq(0), function()
            k:mbarrier_arrive_expect_tx(k:address(full, at << 3), 128)
            k:cp_async_bulk(k:address(room, at << 7), X, 128, k:address(full, at << 3))
          end)
        end
        k:add(turn, turn, 1)
      end
      local unrolled = as.unrolled or 4
      local rest = as.rest and as.rest(k, n) or n & (unrolled - 1)
      local whole = n - rest
      k:while_(function() return turn:lt(whole) end, function() for _ = 1, unrolled do one() end end)
      local left = as.left and as.left(k, rest) or k:mov(rest)
      k:while_(function() return left:gt(0) end, function()
        one()
        k:sub(left, left, 1)
      end)
    end
    k:if_(warp:eq(0), function() produce(true) end)
    if as.idle then k:if_(warp:eq(2), function() produce(false) end) end
    k:if_(warp:eq(1), function()
      local turn, sum = k:mov(0, u32), k:mov(0.0, { type = "f32" })
      k:while_(function() return turn:lt(n) end, function()
        local at = stage(turn)
        k:mbarrier_wait(k:address(full, at << 3), phase(turn))
        k:add(sum, sum, k:ld_shared_f32(k:address(room, (at << 7) + (lane << 2))))
        k:bar_warp_sync()
        if as.counts ~= false then k:if_(lane:eq(0), function() k:mbarrier_arrive(k:address(empty, at << 3)) end) end
        k:add(turn, turn, 1)
      end)
      k:st_global_f32(k:element(Y, lane), sum)
    end)
  end)
end

--- The properties that are not proved, of those that the ring is about.
local function open(kernel)
  local about = { ["no-deadlock"] = true, phases = true, ["copy-bytes"] = true, ["shared-races"] = true, initialisation = true,
    groups = true, convergence = true, ["cluster-end"] = true, ["register-pool"] = true }
  local out, reason = {}, nil
  for _, one in ipairs(kernel:verdicts()) do
    if about[one.property] and one.verdict ~= "proved" then
      out[#out + 1] = one.property
      reason = reason or one.reason
    end
  end
  return table.concat(out, " "), reason
end

check.equal(open(ring {}), "")
check.equal(open(ring { unrolled = 2 }), "")
local which, why = open(ring { idle = true })
check.equal(which, "no-deadlock phases")
check.equal((why:gsub("`.-`[ +%d]*", "`empty` ")), "the proof knows of nothing that orders the waits for a phase of `empty` before the next phase is complete: a warp that comes late may find neither")

-- Nearly the same, and wrong: turns that are left out or come twice, a stage that is another, one that is never handed back.
for what, as in pairs {
  ["one turn less"] = { left = function(k, rest) return k:min(rest, 2) end },
  ["three stages of four"] = { stage = function(k, turn) return k:rem(turn, 3) end },
  ["a stage from other bits"] = { stage = function(_, turn) return ((turn << 2) & 24) >> 3 end },
  ["no stage is handed back"] = { counts = false },
} do
  if not open(ring(as)):match "no%-deadlock" then error("no deadlock is proved: " .. what) end
end
-- Turns that nobody waits for: their copies may still be in flight at the end.
check.equal(open(ring { rest = function(_, n) return n & 1 end }) ~= "", true)
-- What shifts cut off of a turn is no more of it.
check.equal(open(ring { stage = function(_, turn) return (turn << 30) >> 30 end }), "")
check.equal(open(ring { stage = function(_, turn) return (turn << 29) >> 29 end }) ~= "", true)

-- With an odd n there is one turn more than anybody waits for. The warps of the warpgroup wait as its first one does, and may come
-- too late; the sizes that break are found all the same.
local more = wg.kernel("more", { threads = 256 }, function(k)
  local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, swizzle = "128B" }
  local A, n, tid = k:tensor_map("A", { tile = tile }), k:param("n", "u32"), k:special "tid.x"
  local a = k:shared { tile = tile, count = 4, name = "a" }
  local full, empty = k:shared { bytes = 32, align = 8, name = "full" }, k:shared { bytes = 32, align = 8, name = "empty" }
  init(k, tid, full, empty)
  local function load(turn)
    local s = turn & 3
    k:mbarrier_wait(k:address(empty, s << 3), (turn >> 2) & 1 ~ 1)
    k:mbarrier_arrive_expect_tx(k:address(full, s << 3), 8192)
    local x, y = k:mov(turn * 64, { type = "s32" }), k:mov(0, { type = "s32" })
    k:cp_async_bulk_tensor_2d(k:address(a, s << 13), A, { x, y }, k:address(full, s << 3))
  end
  k:if_(tid:eq(0), function()
    k:loop({ from = 0, to = n, step = 2 }, function(turn)
      load(turn)
      load(turn + 1)
    end)
  end)
  k:if_(tid:ge(128), function()
    local sums = k:regs("f32", 32)
    k:loop(n, function(turn)
      local s = turn & 3
      k:mbarrier_wait(k:address(full, s << 3), (turn >> 2) & 1)
      k:wgmma_fence()
      k:mma(sums, { a = a, b = a, a_offset = s << 13, b_offset = s << 13, scale_d = turn:ne(0) })
      k:wgmma_wait_group(0)
      k:mbarrier_arrive(k:address(empty, s << 3), { guard = tid:eq(128) })
    end)
  end)
end)
for _, one in ipairs(more:verdicts()) do
  if one.property == "groups" then check.equal({ one.verdict, one.reason }, { "refuted", "WG-TMA-03" }) end
end
