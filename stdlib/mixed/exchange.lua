-- The sums of parts of K of wg.gemm{ b_type = }. The CTAs of a cluster have different parts (`splits`), and so have the
-- warpgroups of a CTA where a block of K is longer than one of them takes (`k_parts`). Of 64 rows of weights, one
-- warpgroup of one CTA puts the parts together: the others send it their sums, and it adds them in a fixed order, so
-- that the result is the same in each launch.
--
-- Sums go straight from registers to the owner's shared memory: between CTAs by st.async (PTX ISA 9.7.9.12), whose
-- bytes the mbarrier `arrived` counts, and within a CTA without a cluster by ordinary stores, after which each thread
-- arrives there.

local division = require "wgrun.builder.division"

local module = {}

local divided = division.divided

-- Calls visit(four registers of acc, their place in a block of sums in bytes) for all of acc: threads side by side.
local function each_four(acc, visit)
  for r = 0, #acc - 1, 4 do visit(acc:slice(r, 4), 128 * 4 * r) end
end

-- Adds the sums of the other parts to the owner's, in the order of the parts.
local function add_received(k, p, acc, received)
  for sender = 0, p.parts - 2 do
    each_four(acc, function(four, place)
      local theirs = k:regs("f32", 4)
      k:ld_shared_v4_f32(theirs, received, { offset = sender * p.sum_bytes + place })
      for i = 0, 3 do k:add(four[i], four[i], theirs[i]) end
    end)
  end
end

--- Adds up the sums of parts of K: of the cluster's CTAs, number b % splits puts block b's together, in its warpgroup
--- with the first part. Calls store() in warpgroups that then hold the sums of all parts. given: as for sums.emit; with
--- stream_k a CTA does this for piece after piece, and the owner says when its shared memory is free again
--- (`buffers.free`).
function module.emit(k, p, acc, given, store)
  if p.parts == 1 then return store() end
  local buffers, work, mine = given.buffers, given.work, given.mine
  local owner, arrived = division.remainder(k, mine.block, p.splits), k:address(buffers.arrived)
  local round, free = given.place and given.place.round or 0, buffers.free and k:address(buffers.free)
  local received = k:address(buffers.exchange, mine.thread << 4)
  if p.owned > 1 then received = received + divided(k, mine.block, p.splits) * p.exchange_bytes end
  local owners_part, part = owner * p.k_parts, work.part * p.k_parts + mine.part

  local function receive()
    k:mbarrier_wait(arrived, round)
    add_received(k, p, acc, received)
    if free then k:mbarrier_arrive(free) end
    store()
  end

  local function send_in_cta() -- an H200 has no st.async in a launch without clusters
    local slot = p.k_parts > 2 and received + (part - 1) * p.sum_bytes or received
    if free then k:mbarrier_wait(free, round ~ 1) end
    each_four(acc, function(four, place) k:st_shared_v4_f32(slot, four, { offset = place }) end)
    k:mbarrier_arrive(arrived)
  end

  local function send_to_cluster()
    local slot = k:selp_b32(part - 1, part, part:gt(owners_part), { type = "u32" })
    local to, counted = k:mapa(received + slot * p.sum_bytes, owner), k:mapa(arrived, owner)
    each_four(acc, function(four, place) k:st_async_v4_f32(place == 0 and to or to + place, four, counted) end)
  end

  k:if_(part:eq(owners_part), receive, p.splits == 1 and send_in_cta or send_to_cluster)
end

return module
