-- Two consumers have tiles in turn, and each passes the stages of the other's: the stage where it goes on is what a
-- division of a number of the launch leaves, and its phase the parity of the quotient. Right kernels are proved, and
-- those that are nearly so are not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local verdict = check.verdict

--- Thread 0 fills a ring of `stages` stages with the K of each tile, in blocks of 64; warps 1 and 2 empty it, tile by
--- tile in turn. `as` changes a part of it.
local function ring(as)
  local stages = as.stages or 2
  return wg.kernel("pingpong", { threads = 96 }, function(k)
    local tiles, K = k:param("tiles", "u32"), k:param("K", "u32")
    local tid = k:special "tid.x"
    local warp = k:shfl_sync_idx_b32(tid >> 5, 0, 31)
    local full = k:shared { bytes = 8 * stages, align = 8, name = "full" }
    local empty = k:shared { bytes = 8 * stages, align = 8, name = "empty" }
    local turns = k:shared { bytes = 16, align = 8, name = "turns" }
    k:if_(tid:eq(0), function()
      for s = 0, stages - 1 do
        k:mbarrier_init(k:address(full, 8 * s), 1)
        k:mbarrier_init(k:address(empty, 8 * s), 1)
      end
      for s = 0, 1 do k:mbarrier_init(k:address(turns, 8 * s), 1) end
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local at = { k = k, K = K, tiles = tiles, stages = stages }
    at.blocks = (as.blocks or function() return (K + 63) >> 6 end)(at)
    local function cursor() return k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" }) end
    local function advance(stage, phase)
      k:add(stage, stage, 1)
      local wrapped = stage:eq(stages)
      k:mov(stage, 0, { guard = wrapped })
      k:xor(phase, phase, 1, { guard = wrapped })
    end
    k:if_(tid:eq(0), function()
      local stage, phase = cursor()
      k:loop({ from = 0, to = tiles }, function()
        k:loop({ from = 0, to = K, step = 64 }, function()
          k:mbarrier_wait(k:address(empty, stage << 3), phase ~ 1)
          k:mbarrier_arrive(k:address(full, stage << 3))
          advance(stage, phase)
        end)
      end)
    end)
    k:if_(warp:gt(0), function()
      local me, lane = warp - 1, tid & 31
      local stage, phase = cursor()
      local turn = me ~ 1
      local function skip()
        if as.skip then return as.skip(at, stage, phase) end
        k:add(stage, stage, at.blocks)
        local rounds = k:div(stage, stages)
        k:sub(stage, stage, rounds * stages)
        k:xor(phase, phase, rounds & 1)
      end
      k:if_(me:eq(1), as.first and function() as.first(at, stage, phase, skip) end or skip)
      k:loop({ from = me, to = tiles, step = 2 }, function(tile)
        if not as.without_turns then
          k:mbarrier_wait(k:address(turns, me << 3), turn)
          k:xor(turn, turn, 1)
        end
        k:loop({ from = 0, to = K, step = 64 }, function()
          k:mbarrier_wait(k:address(full, stage << 3), phase)
          k:bar_warp_sync()
          k:if_(lane:eq(0), function() k:mbarrier_arrive(k:address(empty, stage << 3)) end)
          advance(stage, phase)
        end)
        local passes = lane:eq(0)
        if as.passes then passes = passes & as.passes(at, tile) end
        k:if_(passes, function() k:mbarrier_arrive(k:address(turns, (me ~ 1) << 3)) end)
        if as.skips then k:if_(as.skips(at, tile), skip) else skip() end
      end)
    end)
  end)
end

for what, as in pairs {
  ["two stages"] = {},
  ["three stages"] = { stages = 3 },
  ["six stages"] = { stages = 6 }, -- too many states, if each tile could have any number of blocks
  ["blocks by a division"] = { blocks = function(at) return at.k:div(at.K + 63, 64) end },
} do
  for _, property in ipairs { "no-deadlock", "phases" } do
    local one = verdict(ring(as), property)
    check.equal({ what, property, one.verdict, one.reason }, { what, property, "proved", nil })
  end
end

--- Passes `count` stages; flips(rounds): whether the phase does.
local function passes_by(count, flips)
  return function(at, stage, phase)
    local k = at.k
    k:add(stage, stage, count(at))
    local rounds = k:div(stage, at.stages)
    k:sub(stage, stage, rounds * at.stages)
    if flips then k:xor(phase, phase, flips(rounds)) end
  end
end
local function odd(rounds) return rounds & 1 end

for what, as in pairs {
  ["a stage more"] = { skip = passes_by(function(at) return at.blocks + 1 end, odd) },
  ["a stage fewer"] = { skip = passes_by(function(at) return at.blocks - 1 end, odd) },
  ["of seven blocks one more"] = {
    skip = passes_by(function(at) return at.blocks + at.k:selp_b32(1, 0, at.blocks:eq(7), { type = "u32" }) end, odd),
  },
  ["of nine blocks or more one fewer"] = {
    skip = passes_by(function(at) return at.blocks - at.k:selp_b32(1, 0, at.blocks:ge(9), { type = "u32" }) end, odd),
  },
  ["of one block one more"] = {
    skip = passes_by(function(at) return at.blocks + at.k:selp_b32(1, 0, at.K:le(64), { type = "u32" }) end, odd),
  },
  ["twice as many"] = { skip = passes_by(function(at) return at.blocks * 2 end, odd) },
  ["whole blocks alone"] = { blocks = function(at) return at.K >> 6 end },
  ["blocks of 32"] = { blocks = function(at) return (at.K + 31) >> 5 end },
  ["the tiles for the blocks"] = { blocks = function(at) return at.tiles end },
  ["the phase stays"] = { skip = passes_by(function(at) return at.blocks end) },
  ["the phase by another bit"] = {
    skip = passes_by(function(at) return at.blocks end, function(rounds) return (rounds >> 1) & 1 end),
  },
  ["the phase flips once more"] = {
    skip = passes_by(function(at) return at.blocks end, function(rounds) return (rounds & 1) ~ 1 end),
  },
  ["another number of stages"] = {
    skip = function(at, stage, phase)
      local k = at.k
      k:add(stage, stage, at.blocks)
      local rounds = k:div(stage, at.stages)
      k:sub(stage, stage, rounds * at.stages)
      k:xor(phase, phase, k:div(stage + at.blocks, at.stages + 1) & 1)
    end,
  },
  ["the second begins where the first does"] = { first = function() end },
  ["the second begins a stage later"] = {
    first = function(at, stage, _, skip)
      skip()
      at.k:add(stage, stage, 1)
      at.k:mov(stage, 0, { guard = stage:eq(at.stages) })
    end,
  },
  ["nobody waits for its turn"] = { without_turns = true },
  ["no turn is passed on in tile 6"] = { passes = function(_, tile) return tile:ne(6) end },
  ["tile 5 passes no stages"] = { skips = function(_, tile) return tile:ne(5) end },
  ["tile 5 of four blocks passes no stages"] = {
    skips = function(at, tile) return tile:ne(5) | (at.K + 63 >> 6):ne(4) end,
  },
} do
  local kernel = ring(as)
  local proved = true
  for _, property in ipairs { "no-deadlock", "phases" } do
    if verdict(kernel, property).verdict ~= "proved" then proved = false end
  end
  if proved then error(("proved, and wrong: %s"):format(what)) end
end
print "ok"
