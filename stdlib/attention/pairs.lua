-- The order of tiles of wg.attention and its gradients whose lengths differ. Tiles of a pair of a batch and a head share
-- operands, which should stay in the L2 cache: all tiles of a `group` of pairs come before those of the next one, and of
-- a group the long ones first, so that no CTA begins a long tile when others have nothing left.

local wg = require "wgrun"

local module = {}

--- How many pairs make a group: those whose operands, of so many bytes each, fill the L2 cache by two thirds; at least
--- one, and at most all.
function module.group(bytes, all) return math.min(math.max(1, wg.target.l2 * 2 // 3 // bytes), all) end

--- The place of tile `number`: its pair, and how many tiles of that pair are longer. tiles: of each of `all` pairs.
function module.place(k, number, tiles, all, group)
  local first = k:div(number, tiles * group) * group
  local inside = number - first * tiles
  local width = k:min(all - first, group)
  local longer = k:div(inside, width)
  return first + (inside - longer * width), longer
end

return module
