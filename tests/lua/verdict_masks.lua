-- A tile's number of blocks is a minimum of sums that may be below 0, as where a query sees the keys up to its own place.
-- A consumer goes down through the blocks in two loops, the first one to a block that comes of another minimum. Right
-- kernels are proved, and those that are nearly so are not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local u32 <const> = { type = "u32" }

--- A query's place, where it is `from` behind the tile's row.
local function place(from, at, row) return row + from + at.signed(at.keys - at.queries) end

--- Thread 0 fills a ring with the blocks of tiles, from the last one on; warps 1 and 2 empty it, in two loops. Tiles are
--- drawn from a counter, or the CTA has one. `as` changes a part of it.
local function masked(as)
  local stages = as.stages or 2
  return wg.kernel("masked", { threads = 96 }, function(k)
    local counter, tiles = k:param("counter", "u32*"), k:param("tiles", "u32")
    local keys, queries, width = k:param("keys", "u32"), k:param("queries", "u32"), k:param("width", "u32")
    local warp, leads = k:special "tid.x" >> 5, (k:special "tid.x" & 31):eq(0)
    local data = { check.ring(k, stages, 2, "data") }
    local queue = { check.ring(k, 2, 2, "queue") }
    local numbers = k:shared { bytes = 8, align = 8, name = "numbers" }
    local function signed(x) return k:mov(x, { type = "s32" }) end
    local function unsigned(x) return k:mov(x, u32) end
    local at = { k = k, keys = keys, queries = queries, width = width, signed = signed, unsigned = unsigned }

    --- The last block of a tile, and the one that the first loop goes down to.
    local function range(tile, role)
      local row = signed(k:div(tile, width) * 128)
      at.role, at.tile = role, tile
      local function seen(from) return k:min(signed(keys), place(from, at, row)) end
      local function last_of(up_to) return unsigned(k:max(up_to - 1, 0)) >> 7 end
      local function clear_of(up_to) return unsigned(k:max(up_to, 0)) >> 7 end
      local last = (as.last or last_of)((as.seen or seen)(128, at, row), at)
      local clear = (as.clear or clear_of)(seen(1), at)
      return last, clear
    end
    local function cursor(ring, count)
      local stage, phase, one = k:mov(0, u32), k:mov(0, u32), {}
      function one.at(which) return k:address(ring[which], stage << 3) end
      function one.wait(which, beside) k:mbarrier_wait(one.at(which), beside and phase ~ 1 or phase) end
      function one.advance()
        k:add(stage, stage, 1)
        local wrapped = stage:eq(count)
        k:mov(stage, 0, { guard = wrapped })
        k:xor(phase, phase, 1, { guard = wrapped })
      end
      one.stage = stage
      return one
    end
    local function produce(blocks, tile)
      local last = range(tile, 0)
      local function fill()
        blocks.wait(2, true)
        k:mbarrier_arrive(blocks.at(1))
        blocks.advance()
      end
      fill()
      k:loop({ from = 0, to = as.filled and as.filled(last, at) or last }, fill)
    end
    local function consume(blocks, tile, kept)
      local last, clear = range(tile, 1)
      if as.kept then last, clear = as.kept(kept, last, clear, at) end
      local block = unsigned(last)
      local function empty()
        blocks.wait(1)
        k:bar_warp_sync()
        k:mbarrier_arrive(blocks.at(2), { guard = leads })
        blocks.advance()
      end
      empty()
      local function step()
        k:sub(block, block, as.step or 1)
        empty()
      end
      local above = as.above or function(one, limit) return one:gt(limit) end
      k:while_(function() return above(block, clear, at) end, step)
      if as.between then as.between(block, at, warp, empty) end
      k:while_(function() return block:gt(as.floor or 0) end, step)
    end

    k:if_(k:special("tid.x"):eq(0), function()
      local blocks, tile = cursor(data, stages), k:mov(k:special "ctaid.x", u32)
      if not as.drawn then return produce(blocks, tile) end
      local shown = cursor(queue, 2)
      k:while_(function()
        shown.wait(2, true)
        k:st_shared_u32(k:address(numbers, shown.stage << 2), tile)
        k:mbarrier_arrive(shown.at(1))
        shown.advance()
        return tile:lt(tiles)
      end, function()
        produce(blocks, tile)
        k:add(tile, k:atom_relaxed_gpu_global_add_u32(counter, 1), k:special "nctaid.x")
      end)
    end)
    k:if_(warp:ge(1), function()
      local blocks, tile = cursor(data, stages), k:mov(k:special "ctaid.x", u32)
      if not as.drawn then return consume(blocks, tile) end
      local shown, kept = cursor(queue, 2), k:mov(0, u32)
      k:while_(function()
        shown.wait(1)
        local mine = k:mov(0, u32)
        k:ld_shared_u32(mine, k:address(numbers, shown.stage << 2), { guard = leads })
        k:shfl_sync_idx_b32(tile, mine, 0, 31)
        k:mbarrier_arrive(shown.at(2), { guard = leads })
        shown.advance()
        return tile:lt(tiles)
      end, function() consume(blocks, tile, kept) end)
    end)
  end)
end

--- What was kept of the tile before, in whose place `of` is kept.
local function exchanged(at, kept, of)
  local before = at.k:mov(kept, u32)
  at.k:mov(kept, of)
  return before
end

local function verdicts(kernel)
  local out = {}
  for _, one in ipairs(kernel:verdicts { budget = 2 }) do out[one.property] = one end
  return out
end

for what, as in pairs {
  ["two stages"] = { drawn = true },
  ["three stages"] = { stages = 3 },
  ["the limit is held against the counter"] = { above = function(one, limit) return limit:lt(one) end },
  ["a limit that is greater than the last block"] = { clear = function(_, at) return at.keys end },
  ["each role has a limit of its own"] = {
    drawn = true, clear = function(_, at) return at.role == 1 and at.queries or at.keys end,
  },
  ["the greater one of two sums"] = {
    seen = function(from, at, row) return at.k:max(at.signed(at.keys), place(from, at, row)) end,
  },
} do
  local all = verdicts(masked(as))
  for _, property in ipairs { "no-deadlock", "phases" } do
    check.equal({ what, property, all[property].verdict, all[property].reason }, { what, property, "proved" })
  end
end

for what, as in pairs {
  ["one role counts a query more"] = {
    drawn = true,
    seen = function(from, at, row) return at.k:min(at.signed(at.keys), place(from + at.role, at, row)) end,
  },
  ["the last block of the tile before"] = {
    drawn = true, kept = function(kept, last, clear, at) return exchanged(at, kept, last), clear end,
  },
  ["one role takes the minimum of unsigned numbers"] = {
    seen = function(from, at, row)
      local sum = place(from, at, row)
      if at.role == 0 then return at.k:min(at.signed(at.keys), sum) end
      return at.signed(at.k:min(at.keys, at.unsigned(sum)))
    end,
  },
  ["one role takes the greater one"] = {
    seen = function(from, at, row)
      local sum = place(from, at, row)
      return (at.role == 0 and at.k.min or at.k.max)(at.k, at.signed(at.keys), sum)
    end,
  },
  ["one role leaves out the minimum"] = {
    seen = function(from, at, row)
      local sum = place(from, at, row)
      return at.role == 0 and at.k:min(at.signed(at.keys), sum) or sum
    end,
  },
  ["one role rounds up"] = {
    last = function(up_to, at) return at.unsigned(at.k:max(up_to + 127 * at.role - 1, 0)) >> 7 end,
  },
  ["one role compares with the queries"] = {
    seen = function(from, at, row)
      return at.k:min(at.signed(at.role == 0 and at.keys or at.queries), place(from, at, row))
    end,
  },
  ["the first loop goes on with the limit itself"] = {
    drawn = true, above = function(one, limit) return one:ge(limit) end,
  },
  ["the first loop goes on with the limit itself, which is held against the counter"] = {
    above = function(one, limit) return limit:le(one) end,
  },
  ["the limit is one less, and may be -1"] = {
    drawn = true,
    clear = function(up_to, at) return (at.unsigned(at.k:max(up_to, 0)) >> 7) - 1 end,
    above = function(one, limit, at) return at.signed(one):gt(at.signed(limit)) end,
  },
  ["the limit is a difference"] = {
    clear = function(_, at) return at.signed(at.keys - at.queries) end,
    above = function(one, limit, at) return at.signed(one):gt(limit) end,
  },
  ["the first loop goes on below the limit"] = { above = function(one, limit) return one:lt(limit) end },
  ["a block more behind the first loop, if there are any"] = {
    between = function(block, at, _, empty) at.k:if_(block:gt(0), empty) end,
  },
  ["one consumer begins anew"] = {
    between = function(block, at, warp) at.k:if_(warp:eq(2), function() at.k:mov(block, at.keys >> 7) end) end,
  },
  ["the second loop leaves block 1 out"] = { drawn = true, floor = 1 },
  ["two blocks a step"] = { step = 2 },
  ["a block more is filled"] = { drawn = true, filled = function(last) return last + 1 end },
  ["the least of what is filled and 4"] = { filled = function(last, at) return at.k:min(last, 4) end },
  ["what is filled is a minimum of its own"] = { filled = function(last, at) return at.k:min(last, at.keys) end },
  ["a block for the limit"] = { filled = function(_, at) return at.keys >> 7 end },
} do
  local all = verdicts(masked(as))
  if all["no-deadlock"].verdict == "proved" and all.phases.verdict == "proved" then
    error("proved, and wrong: " .. what)
  end
end

-- CTAs that have no tile go by the number of tiles, too: there the proof takes it for 0, so that it says nothing of
-- other comparisons.
local idle = wg.kernel("idle", { threads = 32 }, function(k)
  local tiles, limit, turns = k:param("tiles", "u32"), k:param("limit", "u32"), k:param("turns", "u32")
  local bar, none = k:shared { bytes = 8, align = 8, name = "bar" }, k:mov(1, u32)
  k:if_(k:special("tid.x"):eq(0), function()
    k:mbarrier_init(bar, 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  k:loop({ from = k:special "ctaid.x", to = tiles, step = k:special "nctaid.x" }, function()
    k:mov(none, 0)
    k:bar_sync(1)
  end)
  k:loop({ from = 0, to = turns }, function()
    k:if_(tiles:gt(limit), function()
      k:if_(none:ne(0), function() k:mbarrier_wait(k:address(bar), 0) end)
    end)
  end)
end)
check.equal(verdicts(idle)["no-deadlock"].verdict, "undecided")
