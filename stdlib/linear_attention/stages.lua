-- How the warpgroup that has the state gives back the stages of a chunk: to the CTA of the cluster that prepares in
-- them next, or where another kernel has prepared, to the thread that copies.

local module = {}

--- T and P have been multiplied. name: of the ring, by default that of both.
function module.free_prepared(g, prepared, lane, name)
  local k, ring = g.k, g.rings[name or "prepared"]
  if not ring then
    g.rings.keys:release(prepared, { lane = lane })
    return g.rings.keys:advance(prepared)
  end
  local empty = ring:empty_barrier(prepared) -- in the CTA that prepares the stage next
  local next_one = g.p.t_stages > g.p.preparers and prepared.stage >> 1 or prepared.phase ~ 1
  k:mbarrier_arrive(k:mapa(empty, next_one), { space = "shared::cluster", guard = lane:eq(0) })
  ring:advance(prepared)
end

--- K, Q and the gates have been read. beside: another warpgroup that has a state calls it, too, without.
function module.free_keys(g, keys, lane, beside)
  local k, rings = g.k, g.rings
  k:bar_warp_sync(0xFFFFFFFF) -- all lanes have read the gates
  -- Once, or twice where the other CTA prepares the chunk, so that no warpgroup gives its keys back here.
  if rings.prepared then
    local there = beside and 0 or (keys.stage >> 1 & 1) ~ g.at.half
    k:mbarrier_arrive(rings.keys:empty_barrier(keys), { guard = lane:le(there) })
  end
  rings.keys:advance(keys)
end

return module
