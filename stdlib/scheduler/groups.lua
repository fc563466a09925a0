-- The scheduler of groups of rows of A, each with a B of its own (wg.gemm{ groups = }). How many rows a group has is
-- data of the device, which the host need not know. Each role of the kernel therefore looks at the groups and counts
-- their tiles itself: the lanes of a warp at 32 groups at a time, whose tiles they sum up by shuffles. The roles go
-- through the same tiles in the same order, so that none of them has to pass the place of a tile to another.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local warps = require "wgrun.builder.warp"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"
local scheduler_order = require "wgrun.scheduler.order"
local tiles = require "wgrun.scheduler.tiles"

local fail, options, ceil_div, divided = native.fail, arguments.options, roofline.ceil_div, division.divided
local of_groups = setmetatable({}, { __index = tiles })

--- The scheduler of groups of A's rows, each with a B of its own, for wg.mainloop, as the option `groups` of wg.gemm.
--- @param options table
--- @option kind "contiguous"|"masked"|"batched"  as the option `groups` of wg.gemm
--- @option group integer[1,65535] = 8  rows of tiles that the order covers before it goes on to the next column
--- @return table  for the option `scheduler` of wg.mainloop
--- @see wg.gemm
function wg.scheduler.groups(opts)
  opts = options("wg.scheduler.groups", opts)
  return classes.strategy("scheduler", of_groups, { groups = opts.kind, group = opts.group })
end

--- Whether groups have tail tiles: where few CTAs would have a tile in the last round, its tiles are cut into a left
--- and a right half. By default wide ones are, where the sizes of groups are not known before. Raises where halves have
--- no whole rounds of panels or, with block scales, no whole parts.
function of_groups.tail_n(p, halves)
  if not p.groups or halves == false then return false end
  local whole = p.n % 16 == 0 and p.panel.count % (2 * p.buffers) == 0
    and (not p.block_scaled or p.block_scaled.parts % 2 == 0)
  local possible = whole and not p.pingpong and p.cluster == 1 and p.products == 1 and not p.epilogue.quantize
  if halves == nil then return possible and p.n == 256 and not p.block_scaled and p.groups ~= "batched" end
  if not possible then
    fail((
      "wg.gemm: `halves` with groups requires the cooperative schedule, no cluster, a plain epilogue and a tile whose "
        .. "columns halve, such as 256; tile[2] is %d"):format(p.n))
  end
  return true
end

function of_groups.parameters(p, add)
  add { name = "groups", type = "u32", note = "the number of groups" }
  if p.groups == "batched" then return end
  local masked = p.groups == "masked"
  add {
    name = masked and "sizes" or "offsets", as = "rows", type = "const s32*",
    value = function(l) return l.group_rows end,
    note = masked and "the rows of each group" or "where each group ends",
  }
end

-- The first row of a group and the number of its rows, as far as they lie within the matrix: the device's data may be
-- anything. `room`: the rows that each group has room for.
local function rows_of(k, p, sizes, group, room)
  if p.groups == "batched" then return group * room, room end
  local function read(number, guard)
    local rows = k:reg "u32"
    if guard then k:mov(rows, 0) end
    k:ld_global_u32(rows, k:element(sizes.rows, number), { guard = guard })
    return rows
  end
  if p.groups == "masked" then return group * room, k:min(read(group), room) end
  local first = k:min(read(group - 1, group:gt(0)), sizes.M)
  return first, k:max(k:min(read(group), sizes.M), first) - first
end

local function variable(k, value) return k:mov(value, { type = "u32" }) end

-- A warp's walk over the tiles of all groups. It takes every `step`-th tile. Its lanes look at a window of 32
-- groups at a time:
--
--   groups   0 ... window - 1   | window ... window + 31                       | ...
--   tiles    `passed` of them   | lane i: those of the window up to its group  |
--
-- `next_tile` counts from the first tile of all groups. Each lane knows of its group the `first` row, the number of
-- `rows`, and `tiles_upto`, the tiles of the window up to and with this group. What has been found of the next tile is
-- its `group`, whose rows begin at `begin` and are so many, `count`, and its `number` in the group.
local function walk_of(k, p, sizes, mine)
  local walk = { k = k, p = p, sizes = sizes, lane = k:special "tid.x" & 31 }
  local from, step, rank = k:special "ctaid.x", k:special "nctaid.x", 0
  if p.cluster > 1 then
    from, step, rank = divided(k, from, p.cluster), divided(k, step, p.cluster), division.remainder(k, from, p.cluster)
  end
  if mine then from, step = from + mine * step, step << 1 end
  walk.step, walk.rank = step, rank
  walk.columns = divided(k, sizes.N + (p.n * p.cluster_n - 1), p.n * p.cluster_n)
  walk.room = p.groups ~= "contiguous" and k:div(sizes.M, sizes.groups)
  walk.window, walk.passed, walk.next_tile = variable(k, 0), variable(k, 0), variable(k, from)
  walk.first, walk.rows, walk.tiles_upto = variable(k, 0), variable(k, 0), variable(k, 0)
  for _, name in ipairs { "group", "begin", "count", "number" } do walk[name] = k:reg "u32" end
  return walk
end

local function tiles_of(walk, rows)
  local height = walk.p.m * walk.p.cluster_m
  return divided(walk.k, rows + (height - 1), height) * walk.columns
end

local function of_lane(k, value, number)
  local out = k:reg "u32"
  k:shfl_sync_idx_b32(out, value, number, 31)
  return out
end

-- Looks at the 32 groups from `window` on.
local function look(walk)
  local k, group = walk.k, walk.window + walk.lane
  k:mov(walk.rows, 0)
  k:if_(group:lt(walk.sizes.groups), function()
    local begin, count = rows_of(k, walk.p, walk.sizes, group, walk.room)
    k:mov(walk.first, begin)
    k:mov(walk.rows, count)
  end)
  k:mov(walk.tiles_upto, warps.prefix_sums(k, tiles_of(walk, walk.rows), walk.lane))
end

-- The number of whole tiles, which come before the tail tiles: those of all groups, less those of a last round in which
-- at most half of the CTAs have one.
local function whole_tiles(walk)
  local k, of_my_groups = walk.k, variable(walk.k, tiles_of(walk, walk.rows))
  -- All lanes go round equally often: the assembler then knows that they stay together, and uses uniform registers.
  k:loop({ from = 32, to = walk.sizes.groups, step = 32 }, function(at)
    local group = at + walk.lane
    k:if_(group:lt(walk.sizes.groups), function()
      local _, count = rows_of(k, walk.p, walk.sizes, group, walk.room)
      k:add(of_my_groups, of_my_groups, tiles_of(walk, count))
    end)
  end)
  local all = of_lane(k, k:redux_sync_add_u32(of_my_groups), 0)
  local rest = k:rem(all, walk.step)
  k:mov(rest, 0, { guard = (rest << 1):gt(walk.step) })
  return all - rest
end

-- The walk's next tile. Behind the `whole` tiles that are not cut, each number stands for a tail tile: then also the
-- predicate that it does, and its first column.
local function next_of(walk)
  local whole = walk.whole
  if not whole then return walk.next_tile end
  local k, tail_n = walk.k, walk.next_tile:ge(whole)
  local index = walk.next_tile - whole
  local tile = k:selp_b32(whole + (index >> 1), walk.next_tile, tail_n, { type = "u32" })
  return tile, tail_n, k:selp_b32((index & 1) * (walk.p.n // 2), 0, tail_n, { type = "u32" })
end

-- Finds the group of the next tile. Behind the last tile `window` is beyond all groups, and what is found is the first
-- tile of one row at the place of the last group.
local function find(walk)
  local k, tile, before = walk.k, nil, walk.k:reg "u32" -- the groups of the window that end before the tile
  k:while_(function()
    tile = next_of(walk) - walk.passed
    k:mov(before, k:popc(k:vote_sync_ballot(walk.tiles_upto:le(tile))))
    return before:eq(32) & walk.window:lt(walk.sizes.groups)
  end, function()
    k:add(walk.passed, walk.passed, of_lane(k, walk.tiles_upto, 31))
    k:add(walk.window, walk.window, 32)
    look(walk)
  end)
  k:mov(walk.group, k:min(walk.window + before, walk.sizes.groups - 1))
  k:mov(walk.begin, of_lane(k, walk.first, before))
  k:mov(walk.count, k:max(of_lane(k, walk.rows, before), 1))
  k:mov(walk.number, tile - (of_lane(k, walk.tiles_upto, before) - tiles_of(walk, walk.count)))
  k:mov(walk.number, 0, { guard = before:eq(32) })
end

-- The place of tile `number` of a group whose rows begin at `begin`.
local function place_of(walk, number, count, begin, right)
  local k, p, rank = walk.k, walk.p, walk.rank
  local order = {
    m = p.m, n = p.n, rows = count, columns = walk.sizes.N, cluster = { p.cluster_m, p.cluster_n }, group = p.group,
  }
  local row, column = scheduler_order.tile_order(k, "wg.gemm", order)(number)
  if p.cluster_m > 1 then
    row = row * p.cluster_m + (p.cluster_n > 1 and division.remainder(k, rank, p.cluster_m) or rank)
  end
  if p.cluster_n > 1 then column = column * p.cluster_n + divided(k, rank, p.cluster_m) end
  column = column * p.n
  return begin + row * p.m, right and column + right or column
end

-- What each() calls body() with, of the tile that has been found.
local function described(walk)
  local k, sizes = walk.k, walk.sizes
  local _, tail_n, right = next_of(walk)
  local number, count, begin = variable(k, walk.number), variable(k, walk.count), variable(k, walk.begin)
  return function() return place_of(walk, number, count, begin, right) end, {
    from = 0, to = sizes.K, limit = begin + count, tail_n = tail_n,
    b_first = walk.group * sizes.N, scales_first = walk.group * ((sizes.N + 127) >> 7),
  }
end

-- A work unit also has `limit`, the end of the group's rows; where the group's B and its rows of B's scales begin,
-- `b_first` and `scales_first`; and, if the plan cuts tiles of a last round in which at most half of the CTAs would
-- have one, `tail_n`, the predicate that this is such a half. Whole warps execute it. following() goes on to the next
-- work unit: where body() calls it, it does so once, whatever way it takes.
function of_groups.each(g, more, body)
  local k, p, sizes = g.k, g.p, g.sizes
  local walk = walk_of(k, p, sizes, more.first)
  look(walk)
  walk.whole = p.tail_n and whole_tiles(walk) or nil
  find(walk)
  local function go_on()
    k:add(walk.next_tile, walk.next_tile, walk.step)
    find(walk)
  end
  k:while_(function() return walk.window:lt(sizes.groups) end, function()
    local place, work = described(walk)
    local went_on = false
    function work.following()
      went_on = true
      go_on()
      return described(walk)
    end
    body(place, work)
    if not went_on then go_on() end
  end)
end

function of_groups.units(p, count) return count * (p.tail_n and 2 or 1) end

--- The number of groups of a launch, its argument that has their rows (nil for "batched"), and the number
--- of tiles that the rows make at most, in rows of tiles of `height`. M: the rows of A.
function of_groups.arguments(p, given, M, height)
  local legal = p.groups and ({ contiguous = "offsets", masked = "sizes", batched = "count" })[p.groups]
  for _, name in ipairs { "offsets", "sizes", "count" } do
    if given[name] ~= nil and name ~= legal then
      fail(("gemm: `%s` is given, but not of a wg.gemm{ groups = %s }"):format(
        name, p.groups and ('"%s"'):format(p.groups) or "nil"))
    end
  end
  if not legal then return nil end
  local list = given[legal]
  local count
  if legal == "count" then
    count, list = arguments.whole("gemm: count", list, 1, 0xFFFF), nil
  else
    local shape = arguments.shape_of(list)
    if not shape or #shape ~= 1 then fail(("gemm: %s must be a vector of s32, one for each group"):format(legal)) end
    count = shape[1]
  end
  if p.groups == "contiguous" then return count, list, M // height + count end
  if M % count ~= 0 then fail(("gemm: A has %d rows, no multiple of the %d groups"):format(M, count)) end
  return count, list, count * ceil_div(M // count, height)
end

classes.shield(wg.scheduler, "wg.scheduler.", { "groups" })

return of_groups
