-- Tail tiles: those of a last round, cut in two so that twice as many CTAs have one. A tail tile has the upper or the
-- lower half of a tile's rows (a plan's `tail_m`), or with groups the left or the right half of its columns (`tail_n`).
-- The scheduler decides which tiles are cut (scheduler/tiles.lua, scheduler/groups.lua): its work units have a
-- predicate of that name, which holds for tail tiles. Here is what the roles of a product do about them. `cut` is the
-- predicate, or nil where no tile of the plan is cut.

local tail = {}

--- The rows of A and the columns of B that one copy brings.
function tail.copied(p) return p.m // (p.tail_m and 2 or p.cluster_n), p.n // (p.tail_n and 2 or p.cluster_m) end

--- Emits body(from, to) for 1 to `count`: the first half, and unless the work unit is cut the second one.
function tail.each(k, cut, count, body)
  if not cut then return body(1, count) end
  body(1, count // 2)
  k:if_(~cut, function() body(count // 2 + 1, count) end)
end

--- Emits half() for a work unit that is cut, whole() for others.
function tail.either(k, cut, half, whole)
  if not cut then return whole() end
  k:if_(cut, half, whole)
end

--- `count`, less `missing` where the work unit is cut.
function tail.without(k, cut, count, missing)
  return cut and k:selp_b32(count - missing, count, cut, { type = "u32" }) or count
end

--- A consumer's accumulators for a tile of half of the columns.
function tail.left(p, acc)
  local left = {}
  for block = 1, p.blocks do left[block] = acc[block]:slice(0, p.width // 4) end
  return left
end

return tail
