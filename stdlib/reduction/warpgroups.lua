-- Split-K where one warpgroup has all columns of 64 rows. The CTAs of a cluster have different slices of K (`splits`),
-- and so have the warpgroups of a CTA where a block of K is longer than one of them takes (`k_slices`). One warpgroup
-- of one CTA adds up the slices: the others send it their sums, and it adds them in a fixed order, so that the result
-- is the same in each launch.
--
-- Sums go straight from registers to the owner's shared memory: between CTAs by st.async (PTX ISA 9.7.9.12), whose
-- bytes the mbarrier `arrived` counts, and within a CTA without a cluster by ordinary stores, after which each thread
-- arrives there. The plan has the buffer `sums`, and puts other things in its place.

local division = require "wgrun.builder.division"
local sums = require "wgrun.reduction.sums"

local divided = division.divided
local warpgroups = {}

--- The mbarriers. `free`: where a CTA has one work unit after the other, the owner arrives there when its shared memory
--- is free again.
function warpgroups.shared(k, p)
  local function barrier(name) return k:shared { bytes = 8, align = 8, name = name } end
  return { free = p.stream_k and barrier "sums_free" or nil, arrived = barrier "sums" }
end

function warpgroups.begin(g)
  local k, p, buffers = g.k, g.p, g.buffers
  local arrived = k:address(buffers.arrived)
  k:mbarrier_init(arrived, p.splits == 1 and 128 * p.blocks * (p.k_slices - 1) or 1)
  if buffers.free then k:mbarrier_init(k:address(buffers.free), 128 * p.blocks) end
  if p.splits == 1 then return end
  k:fence_mbarrier_init()
  -- CTA r adds up the blocks r, r + splits, ...
  local owned = divided(k, p.blocks + p.splits - 1 - g.work.slice, p.splits)
  k:mbarrier_arrive_expect_tx(arrived, owned * ((p.slices - 1) * p.sum_bytes))
end

--- me: `block`, the warpgroup's 64 rows of the tile, and `slice`, its slice of a block of K; `round`, the parity of the
--- reduction, where there is more than one. store() is emitted for warpgroups that then hold the sums of all slices.
function warpgroups.consumer(g, me)
  local k, p, buffers = g.k, g.p, g.buffers
  return function(acc, work, store)
    local owner, arrived = division.remainder(k, me.block, p.splits), k:address(buffers.arrived)
    local round, free = me.round or 0, buffers.free and k:address(buffers.free)
    local received = k:address(buffers.sums, me.thread << 4)
    if p.owned > 1 then received = received + divided(k, me.block, p.splits) * p.sums_bytes end
    local owners_slice, slice = owner * p.k_slices, work.slice * p.k_slices + me.slice

    local function receive()
      k:mbarrier_wait(arrived, round)
      for sender = 0, p.slices - 2 do sums.add(k, acc, "shared", received, sender * p.sum_bytes) end
      if free then k:mbarrier_arrive(free) end
      store()
    end

    local function send_in_cta() -- an H200 has no st.async in a launch without clusters
      local slot = p.k_slices > 2 and received + (slice - 1) * p.sum_bytes or received
      if free then k:mbarrier_wait(free, round ~ 1) end
      sums.each_four(acc, function(four, place) k:st_shared_v4_f32(slot, four, { offset = place }) end)
      k:mbarrier_arrive(arrived)
    end

    local function send_to_cluster()
      local slot = k:selp_b32(slice - 1, slice, slice:gt(owners_slice), { type = "u32" })
      local to, counted = k:mapa(received + slot * p.sum_bytes, owner), k:mapa(arrived, owner)
      sums.each_four(acc, function(four, place)
        k:st_async_v4_f32(place == 0 and to or to + place, four, counted)
      end)
    end

    k:if_(slice:eq(owners_slice), receive, p.splits == 1 and send_in_cta or send_to_cluster)
    if me.round then k:xor(me.round, me.round, 1) end
  end
end

return warpgroups
