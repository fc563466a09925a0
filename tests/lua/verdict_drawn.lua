-- CTAs that draw their tiles from a counter: one thread draws a number and shows it to the warps in shared memory, and
-- the number decides what all of them do. What is right is proved, and what is nearly so is not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local verdict = check.verdict

--- A ring of `stages` mbarriers, full and empty.
local function mbarriers(k, name, stages)
  return k:shared { bytes = 8 * stages, align = 8, name = name .. "_full" },
    k:shared { bytes = 8 * stages, align = 8, name = name .. "_empty" }
end

local function ring(k, full, empty, stages)
  local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
  local function at(of) return k:address(of, stage << 3) end
  return {
    stage = stage,
    acquire = function() k:mbarrier_wait(at(empty), phase ~ 1) end,
    wait = function() k:mbarrier_wait(at(full), phase) end,
    filled = function() k:mbarrier_arrive(at(full)) end,
    release = function(guard) k:mbarrier_arrive(at(empty), { guard = guard }) end,
    advance = function()
      k:add(stage, stage, 1)
      local wraps = stage:eq(stages)
      k:mov(stage, 0, { guard = wraps })
      k:xor(phase, phase, 1, { guard = wraps })
    end,
  }
end

--- Thread 0 draws tiles, shows their numbers, and fills a ring of two stages as often as the tile has blocks; warps 1
--- and 2 empty it. `as` changes a part of it.
local function queue(as)
  return wg.kernel("drawn", { threads = 96 }, function(k)
    local counter = k:param("counter", "u32*")
    local tiles, columns, other = k:param("tiles", "u32"), k:param("columns", "u32"), k:param("other", "u32*")
    local warp, lane = k:special "tid.x" >> 5, k:special "tid.x" & 31
    local full, empty = mbarriers(k, "data", 2)
    local shown, seen = mbarriers(k, "queue", 2)
    local numbers = k:shared { bytes = 16, align = 16, name = "numbers" }
    k:if_(k:special("tid.x"):eq(0), function()
      for s = 0, 1 do
        for _, of in ipairs { full, shown } do k:mbarrier_init(k:address(of, 8 * s), 1) end
        for _, of in ipairs { empty, seen } do k:mbarrier_init(k:address(of, 8 * s), 2) end
      end
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local at = {
      k = k, counter = counter, tiles = tiles, columns = columns, other = other, lane = lane, warp = warp,
      numbers = numbers,
    }
    local function place(queue) return k:address(numbers, as.one_place and 0 or queue.stage << 2) end
    if as.before then as.before(at) end
    local function blocks(number) return (as.blocks or function(n) return n + 1 end)(number, at) end
    k:if_(k:special("tid.x"):eq(0), function()
      local data, queue = ring(k, full, empty, 2), ring(k, shown, seen, 2)
      local first = as.drawn_first and k:atom_relaxed_gpu_global_add_u32(counter, 1) or k:special "ctaid.x"
      local number = k:mov(first, { type = "u32" })
      k:while_(function()
        if not as.overwrites then queue.acquire() end
        k:st_shared_u32(place(queue), number)
        queue.filled()
        queue.advance()
        return number:lt(tiles)
      end, function()
        k:loop({ from = 0, to = blocks(number) }, function()
          data.acquire()
          data.filled()
          data.advance()
        end)
        at.number = number
        function at.drawn_and_reset()
          local drawn = k:atom_relaxed_gpu_global_add_u32(counter, 1)
          k:if_(drawn:eq(tiles - 1), function() k:st_relaxed_gpu_global_u32(counter, 0) end)
          return drawn
        end
        local drawn = (as.draw or function() return k:atom_relaxed_gpu_global_add_u32(counter, 1) end)(at)
        k:add(number, drawn, k:special "nctaid.x")
      end)
      if as.finally then as.finally(at) end
    end)
    k:if_(warp:ge(1), function()
      local data, queue, number = ring(k, full, empty, 2), ring(k, shown, seen, 2), k:reg "u32"
      k:while_(function()
        if not as.early then queue.wait() end
        if as.late then queue.release(lane:eq(0)) end
        local mine = k:mov(0, { type = "u32" })
        if as.read then
          as.read(at, mine, queue)
        else
          k:ld_shared_u32(mine, place(queue), { guard = lane:eq(0) })
        end
        if as.early then queue.wait() end
        k:shfl_sync_idx_b32(number, mine, 0, 31)
        if not as.late then queue.release(lane:eq(0)) end
        queue.advance()
        return number:lt(as.limit and as.limit(at) or tiles)
      end, function()
        local mine = as.consumed and as.consumed(number, at) or blocks(number)
        k:loop({ from = 0, to = mine }, function()
          data.wait()
          k:bar_warp_sync()
          local last = lane:eq(0)
          if as.released then last = last & as.released(number, at) end
          data.release(last)
          data.advance()
        end)
      end)
    end)
  end)
end

local assumed <const> = "the numbers in counter lie between 0 and 2^30"
local properties <const> = { "no-deadlock", "phases", "shared-races", "initialisation" }
for what, as in pairs {
  ["as many blocks as the tile's number says"] = {},
  ["a quotient of it"] = { blocks = function(n, at) return at.k:div(n, at.columns) + 1 end },
  ["at most 4"] = { blocks = function(n, at) return at.k:min(n, 3) + 1 end },
  ["another way for even tiles"] = {
    blocks = function(n, at) return at.k:selp_u32(2, 5, (n & 1):eq(0)) end,
  },
  ["the last draw sets the counter back"] = { draw = function(at) return at.drawn_and_reset() end },
} do
  for _, property in ipairs(properties) do
    local one = verdict(queue(as), property)
    check.equal({ what, property, one.verdict, one.reason or one.assumption }, { what, property, "proved", assumed })
  end
end

local function one() return 1 end

-- Of each a property that it breaks.
for what, of in pairs {
  ["nobody waits before a number is overwritten"] = { "shared-races", { overwrites = true } },
  ["... which spoils the number of blocks, too"] = { "no-deadlock", { overwrites = true } },
  ["one place for the numbers of two stages"] = { "shared-races", { one_place = true } },
  ["... of which one may be that of another tile"] = { "no-deadlock", { one_place = true } },
  ["a place that is released before it is read"] = { "shared-races", { late = true, blocks = one } },
  ["... and has another tile's number then"] = { "no-deadlock", { late = true, blocks = one } },
  ["the number is read before it is shown"] = { "shared-races", { early = true } },
  ["... and is that of another tile then"] = { "no-deadlock", { early = true } },
  ["the number of the stage before"] = {
    "no-deadlock", {
      read = function(at, mine, queue)
        at.k:ld_shared_u32(mine, at.k:address(at.numbers, (queue.stage ~ 1) << 2), { guard = at.lane:eq(0) })
      end,
    },
  },
  ["a role that draws for itself"] = {
    "no-deadlock", {
      read = function(at, mine)
        at.k:atom_relaxed_gpu_global_add_u32(mine, at.counter, 1, { guard = at.lane:eq(0) })
      end,
    },
  },
  ["a block more"] = { "no-deadlock", { consumed = function(n) return n + 2 end } },
  ["a tile more"] = { "no-deadlock", { limit = function(at) return at.tiles + 1 end } },
  ["blocks of the other quotient"] = {
    "no-deadlock", {
      blocks = function(n, at) return at.k:div(n, at.columns) + 1 end,
      consumed = function(n, at) return at.k:div(n + 1, at.columns) + 1 end,
    },
  },
  ["no release in tile 7"] = { "no-deadlock", { released = function(n) return n:ne(7) end } },
  ["no release where a difference is 0"] = {
    "no-deadlock", {
      drawn_first = true, blocks = one,
      released = function(n, at) return (at.columns - at.k:div(n, at.columns)):ne(0) end,
    },
  },
  ["no release where a difference is 1"] = {
    "no-deadlock", { drawn_first = true, blocks = one, released = function(n, at) return (at.columns - n):ne(1) end },
  },
  ["another thread writes the number"] = {
    "no-deadlock", {
      finally = function(at) at.k:st_shared_u32(at.k:address(at.numbers, 0), 1) end,
    },
  },
  ["another lane does, before the first tile"] = {
    "no-deadlock", {
      before = function(at)
        at.k:if_(at.warp:eq(2), function() at.k:st_shared_u32(at.k:address(at.numbers, at.lane << 2 & 4), 0) end)
      end,
    },
  },
  ["a copy by threads does"] = {
    "no-deadlock", {
      before = function(at)
        at.k:if_(at.k:special("tid.x"):eq(64), function()
          at.k:cp_async_ca(at.k:address(at.numbers, 0), at.other, { bytes = 4 })
        end)
      end,
    },
  },
  ["a counter that is set back each time"] = {
    "no-deadlock", {
      draw = function(at)
        local k = at.k
        local drawn = k:atom_relaxed_gpu_global_add_u32(at.counter, 1)
        k:st_relaxed_gpu_global_u32(at.counter, 0)
        return drawn
      end,
    },
  },
  ["a counter that is set back at 3"] = {
    "no-deadlock", {
      draw = function(at)
        local k = at.k
        local drawn = k:atom_relaxed_gpu_global_add_u32(at.counter, 1)
        k:if_(drawn:eq(3), function() k:st_relaxed_gpu_global_u32(at.counter, 0) end)
        return drawn
      end,
    },
  },
  ["a counter that falls"] = {
    "no-deadlock", { draw = function(at) return at.k:atom_relaxed_gpu_global_add_s32(at.counter, -1) end },
  },
  ["a counter that stays"] = {
    "no-deadlock", { draw = function(at) return at.k:atom_relaxed_gpu_global_or_b32(at.counter, 0) end },
  },
  ["no draw for even tiles"] = {
    "no-deadlock", {
      draw = function(at)
        local k = at.k
        local drawn = k:mov(0, { type = "u32" })
        k:if_((at.number & 1):ne(0), function() k:atom_relaxed_gpu_global_add_u32(drawn, at.counter, 1) end)
        return drawn
      end,
    },
  },
} do
  local property, as = table.unpack(of)
  local one = verdict(queue(as), property)
  if one.verdict == "proved" then error(("proved, and wrong: %s: %s"):format(what, property)) end
end

-- What stops a proof is no finding, and does not read as one.
local why = verdict(queue { limit = function(at) return at.tiles + 1 end }, "no-deadlock").reason
check.equal(why:match "^in a state of the proof, perhaps of no launch, the kernel hangs: warp %d waits for " ~= nil, true)

--- In tile 5 one lane arrives as often as what a mask leaves of the number that it drew two tiles before says, and waits.
local function stale()
  return wg.kernel("stale", { threads = 32 }, function(k)
    local counter, tiles = k:param("counter", "u32*"), k:param("tiles", "u32")
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(k:special("tid.x"):eq(0), function()
      k:mbarrier_init(bar, 1)
      k:fence_mbarrier_init()
      local before, last, phase = k:mov(1, { type = "u32" }), k:mov(1, { type = "u32" }), k:mov(0, { type = "u32" })
      local number = k:mov(k:atom_relaxed_gpu_global_add_u32(counter, 1), { type = "u32" })
      k:while_(function() return number:lt(tiles) end, function()
        k:if_(number:eq(5), function()
          k:loop({ from = 0, to = before }, function() k:mbarrier_arrive(bar) end)
          k:mbarrier_wait(k:address(bar), phase)
          k:xor(phase, phase, 1)
        end)
        k:mov(before, last)
        k:mov(last, number & 3)
        k:mov(number, k:atom_relaxed_gpu_global_add_u32(counter, 1))
      end)
    end)
  end)
end
for _, property in ipairs { "no-deadlock", "phases" } do
  if verdict(stale(), property).verdict == "proved" then error("proved, and wrong: the number of an earlier tile") end
end
print "ok"
