-- The scheduler of products of several devices: persistent CTAs take the tiles of one shard after the other. With
-- all-gather a device begins with its own shard, while those of the others arrive, in the order of the ring. With
-- reduce-scatter it ends with its own, when the parts of the others have arrived. A work unit (scheduler/tiles.lua)
-- also has
--
--   shard   how many shards the device has gone over before, a register
--   first   the first row of the shard that the tile belongs to
--
-- and with reduce-scatter `slice`, the same, and `number`, the tile's among those of the shard.

local division = require "wgrun.builder.division"
local tiles = require "wgrun.scheduler.tiles"

local shards = setmetatable({}, { __index = tiles })

--- The rows of a shard.
function shards.rows(g) return g.p.gather and division.divided(g.k, g.sizes.M, g.p.devices) or g.sizes.M end

function shards.each(g, more, body)
  local k, p, sizes = g.k, g.p, g.sizes
  local rows = shards.rows(g)
  local walk = tiles.tiles_of(g, more)
  walk.rows, walk.cluster, walk.passes = rows, { p.cluster_m, p.cluster_n }, p.devices
  k:each_tile(walk, function(place, shard, number)
    local owner = sizes.rank + shard
    if p.scatter then owner = owner + 1 end
    k:sub(owner, owner, p.devices, { guard = owner:ge(p.devices) })
    local first = owner * rows
    local work = { from = 0, to = sizes.K, shard = shard, first = first }
    if p.scatter then
      work.a_first, work.slice, work.number = first, shard, number
      return body(place, work)
    end
    work.a_first = k:selp_b32(owner * sizes.spacing, 0, shard:ne(0), { type = "u32" }) - first
    work.limit = first + rows
    body(function()
      local row, column = place()
      return row + first, column
    end, work)
  end)
end

function shards.units(_, count) return count end

function shards.least_k() end

function shards.workspace() return nil end

function shards.parameters() end

return shards
